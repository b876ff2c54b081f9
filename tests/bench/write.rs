//! What a durable question and its durable answer cost, process starts included.

use std::process::Stdio;

use serde_json::Value;

use crate::figure::{Figure, Series};
use crate::world::{World, binary, find};

const NAME: &str = "request + respond / the same writes by sqlite3";

pub(crate) fn figures() -> Vec<Figure> {
    if find("sqlite3").is_none() {
        return vec![Figure::not_measured(NAME, 0.6, "no sqlite3")];
    }
    let world = World::new();
    let file = world.path().join("questions.db");
    let file = file.to_str().unwrap();
    let table = "PRAGMA journal_mode=WAL; CREATE TABLE questions(id TEXT PRIMARY KEY, record TEXT, answer TEXT);";
    world.run("sqlite3", &[file, table]);
    world.open();
    let (mut ours, mut theirs) = (Series::default(), Series::default());
    for n in 0..200 {
        let mut record = Value::Null;
        ours.time(|| {
            record = request(&world);
            respond(&world, &record);
        });
        theirs.time(|| {
            let insert = format!("INSERT INTO questions(id, record) VALUES('{n}', '{record}')");
            world.run("sqlite3", &[file, &durably(&insert)]);
            let update = format!(
                "UPDATE questions SET answer = '{{\"choice_id\":\"deny\"}}' WHERE id = '{n}' AND answer IS NULL"
            );
            world.run("sqlite3", &[file, &durably(&update)]);
        });
    }
    vec![Figure::ratio(NAME, &ours, &theirs, 0.6)]
}

fn durably(statement: &str) -> String {
    format!("PRAGMA synchronous=FULL; {statement};")
}

fn request(world: &World) -> Value {
    let mut command = world.command(binary(), &["request", "Publish the crate?", "--json"]);
    let output = command.stdout(Stdio::piped()).output().unwrap();
    let envelope: Value = serde_json::from_slice(&output.stdout).unwrap();
    envelope["data"].clone()
}

fn respond(world: &World, record: &Value) {
    let text = |name: &str| record[name].as_str().unwrap();
    let (id, digest, nonce) = (text("id"), text("request_digest"), text("nonce"));
    let args = [
        "respond",
        id,
        "--response-id",
        "r",
        "--digest",
        digest,
        "--nonce",
        nonce,
    ];
    world.run(binary(), &[args.as_slice(), &["--choice", "deny"]].concat());
}
