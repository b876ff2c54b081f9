//! Commands as people and agents write them every day: none uses a trapdoor that a rule for its program leaves closed.

use super::open;

const EVERYDAY: &str = include_str!("harmless.txt");

#[test]
fn everyday_commands_use_no_trapdoor() {
    for line in EVERYDAY.trim().lines() {
        assert_eq!(open(line), Vec::<String>::new(), "{line}");
    }
}
