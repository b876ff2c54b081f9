//! A form's answers: labels beside own text, notes, one reading of a text, and what each asker gets.

use std::fs;

use serde_json::{Value, json};

use crate::client::Client;
use crate::hosts::{Hook, fixture};
use crate::resumable::Resumable;
use crate::sandbox::{Ran, Sandbox, finish, text};

fn questions() -> Value {
    json!([
        {"question": "How fast?", "header": "Speed", "options": [{"label": "Fast"}, {"label": "Slow"}]},
        {"question": "Which parts?", "header": "Parts", "multi_select": true,
         "options": [{"label": "A"}, {"label": "B, C"}, {"label": "D"}]},
        {"question": "Why?"},
    ])
}

fn asked(world: &Sandbox, questions: &Value) -> Value {
    let args = ["request", "Form", "--kind", "form", "--questions", "-"];
    let ran = world.run_with(
        args.into_iter().chain(["--json"]),
        questions.to_string().as_bytes(),
    );
    ran.data()
}

fn form(world: &Sandbox) -> Value {
    asked(world, &questions())
}

fn answer(world: &Sandbox, record: &Value, flags: &[&str]) -> Ran {
    world.run(
        ["answer", text(record, "id"), "--json"]
            .iter()
            .chain(flags)
            .copied(),
    )
}

/// The answers as the record has them, byte for byte.
fn stored(world: &Sandbox, record: &Value) -> String {
    let record: Value = serde_json::from_str(&world.stored(text(record, "id"))).unwrap();
    record["response"]["answers"].to_string()
}

