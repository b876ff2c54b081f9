//! How soon the asker has its answer, beside a poller of 100 ms on the same record.
//!
//! The clock starts when the answering call returns: the answer is on disk and in the events.

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::figure::{Figure, Series, millis};
use crate::world::{World, binary, until, watches};

const PROMPT: &str = "Now?";

pub(crate) fn figures() -> Vec<Figure> {
    let world = World::new();
    let (mut printed, mut gone, mut poller) =
        (Series::default(), Series::default(), Series::default());
    world.open();
    for round in 0..200_u32 {
        let mut ask = world.command(binary(), &["ask", PROMPT]);
        let ask = ask.stdout(Stdio::piped()).spawn().unwrap();
        until("the asker's watch", || watches(ask.id()));
        let pending = world.store.pending().unwrap().into_iter();
        let mut asked = pending.filter_map(sayso::store::query::Entry::current);
        let record = asked.find(|r| r.question.prompt == PROMPT).unwrap();
        let settled = world.store.layout().settled_file(&record.id);
        let script = format!("until [ -e {} ]; do sleep 0.1; done", settled.display());
        let polling = world.command("sh", &["-c", &script]).spawn().unwrap();
        // Somewhere within the poller's pause.
        std::thread::park_timeout(Duration::from_micros(u64::from(round * 7919 % 100_000)));
        let asker = std::thread::spawn(move || read_and_wait(ask));
        let polling = std::thread::spawn(move || read_and_wait(polling).1);
        std::thread::park_timeout(Duration::from_millis(2));
        world.answer(&record);
        let answered = Instant::now();
        let (line, exit) = asker.join().unwrap();
        printed.push(line.saturating_duration_since(answered));
        gone.push(exit.saturating_duration_since(answered));
        poller.push(polling.join().unwrap().saturating_duration_since(answered));
    }
    let note = format!(
        "p50 {}, printed after {}",
        millis(gone.median()),
        millis(printed.median())
    );
    let p99 = gone.percentile(99).as_secs_f64() * 1e3;
    vec![
        Figure::ratio(
            "answered → ask has exited / 100 ms poller",
            &gone,
            &poller,
            0.01,
        ),
        Figure::new("answered → ask has exited, p99 (ms)", p99, 5.0, note),
    ]
}

/// When a child printed something, and when it was gone.
fn read_and_wait(mut child: Child) -> (Instant, Instant) {
    if let Some(stdout) = &mut child.stdout {
        let _ = stdout.read(&mut [0; 64]).unwrap();
    }
    let printed = Instant::now();
    child.wait().unwrap();
    (printed, Instant::now())
}
