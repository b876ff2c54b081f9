//! What one start costs: `sayso count` on an empty store, for shell prompts and status lines.

use crate::figure::{Figure, Series};
use crate::world::{World, binary, find};

const TRUE: &str = "start: count, empty store / true";
const NODE: &str = "start: count, empty store / node -e 0";
const INSTRUCTIONS: &str = "start: instructions of count, empty store (k)";

pub(crate) fn figures() -> Vec<Figure> {
    let world = World::new();
    let (mut count, mut nothing) = (Series::default(), Series::default());
    for _ in 0..1000 {
        count.time(|| world.run(binary(), &["count"]));
        nothing.time(|| world.run("true", &[]));
    }
    vec![
        Figure::ratio(TRUE, &count, &nothing, 1.5),
        instructions(&world),
        node(&world),
    ]
}

fn instructions(world: &World) -> Figure {
    if find("valgrind").is_none() {
        return Figure::not_measured(INSTRUCTIONS, 600.0, "no valgrind");
    }
    let args = [
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        binary(),
        "count",
    ];
    let mut command = world.command("valgrind", &args);
    let output = command
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|l| l.split_once("Collected : "));
    let count: f64 = collected.unwrap().1.trim().parse().unwrap();
    Figure::new(INSTRUCTIONS, count / 1e3, 600.0, "callgrind")
}

fn node(world: &World) -> Figure {
    if find("node").is_none() {
        return Figure::not_measured(NODE, 1.0 / 40.0, "no node");
    }
    let (mut count, mut node) = (Series::default(), Series::default());
    for _ in 0..30 {
        count.time(|| world.run(binary(), &["count"]));
        node.time(|| world.run("node", &["-e", "0"]));
    }
    Figure::ratio(NODE, &count, &node, 1.0 / 40.0)
}