#[test]
fn several_labels_own_text_and_notes_go_together() {
    let world = Sandbox::new();
    for (flags, kept, schema) in [
        (
            &["--select", "2=A", "--other", "2=mine"][..],
            r#"{"Which parts?":{"labels":["A"],"other":"mine"}}"#,
            2,
        ),
        (
            &[
                "--other",
                "Parts=a, b",
                "--select",
                "Parts=D",
                "--select",
                "Parts=B, C",
            ],
            r#"{"Which parts?":{"labels":["D","B, C"],"other":"a, b"}}"#,
            2,
        ),
        (
            &["--select", "1=Fast", "--note", "speed= only on weekdays "],
            r#"{"How fast?":{"label":"Fast","note":"only on weekdays"}}"#,
            2,
        ),
        (
            &["--note", "#2=n", "--select", "2=A,D"],
            r#"{"Which parts?":{"labels":["A","D"],"note":"n"}}"#,
            2,
        ),
        (
            &["--other", "Why?=because", "--note", "Why?=a=b"],
            r#"{"Why?":{"other":"because","note":"a=b"}}"#,
            2,
        ),
        (
            &[
                "--select", "2=A", "--other", "2=x", "--note", "2=n", "--text", "all",
            ],
            r#"{"Which parts?":{"labels":["A"],"other":"x","note":"n"}}"#,
            2,
        ),
        (
            &["--select", "1=Slow", "--other", "2=x", "--note", "1= "],
            r#"{"How fast?":"Slow","Which parts?":{"other":"x"}}"#,
            1,
        ),
        (&["--select", "2=A,D"], r#"{"Which parts?":["A","D"]}"#, 1),
    ] {
        let record = form(&world);
        assert_eq!(record["schema"], 1);
        let data = answer(&world, &record, flags).data();
        assert_eq!(stored(&world, &record), kept, "{flags:?}");
        assert_eq!(data["response"]["answers"].to_string(), kept);
        assert_eq!(data["schema"], schema, "{flags:?}");
        assert_eq!(world.get(text(&record, "id"))["response"], data["response"]);
    }
    let shown = world.run(["list", "--all", "--limit", "3"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
}

#[test]
fn what_a_question_does_not_take_is_refused_and_says_which() {
    let world = Sandbox::new();
    let record = form(&world);
    let before = world.stored(text(&record, "id"));
    let long = format!("1={}", "é".repeat(501));
    for (flags, code, told) in [
        (
            &["--select", "1=Fast", "--other", "1=x"][..],
            "invalid_answer",
            "question 1 takes one",
        ),
        (
            &["--other", "1=x", "--select", "1=Fast"],
            "invalid_answer",
            "question 1 takes one",
        ),
        (
            &["--other", "2=x", "--other", "2=y"],
            "invalid_answer",
            "question 2 takes one",
        ),
        (
            &["--other", "3=x", "--other", "3=y"],
            "invalid_answer",
            "question 3 takes one",
        ),
        (
            &["--select", "2=A", "--other", "2=A"],
            "invalid_answer",
            "twice",
        ),
        (
            &["--select", "2=A", "--other", "2= "],
            "invalid_answer",
            "1 to 2000",
        ),
        (
            &["--note", "1=n"],
            "invalid_answer",
            "question 1 is not answered",
        ),
        (
            &["--select", "2=A", "--note", "1=n"],
            "invalid_answer",
            "question 1 is not answered",
        ),
        (
            &["--select", "2=A", "--note", "2=n", "--note", "2=m"],
            "invalid_answer",
            "one note only",
        ),
        (
            &["--select", "2=A", "--note", "Nope=n"],
            "invalid_answer",
            "no question",
        ),
        (
            &["--select", "2=A", "--note", "n"],
            "invalid_answer",
            "no question",
        ),
        (
            &["--select", "1=Fast", "--note", &long],
            "invalid_input",
            "500",
        ),
        (&["--deny", "--note", "1=n"], "invalid_input", "--note"),
    ] {
        let error = answer(&world, &record, flags).error();
        assert_eq!(error["code"], code, "{flags:?}: {error}");
        assert!(text(&error, "message").contains(told), "{flags:?}: {error}");
    }
    assert_eq!(world.stored(text(&record, "id")), before);
    let deploy = world.request(&["Deploy?"]);
    let error = answer(&world, &deploy, &["--note", "1=n"]).error();
    assert_eq!(error["code"], "invalid_answer");
    let longest = format!("1={}", "é".repeat(500));
    answer(&world, &record, &["--select", "1=Fast", "--note", &longest]).data();
}

/// Each answer, what becomes of it, and what is kept of it.
const READINGS: &[(&str, Result<&str, &str>)] = &[
    (r#"{"How fast?":"Fast"}"#, Ok(r#"{"How fast?":"Fast"}"#)),
    (r#"{"Why?":"plain"}"#, Ok(r#"{"Why?":{"other":"plain"}}"#)),
    (
        r#"{"Why?":{"label":"plain"}}"#,
        Ok(r#"{"Why?":{"other":"plain"}}"#),
    ),
    (
        r#"{"How fast?":{"note":"n","label":"Fast"}}"#,
        Ok(r#"{"How fast?":{"label":"Fast","note":"n"}}"#),
    ),
    (
        r#"{"How fast?":{"label":"Fast"}}"#,
        Ok(r#"{"How fast?":"Fast"}"#),
    ),
    (
        r#"{"Which parts?":{"labels":["D"]},"How fast?":"Slow"}"#,
        Ok(r#"{"How fast?":"Slow","Which parts?":"D"}"#),
    ),
    (
        r#"{"Which parts?":{"other":" x ","labels":["D","A"],"note":" "}}"#,
        Ok(r#"{"Which parts?":{"labels":["D","A"],"other":"x"}}"#),
    ),
    (
        r#"{"Which parts?":{"label":"D","other":"x"}}"#,
        Ok(r#"{"Which parts?":{"labels":["D"],"other":"x"}}"#),
    ),
    (
        r#"{"Why?":{"other":"x","note":"n"}}"#,
        Ok(r#"{"Why?":{"other":"x","note":"n"}}"#),
    ),
    (r#"{"How fast?":"Fastt"}"#, Err("invalid_answer")),
    (r#"{"How fast?":["Fast"]}"#, Err("invalid_answer")),
    (
        r#"{"How fast?":{"labels":["Fast"]}}"#,
        Err("invalid_answer"),
    ),
    (
        r#"{"How fast?":{"label":"Fast","other":"x"}}"#,
        Err("invalid_answer"),
    ),
    (
        r#"{"Which parts?":{"labels":[],"other":"x"}}"#,
        Err("invalid_answer"),
    ),
    (
        r#"{"Which parts?":{"labels":["A","A"]}}"#,
        Err("invalid_answer"),
    ),
    (
        r#"{"Which parts?":{"labels":["A"],"other":"A"}}"#,
        Err("invalid_answer"),
    ),
    (
        r#"{"Why?":{"labels":["a"],"other":"x"}}"#,
        Err("invalid_answer"),
    ),
    (r#"{"Why?":{"note":"n"}}"#, Err("invalid_answer")),
    (r#"{"Why?":{}}"#, Err("invalid_answer")),
    (
        r#"{"How fast?":{"label":"Fast","labels":["Fast"]}}"#,
        Err("invalid_input"),
    ),
    (
        r#"{"How fast?":{"label":"Fast","label":"Slow"}}"#,
        Err("invalid_input"),
    ),
    (
        r#"{"How fast?":{"label":"Fast","notes":"n"}}"#,
        Err("invalid_input"),
    ),
    (r#"{"How fast?":{"label":null}}"#, Err("invalid_input")),
    (
        r#"{"How fast?":{"label":"Fast","note":5}}"#,
        Err("invalid_input"),
    ),
    (r#"{"Which parts?":{"labels":"A"}}"#, Err("invalid_input")),
];

#[test]
fn the_command_line_and_the_management_tool_read_answers_alike() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &["--management"]);
    for (given, expected) in READINGS {
        for by_tool in [false, true] {
            let record = form(&world);
            let (code, kept) = if by_tool {
                let arguments = format!(r#"{{"id":{},"answers":{given}}}"#, record["id"]);
                let call = client.call_verbatim("interactions_answer", &arguments);
                let result = client.result(&call);
                (
                    result["structuredContent"]["code"].clone(),
                    stored(&world, &record),
                )
            } else {
                let ran = world.respond(&record, "r", &["--answers", given, "--json"]);
                let code = match ran.code {
                    0 => Value::Null,
                    _ => ran.error()["code"].clone(),
                };
                (code, stored(&world, &record))
            };
            let found = match code.as_str() {
                None => Ok(kept.as_str()),
                Some(code) => Err(code),
            };
            assert_eq!(found, *expected, "{given} by_tool={by_tool}");
            if expected.is_err() {
                world.json(&["cancel", text(&record, "id")]);
            }
        }
    }
}

#[test]
fn a_text_answers_a_form_of_one_question_by_every_way() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &["--management"]);
    let one = json!([{"question": "Library?", "options": [{"label": "React"}, {"label": "Vue"}]}]);
    let several =
        json!([{"question": "Library?", "options": [{"label": "React"}], "multi_select": true}]);
    let bare = json!([{"question": "Library?"}]);
    for (questions, given, kept) in [
        (
            &one,
            " use jquery ",
            r#"{"Library?":{"other":"use jquery"}}"#,
        ),
        (&one, "Vue", r#"{"Library?":"Vue"}"#),
        (&one, "vue", r#"{"Library?":{"other":"vue"}}"#),
        (&several, "React", r#"{"Library?":"React"}"#),
        (&bare, "any", r#"{"Library?":{"other":"any"}}"#),
    ] {
        for way in ["answer", "respond", "tool"] {
            let record = asked(&world, questions);
            match way {
                "answer" => drop(answer(&world, &record, &["--text", given]).data()),
                "respond" => {
                    world
                        .respond(&record, "r", &["--text", given, "--json"])
                        .data();
                }
                _ => {
                    let arguments = json!({ "id": record["id"], "text": given });
                    let call = client.call("interactions_answer", &arguments);
                    client.done(&call);
                }
            }
            assert_eq!(stored(&world, &record), kept, "{way}: {given}");
        }
    }
    let record = asked(&world, &one);
    for blank in ["", "  "] {
        let error = world
            .respond(&record, "r", &["--text", blank, "--json"])
            .error();
        assert_eq!(error["code"], "invalid_answer");
    }
    let noted = ["--text", "Vue", "--note", "1=the third"];
    answer(&world, &record, &noted).data();
    assert_eq!(
        stored(&world, &record),
        r#"{"Library?":{"label":"Vue","note":"the third"}}"#
    );
    // The same text again is the same answer.
    let record = asked(&world, &one);
    let first = world.respond(&record, "r", &["--text", "x", "--json"]);
    let again = world.respond(&record, "r", &["--text", "x", "--json"]);
    assert_eq!((again.code, &again.stdout), (0, &first.stdout));
    let other = world
        .respond(&record, "r", &["--text", "y", "--json"])
        .error();
    assert_eq!(other["code"], "already_answered");
}

#[test]
fn a_note_that_differs_is_another_answer() {
    let world = Sandbox::new();
    let record = form(&world);
    let with = |note: &str| format!(r#"{{"How fast?":{{"label":"Fast","note":"{note}"}}}}"#);
    let respond = |answers: &str| world.respond(&record, "r", &["--answers", answers, "--json"]);
    let first = respond(&with("n"));
    assert_eq!(first.code, 0);
    assert_eq!(respond(&with(" n ")).stdout, first.stdout);
    for other in [with("m"), r#"{"How fast?":"Fast"}"#.into()] {
        assert_eq!(
            respond(&other).error()["code"],
            "already_answered",
            "{other}"
        );
    }
}

#[test]
fn only_a_record_with_the_new_shapes_is_of_the_new_format() {
    let world = Sandbox::new();
    let record = form(&world);
    let id = text(&record, "id");
    answer(&world, &record, &["--select", "1=Fast", "--note", "1=n"]).data();
    let path = world.settled(id);
    let new = fs::read_to_string(&path).unwrap();
    assert!(new.starts_with(r#"{"schema":2,"#), "{new}");
    // As a record of the older format it does not hold together.
    fs::write(&path, new.replacen(r#""schema":2"#, r#""schema":1"#, 1)).unwrap();
    assert_eq!(world.error(&["get", id])["code"], "corrupt");
    // A newer format than this one is never taken apart.
    fs::write(&path, new.replacen(r#""schema":2"#, r#""schema":3"#, 1)).unwrap();
    let error = world.error(&["wait", id]);
    assert_eq!(error["code"], "unavailable");
    assert!(text(&error, "message").contains("newer"), "{error}");
    for (from, to) in [
        (r#""note":"n""#, r#""note":" n""#),
        (r#""note":"n""#, r#""note":"n","more":"x""#),
        (r#""note":"n""#, r#""other":"n""#),
        (r#"{"label":"Fast","note":"n"}"#, r#"{"note":"n"}"#),
        (
            r#"{"label":"Fast","note":"n"}"#,
            r#"{"label":"Fat","note":"n"}"#,
        ),
    ] {
        let damaged = new.replacen(from, to, 1);
        assert_ne!(damaged, new);
        fs::write(&path, damaged).unwrap();
        assert_eq!(world.error(&["get", id])["code"], "corrupt", "{to}");
    }
    fs::write(&path, &new).unwrap();
    assert_eq!(world.get(id)["status"], "answered");
    // A record that the older format can hold is read, whichever of the two it says it is.
    let older = form(&world);
    let id = text(&older, "id");
    answer(&world, &older, &["--select", "2=A,D", "--other", "1=x"]).data();
    let path = world.settled(id);
    let old = fs::read_to_string(&path).unwrap();
    assert!(old.starts_with(r#"{"schema":1,"#), "{old}");
    let answers = r#""answers":{"How fast?":{"other":"x"},"Which parts?":["A","D"]}"#;
    assert!(old.contains(answers), "{old}");
    fs::write(&path, old.replacen(r#""schema":1"#, r#""schema":2"#, 1)).unwrap();
    assert_eq!(world.get(id)["status"], "answered");
}

#[test]
fn show_has_own_text_and_notes_under_the_gutter() {
    let world = Sandbox::new();
    let record = form(&world);
    let flags = [
        "--select",
        "2=B, C",
        "--other",
        "2=own\n(note)",
        "--note",
        "2=why\u{1b}[2J",
        "--select",
        "1=Fast",
    ];
    answer(&world, &record, &flags).data();
    let shown = world.run(["show", text(&record, "id")]).stdout;
    let end = shown.find("\n#1\n").unwrap();
    let answers: Vec<&str> = shown[end..]
        .lines()
        .take_while(|l| !l.contains("unanswered"))
        .collect();
    assert_eq!(
        answers,
        [
            "",
            "#1",
            "  │ Fast",
            "#2",
            "  │ B, C",
            "  (other)",
            "  │ own",
            "  │ (note)",
            "  (note)",
            "  │ why\\u{1b}[2J",
            "  ! 1 character is shown as \\u{…}",
        ]
    );
}

#[test]
fn who_asked_on_the_command_line_gets_labels_text_and_notes() {
    let world = Sandbox::new();
    let file = world.path().join("form.json");
    fs::write(&file, questions().to_string()).unwrap();
    let args = [
        "ask",
        "Form",
        "--kind",
        "form",
        "--questions",
        file.to_str().unwrap(),
    ];
    let ask = world.start(args);
    let record = world.await_pending();
    answer(
        &world,
        &record,
        &[
            "--select", "2=A", "--other", "2=mine", "--note", "2=n", "--select", "1=Fast",
        ],
    )
    .data();
    let ran = finish(ask);
    assert_eq!(ran.code, 0);
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        printed["answers"],
        json!({"How fast?": "Fast", "Which parts?": {"labels": ["A"], "other": "mine", "note": "n"}})
    );
    assert_eq!(printed["unanswered"], json!(["Why?"]));
}

#[test]
fn who_asked_through_mcp_gets_the_text_as_one_more_label_and_the_notes_apart() {
    let world = Sandbox::new();
    let mut client = Client::start(&world, &[]);
    let (call, pending) = client.ask("ask", &json!({ "questions": questions() }));
    let flags = [
        "--select", "2=A", "--other", "2=mine", "--note", "2=n", "--select", "1=Fast", "--other",
        "3=since",
    ];
    answer(&world, &pending, &flags).data();
    let done = client.done(&call);
    assert_eq!(
        done["answers"],
        json!({"How fast?": "Fast", "Which parts?": ["A", "mine"], "Why?": "since"})
    );
    assert_eq!(done["notes"], json!({"Which parts?": "n"}));
    assert_eq!(
        done["answer"],
        "How fast?: Fast\nWhich parts?: A, mine (note: n)\nWhy?: since"
    );
    let flat = json!({ "question": "Go on?", "options": ["Yes", "No"] });
    let (call, pending) = client.ask("ask", &flat);
    answer(
        &world,
        &pending,
        &["--select", "1=Yes", "--note", "1=but slowly"],
    )
    .data();
    let done = client.done(&call);
    assert_eq!(
        (&done["answer"], &done["notes"]),
        (&json!("Yes"), &json!({"Go on?": "but slowly"}))
    );
    let (call, pending) = client.ask("ask", &flat);
    answer(&world, &pending, &["--select", "1=Yes"]).data();
    assert!(client.done(&call).get("notes").is_none());
}

#[test]
fn claudes_question_tool_gets_text_as_a_label_and_each_note_with_its_question() {
    let world = Sandbox::new();
    let payload = fixture("claude-askuserquestion-PermissionRequest");
    let (colour, parts) = ("Which colour should we use?", "Which sections do you want?");
    for (flags, answers, annotations) in [
        (
            &[
                "--select", "1=Blue", "--select", "2=Intro", "--other", "2=Mine", "--note", "2=n",
            ][..],
            json!({ colour: "Blue", parts: ["Intro", "Mine"] }),
            json!({ parts: { "notes": "n" } }),
        ),
        (
            &["--select", "2=Intro", "--note", "2=n", "--text", "all"],
            json!({ parts: "Intro" }),
            json!({ parts: { "notes": format!("n\nall\nLeft unanswered: {colour}") } }),
        ),
        (
            &[
                "--other",
                "1=Mauve",
                "--select",
                "2=Body",
                "--note",
                "1=n",
                "--note",
                "2=m",
                "--message",
                "go",
            ],
            json!({ colour: "Mauve", parts: "Body" }),
            json!({ colour: { "notes": "n\ngo" }, parts: { "notes": "m" } }),
        ),
    ] {
        let hook = Hook::start(&world, "claude", "permission-request", &payload);
        let output: Value = serde_json::from_str(&hook.answer(flags).stdout).unwrap();
        let input = &output["hookSpecificOutput"]["decision"]["updatedInput"];
        assert_eq!(input["answers"], answers, "{flags:?}");
        assert_eq!(input["annotations"], annotations, "{flags:?}");
        assert_eq!(input.get("response"), None);
    }
}

#[test]
fn a_servers_form_takes_neither_notes_nor_own_text_beside_values() {
    let world = Sandbox::new();
    let schema = json!({ "type": "object", "properties": {
        "parts": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] } },
        "sure": { "type": "boolean" },
    } });
    let payload = json!({ "mcp_server_name": "x", "message": "Pick", "mode": "form", "requested_schema": schema });
    let hook = Hook::start(
        &world,
        "claude",
        "elicitation",
        payload.to_string().as_bytes(),
    );
    let id = text(&hook.pending(), "id").to_owned();
    for bad in [
        &["--select", "parts=a", "--note", "parts=n"][..],
        &["--select", "parts=a", "--other", "parts=b"],
        &["--select", "parts=a", "--other", "parts=c"],
        &["--other", "parts=a"],
        &["--select", "sure=true", "--note", "sure=n"],
    ] {
        let args = [&["answer", "-A", &id, "--json"], bad].concat();
        assert_eq!(world.run(args).error()["code"], "invalid_answer", "{bad:?}");
    }
    let output: Value =
        serde_json::from_str(&hook.answer(&["--select", "parts=a,b"]).stdout).unwrap();
    assert_eq!(
        output["hookSpecificOutput"]["content"],
        json!({ "parts": ["a", "b"] })
    );
}

#[test]
fn a_resumed_workflow_is_told_the_notes() {
    let r = Resumable::new(
        r#"{ cat; echo end; } >"$OUT.new" && mv "$OUT.new" "$OUT""#,
        &[],
    );
    let (_, pending) = r.suspended("wf-1", "ask", &json!({ "questions": questions() }));
    r.answer(
        &pending,
        &[
            "--select", "2=A", "--other", "2=mine", "--note", "2=n", "--select", "1=Slow",
        ],
    );
    assert_eq!(
        r.told(),
        "How fast?: Slow\nWhich parts?: A, mine (note: n)\ncontinue\nend\n"
    );
}
