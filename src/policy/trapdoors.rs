//! Stub.
use super::pattern::Pattern;
pub(super) struct Trapdoor;
impl Trapdoor {
    pub(super) fn reason(&self) -> String {
        String::new()
    }
    pub(super) fn is_spelled_by(&self, _: &Pattern) -> bool {
        false
    }
}
pub(super) fn used(_: &[String]) -> Vec<Trapdoor> {
    vec![]
}
pub(super) fn has_row(_: &str) -> bool {
    false
}
