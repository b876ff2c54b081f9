//! Patterns: `*` is any text, `\*` and `\\` are themselves, everything else stands for itself.
//!
//! Promise: a match is anchored at both ends, case-sensitive, and takes time linear in pattern and
//! subject, whatever either holds.

/// Characters of a pattern.
pub const PATTERN_MAX: usize = 512;

/// Stands in a subject for text that cannot be known; it occurs in no command and no pattern.
pub(super) const HOLE: char = '\0';

/// A pattern, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The literal texts before, between and after the stars; never empty.
    pieces: Vec<String>,
    /// The ASCII characters in them.
    letters: Letters,
}

/// A set of ASCII characters, for a quick no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letters(u128);

impl Letters {
    /// Those of a text.
    pub(super) fn of(text: &str) -> Self {
        let ascii = text.bytes().filter(u8::is_ascii);
        Self(ascii.fold(0, |set, b| set | 1 << b))
    }
}

impl Pattern {
    /// From text.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.chars().count() > PATTERN_MAX {
            return Err("a pattern has at most 512 characters");
        }
        let mut pieces = vec![];
        let mut piece = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '*' => pieces.push(std::mem::take(&mut piece)),
                '\\' => match chars.next() {
                    Some(escaped @ ('*' | '\\')) => piece.push(escaped),
                    _ => return Err("a backslash in a pattern must be written \\\\"),
                },
                HOLE => return Err("a pattern holds no NUL"),
                c => piece.push(c),
            }
        }
        pieces.push(piece);
        Ok(Self::of(pieces))
    }

    fn of(pieces: Vec<String>) -> Self {
        let letters = Letters::of(&pieces.concat());
        Self { pieces, letters }
    }

    /// The same with its literal texts changed.
    pub(super) fn map(&self, change: impl Fn(&str) -> String) -> Self {
        Self::of(self.pieces.iter().map(|piece| change(piece)).collect())
    }

    /// Whether a subject of these letters could match: a subject that does match has all of the pattern's.
    pub(super) fn fits(&self, subject: Letters) -> bool {
        self.letters.0 & !subject.0 == 0
    }

    /// Whether the whole subject matches.
    pub fn matches(&self, subject: &str) -> bool {
        let [first, middle @ .., last] = &self.pieces[..] else {
            return self.pieces[0] == subject;
        };
        let Some(mut rest) = subject
            .strip_prefix(&**first)
            .and_then(|rest| rest.strip_suffix(&**last))
        else {
            return false;
        };
        // The leftmost place for a piece leaves the most for those behind it, so nothing is tried twice.
        for piece in middle {
            match find(rest, piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        true
    }

    /// Whether some text in the place of the subject's holes makes it match.
    pub(super) fn may_match(&self, subject: &str) -> bool {
        let (Some(hole), Some(last_hole)) = (subject.find(HOLE), subject.rfind(HOLE)) else {
            return self.matches(subject);
        };
        let [first, .., last] = &self.pieces[..] else {
            let pieces = subject.split(HOLE).map(str::to_owned).collect();
            return Self::of(pieces).matches(&self.pieces[0]);
        };
        // Each has a gap that can swallow the other's middle, so only the ends can disagree.
        let (head, tail) = (&subject[..hole], &subject[last_hole + 1..]);
        (head.starts_with(&**first) || first.starts_with(head))
            && (tail.ends_with(&**last) || last.ends_with(tail))
    }

    /// Whether every text that the other pattern matches is matched by this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        // A character that no piece holds can only be matched by a star, which takes any text.
        let stars = HOLE.to_string();
        self.matches(&other.pieces.join(&stars))
    }

    /// The literal texts before, between and after the stars.
    pub(super) fn pieces(&self) -> &[String] {
        &self.pieces
    }
}

