//! What the tools are called.

/// Whose names the tools have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// This program's.
    Own,
    /// Those of animus, which had four tools; others are not offered.
    Animus,
}

/// This program's name of each tool, and the one of animus.
const ANIMUS: [(&str, &str); 4] = [
    ("ask", "animus.agent.ask"),
    ("request_approval", "animus.agent.request_approval"),
    ("interactions_list", "animus.interactions.list"),
    ("interactions_answer", "animus.interactions.answer"),
];

impl Names {
    /// How clients call one of this program's tools; none if they cannot.
    pub(super) fn outside(self, own: &str) -> Option<&str> {
        match self {
            Self::Own => Some(own),
            Self::Animus => ANIMUS
                .iter()
                .find(|(o, _)| *o == own)
                .map(|(_, name)| *name),
        }
    }

    /// Which of this program's tools clients call so.
    pub(super) fn own(self, outside: &str) -> Option<&str> {
        match self {
            Self::Own => Some(outside),
            Self::Animus => ANIMUS
                .iter()
                .find(|(_, o)| *o == outside)
                .map(|(own, _)| *own),
        }
    }
}
