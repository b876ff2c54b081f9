//! An edited input, remembered permissions, and forms: which of them fit which question.

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, text};

/// `answer` with these flags.
fn answer(world: &Sandbox, record: &Value, flags: &[&str]) -> Ran {
    let args = ["answer", text(record, "id"), "--json"];
    world.run(args.iter().chain(flags).copied())
}

fn refused(world: &Sandbox, record: &Value, flags: &[&str]) -> String {
    let before = world.stored(text(record, "id"));
    let error = answer(world, record, flags).error();
    assert_eq!(
        (&error["code"], &error["exit_code"]),
        (&json!("invalid_answer"), &json!(2)),
        "{flags:?}"
    );
    assert_eq!(world.stored(text(record, "id")), before);
    text(&error, "message").to_owned()
}

/// A tool call's permission as a hook would store it.
fn suggested(world: &Sandbox, id: char, host: Option<&str>, suggestions: &Value) -> Value {
    let mut record = world.request(&[
        "Run?",
        "--tool",
        "Bash",
        "--input",
        r#"{"command":"ls","n":1.0}"#,
    ]);
    world.json(&["cancel", text(&record, "id")]);
    record["id"] = id.to_string().repeat(32).into();
    record["tool"]["suggestions"] = suggestions.clone();
    if let Some(host) = host {
        record["host"] = host.into();
    }
    world.plant(record)
}

fn form(world: &Sandbox, questions: &Value) -> Value {
    let args = [
        "request",
        "Form",
        "--kind",
        "form",
        "--questions",
        "-",
        "--json",
    ];
    world
        .run_with(args, questions.to_string().as_bytes())
        .data()
}

fn two_questions(world: &Sandbox) -> Value {
    form(
        world,
        &json!([
            {"question": "How?", "header": "Format", "options": [{"label": "Summary"}, {"label": "Full"}]},
            {"question": "Which parts?", "header": "Parts", "multi_select": true,
             "options": [{"label": "Introduction"}, {"label": "Conclusion"}, {"label": "Yes, all"}]},
        ]),
    )
}

#[test]
fn edits_fit_only_an_allow_of_a_tool_call() {
    let world = Sandbox::new();
    let input = "{\"command\":\"ls -l\",\"n\":1.0}";
    let bare = world.request(&["Deploy?"]);
    let tool = world.request(&["Run?", "--tool", "Bash", "--input", "{\"command\":\"ls\"}"]);
    let choice = world.request(&[
        "Which?",
        "--kind",
        "single-choice",
        "--choice",
        "allow:A",
        "--choice",
        "b:B",
    ]);
    let typed = world.request(&["Name?", "--kind", "text"]);
    for (record, flags) in [
        (&bare, &["--allow"][..]),
        (&tool, &["--deny"]),
        (&choice, &["--choice", "allow"]),
        (&typed, &["--text", "x"]),
    ] {
        for edit in [&["--updated-input", input][..], &["--remember"]] {
            refused(&world, record, &[flags, edit].concat());
        }
    }
    assert!(refused(&world, &tool, &["--allow", "--remember"]).contains("nothing to remember"));
    let data = answer(&world, &tool, &["--allow", "--updated-input", input]).data();
    assert_eq!(data["response"].get("updated_permissions"), None);
    let file = world.stored(text(&tool, "id"));
    assert!(file.contains(&format!("\"updated_input\":{input}")));
}

#[test]
fn remember_hands_back_what_the_host_suggested_for_local_settings() {
    let world = Sandbox::new();
    let local = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": null}], "destination": "localSettings"});
    let session = json!({"type": "addRules", "rules": [], "destination": "session"});
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "localSettings"});
    let both = suggested(&world, 'a', Some("claude"), &json!([local, session, mode]));
    assert!(
        world
            .run(["show", text(&both, "id")])
            .stdout
            .contains("--remember")
    );
    let data = answer(
        &world,
        &both,
        &[
            "--allow",
            "--remember",
            "--updated-input",
            "{\"command\":\"pwd\"}",
        ],
    )
    .data();
    assert_eq!(data["response"]["updated_permissions"], json!([local]));
    assert_eq!(data["response"]["updated_input"], json!({"command": "pwd"}));
    let shown = world.run(["show", text(&both, "id")]).stdout;
    assert!(
        shown.contains("pwd") && shown.contains("ruleContent"),
        "{shown}"
    );
    for (id, nothing) in [
        ('b', json!([session])),
        ('c', json!([])),
        ('d', json!([mode])),
    ] {
        let record = suggested(&world, id, Some("claude"), &nothing);
        assert!(
            refused(&world, &record, &["--allow", "--remember"]).contains("nothing to remember")
        );
    }
    let codex = suggested(&world, 'e', Some("codex"), &json!([local]));
    for edit in [&["--remember"][..], &["--updated-input", "{}"]] {
        assert!(refused(&world, &codex, &[&["--allow"], edit].concat()).contains("host"));
    }
    assert_eq!(answer(&world, &codex, &["--allow"]).code, 0);
}

