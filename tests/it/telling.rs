//! What is said of a question and of an answer: whole, cut, counted, delivered.

use serde_json::json;

use crate::sandbox::{Ran, Sandbox, finish, text};

#[test]
fn a_long_summary_is_cut_with_the_number_of_what_is_hidden() {
    let world = Sandbox::new();
    let prompt = format!("{}; rm -rf ~/work", "x".repeat(1965));
    let record = world.request(&[&prompt]);
    for columns in ["80", "20", "40", "200"] {
        let run = |args: &[&str]| {
            Ran::from(
                world
                    .command(args)
                    .env("COLUMNS", columns)
                    .output()
                    .unwrap(),
            )
        };
        let listed = run(&["list"]).stdout;
        let line = listed.lines().last().unwrap();
        let (shown, hidden) = line
            .rsplit_once("…+")
            .unwrap_or_else(|| panic!("{columns}: {listed}"));
        let visible = shown.chars().filter(|c| *c == 'x').count();
        // A narrow listing has other lines; what is shown and what is hidden add up anyway.
        assert_eq!(
            visible + hidden.parse::<usize>().unwrap(),
            1980,
            "{columns}: {listed}"
        );
        let shown: String = run(&["show", text(&record, "id")])
            .stdout
            .lines()
            .filter_map(|l| l.strip_prefix("│ ").or(l.strip_prefix("┆ ")))
            .collect();
        // Other texts stand under a gutter too where the terminal is narrow.
        let (shown, whole) = (shown.replace(' ', ""), prompt.replace(' ', ""));
        assert!(shown.contains(&whole), "{columns}");
    }
}

#[test]
fn count_is_for_status_lines() {
    let world = Sandbox::new();
    assert_eq!(world.run(["count"]).stdout, "");
    assert_eq!(world.run(["count", "--zero"]).stdout, "0\n");
    assert_eq!(
        world
            .run(["count", "--zero", "--format", "{pending}/{oldest}"])
            .stdout,
        "0/-\n"
    );
    assert_eq!(world.run(["count", "--format", "{pending}"]).stdout, "");
    world.request(&["One?"]);
    world.request(&["Two?"]);
    assert_eq!(world.run(["count"]).stdout, "2\n");
    let line = world
        .run(["count", "--format", "{pending} waiting, {oldest}"])
        .stdout;
    assert!(
        line.starts_with("2 waiting, ") && line.ends_with("s\n"),
        "{line}"
    );
    // It needs no lock.
    let lock = std::fs::File::open(world.scope().join("lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(world.run(["count"]).stdout, "2\n");
    assert_eq!(world.json(&["list"])["count"], 2);
    assert_eq!(
        world
            .run([
                "show",
                text(&world.json(&["list"])["interactions"][0], "id")
            ])
            .code,
        0
    );
}

#[test]
fn an_answer_says_honestly_whom_it_reached() {
    let world = Sandbox::new();
    let alone = world.request(&["Deploy?"]);
    let told = world.run(["answer", text(&alone, "id"), "--allow"]);
    assert!(
        told.stdout.starts_with("allowed ")
            && told
                .stdout
                .contains("unattended: recorded, nobody was waiting"),
        "{told:?}"
    );
    assert_eq!(world.get(text(&alone, "id")).get("delivery"), None);
    // Picked up later: the record says so, and the next writer notes it once.
    assert_eq!(world.run(["wait", text(&alone, "id")]).stdout, "answered\n");
    let at = world.get(text(&alone, "id"))["delivery"]["delivered_at"].clone();
    assert!(at.as_str().unwrap().ends_with('Z'));
    world.run(["wait", text(&alone, "id")]);
    assert_eq!(
        world.get(text(&alone, "id"))["delivery"]["delivered_at"],
        at
    );
    let ask = world.start(["ask", "Deploy?"]);
    let id = text(&world.await_pending(), "id").to_owned();
    let told = world.run(["answer", &id, "--deny"]);
    assert!(
        told.stdout.starts_with("denied ")
            && told
                .stdout
                .contains("delivered: the waiting process took it"),
        "{told:?}"
    );
    assert_eq!(finish(ask).code, 10);
    assert_eq!(
        world.json(&["show", &id])["delivery"]["delivered_at"]
            .as_str()
            .unwrap()
            .len(),
        27
    );
    let deliveries = world
        .events()
        .iter()
        .filter(|e| e["type"] == "interaction_delivered" && e["interaction_id"] == id.as_str())
        .count();
    assert_eq!(deliveries, 1);
    assert_eq!(world.run(["answer", &id, "--deny", "--quiet"]).stdout, "");
}

#[test]
fn show_says_how_to_answer_and_its_commands_run() {
    let world = Sandbox::new();
    let form = json!([{"question": "Which?", "options": [{"label": "A"}]}, {"question": "Why?"}]);
    std::fs::write(world.path().join("form.json"), form.to_string()).unwrap();
    let form = world.path().join("form.json");
    let kinds: [&[&str]; 4] = [
        &[
            "Deploy?",
            "--choice",
            "allow:Yes",
            "--choice",
            "deny:No",
            "--choice",
            "later:Later",
        ],
        &[
            "Which?",
            "--kind",
            "single-choice",
            "--choice",
            "a:A",
            "--choice",
            "b:B",
        ],
        &["Name?", "--kind", "text"],
        &[
            "Form",
            "--kind",
            "form",
            "--questions",
            form.to_str().unwrap(),
        ],
    ];
    for kind in kinds {
        let id = text(&world.request(kind), "id").to_owned();
        let shown = world.run(["show", &id]).stdout;
        let commands: Vec<String> = shown
            .lines()
            .filter(|l| l.starts_with("sayso answer "))
            .map(str::to_owned)
            .collect();
        assert!(
            commands.len() >= usize::from(kind.contains(&"text")) && !commands.is_empty(),
            "{shown}"
        );
        world.json(&["cancel", &id]);
        for command in commands {
            let id = text(&world.request(kind), "id").to_owned();
            let old = command.split(' ').nth(2).unwrap().to_owned();
            let line = command.replace(&old, &id).replace("#1=…", "#1=A").replacen(
                "sayso",
                crate::sandbox::binary(),
                1,
            );
            let mut shell = std::process::Command::new("/bin/sh");
            world.dress(&mut shell);
            let ran = Ran::from(shell.args(["-c", &line]).output().unwrap());
            assert_eq!(ran.code, 0, "{line} {ran:?}");
            assert_eq!(world.get(&id)["status"], "answered");
        }
    }
}
