//! Notices over HTTP: the bodies, where the secret goes, and services that do not behave.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::notice_world::{Answer, FINE, Got, Noticed, Service};
use crate::sandbox::text;

const SECRET: &str = "tk_geheimnisvoll";

fn entry(members: &str) -> String {
    format!("[[notify]]\nallow_private = true\n{members}\n")
}

/// The one request that a question leads to.
fn posted(noticed: &Noticed, service: &Service, args: &[&str]) -> (Value, Got) {
    let record = noticed.world.request(args);
    let got = service.wait(1).remove(0);
    assert_eq!(noticed.last().get("error"), None);
    noticed.idle();
    assert_eq!(service.got().len(), 1);
    (record, got)
}

#[test]
fn a_webhook_gets_the_event_with_its_bearer() {
    let service = Service::start(FINE);
    let noticed = Noticed::new("");
    let token = noticed.secret(&format!("{SECRET}\n"), 0o600);
    let link = noticed.world.path().join("link");
    symlink(token, &link).unwrap();
    let url = service.url("/hooks/a_b.c-d");
    noticed.configure(&entry(&format!("webhook = {url:?}\ntoken_file = {link:?}")));
    let (_, got) = posted(&noticed, &service, &["Deploy?"]);
    assert_eq!(got.line, "POST /hooks/a_b.c-d");
    assert_eq!(got.header("authorization"), Some("Bearer tk_geheimnisvoll"));
    assert_eq!(got.header("content-type"), Some("application/json"));
    let mut event: Value =
        serde_json::from_str(&noticed.world.run(["events", "--json"]).stdout).unwrap();
    event.as_object_mut().unwrap().remove("summary");
    assert_eq!(got.json(), event);
}

#[test]
fn slack_gets_a_text_without_commands() {
    let service = Service::start(FINE);
    let noticed = Noticed::new("");
    let url = service.url("/services/T0/B0/x");
    let members = format!("webhook = {url:?}\nformat = \"slack\"\ninclude_prompt = true");
    noticed.configure(&entry(&members));
    let prompt = "<!channel> a&b <https://evil.example|bank>\u{1b}[2J";
    let (_, got) = posted(&noticed, &service, &[prompt]);
    let text = "cli needs permission (shop)\n\
                &lt;!channel&gt; a&amp;b &lt;https://evil.example|bank&gt;\\u{1b}[2J";
    assert_eq!(got.json(), json!({ "text": text }));
    assert_eq!(got.header("authorization"), None);
}

#[test]
fn telegram_gets_its_token_in_the_path_and_nobody_else_sees_it() {
    let service = Service::start(FINE);
    let noticed = Noticed::new("");
    let token = noticed.secret("12345:AAbb-cc_DD", 0o600);
    let url = service.url("");
    let members = format!(
        "webhook = {url:?}\nformat = \"telegram\"\ntoken_file = {token:?}\nchat_id = \"-100123\"\ninclude_prompt = true"
    );
    noticed.configure(&entry(&members));
    let (_, got) = posted(&noticed, &service, &[&"ü𝄞".repeat(1000)]);
    assert_eq!(got.line, "POST /bot12345:AAbb-cc_DD/sendMessage");
    assert_eq!(got.header("authorization"), None);
    let body = got.json();
    assert_eq!(body["chat_id"], "-100123");
    assert_eq!(body["link_preview_options"], json!({ "is_disabled": true }));
    let text = body["text"].as_str().unwrap();
    assert!(text.starts_with("cli needs permission (shop)\nü𝄞"));
    assert!(text.encode_utf16().count() <= 4096);
}

#[test]
fn ntfy_gets_a_text_and_its_headers() {
    let service = Service::start(FINE);
    let noticed = Noticed::new("");
    let token = noticed.secret(SECRET, 0o600);
    let url = service.url("/topic");
    let members = format!("ntfy = {url:?}\ntoken_file = {token:?}");
    noticed.configure(&entry(&members));
    let (record, got) = posted(&noticed, &service, &["Deploy?", "--agent", "Größe"]);
    let headers = ["title", "priority", "tags", "authorization", "content-type"];
    let headers = headers.map(|name| got.header(name).unwrap_or_default());
    let expected = [
        "=?UTF-8?B?R3LDtsOfZSBuZWVkcyBwZXJtaXNzaW9uIChzaG9wKQ==?=",
        "high",
        "permission",
        "Bearer tk_geheimnisvoll",
        "text/plain; charset=utf-8",
    ];
    assert_eq!(headers, expected);
    assert_eq!(got.body, format!("sayso show {}", text(&record, "id")));
    let told = Service::start(FINE);
    let noticed = Noticed::new("");
    let members = format!("ntfy = {:?}\ninclude_prompt = true", told.url("/topic"));
    noticed.configure(&entry(&members));
    let long = "é".repeat(2000);
    let args = ["--kind", "text", "--prompt", long.as_str()];
    let (_, got) = posted(&noticed, &told, &args);
    assert_eq!(got.header("priority"), Some("default"));
    assert_eq!(got.header("title"), Some("cli needs a text (shop)"));
    assert_eq!(got.header("authorization"), None);
    assert_eq!(got.body, long);
    assert!(got.body.len() <= 4096);
}

/// A question whose notice must fail; how long the asker took, and why it failed.
fn failing(members: &str) -> (Duration, String) {
    let noticed = Noticed::new(&entry(members));
    let start = Instant::now();
    let ran = noticed.world.run(["request", "Deploy?"]);
    let took = start.elapsed();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{members}");
    let error = noticed.error();
    let doctor = noticed.world.run(["doctor"]);
    assert!(
        doctor.code == 1 && doctor.stdout.contains("FAIL notices: "),
        "{doctor:?}"
    );
    for secret in [SECRET, "/hidden"] {
        assert!(
            !error.contains(secret) && !doctor.stdout.contains(secret),
            "{error}"
        );
    }
    (took, error)
}