#[test]
fn selections_name_questions_as_wholes_before_anything_is_split() {
    let world = Sandbox::new();
    let questions = json!([
        {"question": "Use a=b?", "header": "Go", "options": [{"label": "Yes"}, {"label": "No"}]},
        {"question": "Delete?", "header": "2", "options": [{"label": "Yes, delete"}, {"label": "Yes"}, {"label": "delete"}]},
        {"question": "2024", "header": "Same", "options": [{"label": "x"}, {"label": "X"}]},
        {"question": "Sure?", "header": "Same", "options": [{"label": "Ja"}, {"label": "Nein"}]},
        {"question": "Straße?", "header": "Ümlaut", "options": [{"label": "Größe"}]},
    ]);
    let (first, second, third, fourth, fifth) = ("Use a=b?", "Delete?", "2024", "Sure?", "Straße?");
    let rows: [(&str, &str, &str); 20] = [
        ("Use a=b?=Yes", first, "Yes"),
        ("use A=B?=Yes", first, "Yes"),
        ("Go=No", first, "No"),
        ("gO=yes", first, "Yes"),
        ("#1=Yes", first, "Yes"),
        ("1=Yes", first, "Yes"),
        ("2=Yes, delete", second, "Yes, delete"),
        ("#2=Yes", second, "Yes"),
        ("Delete?=DELETE", second, "delete"),
        ("2024=x", third, "x"),
        ("2024=X", third, "X"),
        ("#3=X", third, "X"),
        ("3=x", third, "x"),
        ("#4=Ja", fourth, "Ja"),
        ("Sure?= nein ", fourth, "Nein"),
        ("4=Ja", fourth, "Ja"),
        ("STRASSE?=x", "", ""),
        ("ümlaut=GRÖSSE", "", ""),
        ("ÜMLAUT=GRÖßE", fifth, "Größe"),
        ("#5=größe", fifth, "Größe"),
    ];
    for (select, question, label) in rows {
        let record = form(&world, &questions);
        if question.is_empty() {
            refused(&world, &record, &["--select", select]);
            world.json(&["cancel", text(&record, "id")]);
            continue;
        }
        let data = answer(&world, &record, &["--select", select]).data();
        assert_eq!(
            data["response"]["answers"],
            json!({ question: label }),
            "{select}"
        );
        assert_eq!(
            data["response"]["unanswered"].as_array().unwrap().len(),
            4,
            "{select}"
        );
    }
    let record = form(&world, &questions);
    assert!(refused(&world, &record, &["--select", "Same=Ja"]).contains("#3, #4"));
    for bad in [
        "6=Ja", "0=Ja", "#0=Ja", "Nope?=Ja", "Sure?=", "Sure?", "=Ja", "", "2024=y",
    ] {
        refused(&world, &record, &["--select", bad]);
    }
    assert!(refused(&world, &record, &["--select", "Sure?=Jaa"]).contains("Ja | Nein"));
    assert!(refused(&world, &record, &["--select", "2=Yes,delete"]).contains("one label"));
    refused(&world, &record, &["--select", "1=Yes", "--select", "1=No"]);
    refused(&world, &record, &["--select", "1=Yes", "--other", "1=both"]);
}

#[test]
fn several_labels_are_for_questions_that_take_several() {
    let world = Sandbox::new();
    let record = two_questions(&world);
    let data = answer(
        &world,
        &record,
        &[
            "--select",
            "Format=Summary",
            "--select",
            "2=Introduction,Conclusion",
            "--text",
            "Keep it short",
        ],
    )
    .data();
    assert_eq!(
        data["response"]["answers"],
        json!({"How?": "Summary", "Which parts?": ["Introduction", "Conclusion"]})
    );
    assert_eq!(data["response"]["response"], "Keep it short");
    assert_eq!(data["response"]["unanswered"], json!([]));
    let record = two_questions(&world);
    for twice in [
        &["--select", "2=Introduction", "--select", "2=Introduction"][..],
        &["--select", "2=Introduction,Introduction"],
    ] {
        assert!(refused(&world, &record, twice).contains("twice"));
    }
    let data = answer(
        &world,
        &record,
        &[
            "--select",
            "2=Conclusion",
            "--select",
            "2=Yes, all",
            "--other",
            "1=in verse",
        ],
    )
    .data();
    assert_eq!(
        serde_json::to_string(&data["response"]["answers"]).unwrap(),
        r#"{"How?":{"other":"in verse"},"Which parts?":["Conclusion","Yes, all"]}"#
    );
    let shown = world.run(["show", text(&record, "id")]).stdout;
    assert!(shown.contains("in verse") && shown.contains("(other)"));
    let record = two_questions(&world);
    let data = answer(&world, &record, &["--select", "2=Conclusion"]).data();
    assert_eq!(
        data["response"]["answers"],
        json!({"Which parts?": "Conclusion"})
    );
    assert_eq!(data["response"]["unanswered"], json!(["How?"]));
}

