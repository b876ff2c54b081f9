//! Every bound of a request: taken at the bound, refused one beyond, never cut.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, digest};

const FORM: &str = r#"[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]"#;

/// Requests with `args` must be refused as malformed, for a reason that names every one of `told`.
pub fn refused(world: &Sandbox, args: &[&str], told: &[&str]) {
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
