//! What a long history costs the verbs that show what is pending.

use std::fs;

use sayso::id::Id;
use sayso::model::digest::digest;
use sayso::model::record::{Secrets, to_json};

use crate::figure::{Figure, Series};
use crate::world::{World, binary};

const SETTLED: u128 = 100_000;

pub(crate) fn figures() -> Vec<Figure> {
    let (short, long) = (World::new(), World::new());
    for world in [&short, &long] {
        for _ in 0..10 {
            world.open();
        }
    }
    fill(&long);
    ["count", "list"]
        .map(|verb| {
            let (mut with, mut without) = (Series::default(), Series::default());
            for _ in 0..300 {
                with.time(|| long.run(binary(), &[verb]));
                without.time(|| short.run(binary(), &[verb]));
            }
            let name = format!("{verb}: {SETTLED} settled / none, 10 pending");
            Figure::ratio(&name, &with, &without, 1.2)
        })
        .into()
}

/// Writes settled records as the store does, but for the syncs.
fn fill(world: &World) {
    let asked = world.open();
    world.answer(&asked);
    let mut record = world.store.must_load(&asked.id).unwrap();
    for n in 0..SETTLED {
        // Spread like random ids.
        let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        record.id = Id::from_bytes(&mixed.to_be_bytes());
        record.digest = digest(&record.id, &record.question);
        let path = world.store.layout().settled_file(&record.id);
        fs::write(path, to_json(&record, Secrets::Shown)).unwrap();
    }
    assert_eq!(world.store.must_load(&record.id).unwrap(), record);
}
