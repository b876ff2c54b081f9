//! What is told of an event to those who want notices: once, and nothing of what is refused.

use std::fs;

use serde_json::{Value, json};

use crate::arc::{accept, ahead, apply, asking, created, event, resolved};
use crate::notice_world::Noticed;

#[test]
fn an_event_is_told_once_with_its_title_and_its_priority() {
    let noticed = Noticed::new("");
    let program = noticed.script("note", "cat >> \"$OUT/told\"");
    noticed.configure(&format!(
        "[[notify]]\ncommand = [{program:?}]\ninclude_prompt = true\n"
    ));
    let world = &noticed.world;
    let told = || -> Vec<Value> {
        noticed.idle();
        let text = fs::read_to_string(noticed.out().join("told")).unwrap_or_default();
        let parse = |line| serde_json::from_str(line).unwrap();
        text.lines().map(parse).collect()
    };

    // What is refused is told to nobody.
    let mut one_choice = created("e0", "codex", "May I?", &ahead(600));
    one_choice["request"]["response"]["choices"] = json!([{ "id": "allow", "label": "Allow" }]);
    assert_eq!(apply(world, &one_choice).code, 2);
    assert!(!world.store().exists());

    let question = asking("e1", "codex", "k", "May I?");
    for _ in 0..3 {
        accept(world, &question);
    }
    let first = told();
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(first[0]["type"], "interaction_created");

    let mut failure = event(
        "request.created",
        "e2",
        "codex",
        json!({ "kind": "failure", "message": "the build broke" }),
    );
    failure["sender"]["name"] = "Codex".into();
    failure["context"] = json!({ "project": "shop" });
    let mut update = event(
        "request.updated",
        "u1",
        "codex",
        json!({ "key": "k", "kind": "question", "message": "still waiting", "title": "Well?", "priority": "low" }),
    );
    for event in [&failure, &failure, &update, &update] {
        accept(world, event);
        noticed.idle();
    }
    // An update that finds nothing, and an end, tell nothing.
    accept(world, &resolved("r1", "codex", "k"));
    update["event_id"] = "u2".into();
    assert_eq!(apply(world, &update).code, 3);
    let messages: Vec<Value> = told()
        .into_iter()
        .skip(1)
        .map(|mut message| {
            message.as_object_mut().unwrap().remove("at");
            message
        })
        .collect();
    let expected = [
        json!({
            "schema": "sayso.notice.v1", "type": "message", "agent": "codex", "project": "shop",
            "title": "Codex reported a failure", "body": "the build broke", "priority": "high",
        }),
        json!({
            "schema": "sayso.notice.v1", "type": "message", "agent": "codex",
            "title": "Well?", "body": "still waiting", "priority": "low",
        }),
    ];
    assert_eq!(messages, expected);
}