/// The leftmost place of a text in another.
fn find(text: &str, piece: &str) -> Option<usize> {
    // Below this the library's search spends its time on getting ready.
    const SHORT: usize = 64;
    if text.len() > SHORT {
        return text.find(piece);
    }
    let ends = (text.len() + 1).checked_sub(piece.len())?;
    (0..ends).find(|at| text.as_bytes()[*at..].starts_with(piece.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    /// The definition, without regard to time.
    fn naive(pattern: &[char], subject: &[char]) -> bool {
        match pattern {
            [] => subject.is_empty(),
            ['*', rest @ ..] => (0..=subject.len()).any(|n| naive(rest, &subject[n..])),
            ['\\', c, rest @ ..] | [c, rest @ ..] => {
                subject.first() == Some(c) && naive(rest, &subject[1..])
            }
        }
    }

    fn naively(pattern: &str, subject: &str) -> bool {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        naive(&chars(pattern), &chars(subject))
    }

    /// Patterns of an alphabet that is small enough to match now and then.
    const SOME: &str = r"([abä]|\*|\\\*|\\\\){0,9}";

    proptest! {
        #[test]
        fn agrees_with_the_definition(text in SOME, subject in r"[abä*\\]{0,12}") {
            prop_assert_eq!(pattern(&text).matches(&subject), naively(&text, &subject));
            prop_assert!(pattern(&text).fits(Letters::of(&subject)) || !naively(&text, &subject));
        }

        #[test]
        fn may_match_agrees_with_filling_the_hole(
            text in r"[ab*]{0,6}", head in "[ab]{0,3}", tail in "[ab]{0,3}",
        ) {
            let fillings = (0..=6).flat_map(|n| {
                (0..1u32 << n).map(move |bits| {
                    (0..n).map(|at| if bits >> at & 1 == 0 { 'a' } else { 'b' }).collect::<String>()
                })
            });
            let some = fillings.into_iter()
                .any(|filling| pattern(&text).matches(&format!("{head}{filling}{tail}")));
            prop_assert_eq!(pattern(&text).may_match(&format!("{head}\0{tail}")), some);
        }

        #[test]
        fn covers_means_that_nothing_is_left_out(
            one in SOME, other in SOME, subject in r"[abä*\\]{0,9}",
        ) {
            if pattern(&one).covers(&pattern(&other)) && pattern(&other).matches(&subject) {
                prop_assert!(pattern(&one).matches(&subject));
            }
        }
    }

    #[test]
    fn examples() {
        for (text, subject, want) in [
            ("cargo *", "cargo test", true),
            ("cargo *", "cargo", false),
            ("cargo*", "cargo-audit", true),
            ("git push*", "git stash push", false),
            ("*prod*", "kubectl --context prod-eu get", true),
            ("a*a", "a", false),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("a\\\\*", "a\\x", true),
            ("", "", true),
            ("", "x", false),
            ("GIT *", "git log", false),
            ("*ä", "grüße ä", true),
        ] {
            assert_eq!(pattern(text).matches(subject), want, "{text} {subject}");
        }
    }

    #[test]
    fn what_is_no_pattern() {
        assert!(Pattern::parse(&"ä".repeat(512)).is_ok());
        assert!(Pattern::parse(&"a".repeat(513)).is_err());
        for text in ["\\", "a\\", "\\n", "git \\push", "a\0b"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn coverage() {
        for (one, other, want) in [
            ("git *", "git push*", true),
            ("git push*", "git *", false),
            ("*", "anything * at all", true),
            ("*a*", "a", true),
            ("a\\*", "a*", false),
            ("a*", "a\\*", true),
        ] {
            assert_eq!(pattern(one).covers(&pattern(other)), want, "{one} {other}");
        }
    }

    #[test]
    fn a_hard_pattern_takes_no_time() {
        let hard = pattern(&"a*".repeat(255));
        let subject = "a".repeat(100_000) + "b";
        assert!(hard.matches(&subject));
        let harder = pattern(&("*a".repeat(255) + "b"));
        assert!(!harder.matches(&"a".repeat(1_000_000)));
    }
}