#[test]
fn a_text_answers_a_form_of_one_question_and_is_a_response_otherwise() {
    let world = Sandbox::new();
    let one = json!([{"question": "Library?", "options": [{"label": "React"}, {"label": "Vue"}]}]);
    let record = form(&world, &one);
    let data = answer(&world, &record, &["--text", " use jquery "]).data();
    assert_eq!(
        data["response"]["answers"],
        json!({"Library?": {"other": "use jquery"}})
    );
    assert_eq!(data["response"].get("response"), None);
    let record = form(&world, &one);
    let data = answer(&world, &record, &["--select", "1=Vue", "--text", "gladly"]).data();
    assert_eq!(
        (&data["response"]["answers"], &data["response"]["response"]),
        (&json!({"Library?": "Vue"}), &json!("gladly"))
    );
    let record = two_questions(&world);
    let data = answer(&world, &record, &["--text", "neither"]).data();
    assert_eq!(
        (
            data["response"].get("answers"),
            &data["response"]["response"]
        ),
        (None, &json!("neither"))
    );
    assert_eq!(
        data["response"]["unanswered"],
        json!(["How?", "Which parts?"])
    );
}

#[test]
fn programs_answer_forms_by_exact_texts() {
    let world = Sandbox::new();
    let record = two_questions(&world);
    let respond =
        |record: &Value, args: &[&str]| world.respond(record, "r", &[args, &["--json"]].concat());
    for (answers, told) in [
        ("{}", "answer or a response"),
        (r#"{"Nope?":"Summary"}"#, "key of answers"),
        (r#"{"how?":"Summary"}"#, "key of answers"),
        (r#"{"How?":"summary"}"#, "does not offer"),
        (r#"{"How?":["Summary"]}"#, "one label"),
        (r#"{"How?":["Summary","Full"]}"#, "one label"),
        (r#"{"Which parts?":[]}"#, "empty"),
        (
            r#"{"Which parts?":["Introduction","Introduction"]}"#,
            "twice",
        ),
        (
            r#"{"Which parts?":["Introduction","Sumary"]}"#,
            "does not offer",
        ),
        (r#"{"How?":{"other":"  "}}"#, "1 to 2000"),
    ] {
        let error = respond(&record, &["--answers", answers]).error();
        assert_eq!(error["code"], "invalid_answer", "{answers}");
        assert!(text(&error, "message").contains(told), "{error}");
    }
    for args in [&["--choice", "Summary"][..], &["--text", "x"]] {
        assert_eq!(respond(&record, args).error()["code"], "invalid_answer");
    }
    let given = r#"{"Which parts?":["Conclusion"],"How?":{"other":"é"}}"#;
    let first = respond(&record, &["--answers", given, "--response", "r"]);
    let data = first.data();
    assert_eq!(
        serde_json::to_string(&data["response"]["answers"]).unwrap(),
        r#"{"How?":{"other":"é"},"Which parts?":"Conclusion"}"#
    );
    // The same answers in another order are the same answer.
    let again = r#"{"How?":{"other":"é"},"Which parts?":"Conclusion"}"#;
    assert_eq!(
        respond(&record, &["--answers", again, "--response", "r"]).stdout,
        first.stdout
    );
    assert_eq!(
        respond(&record, &["--answers", again]).error()["code"],
        "already_answered"
    );
    let alone = two_questions(&world);
    let data = respond(&alone, &["--response", "only this"]).data();
    assert_eq!(data["response"].get("answers"), None);
    let file = world.path().join("answers.json");
    fs::write(&file, again).unwrap();
    let from_file = two_questions(&world);
    let data = respond(&from_file, &["--answers", &format!("@{}", file.display())]).data();
    assert_eq!(data["response"]["answers"]["Which parts?"], "Conclusion");
}

#[test]
fn a_form_can_be_declined_as_a_whole() {
    let world = Sandbox::new();
    let record = two_questions(&world);
    let data = answer(&world, &record, &["--deny", "--message", "ask later"]).data();
    assert_eq!(
        (&data["response"]["declined"], &data["response"]["message"]),
        (&json!(true), &json!("ask later"))
    );
    assert_eq!(data["response"].get("unanswered"), None);
    assert_eq!(
        world
            .run(["wait", text(&record, "id"), "--exit-status"])
            .code,
        10
    );
    let record = two_questions(&world);
    assert_eq!(
        world
            .respond(&record, "r", &["--declined", "--json"])
            .data()["response"]["declined"],
        true
    );
    let bare = world.request(&["Deploy?"]);
    assert_eq!(
        world.respond(&bare, "r", &["--declined", "--json"]).error()["code"],
        "invalid_answer"
    );
    let record = two_questions(&world);
    refused(&world, &record, &["--allow"]);
    let ask = world.start(["ask", "Form", "--kind", "form", "--questions", "/dev/null"]);
    assert_eq!(crate::sandbox::finish(ask).code, 2);
}
