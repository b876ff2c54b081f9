//! Every bound of a request: taken at the bound, refused one beyond, never cut.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, digest};

const FORM: &str = r#"[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]"#;

/// Requests with `args` must be refused as malformed, for a reason that names every one of `told`.
fn refused(world: &Sandbox, args: &[&str], told: &[&str]) {
    let args: Vec<&str> = ["request"].iter().chain(args).copied().collect();
    let error = world.error(&args);
    assert_eq!(
        (&error["code"], &error["http_status"]),
        (&json!("invalid_input"), &json!(400))
    );
    let message = error["message"].as_str().unwrap();
    for part in told {
        assert!(message.contains(part), "{message:?} does not say {part:?}");
    }
}

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

/// Seconds between the creation and the deadline.
fn lifetime(record: &Value) -> u64 {
    let time = |name: &str| sayso::time::Time::parse(record[name].as_str().unwrap()).unwrap();
    let span = time("expires_at").since(time("created_at"));
    assert_eq!(span.subsec_nanos(), 0);
    span.as_secs()
}

#[test]
fn texts_are_taken_at_their_bound_in_characters_and_refused_one_beyond() {
    let world = Sandbox::new();
    let members = [
        ("--key", "key", 200),
        ("--agent", "agent", 100),
        ("--agent-instance", "agent_instance", 100),
        ("--project", "project", 200),
        ("--session", "session_id", 200),
        ("--turn", "turn_id", 200),
        ("--native-request", "native_request_id", 200),
        ("--workflow", "workflow_id", 200),
        ("--task", "task_id", 200),
        ("--action", "action", 2000),
        ("--prompt", "prompt", 2000),
    ];
    // Four bytes each, and blanks around them that do not count.
    let full = |max: usize| "𝄞".repeat(max);
    let mut args: Vec<String> = Vec::new();
    for (option, _, max) in members {
        args.extend([option.to_owned(), format!(" \n{}\t ", full(max))]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let record = world.request(&args);
    for (_, member, max) in members {
        assert_eq!(record[member], full(max), "{member}");
    }
    for (option, member, max) in members {
        let long = "x".repeat(max + 1);
        let args = match option {
            "--prompt" => vec![option, &long],
            _ => vec!["Deploy?", option, &long],
        };
        refused(
            &world,
            &args,
            &[member, &max.to_string(), &(max + 1).to_string()],
        );
    }
    refused(&world, &["--prompt", " \t\n "], &["prompt is required"]);
    refused(&world, &[], &["prompt is required"]);
    assert_eq!(world.json(&["list"])["count"], 1);
}

#[test]
fn blank_optionals_are_absent_and_a_blank_agent_is_unknown() {
    let world = Sandbox::new();
    let record = world.request(&[
        "Deploy?",
        "--agent",
        " ",
        "--key",
        "",
        "--session",
        "\t",
        "--action",
        " ",
    ]);
    assert_eq!(record["agent"], "unknown");
    for member in ["key", "session_id", "action", "host", "tool", "suspended"] {
        assert_eq!(record.get(member), None, "{member}");
    }
    assert_eq!(world.request(&["Deploy?"])["agent"], "cli");
    assert_eq!(record["project"], "shop");
    assert_eq!(record["cwd"], world.repo().to_str().unwrap());
}

#[test]
fn kinds_take_only_what_is_theirs() {
    let world = Sandbox::new();
    let choices = ["--choice", "a:A", "--choice", "b:B"];
    let q = world.path().join("questions.json");
    fs::write(&q, FORM).unwrap();
    let questions = q.to_str().unwrap();
    let rows: [(&[&str], &str); 9] = [
        (
            &["--kind", "text", "--choice", "a:A", "--choice", "b:B"],
            "choices",
        ),
        (
            &[
                "--kind",
                "form",
                "--questions",
                questions,
                "--choice",
                "a:A",
                "--choice",
                "b:B",
            ],
            "choices",
        ),
        (&["--questions", questions], "questions"),
        (&["--kind", "text", "--questions", questions], "questions"),
        (&["--text-max", "5"], "text_max_length"),
        (&["--kind", "text", "--tool", "Bash"], "tool"),
        (
            &[
                "--kind",
                "single-choice",
                "--tool",
                "Bash",
                "--choice",
                "a:A",
                "--choice",
                "b:B",
            ],
            "tool",
        ),
        (&["--kind", "text", "--action", "x"], "action"),
        (&["--kind", "form"], "questions"),
    ];
    for (args, member) in rows {
        let args: Vec<&str> = ["What?"].iter().chain(args).copied().collect();
        refused(&world, &args, &[member]);
    }
    refused(
        &world,
        &["What?", "--kind", "single-choice"],
        &["choices", "2 to 12"],
    );
    for kind in ["PERMISSION", "poll", "1", ""] {
        assert_eq!(
            world.error(&["request", "What?", "--kind", kind])["exit_code"],
            2
        );
    }
    for kind in ["single-choice", "single_choice"] {
        let args: Vec<&str> = ["What?", "--kind", kind]
            .iter()
            .chain(&choices)
            .copied()
            .collect();
        assert_eq!(world.request(&args)["kind"], "single_choice");
    }
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
fn lifetimes_and_text_lengths_are_clamped() {
    let world = Sandbox::new();
    assert_eq!(lifetime(&world.request(&["Deploy?"])), 600);
    for (given, kept) in [
        ("0", 30),
        ("29", 30),
        ("30", 30),
        ("3600", 3600),
        ("3601", 3600),
        ("99999", 3600),
    ] {
        assert_eq!(
            lifetime(&world.request(&["Deploy?", "--ttl", given])),
            kept,
            "{given}"
        );
    }
    let text = |max: &[&str]| {
        let args: Vec<&str> = ["Name?", "--kind", "text"]
            .iter()
            .chain(max)
            .copied()
            .collect();
        world.request(&args)["text_max_length"].clone()
    };
    assert_eq!(text(&[]), 500);
    for (given, kept) in [("0", 1), ("1", 1), ("2000", 2000), ("2001", 2000)] {
        assert_eq!(text(&["--text-max", given]), kept, "{given}");
    }
    for given in ["-1", "ten", ""] {
        assert_eq!(
            world.error(&["request", "Deploy?", "--ttl", given])["exit_code"],
            2,
            "{given:?}"
        );
    }
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

#[test]
fn a_tools_input_is_kept_byte_for_byte() {
    let world = Sandbox::new();
    let input = r#"{"b":1.0,"a":null,"n":123456789012345678901234567890,"é":[1e400, "\u00e9\u0000"],"z":{}}"#;
    let record = world.request(&["Run?", "--tool", "Bash", "--input", input]);
    let id = record["id"].as_str().unwrap();
    let file = world.stored(id);
    assert!(file.contains(&format!(r#""tool":{{"name":"Bash","input":{input}}}"#)));
    assert!(world.run(["get", id]).stdout.contains(input));
    assert_eq!(record["request_digest"], digest(&file));
    for bad in [
        r#"{"command":"ls","command":"rm"}"#,
        r#"[{"a":{"b":1,"b":1}}]"#,
        r#"{"a":"\ud800"}"#,
        "{} {}",
        "{",
        "",
        "NaN",
    ] {
        refused(
            &world,
            &["Run?", "--tool", "Bash", "--input", bad],
            &["--input"],
        );
    }
    assert_eq!(
        world.error(&["request", "Run?", "--input", "{}"])["exit_code"],
        2
    );
    refused(
        &world,
        &["Run?", "--tool", &"t".repeat(201)],
        &["tool", "200"],
    );
    refused(&world, &["Run?", "--tool", " "], &["tool", "required"]);
}
