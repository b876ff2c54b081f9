//! The block of instructions for agents that cannot be intercepted. It is voluntary: an agent that does
//! not follow it is not stopped by it.

use std::ops::Range;

use super::block;
use super::hooks::Outcome;
use super::json::Fault;
use super::servers::Foreign;
use super::stamp::{self, Author};

const OPEN: &str = "<!-- sayso:";
const END: &str = "<!-- sayso: end -->";

/// The instructions, for a system prompt or a file like `AGENTS.md`; ends with a line end.
pub const TEXT: &str = include_str!("instructions.md");

/// The text with the instructions in a block of their own.
pub(super) fn install(text: Option<&str>, foreign: Foreign) -> Result<Outcome, Fault> {
    let old = text.and_then(find);
    refuse_edited(text, old.as_ref(), foreign)?;
    let verb = if old.is_some() { "update" } else { "add" };
    let after = block::put(text, old, &whole());
    let changed = Some(after.as_str()) != text;
    Ok(Outcome {
        text: Some(after),
        did: changed
            .then(|| format!("{verb} instructions"))
            .into_iter()
            .collect(),
        mentions: Vec::new(),
    })
}

/// The text without them.
pub(super) fn uninstall(text: Option<&str>, foreign: Foreign) -> Result<Outcome, Fault> {
    let old = text.and_then(find);
    refuse_edited(text, old.as_ref(), foreign)?;
    let (Some(text), Some(old)) = (text, old) else {
        return Ok(Outcome {
            text: text.map(str::to_owned),
            ..Outcome::default()
        });
    };
    Ok(Outcome {
        text: block::cut(text, &old),
        did: vec!["remove instructions".to_owned()],
        mentions: Vec::new(),
    })
}

fn whole() -> String {
    stamp::stamped(OPEN, " -->", &format!("{TEXT}{END}\n"))
}

fn find(text: &str) -> Option<Range<usize>> {
    let start = text.match_indices(OPEN).map(|(at, _)| at).find(|&at| {
        text[at..]
            .lines()
            .next()
            .is_some_and(|l| stamp::author(l) != Author::Other)
    })?;
    let end = start + block::line(&text[start..], END)?;
    Some(start..block::line_end(text, end))
}

fn refuse_edited(
    text: Option<&str>,
    old: Option<&Range<usize>>,
    foreign: Foreign,
) -> Result<(), Fault> {
    match (text, old) {
        (Some(text), Some(old))
            if foreign == Foreign::Keep && stamp::author(&text[old.clone()]) != Author::Ours =>
        {
            Err(Fault::new(
                "the block of instructions was edited",
                old.start,
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_comes_and_goes_and_edits_are_respected() {
        for text in [None, Some(""), Some("# Rules\n"), Some("# Rules\n\nno end")] {
            let with = install(text, Foreign::Keep).unwrap().text.unwrap();
            assert!(with.contains("request_approval"));
            assert_eq!(
                install(Some(&with), Foreign::Keep).unwrap().did,
                Vec::<String>::new()
            );
            let more = format!("{with}more\n");
            let gone = uninstall(Some(&more), Foreign::Keep).unwrap().text.unwrap();
            assert_eq!(gone, format!("{}more\n", text.unwrap_or_default()));
            assert_eq!(
                uninstall(Some(&with), Foreign::Keep)
                    .unwrap()
                    .text
                    .as_deref(),
                text
            );
            let edited = with.replace("request_approval", "approve");
            assert!(install(Some(&edited), Foreign::Keep).is_err());
            assert!(uninstall(Some(&edited), Foreign::Keep).is_err());
            assert_eq!(
                install(Some(&edited), Foreign::Replace).unwrap().text,
                Some(with)
            );
        }
    }
}
