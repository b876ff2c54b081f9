use serde_json::json;

use super::*;

fn path(names: &[&str]) -> Vec<Step> {
    names
        .iter()
        .map(|n| Step::Member((*n).to_owned()))
        .collect()
}

/// Appends a member to the root, checks the text, and takes it out again.
fn round_trip(text: &str, expected: &str) {
    let after = append(text, &[], Some("n"), &json!({"k": [1]})).unwrap();
    assert_eq!(after, expected);
    let left = remove(&after, &path(&["n", "k"]), 2).unwrap();
    assert!(
        matches!(left, Left::Text(t) if t.contains("\"n\"")),
        "{after}"
    );
    assert_eq!(
        remove(&after, &path(&["n"]), 0).unwrap(),
        Left::Text(text.to_owned())
    );
    assert_eq!(
        remove(&after, &path(&["n", "k"]), 0).unwrap(),
        Left::Text(text.to_owned())
    );
}

#[test]
fn additions_look_like_their_surroundings() {
    round_trip("{\"a\":1}", "{\"a\":1, \"n\": { \"k\": [ 1 ] }}");
    round_trip(
        "{\n\t\"a\": 1\n}\n",
        "{\n\t\"a\": 1,\n\t\"n\": {\n\t\t\"k\": [\n\t\t\t1\n\t\t]\n\t}\n}\n",
    );
    round_trip(
        "{\r\n    \"a\": 1, // why\r\n}",
        "{\r\n    \"a\": 1, // why\r\n    \"n\": {\r\n        \"k\": [\r\n            1\r\n        ]\r\n    },\r\n}",
    );
    round_trip(
        "{\n  \"a\": 1 // last, but not least\n}",
        "{\n  \"a\": 1, // last, but not least\n  \"n\": {\n    \"k\": [\n      1\n    ]\n  }\n}",
    );
}

#[test]
fn an_empty_container_keeps_what_it_held() {
    for text in [
        "{}",
        "{}\n",
        "{ }",
        "{\n}",
        "{\n\n  }",
        "{ /* x */ }",
        "{ // x\n}",
    ] {
        let after = append(text, &[], Some("n"), &json!(1)).unwrap();
        assert!(object(&after).unwrap().get("n").is_some(), "{after}");
        assert_eq!(
            remove(&after, &path(&["n"]), 0).unwrap(),
            Left::Text(text.to_owned())
        );
    }
}

#[test]
fn what_was_created_for_a_child_goes_with_it() {
    for style in [Style::fresh(), Style::OneLine] {
        let text = style.render(&json!({"a": {"b": {"c": 1}}}), "");
        assert_eq!(
            remove(&text, &path(&["a", "b", "c"]), 0).unwrap(),
            Left::Nothing
        );
        let kept = remove(&text, &path(&["a", "b", "c"]), 2).unwrap();
        let Left::Text(kept) = kept else {
            panic!("{text}")
        };
        let compact: String = kept.split_whitespace().collect();
        assert_eq!(compact, "{\"a\":{}}");
    }
}

#[test]
fn only_json_with_comments_is_accepted() {
    for text in [
        "{a: 1}",
        "{'a': 1}",
        "{\"a\": 0x1}",
        "{\"a\": +1}",
        "{\"a\": .5}",
        "{\"a\": NaN}",
        "{\"a\": 1 \"b\": 2}",
        "{\"a\": \"\\x41\"}",
        "{} {}",
        "// only",
        "{\"a\"}",
        "\u{feff}{}",
    ] {
        assert!(object(text).is_err(), "{text}");
    }
    assert!(object("/* a */ {\"a\": [1, ], // b\n}").is_ok());
    assert!(object(&"[".repeat(100_000)).is_err());
}

#[test]
fn a_position_counts_lines_and_characters() {
    let text = "é\r\n  \"ü\": x";
    assert_eq!(position(text, text.find('x').unwrap()), (2, 8));
}
