//! Neither tokens nor questions nor answers leak from what deals with a Relay.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;
use crate::fake_relay::{Asked, Endpoint, FakeRelay, Fault, Reply};
use crate::relayed::{EVERYTHING, Relayed, configure, dir, paired, table, write_private};
use crate::sandbox::{Ran, Sandbox, binary, finish, text, until};

/// Stands in the prompt, the choices and the answer.
const CANARY: &str = "kanarienvogel";

fn silent(what: &str, told: &str, secrets: &[String]) {
    for secret in secrets {
        assert!(
            !told.contains(secret.as_str()),
            "{what} tells {secret}: {told}"
        );
    }
}

/// Every regular file below a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

/// Replies that throw back whatever they know.
fn echoes(relay: &FakeRelay, secrets: &[String]) -> Vec<Fault> {
    let all = secrets.join(" ");
    let url = format!("http://example.org/{}", relay.state().token);
    vec![
        Fault::Reply(Reply::new(500, all.clone())),
        Fault::Reply(Reply::new(
            401,
            json!({ "error": { "code": all, "message": all } }).to_string(),
        )),
        Fault::Reply(Reply::new(302, all.clone()).with("location", &url)),
        Fault::body(all.clone()),
        Fault::body(
            json!({ "responses": [{ "contract_version": all }], "next_cursor": all.repeat(50) })
                .to_string(),
        ),
        Fault::Raw(format!("HTTP/1.1 {all}\r\n\r\n").into()),
        Fault::Raw(format!("HTTP/1.1 200 OK\r\n{all}\r\n\r\n").into()),
        Fault::Cut,
    ]
}

#[test]
fn nothing_that_is_secret_is_told() {
    let r = Relayed::new();
    let verbose = |args: &[&str]| {
        let mut command = r.world.command(args);
        command
            .env("RUST_LOG", "trace")
            .env("RUST_BACKTRACE", "full");
        Ran::from(command.output().unwrap())
    };
    let choice = format!("go:{CANARY}");
    let asking = [
        "--choice",
        &choice,
        "--choice",
        "no:No",
        "--choice-detail",
        &choice,
        "--effect",
        "go=allow",
    ];
    let record = r.world.request(&[&[CANARY][..], &asking].concat());
    let id = text(&record, "id");
    let secrets = [
        CANARY.to_owned(),
        text(&record, "nonce").to_owned(),
        text(&record, "request_digest").to_owned(),
        r.relay.state().token.clone(),
    ];
    for fault in echoes(&r.relay, &secrets) {
        for endpoint in [Endpoint::Devices, Endpoint::Envelopes, Endpoint::Responses] {
            r.relay.heal();
            r.relay.always(endpoint, fault.clone());
            for args in [
                &["publish", id, "-vv"][..],
                &["publish", id, "-vv", "--json"],
                &["relay", "poll", "-vv"],
                &["relay", "poll", "-vv", "--json"],
                &["relay", "sync", "-vv"],
                &["relay", "status", "-vv"],
                &["relay", "status", "-vv", "--json"],
                &["relay", "status", "--units"],
                &["doctor", "-vv"],
                &["doctor", "--json"],
            ] {
                let ran = verbose(args);
                silent(&format!("{args:?}"), &(ran.stdout + &ran.stderr), &secrets);
            }
            let asked = verbose(&["request", "another", "-vv"]);
            silent("request", &(asked.stdout + &asked.stderr), &secrets);
        }
    }
    r.relay.heal();
    // An item that is refused repeats nothing, one that is applied just as little.
    let mut wrong = r.relay.answer_to(&record, "r0", ("choice_id", CANARY));
    r.relay.put(wrong.clone());
    wrong["nonce"] = CANARY.into();
    r.relay.put(wrong.clone());
    wrong["contract_version"] = CANARY.into();
    r.relay.put(wrong);
    r.relay.answer(&record, "r1", ("choice_id", "go"));
    let free = r.world.request(&["?", "--kind", "text"]);
    r.relay.answer(&free, "r2", ("text", CANARY));
    let polled = verbose(&["relay", "poll", "-vv", "--json"]);
    assert_eq!(polled.data()[0]["applied"], 2, "{polled:?}");
    silent("poll", &(polled.stdout + &polled.stderr), &secrets);
    let mut looked = 0;
    for file in files(&r.world.store()) {
        let name = file.display().to_string();
        let told = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
        // The records are where questions are kept, the credentials are where the token is.
        let allowed = match () {
            () if name.contains("/interactions/") => &secrets[..3],
            () if name.ends_with("/credentials.json") => &secrets[3..],
            () => &[],
        };
        let rest: Vec<String> = secrets
            .iter()
            .filter(|s| !allowed.contains(s))
            .cloned()
            .collect();
        silent(&name, &told, &rest);
        looked +=
            usize::from(name.contains("/relay/")) + usize::from(name.ends_with("events.jsonl"));
    }
    assert!(looked > 4, "{looked}");
}

