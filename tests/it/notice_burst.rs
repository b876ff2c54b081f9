//! Many questions at once, senders that die, and what is settled before it is told.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sayso::fsio;
use serde_json::{Value, json};

use crate::notice_world::{FINE, Noticed, Service};
use crate::sandbox::{Sandbox, finish, has, text, until};

/// Writes a line with the time and the count for every call.
const COUNTS: &str = r#"echo "$(date +%s%N) $SAYSO_WAITING $SAYSO_INTERACTION_ID" >> "$OUT/calls""#;

/// One call: when, in nanoseconds, how many waited, and what it was about.
fn calls(noticed: &Noticed) -> Vec<(u128, usize, String)> {
    let text = fs::read_to_string(noticed.out().join("calls")).unwrap_or_default();
    let call = |line: &str| {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap().to_owned();
        (word().parse().unwrap(), word().parse().unwrap(), word())
    };
    text.lines().map(call).collect()
}

fn counting(filters: &str) -> Noticed {
    let noticed = Noticed::new("");
    let program = noticed.script("beep", COUNTS);
    noticed.configure(&format!("[[notify]]\ncommand = [{program:?}]\n{filters}\n"));
    noticed
}

/// The sender, as the askers start it.
fn sender(world: &Sandbox, name: &str) -> Command {
    let mut command = world.command(["__notify", "--entry", name]);
    let config = world.path().join("home/.config/sayso/config.toml");
    command.env("SAYSO_CONFIG", config);
    command
}

/// Opens questions while the test stands in for the sender, so that they stay queued.
fn queue(noticed: &Noticed, count: usize) -> (String, Vec<Value>) {
    let mut records = vec![noticed.world.request(&["first"])];
    noticed.idle();
    let name = noticed.name();
    let held = noticed.lock(&name);
    records.extend((1..count).map(|n| noticed.world.request(&[&format!("question {n}")])));
    assert_eq!(noticed.queued(), count - 1);
    drop(held);
    (name, records)
}

#[test]
fn a_hundred_questions_are_a_handful_of_notices() {
    let noticed = counting("");
    let start = Instant::now();
    let ask = |n: usize| {
        for m in 0..25 {
            noticed.world.request(&[&format!("question {n} {m}")]);
        }
    };
    std::thread::scope(|scope| {
        for n in 0..4 {
            scope.spawn(move || ask(n));
        }
    });
    let took = start.elapsed();
    noticed.idle();
    let calls = calls(&noticed);
    let most = usize::try_from(took.as_secs() / 2).unwrap() + 2;
    assert!((2..=most).contains(&calls.len()), "{took:?}: {calls:?}");
    assert_eq!(calls.last().unwrap().1, 100, "{calls:?}");
    for pair in calls.windows(2) {
        // The clock of the calls starts a little after that of the sender.
        assert!(pair[1].0 - pair[0].0 > 1_800_000_000, "{calls:?}");
    }
}

#[test]
fn the_last_notice_of_a_burst_says_how_many_wait() {
    let service = Service::start(FINE);
    let noticed = Noticed::new(&format!(
        "[[notify]]\nntfy = {:?}\nallow_private = true\n[[notify]]\nwebhook = {:?}\nallow_private = true\n",
        service.url("/topic"),
        service.url("/hook")
    ));
    noticed.world.request(&["One?"]);
    noticed.world.request(&["Two?"]);
    let third = noticed.world.request(&["Three?", "--kind", "text"]);
    noticed.idle();
    let got = service.got();
    let (ntfy, hook): (Vec<_>, Vec<_>) = got.iter().partition(|g| g.line == "POST /topic");
    let title = ntfy.last().unwrap().header("title");
    assert_eq!(title, Some("cli needs a text (shop), 3 questions wait"));
    let object = hook.last().unwrap().json();
    assert_eq!(object["waiting"], 3);
    assert_eq!(object["interaction_id"], third["id"]);
    assert!((1..=3).contains(&hook.len()), "{got:?}");
}

#[test]
fn what_was_settled_before_its_notice_is_not_told() {
    let noticed = counting("");
    let (name, records) = queue(&noticed, 2);
    noticed
        .world
        .run(["answer", text(&records[1], "id"), "--deny"]);
    finish(sender(&noticed.world, &name).spawn().unwrap());
    assert_eq!(calls(&noticed).len(), 1);
    assert_eq!(noticed.queued(), 0);
    // Nor does one that is left count what is gone.
    let (_, records) = queue(&noticed, 4);
    for record in &records[2..] {
        noticed.world.run(["cancel", text(record, "id")]);
    }
    let before = calls(&noticed).len();
    finish(sender(&noticed.world, &name).spawn().unwrap());
    let calls = calls(&noticed);
    assert_eq!(calls.len(), before + 1);
    assert_eq!(
        (calls[before].1, calls[before].2.as_str()),
        (3, text(&records[1], "id"))
    );
}

