//! What a notice tells and what it keeps to itself, wherever somebody could look; and hostile texts.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::notice_world::{FINE, Noticed, Service};
use crate::sandbox::{Ran, text, until};

/// Stands in everything that an asker writes.
const CANARY: &str = "kanarienvogel";

/// A notifier that shows everything that can be seen of it and of its sender.
const SHOWS: &str = r#"
cat > "$OUT/stdin"
{ cat /proc/$$/cmdline /proc/$PPID/cmdline /proc/$$/environ /proc/$PPID/environ; echo; } | tr '\0' '\n' > "$OUT/seen"
"#;

const DRAWS: &str = r#"for word in "$@"; do printf '%s\n' "[$word]" >> "$OUT/desktop"; done; echo end >> "$OUT/desktop""#;

/// The options of a request of each kind with the canary everywhere. Long texts are in files, as an
/// asker's arguments are its own affair.
fn questions(noticed: &Noticed) -> Vec<Vec<String>> {
    let write = |name: &str, value: Value| {
        let path = noticed.world.path().join(name);
        fs::write(&path, value.to_string()).unwrap();
        path.display().to_string()
    };
    let option = json!({ "label": CANARY, "description": CANARY });
    let question =
        json!({ "header": CANARY, "question": CANARY, "options": [option, { "label": "b" }] });
    let form = write("form.json", json!([question]));
    let input = write("input.json", json!({ "command": CANARY, CANARY: 1 }));
    let (choice, input) = (format!("{CANARY}:{CANARY}"), format!("@{input}"));
    let rows: [&[&str]; 6] = [
        &["--tool", CANARY, "--input", &input],
        &["--action", CANARY],
        &[
            "--kind",
            "single-choice",
            "--choice",
            &choice,
            "--choice",
            "b:B",
            "--choice-detail",
            &choice,
        ],
        &["--choice", &choice, "--choice", "x:X"],
        &["--kind", "text"],
        &["--kind", "form", "--questions", &form],
    ];
    let owned = |row: &&[&str]| row.iter().map(|word| (*word).to_owned()).collect();
    rows.iter().map(owned).collect()
}

/// Opens one of them; the prompt is on standard input.
fn ask(noticed: &Noticed, options: &[String]) -> Value {
    let words = ["request", "-", "--json"].map(str::to_owned);
    let args = words.iter().chain(options);
    noticed.world.run_with(args, CANARY.as_bytes()).data()
}

/// Every file below a directory, with its name.
fn everything(dir: &Path, into: &mut String) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        into.push_str(&format!("{}\n", path.display()));
        if path.is_dir() {
            everything(&path, into);
        } else {
            into.push_str(&String::from_utf8_lossy(&fs::read(&path).unwrap()));
        }
    }
}

#[test]
fn without_include_prompt_nothing_that_was_asked_is_seen_anywhere() {
    let service = Service::start(FINE);
    let noticed = Noticed::new("");
    let program = noticed.script("beep", SHOWS);
    let token = noticed.secret("12:abc", 0o600);
    let web = |path: &str| service.url(path);
    let config = format!(
        "[[notify]]\ncommand = [{program:?}]\n\
         [[notify]]\nwebhook = {:?}\nallow_private = true\n\
         [[notify]]\nwebhook = {:?}\nallow_private = true\nformat = \"slack\"\n\
         [[notify]]\nwebhook = {:?}\nallow_private = true\nformat = \"telegram\"\nchat_id = \"1\"\ntoken_file = {token:?}\n\
         [[notify]]\nntfy = {:?}\nallow_private = true\n",
        web("/json"),
        web("/slack"),
        web(""),
        web("/ntfy")
    );
    noticed.configure(&config);
    // Each is the newest once, so each is told.
    for options in questions(&noticed) {
        let _ = fs::remove_file(noticed.out().join("seen"));
        let record = ask(&noticed, &options);
        noticed.idle();
        let (seen, stdin) = (noticed.written("seen"), noticed.written("stdin"));
        assert!(seen.contains(text(&record, "id")) && stdin.contains(text(&record, "id")));
        assert!(
            !seen.contains(CANARY) && !stdin.contains(CANARY),
            "{seen}{stdin}"
        );
    }
    let got = service.got();
    assert_eq!(got.len(), 6 * 4);
    assert!(!format!("{got:?}").contains(CANARY), "{got:?}");
    // What waits in the queues is looked at while nobody takes it out.
    let names = noticed.names();
    let held: Vec<_> = names.iter().map(|name| noticed.lock(name)).collect();
    assert_eq!(held.len(), 5);
    let ids = questions(&noticed)
        .iter()
        .map(|options| text(&ask(&noticed, options), "id").to_owned())
        .collect::<Vec<_>>();
    let mut queued = String::new();
    everything(&noticed.notify_dir(), &mut queued);
    for id in &ids {
        assert_eq!(queued.matches(id.as_str()).count(), 5);
    }
    assert!(!queued.contains(CANARY), "{queued}");
    for id in &ids {
        noticed.world.run(["cancel", id]);
    }
    drop(held);
    for name in &names {
        fs::remove_dir_all(noticed.notify_dir().join(name)).unwrap();
    }
}