/// A program that writes down its environment and arguments, and those of the processes above it.
fn telltale(world: &Sandbox, name: &str) -> (PathBuf, String) {
    let out = world.path().join(format!("{name}.told"));
    let script = world.path().join(name);
    let told = out.display();
    let text = format!(
        "#!/bin/sh\n{{ env; for p in $$ $PPID; do tr '\\0' '\\n' </proc/$p/cmdline; done; \
         tr '\\0' '\\n' </proc/$$/environ; cat; }} >'{told}.new'\nmv '{told}.new' '{told}'\n"
    );
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    (out, script.display().to_string())
}

/// A world whose questions are suspended by a server that has the token in its environment.
struct Tokened {
    r: Relayed,
    token: String,
}

impl Tokened {
    fn new(configuration: &str) -> Self {
        let r = Relayed::new();
        let relay = table(&r.relay, EVERYTHING);
        configure(&r.world, &format!("{configuration}{relay}"));
        let token = r.relay.state().token.clone();
        Self { r, token }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.r.world.command(args);
        command.env("SAYSO_RELAY_TOKEN_HOME", &self.token);
        command
    }

    /// Suspends a question; what a phone reads of it, and what nobody else may learn.
    fn suspend(&self) -> (Asked, [String; 3]) {
        let options = [
            "--workflow-id",
            "wf",
            "--session-id",
            "s",
            "--agent-id",
            "bot",
        ];
        let server = self.command(&[&["mcp", "serve"][..], &options].concat());
        let mut client = Client::of(&self.r.world, server);
        let call = client.call("ask", &json!({ "question": CANARY, "wait": "suspend" }));
        client.done(&call);
        let asked = self.r.relay.asked(0);
        client.close();
        let question = &asked.payload["interaction"];
        let proofs = ["nonce", "request_digest"].map(|name| text(question, name).to_owned());
        let [nonce, digest] = proofs;
        (asked, [self.token.clone(), nonce, digest])
    }
}

#[test]
fn a_notice_s_command_does_not_learn_the_token() {
    let world = Sandbox::new();
    let (out, notify) = telltale(&world, "notify");
    let t = Tokened::new(&format!("[[notify]]\ncommand = [{notify:?}]\n"));
    let (_, secrets) = t.suspend();
    let told = until("the notice", || fs::read_to_string(&out).ok());
    assert!(told.contains("SAYSO_"), "{told}");
    silent("the notice's command", &told, &secrets);
    silent("the notice's command", &told, &[CANARY.to_owned()]);
}