#[test]
fn what_was_queued_before_the_sender_started_is_told() {
    let noticed = counting("");
    let (name, records) = queue(&noticed, 4);
    let ran = finish(sender(&noticed.world, &name).spawn().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    let calls = calls(&noticed);
    assert_eq!(calls.len(), 2);
    assert_eq!(
        (calls[1].1, calls[1].2.as_str()),
        (4, text(&records[3], "id"))
    );
    assert_eq!(noticed.queued(), 0);
}

/// The process that holds a file's lock.
fn holder(path: &std::path::Path) -> Option<Pid> {
    let told = fsio::lock_holder(&fs::File::open(path).ok()?)?;
    let pid = told.strip_prefix("pid ")?.split(' ').next()?.parse().ok()?;
    Some(Pid::from_raw(pid))
}

#[test]
fn a_killed_sender_loses_nothing() {
    let noticed = Noticed::new("");
    let script = "if mkdir \"$OUT/once\"; then exec sleep 30; fi\n".to_owned() + COUNTS;
    let program = noticed.script("beep", &script);
    noticed.configure(&format!("[[notify]]\ncommand = [{program:?}]\n"));
    noticed.world.request(&["One?"]);
    until("a hanging notifier", || {
        noticed.out().join("once").exists().then_some(())
    });
    let lock = noticed
        .notify_dir()
        .join(format!("{}.lock", noticed.name()));
    let pid = until("the sender", || holder(&lock));
    kill(pid, Signal::SIGKILL).unwrap();
    until("its end", || {
        fs::File::open(&lock)
            .unwrap()
            .try_lock()
            .is_ok()
            .then_some(())
    });
    assert_eq!(noticed.queued(), 1);
    let second = noticed.world.request(&["Two?"]);
    noticed.idle();
    let calls = calls(&noticed);
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!((calls[0].1, calls[0].2.as_str()), (2, text(&second, "id")));
}

/// A sender whose last breath, between its last look at the queue and letting go of the lock, lasts long.
fn slow_to_let_go(noticed: &Noticed, name: &str) -> Child {
    let lock = noticed.notify_dir().join(format!("{name}.lock"));
    let traced = sender(&noticed.world, name);
    let mut strace = Command::new("strace");
    noticed.world.dress(&mut strace);
    strace
        .args(["-qq", "-o", "/dev/null", "-e", "trace=close", "-P"])
        .arg(&lock)
        .args(["-e", "inject=close:delay_enter=6000000:when=1", "--"])
        .arg(traced.get_program())
        .args(traced.get_args())
        .env(
            "SAYSO_CONFIG",
            noticed.world.path().join("home/.config/sayso/config.toml"),
        )
        .stderr(Stdio::null());
    strace.spawn().unwrap()
}

#[test]
fn what_comes_while_the_sender_ends_is_told() {
    if !has("strace", "what_comes_while_the_sender_ends_is_told") {
        return;
    }
    let noticed = counting("");
    let (name, _) = queue(&noticed, 2);
    let lock = noticed.notify_dir().join(format!("{name}.lock"));
    let dying = slow_to_let_go(&noticed, &name);
    let told = until("its notice", || {
        let calls = calls(&noticed);
        (calls.len() == 2).then(|| calls[1].0)
    });
    let now = || u128::from(sayso::time::Time::now().micros().unsigned_abs()) * 1000;
    // Two seconds after its notice it looks for the last time; the lock goes four seconds later at least.
    until("its last look", || {
        (now() > told + 3_500_000_000).then_some(())
    });
    let pid = holder(&lock).expect("the sender let go too early for this test");
    let third = noticed.world.request(&["Three?"]);
    assert_eq!(noticed.queued(), 1);
    assert_eq!(holder(&lock), Some(pid), "somebody else sends");
    finish(dying);
    let calls = calls(&noticed);
    assert_eq!(calls.len(), 3, "{calls:?}");
    assert_eq!(calls[2].2, text(&third, "id"));
}

#[test]
fn the_order_of_the_entries_does_not_matter() {
    let noticed = Noticed::new("");
    let (a, b) = (
        noticed.script("a", "echo a >> \"$OUT/calls\""),
        noticed.script("b", "echo b >> \"$OUT/calls\""),
    );
    let (a, b) = (
        format!("[[notify]]\ncommand = [{a:?}]\n"),
        format!("[[notify]]\ncommand = [{b:?}]\n"),
    );
    noticed.configure(&a);
    let (name, _) = queue(&noticed, 2);
    noticed.configure(&format!("{b}{a}"));
    finish(sender(&noticed.world, &name).spawn().unwrap());
    assert_eq!(noticed.written("calls"), "a\na\n");
    // An entry that is gone wants nothing any more, and one that stands there twice wants it once.
    let held = noticed.lock(&name);
    noticed.configure(&a);
    noticed.world.request(&["One more?"]);
    noticed.configure(&b);
    drop(held);
    finish(sender(&noticed.world, &name).spawn().unwrap());
    noticed.idle();
    assert_eq!(noticed.written("calls"), "a\na\n");
    noticed.configure(&format!("{b}{b}"));
    noticed.world.request(&["And another?"]);
    noticed.idle();
    assert_eq!(noticed.written("calls"), "a\na\nb\n");
}

#[test]
fn a_sender_that_finds_nothing_to_do_ends() {
    let noticed = counting("");
    noticed.world.request(&["One?"]);
    noticed.idle();
    let name = noticed.name();
    let start = Instant::now();
    // Two at once, an unknown entry, and one that is no entry's name.
    let held = noticed.lock(&name);
    assert_eq!(
        finish(sender(&noticed.world, &name).spawn().unwrap()).code,
        0
    );
    drop(held);
    assert_eq!(
        finish(sender(&noticed.world, &name).spawn().unwrap()).code,
        0
    );
    let unknown = "0123456789abcdef";
    assert_eq!(
        finish(sender(&noticed.world, unknown).spawn().unwrap()).code,
        0
    );
    for wrong in ["../store", "0123", "0123456789ABCDEF"] {
        let ran = noticed.world.run(["__notify", "--entry", wrong, "--json"]);
        assert_eq!(ran.error()["code"], json!("invalid_input"));
    }
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(calls(&noticed).len(), 1);
}
