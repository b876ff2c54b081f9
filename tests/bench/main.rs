//! The figures: `cargo bench`, or `cargo bench -- start` for those of one name.
//!
//! Each is a ratio of things that were measured in turns in this one run, or a time that a user feels, with
//! its goal and whether that was met. What cannot be measured here is said to be so.

mod answer;
mod figure;
mod list;
mod mcp;
mod start;
mod wait;
mod world;
mod write;

use figure::Figure;

/// One group of figures.
type Group = (&'static str, fn() -> Vec<Figure>);

const GROUPS: [Group; 6] = [
    ("start", start::figures),
    ("list", list::figures),
    ("write", write::figures),
    ("answer", answer::figures),
    ("wait", wait::figures),
    ("mcp", mcp::figures),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if !args.iter().any(|arg| arg == "--bench") {
        println!("the figures are measured by 'cargo bench'");
        return;
    }
    let wanted: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    println!("{}\n", world::machine());
    println!("{}", Figure::HEAD);
    let mut missed = 0;
    for (name, figures) in GROUPS {
        if !wanted.is_empty() && !wanted.iter().any(|w| w.as_str() == name) {
            continue;
        }
        for figure in figures() {
            println!("{figure}");
            missed += usize::from(figure.is_missed());
        }
    }
    println!("\n{missed} missed");
}