#[test]
fn a_desktop_notice_shows_text_and_nothing_but_text() {
    let noticed = Noticed::new("");
    let program = noticed.script("notify-send", DRAWS);
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let shown = |config: &str, prompt: &str, agent: &str| {
        let _ = fs::remove_file(noticed.out().join("desktop"));
        noticed.configure(config);
        let mut request = noticed.world.command([
            "request",
            &format!("--agent={agent}"),
            "--prompt",
            prompt,
            "--json",
        ]);
        let ran: crate::sandbox::Ran = request.env("PATH", &path).output().unwrap().into();
        let drawn = until("a bubble", || {
            let drawn = fs::read_to_string(noticed.out().join("desktop")).ok()?;
            drawn.strip_suffix("end\n").map(str::to_owned)
        });
        noticed.idle();
        noticed.world.run(["cancel", text(&ran.data(), "id")]);
        (text(&ran.data(), "id").to_owned(), drawn)
    };
    let plain = "[[notify]]\ndesktop = true\n";
    let (id, drawn) = shown(plain, CANARY, "--icon=/x\u{1b}]0;pwn\u{7}");
    assert_eq!(
        drawn,
        format!(
            "[--app-name=sayso]\n[--]\n[--icon=/x\\u{{1b}}]0;pwn\\u{{7}} needs permission (shop)]\n[sayso show {id}]\n"
        )
    );
    let told = "[[notify]]\ndesktop = true\ninclude_prompt = true\n";
    let hostile = "--urgency=critical <a href=\"x\">&amp;</a>\\n\\033[2J\u{1b}[2J\u{202e}\nnext";
    let (_, drawn) = shown(told, hostile, "cli");
    assert_eq!(
        drawn,
        "[--app-name=sayso]\n[--]\n[cli needs permission (shop)]\n\
         [--urgency=critical &lt;a href=\"x\"&gt;&amp;amp;&lt;/a&gt;\\\\n\\\\033[2J\\\\u{1b}[2J\\\\u{202e}\nnext]\n"
    );
    let (_, drawn) = shown(told, &"w".repeat(1900), "cli");
    assert!(drawn.len() < 800 && drawn.contains("…+"), "{drawn}");
}

#[test]
fn without_notify_send_osascript_reads_its_script() {
    let noticed = Noticed::new("[[notify]]\ndesktop = true\ninclude_prompt = true\n");
    let mut doctor = noticed.world.command(["doctor"]);
    doctor.env("PATH", noticed.world.path().join("tmp"));
    let doctor = Ran::from(doctor.output().unwrap());
    let why = "(desktop): neither notify-send nor osascript is on PATH";
    assert!(
        doctor.code == 1 && doctor.stdout.contains(why),
        "{doctor:?}"
    );
    let program = noticed.script(
        "osascript",
        "echo \"$*\" > \"$OUT/arguments\"; /bin/cat > \"$OUT/script\"",
    );
    let mut request = noticed.world.command(["request", "\"quoted\" \\ x"]);
    request.env("PATH", program.parent().unwrap());
    assert!(request.output().unwrap().status.success());
    assert_eq!(noticed.written("arguments"), "-\n");
    assert_eq!(
        noticed.written("script"),
        "display notification \"\\\"quoted\\\" \\\\ x\" with title \"cli needs permission (shop)\"\n"
    );
}

#[test]
fn no_body_holds_what_could_move_a_cursor() {
    let service = Service::start(FINE);
    let noticed = Noticed::new("");
    let program = noticed.script("beep", "cat > \"$OUT/stdin\"");
    noticed.configure(&format!(
        "[[notify]]\ncommand = [{program:?}]\ninclude_prompt = true\n\
         [[notify]]\nntfy = {:?}\nallow_private = true\ninclude_prompt = true\n\
         [[notify]]\nwebhook = {:?}\nallow_private = true\ninclude_prompt = true\n",
        service.url("/ntfy"),
        service.url("/json")
    ));
    let hostile = "a\u{1b}[2J\u{9b}5n\u{202e}\u{200b}\u{7f}\u{2028}b\r\nInjected: header";
    let agent = "x\u{1b}[2J\u{85}y";
    noticed.world.request(&[
        "--prompt",
        hostile,
        "--agent",
        agent,
        "--project",
        "\u{1b}[m",
    ]);
    let expected =
        "a\\u{1b}[2J\\u{9b}5n\\u{202e}\\u{200b}\\u{7f}\\u{2028}b\\u{d}\nInjected: header";
    for got in service.wait(2) {
        assert_eq!(got.header("injected"), None);
        let body = if got.line == "POST /ntfy" {
            let title = got.header("title").unwrap();
            assert_eq!(title, "x\\u{1b}[2J\\u{85}y needs permission (\\u{1b}[m)");
            got.body.clone()
        } else {
            text(&got.json(), "summary").to_owned()
        };
        assert_eq!(body, expected);
    }
    let stdin: Value = serde_json::from_str(&noticed.written("stdin")).unwrap();
    assert_eq!(stdin["summary"], expected);
}