#[test]
fn what_resumes_does_not_learn_the_token() {
    let world = Sandbox::new();
    let (out, resume) = telltale(&world, "resume");
    let t = Tokened::new(&format!("[resume]\ncommand = [{resume:?}]\n"));
    let (asked, secrets) = t.suspend();
    let item =
        t.r.relay
            .phone(0)
            .answer(&asked, "r1", ("text", "vogelfrei"));
    t.r.relay.put(item);
    let ran = Ran::from(t.command(&["relay", "poll"]).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    let told = until("the resumed command", || fs::read_to_string(&out).ok());
    assert!(told.contains("SAYSO_WORKFLOW_ID=wf"), "{told}");
    silent("what resumes", &told, &secrets);
}

#[test]
fn the_environment_overrides_the_saved_token() {
    let world = Sandbox::new();
    let relay = FakeRelay::named("My.home-2");
    configure(&world, &table(&relay, EVERYTHING));
    let (installation, token) = {
        let state = relay.state();
        (state.installation_id.clone(), state.token.clone())
    };
    let saved =
        json!({ "installation_id": installation, "token": "inst_another_token_0123456789" });
    write_private(&world, "My.home-2", "credentials.json", &saved.to_string());
    let with = |value: &str| {
        let mut command = world.command(["relay", "poll", "--json"]);
        command.env("SAYSO_RELAY_TOKEN_MY_HOME_2", value);
        Ran::from(command.output().unwrap())
    };
    // The fake Relay would tell of any other bearer.
    assert_eq!(with(&token).data()[0]["fetched"], 0);
    for bad in [
        "inst_short",
        "token_0123456789abcdef",
        "inst_0123456789\u{e9}bcdef",
    ] {
        let ran = with(bad);
        assert!([2, 7].contains(&ran.code), "{ran:?}");
        silent("the error", &(ran.stdout + &ran.stderr), &[bad.to_owned()]);
    }
    assert_eq!(relay.requests(Endpoint::Responses).len(), 1);
}

#[test]
fn two_providers_may_not_share_a_variable() {
    let world = Sandbox::new();
    let relays = [FakeRelay::named("my-home"), FakeRelay::named("my.home")];
    configure(
        &world,
        &relays.each_ref().map(|r| table(r, EVERYTHING)).concat(),
    );
    let ran = world.run(["relay", "poll", "--json"]);
    let error = ran.error();
    assert_eq!((&error["code"], ran.code), (&json!("config_error"), 2));
    assert!(
        text(&error, "message").contains("SAYSO_RELAY_TOKEN_MY_HOME"),
        "{error}"
    );
}

#[test]
fn files_are_private_whatever_the_umask() {
    for umask in ["000", "077", "0777"] {
        let r = Relayed::new();
        let run = |args: &str| {
            let mut shell = Command::new("/bin/sh");
            r.world.dress(&mut shell);
            shell.args(["-c", &format!("umask {umask}; exec {} {args}", binary())]);
            let ran = Ran::from(shell.output().unwrap());
            assert_eq!(ran.code, 0, "{ran:?}");
        };
        fs::remove_dir_all(r.world.store()).unwrap();
        run("relay status");
        run("count");
        paired(&r.world, &r.relay);
        run("request Deploy?");
        r.relay.put(Value::Null);
        run("relay poll");
        let relay = r.world.store().join("relay");
        for path in files(&relay) {
            let mode = path.metadata().unwrap().mode() & 0o777;
            assert_eq!(mode, 0o600, "{umask}: {}", path.display());
            let parent = path.parent().unwrap().metadata().unwrap().mode() & 0o777;
            assert_eq!(parent, 0o700, "{umask}: {}", path.display());
        }
        let names = ["cursor.json", "credentials.json", "lock", "outbox"];
        assert!(
            names
                .iter()
                .all(|name| dir(&r.world, "home").join(name).exists())
        );
    }
}

#[test]
fn a_poll_runs_where_cron_starts_it() {
    let r = Relayed::new();
    let record = r.world.request(&["Deploy?"]);
    r.relay.answer(&record, "r1", ("choice_id", "deny"));
    // No PATH, no HOME but the one of the line, the root as directory, nothing on standard input.
    let units = r.world.run(["relay", "status", "--units"]);
    let line = units
        .stdout
        .lines()
        .find(|l| l.starts_with("* * * * * "))
        .unwrap();
    let command = line.trim_start_matches("* * * * * ");
    let mut cron = Command::new("/bin/sh");
    cron.env_clear().env("HOME", r.world.path().join("home"));
    cron.current_dir("/").args(["-c", command]);
    let ran = Ran::from(cron.output().unwrap());
    assert_eq!(
        (ran.code, &*ran.stdout, &*ran.stderr),
        (0, "", ""),
        "{line}"
    );
    assert_eq!(r.world.get(text(&record, "id"))["status"], "answered");
    // Quiet is for what went well.
    r.relay.once(Endpoint::Responses, Fault::status(500));
    let mut cron = Command::new("/bin/sh");
    cron.env_clear().env("HOME", r.world.path().join("home"));
    cron.args(["-c", command]);
    let ran = Ran::from(cron.output().unwrap());
    assert_eq!((ran.code, &*ran.stdout), (7, ""), "{line}");
    assert!(ran.stderr.contains("home"), "{ran:?}");
    for word in [
        "[Timer]",
        "[Service]",
        "KillMode=process",
        "OnUnitInactiveSec=",
        "WantedBy=timers.target",
    ] {
        assert!(units.stdout.contains(word), "{word}");
    }
}

#[test]
fn an_unpaired_provider_is_said_to_be_so() {
    let world = Sandbox::new();
    let relay = FakeRelay::start();
    configure(&world, &table(&relay, EVERYTHING));
    let status = &world.json(&["relay", "status"])[0];
    assert_eq!(
        (&status["provider_id"], &status["paired"]),
        (&json!("home"), &json!(false))
    );
    world.request(&["Deploy?"]);
    let ran = world.run(["relay", "poll"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("not paired"), "{ran:?}");
    for damage in [
        "",
        "{",
        "{}",
        "{\"installation_id\":\"i\",\"token\":\"inst_short\"}",
        "null",
    ] {
        write_private(&world, "home", "credentials.json", damage);
        let ran = world.run(["relay", "poll"]);
        assert_ne!(ran.code, 0, "{damage}: {ran:?}");
        world.request(&["Deploy?"]);
    }
    assert_eq!(relay.count(), 0);
    let ask = world.start(["ask", "Deploy?", "--timeout", "1"]);
    assert_eq!(finish(ask).code, 124);
}
