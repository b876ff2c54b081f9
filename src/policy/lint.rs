//! What is odd about a policy.

use crate::config::{Config, Place};

/// stub
pub fn lint(_c: &Config) -> Vec<Finding<'_>> {
    vec![]
}
/// stub
pub fn lint_repo_file(_c: &super::RepoFile) -> Vec<Finding<'_>> {
    vec![]
}
/// x
#[derive(Debug)]
pub struct Finding<'a> {
    /// a
    pub place: Place<'a>,
}
/// x
#[derive(Debug)]
pub enum Level {
    /// x
    Note,
}
