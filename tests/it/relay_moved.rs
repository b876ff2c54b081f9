//! Pairing with another Relay under a name that is in use: wherever it is cut off, no token goes to the
//! address of the other. Each fake Relay takes another's token for a breach of the contract.

use std::fs;

use crate::crash::trace::{self, Fault, can_inject, copy};
use crate::fake_relay::{Endpoint, FakeRelay};
use crate::relayed::dir;
use crate::sandbox::Sandbox;

fn pairing(relay: &FakeRelay) -> Vec<String> {
    let url = relay.url();
    let args = [
        "relay",
        "pair",
        "--allow-private",
        "--provider",
        "home",
        "--enable",
        "--url",
        &url,
    ];
    args.map(str::to_owned).to_vec()
}

#[test]
fn a_pairing_killed_at_any_change_puts_no_token_beside_another_address() {
    if !can_inject("a_pairing_killed_at_any_change_puts_no_token_beside_another_address") {
        return;
    }
    let world = Sandbox::in_memory();
    let (old, new) = (FakeRelay::start(), FakeRelay::start());
    assert_eq!(world.run(pairing(&old)).code, 0);
    world.request(&["Deploy?"]);
    let template = world.path().join("template");
    copy(&world.store(), &template);
    let reset = || {
        fs::remove_dir_all(world.store()).unwrap();
        copy(&template, &world.store());
    };
    let file = world.path().join("trace");
    let what = format!("trace={}", trace::CALLS);
    let options = ["-y", "-e", &what, "-o", file.to_str().unwrap()];
    let ran = trace::run(&world, &options, &pairing(&new));
    assert_eq!(ran.code, 0, "{ran:?}");
    let place = dir(&world, "home").display().to_string();
    let mut calls = trace::calls(&fs::read_to_string(file).unwrap(), &world.path());
    calls.retain(|call| {
        let moves = ["rename", "unlink", "fsync", "fdatasync"];
        call.line.contains(&place) && moves.iter().any(|name| call.name.starts_with(name))
    });
    assert!(calls.len() > 8, "{calls:?}");
    let (mut before, mut after) = (0, 0);
    for call in &calls {
        reset();
        let [what, injection] = trace::injection(call, Fault::Kill);
        let options = ["-e", &what, "-e", &injection, "-o", "/dev/null"];
        let ran = trace::run(&world, &options, &pairing(&new));
        assert_eq!(ran.code, 128 + 9, "{} {}: {ran:?}", call.name, call.line);
        let seen = (old.count(), new.requests(Endpoint::Responses).len());
        world.run(["relay", "poll"]);
        before += usize::from(old.count() > seen.0);
        after += usize::from(new.requests(Endpoint::Responses).len() > seen.1);
        // Pairing again ends it.
        if call.name.starts_with("unlink") {
            assert_eq!(world.run(pairing(&new)).code, 0);
            assert_eq!(world.run(["relay", "poll"]).code, 0);
        }
    }
    assert!(
        before > 0 && after > 0,
        "{before} times the old one, {after} times the new one"
    );
}