#[test]
fn a_service_that_does_not_behave_is_noted_and_not_felt() {
    let elsewhere = Service::start(FINE);
    // Nobody listens on a port that was let go.
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead_port = dead.local_addr().unwrap().port();
    drop(dead);
    let rows = [
        (
            Answer::To(elsewhere.address()),
            "127.0.0.1 replied with status 307",
        ),
        (Answer::Nothing, "127.0.0.1 did not reply in time"),
        (
            Answer::Large(2 << 20),
            "127.0.0.1 sent more than 1048576 bytes",
        ),
        (
            Answer::Bytes("HTTP/1.1 500 no\r\ncontent-length: 0\r\n\r\n"),
            "127.0.0.1 replied with status 500",
        ),
        (
            Answer::Bytes("nonsense\r\n\r\n"),
            "127.0.0.1 did not reply properly",
        ),
    ];
    std::thread::scope(|scope| {
        for (answer, expected) in rows {
            scope.spawn(move || {
                let service = Service::start(answer);
                let (took, error) = failing(&format!("ntfy = {:?}", service.url("/hidden")));
                assert!(took < Duration::from_secs(4), "{answer:?} {took:?}");
                assert_eq!(error, expected);
                assert_eq!(service.got().len(), 1);
            });
        }
        let dead = format!("webhook = \"http://127.0.0.1:{dead_port}/hidden\"");
        let (_, error) = failing(&dead);
        assert!(error.starts_with("127.0.0.1 cannot be reached"), "{error}");
    });
    assert!(elsewhere.got().is_empty());
}

#[test]
fn a_destination_that_is_not_permitted_gets_nothing() {
    let service = Service::start(FINE);
    let port = service.address().port();
    let rows = [
        (
            format!("ntfy = {:?}", service.url("/hidden")),
            "allow_private",
        ),
        (
            format!("allow_private = true\nwebhook = \"http://localhost:{port}/hidden?x=y\""),
            "a query",
        ),
        (
            format!(
                "allow_private = true\nwebhook = \"http://user:{SECRET}@localhost:{port}/hidden\""
            ),
            "a user or password",
        ),
        (
            format!("allow_private = true\nwebhook = \"http://0.0.0.0:{port}/hidden\""),
            "http is for loopback only",
        ),
        (
            "allow_private = true\nwebhook = \"https://169.254.169.254/hidden\"".to_owned(),
            "never used",
        ),
        (
            "allow_private = true\nwebhook = \"http://10.0.0.1/hidden\"".to_owned(),
            "http is for loopback only",
        ),
        (
            "allow_private = true\nntfy = \"topic\"".to_owned(),
            "https://",
        ),
    ];
    let check = &|(members, why): (String, &str)| {
        let noticed = Noticed::new(&format!("[[notify]]\n{members}\n"));
        let ran = noticed.world.run(["request", "Deploy?"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{members}");
        let error = noticed.error();
        assert!(error.contains(why), "{members}: {error}");
        let doctor = noticed.world.run(["doctor"]);
        assert!(
            doctor.code == 1 && doctor.stdout.contains(why),
            "{doctor:?}"
        );
        for secret in [SECRET, "/hidden"] {
            assert!(!error.contains(secret) && !doctor.stdout.contains(secret));
        }
    };
    std::thread::scope(|scope| {
        for row in rows {
            scope.spawn(move || check(row));
        }
    });
    assert!(service.got().is_empty());
}

#[test]
fn a_secret_that_others_can_read_is_not_sent() {
    let service = Service::start(FINE);
    let noticed = Noticed::new("");
    let url = service.url("/hidden");
    let fifo = noticed.world.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let dir = noticed.world.path().join("tmp");
    let missing = noticed.world.path().join("missing");
    let token = noticed.secret(SECRET, 0o640);
    let rows = [
        (&token, "is open to other users"),
        (&fifo, "is not a regular file"),
        (&dir, "is not a regular file"),
        (&missing, "cannot be read: No such file"),
    ];
    let failed = |members: &str, why: &str| {
        noticed.configure(&entry(members));
        let ran = noticed.world.run(["doctor"]);
        assert!(ran.code == 1 && ran.stdout.contains(why), "{ran:?}");
        noticed.world.request(&["Deploy?"]);
        noticed.idle();
        let ran = noticed.world.run(["doctor"]);
        assert!(
            ran.stdout.contains(why) && !ran.stdout.contains(SECRET),
            "{ran:?}"
        );
    };
    for (file, why) in rows {
        failed(&format!("ntfy = {url:?}\ntoken_file = {file:?}"), why);
    }
    for (text, format, why) in [
        ("two words", "json", "holds no token"),
        ("", "json", "holds no token"),
        (
            "12/../x",
            "telegram\"\nchat_id = \"1",
            "holds no Telegram bot token",
        ),
    ] {
        let token = noticed.secret(text, 0o600);
        failed(
            &format!("webhook = {url:?}\ntoken_file = {token:?}\nformat = \"{format}\""),
            why,
        );
    }
    let notes: Vec<String> = fs::read_dir(noticed.notify_dir())
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "last"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(notes.len(), 6, "{notes:?}");
    assert!(
        notes
            .iter()
            .all(|note| note.contains("error") && !note.contains(SECRET))
    );
    assert!(service.got().is_empty());
}
