//! The bounds of choices and of forms, and what a choice means where its asker did not say.

use serde_json::{Value, json};

use crate::bounds::refused;
use crate::sandbox::Sandbox;

fn form(world: &Sandbox, questions: &Value) -> crate::sandbox::Ran {
    world.run_with(
        [
            "request",
            "Form",
            "--kind",
            "form",
            "--questions",
            "-",
            "--json",
        ],
        questions.to_string().as_bytes(),
    )
}

#[test]
fn choices_have_their_bounds() {
    let world = Sandbox::new();
    let with = |choices: &[String]| -> Vec<String> {
        let given = choices
            .iter()
            .flat_map(|c| ["--choice".to_owned(), c.clone()]);
        ["Which?".to_owned()].into_iter().chain(given).collect()
    };
    let many = |n: usize| (0..n).map(|i| format!("c{i}:L{i}")).collect::<Vec<_>>();
    let take = |choices: &[String]| {
        let args = with(choices);
        world.request(&args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let refuse = |choices: &[String], told: &[&str]| {
        let args = with(choices);
        refused(
            &world,
            &args.iter().map(String::as_str).collect::<Vec<_>>(),
            told,
        );
    };
    for n in [2, 12] {
        assert_eq!(take(&many(n))["choices"].as_array().unwrap().len(), n);
    }
    for n in [1, 13] {
        refuse(&many(n), &["choices must contain 2 to 12", &n.to_string()]);
    }
    let pair = |first: &str| vec![first.to_owned(), "deny:No".to_owned()];
    let id = "i".repeat(64);
    for (given, id, label) in [
        (format!("{id}:L"), id.as_str(), "L"),
        ("A_z-9:L".into(), "A_z-9", "L"),
        (" ok : yes ".into(), "ok", "yes"),
        ("a:b:c".into(), "a", "b:c"),
        (format!("a: {} ", "é".repeat(200)), "a", &"é".repeat(200)),
        ("a:ends\n".into(), "a", "ends"),
    ] {
        let record = take(&pair(&given));
        assert_eq!(
            (&record["choices"][0]["id"], &record["choices"][0]["label"]),
            (&json!(id), &json!(label))
        );
    }
    for (given, told) in [
        (format!("{}:L", "i".repeat(65)), "64"),
        ("a b:L".into(), "choice id"),
        ("é:L".into(), "choice id"),
        ("deny:L".into(), "unique"),
        (format!("a:{}", "x".repeat(201)), "200"),
        ("a:two\nlines".into(), "one line"),
        ("a:two\rlines".into(), "one line"),
        ("a:two\u{2028}lines".into(), "one line"),
        ("a:two\u{85}lines".into(), "one line"),
    ] {
        refuse(&pair(&given), &[told]);
    }
    for given in ["allow", ":x", "a:", " : "] {
        assert_eq!(
            world.error(&["request", "Which?", "--choice", given])["exit_code"],
            2,
            "{given:?}"
        );
    }
    let cased = take(&["Allow:A".into(), "allow:B".into()]);
    assert_eq!(cased["choices"][0].get("effect"), None);
}

#[test]
fn details_and_effects_belong_to_given_choices() {
    let world = Sandbox::new();
    let base = ["Which?", "--choice", "a:A", "--choice", "b:B"];
    let with = |more: &[&str]| world.request(&base.iter().chain(more).copied().collect::<Vec<_>>());
    let refuse = |more: &[&str], told: &str| {
        refused(
            &world,
            &base.iter().chain(more).copied().collect::<Vec<_>>(),
            &[told],
        );
    };
    let full = format!("a: {} ", "é".repeat(500));
    assert_eq!(
        with(&["--choice-detail", &full])["choices"][0]["detail"],
        "é".repeat(500)
    );
    refuse(
        &["--choice-detail", &format!("a:{}", "x".repeat(501))],
        "500",
    );
    refuse(&["--choice-detail", "a:two\nlines"], "one line");
    refuse(&["--choice-detail", "z:unknown"], "--choice-detail");
    refuse(&["--effect", "z=allow"], "--effect");
    for given in ["a=maybe", "a", "=", "a="] {
        let args: Vec<&str> = ["request"]
            .iter()
            .chain(&base)
            .copied()
            .chain(["--effect", given])
            .collect();
        assert_eq!(world.error(&args)["exit_code"], 2, "{given:?}");
    }
    let given = with(&["--effect", "a=allow", "--effect", "b=deny"]);
    assert_eq!(
        (
            &given["choices"][0]["effect"],
            &given["choices"][1]["effect"]
        ),
        (&json!("allow"), &json!("deny"))
    );
    let against = world.request(&[
        "Which?",
        "--choice",
        "allow:A",
        "--choice",
        "deny:B",
        "--effect",
        "allow=deny",
    ]);
    assert_eq!(against["choices"][0]["effect"], "deny");
}

#[test]
fn an_id_means_what_its_first_word_says() {
    let world = Sandbox::new();
    let words =
        |words: &str, effect: Option<&'static str>| -> Vec<(String, Option<&'static str>)> {
            words.split(' ').map(|w| (w.to_owned(), effect)).collect()
        };
    let rows = [
        words(
            "allow allow-once allow_always approve-it accept yes yes-please ok grant",
            Some("allow"),
        ),
        words(
            "deny deny-it reject refuse no no_way cancel block abort stop",
            Some("deny"),
        ),
        words(
            "allowed Allow okay yesterday not-now nope none stopped grants blocker",
            None,
        ),
        words("maybe -allow _deny un-allow", None),
    ]
    .concat();
    for chunk in rows.chunks(11) {
        let given: Vec<String> = chunk
            .iter()
            .map(|(id, _)| format!("--choice={id}:L"))
            .collect();
        let args: Vec<&str> = ["Which?"]
            .into_iter()
            .chain(given.iter().map(String::as_str))
            .collect();
        let record = world.request(&args);
        for (choice, (id, effect)) in record["choices"].as_array().unwrap().iter().zip(chunk) {
            assert_eq!(
                choice.get("effect").and_then(Value::as_str),
                *effect,
                "{id}"
            );
        }
    }
    let default = world.request(&["Which?"]);
    assert_eq!(
        default["choices"],
        json!([
            {"id": "allow-once", "label": "Allow once", "effect": "allow"},
            {"id": "deny", "label": "Deny", "effect": "deny"},
        ])
    );
}

#[test]
fn forms_have_their_bounds() {
    let world = Sandbox::new();
    let questions = |n: usize| -> Value {
        (0..n)
            .map(|i| json!({"question": format!("Q{i}?")}))
            .collect()
    };
    let options = |n: usize| -> Value {
        let options: Vec<Value> = (0..n).map(|i| json!({"label": format!("L{i}")})).collect();
        json!([{"question": "Which?", "options": options}])
    };
    let text = |question: usize, header: usize, label: usize, description: usize| {
        json!([{
            "question": format!(" {} ", "é".repeat(question)),
            "header": "é".repeat(header),
            "options": [{"label": "é".repeat(label), "description": "é".repeat(description)}, {"label": "B"}],
        }])
    };
    for taken in [
        questions(1),
        questions(12),
        options(50),
        options(1),
        text(2000, 100, 200, 500),
    ] {
        form(&world, &taken).data();
    }
    let trimmed = form(&world, &text(3, 1, 1, 1)).data();
    assert_eq!(trimmed["questions"][0]["question"], "ééé");
    assert_eq!(trimmed["questions"][0]["multi_select"], false);
    for (refused, told) in [
        (questions(0), "1 to 12"),
        (questions(13), "1 to 12"),
        (options(51), "50"),
        (text(2001, 1, 1, 1), "2000"),
        (text(1, 101, 1, 1), "100"),
        (text(1, 1, 201, 1), "200"),
        (text(1, 1, 1, 501), "500"),
        (json!([{"question": " "}]), "required"),
        (json!([{"question": "A?"}, {"question": " A? "}]), "unique"),
        (
            json!([{"question": "A?", "options": [{"label": "x"}, {"label": "x "}]}]),
            "unique",
        ),
        (
            json!([{"question": "A?", "options": [{"label": ""}]}]),
            "required",
        ),
        (json!([{"header": "no question"}]), "--questions"),
        (
            json!([{"question": "A?", "answer": "hidden"}]),
            "--questions",
        ),
        (
            json!([{"question": "A?", "options": ["flat"]}]),
            "--questions",
        ),
        (json!({"question": "A?"}), "--questions"),
        (json!({}), "--questions"),
    ] {
        let error = form(&world, &refused).error();
        assert_eq!(
            (&error["code"], &error["exit_code"]),
            (&json!("invalid_input"), &json!(2))
        );
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(told), "{message:?} does not say {told:?}");
    }
    for spelling in ["multi_select", "multiSelect"] {
        let record = form(
            &world,
            &json!([{"question": "A?", "options": [{"label": "x"}], spelling: true}]),
        )
        .data();
        assert_eq!(record["questions"][0]["multi_select"], true);
    }
}
