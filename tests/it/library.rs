//! The same world through the library: cheaper than a process where thousands of rounds are wanted, and
//! able to open questions that live for less than the 30 s of the command line.

use std::path::Path;
use std::time::Duration;

use sayso::broker::{self, Lifetime};
use sayso::error::Result;
use sayso::id::Id;
use sayso::model::draft::Draft;
use sayso::model::interaction::{Choice, Interaction, Question};
use sayso::model::response::{Answer, Responder, Submission};
use sayso::repo;
use sayso::store::Store;
use sayso::store::layout::Home;

use crate::sandbox::Sandbox;

/// The scope that the binary uses in this world.
pub fn store(world: &Sandbox) -> Store {
    store_at(&world.store(), &world.repo())
}

/// The scope of a repository in a state root.
pub fn store_at(home: &Path, repo: &Path) -> Store {
    let home = Home::locate(|name| (name == "SAYSO_HOME").then(|| home.into())).unwrap();
    Store::new(&home, &repo::scope_name(repo), Some(repo.to_owned()))
}

/// A permission with `allow` and `deny`.
pub fn question(prompt: &str, key: Option<&str>) -> Question {
    let choice = |id: &str, label: &str| Choice {
        id: id.into(),
        label: label.into(),
        detail: None,
        effect: None,
    };
    let draft = Draft {
        key: key.map(str::to_owned),
        agent: Some("cli".into()),
        prompt: prompt.into(),
        choices: vec![choice("allow", "Allow"), choice("deny", "Deny")],
        ..Draft::default()
    };
    draft.check().unwrap()
}

/// Opens a question that nobody waits for.
pub fn open(store: &Store, prompt: &str, lifetime: Duration) -> Interaction {
    let lifetime = Lifetime::For(lifetime);
    broker::open(store, question(prompt, None), lifetime, 10_000)
        .unwrap()
        .record
}

/// An answer that proves that it belongs to the record.
pub fn answer(record: &Interaction, response_id: &str, choice: &str) -> Answer {
    let submission = Submission {
        response_id: response_id.into(),
        digest: Some(record.digest.clone()),
        nonce: Some(record.nonce.expose().into()),
        choice_id: Some(choice.into()),
        source: "cli".into(),
        answered_by: response_id.into(),
        ..Submission::default()
    };
    Answer::try_from(submission).unwrap()
}

/// Who answers here.
pub fn who() -> Responder {
    Responder {
        uid: 0,
        tty: None,
        pid: std::process::id(),
        agent_session: None,
    }
}

/// Commits an answer without looking whether it is picked up.
pub fn respond(store: &Store, record: &Interaction, response_id: &str) -> Result<Interaction> {
    let answer = answer(record, response_id, "allow");
    broker::answer_own(store, &record.id, &answer, &who())
}

/// The id of a record as the binary printed it.
pub fn id(record: &serde_json::Value) -> Id {
    Id::parse(record["id"].as_str().unwrap()).unwrap()
}
