//! The first thing that works end to end.

use crate::sandbox::{Sandbox, finish};

#[test]
fn a_question_is_asked_answered_and_delivered() {
    let world = Sandbox::new();
    let ask = world.start(["ask", "Deploy?"]);
    let pending = world.await_pending();
    assert_eq!(pending["prompt"], "Deploy?");
    assert_eq!(pending["waiting"], "yes");
    assert_eq!(pending.get("nonce"), None);
    let id = pending["id"].as_str().unwrap();
    let answered = world.json(&["answer", id, "--allow"]);
    assert_eq!(answered["delivery_state"], "delivered");
    let asked = finish(ask);
    assert_eq!((asked.code, asked.stdout.as_str()), (0, "allow-once\n"));
    let kinds: Vec<_> = world.events().iter().map(|e| e["type"].clone()).collect();
    assert_eq!(
        kinds,
        [
            "interaction_created",
            "interaction_answered",
            "interaction_delivered"
        ]
    );
}
