//! A unified diff of two texts, for showing what would be written.

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// Beyond this many changed lines the texts are shown as replaced, which bounds the work.
const LIMIT: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Both,
    Old,
    New,
}

/// The diff, without a trailing part if the texts are equal (then it is empty). `None` is no file.
pub(super) fn unified(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    if old == new {
        return String::new();
    }
    let label = |text: Option<&str>| match text {
        Some(_) => name.to_owned(),
        None => "/dev/null".to_owned(),
    };
    let mut out = format!("--- {}\n+++ {}\n", label(old), label(new));
    let a: Vec<&str> = old.unwrap_or_default().split_inclusive('\n').collect();
    let b: Vec<&str> = new.unwrap_or_default().split_inclusive('\n').collect();
    let script = script(&a, &b);
    for range in hunks(&script) {
        out.push_str(&hunk(&a, &b, &script, range));
    }
    out
}

/// The shortest edit script (Myers, "An O(ND) difference algorithm", 1986): per line, whose it is.
fn script(a: &[&str], b: &[&str]) -> Vec<Side> {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[head..], &b[head..]);
    let tail = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take_while(|(x, y)| x == y)
        .count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    let mut out = vec![Side::Both; head];
    out.extend(middle(a, b));
    out.extend(std::iter::repeat_n(Side::Both, tail));
    out
}

fn middle(a: &[&str], b: &[&str]) -> Vec<Side> {
    let replaced = || {
        let old = std::iter::repeat_n(Side::Old, a.len());
        old.chain(std::iter::repeat_n(Side::New, b.len())).collect()
    };
    let most = (a.len() + b.len()).min(LIMIT);
    // reach[k] is how far into `a` diagonal k (shifted by `most` + 1) got; one row is kept per step.
    let shift = most + 1;
    let mut reach = vec![0usize; 2 * shift + 1];
    let mut rows = Vec::new();
    for d in 0..=most {
        rows.push(reach.clone());
        for k in (shift - d..=shift + d).step_by(2) {
            let down = k == shift - d || (k != shift + d && reach[k - 1] < reach[k + 1]);
            let mut x = if down { reach[k + 1] } else { reach[k - 1] + 1 };
            while x < a.len() && x + shift - k < b.len() && a[x] == b[x + shift - k] {
                x += 1;
            }
            reach[k] = x;
            if x >= a.len() && x + shift >= b.len() + k {
                return walk_back(a.len(), b.len(), d, shift, &rows);
            }
        }
    }
    replaced()
}

fn walk_back(mut x: usize, mut y: usize, d: usize, shift: usize, rows: &[Vec<usize>]) -> Vec<Side> {
    let mut out = Vec::new();
    for step in (1..=d).rev() {
        let reach = &rows[step];
        let k = x + shift - y;
        let down = k == shift - step || (k != shift + step && reach[k - 1] < reach[k + 1]);
        let before = if down { k + 1 } else { k - 1 };
        let (px, py) = (reach[before], reach[before] + shift - before);
        while x > px && y > py {
            out.push(Side::Both);
            (x, y) = (x - 1, y - 1);
        }
        out.push(if down { Side::New } else { Side::Old });
        (x, y) = (px, py);
    }
    out.extend(std::iter::repeat_n(Side::Both, x));
    out.reverse();
    out
}

/// The parts of the script that are shown.
fn hunks(script: &[Side]) -> Vec<std::ops::Range<usize>> {
    let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
    let changed = script.iter().enumerate().filter(|(_, s)| **s != Side::Both);
    for (at, _) in changed {
        let (from, to) = (
            at.saturating_sub(CONTEXT),
            (at + CONTEXT + 1).min(script.len()),
        );
        match hunks.last_mut() {
            Some(last) if last.end >= from => last.end = to,
            _ => hunks.push(from..to),
        }
    }
    hunks
}

fn hunk(a: &[&str], b: &[&str], script: &[Side], range: std::ops::Range<usize>) -> String {
    let count = |part: &[Side], side: Side| {
        let hidden = if side == Side::Old {
            Side::New
        } else {
            Side::Old
        };
        part.iter().filter(|s| **s != hidden).count()
    };
    let (before, part) = (&script[..range.start], &script[range]);
    let (mut i, mut j) = (count(before, Side::Old), count(before, Side::New));
    let (old, new) = (count(part, Side::Old), count(part, Side::New));
    let start = |at: usize, len: usize| if len == 0 { at } else { at + 1 };
    let mut out = format!("@@ -{},{old} +{},{new} @@\n", start(i, old), start(j, new));
    for side in part {
        let (sign, line) = match side {
            Side::Both => (' ', a[i]),
            Side::Old => ('-', a[i]),
            Side::New => ('+', b[j]),
        };
        i += usize::from(*side != Side::New);
        j += usize::from(*side != Side::Old);
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_diff_reads_like_one() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\nten";
        assert_eq!(
            unified("f", Some(old), Some(new)),
            "--- f\n+++ f\n@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+ten\n\\ No newline at end of file\n"
        );
        assert_eq!(
            unified("f", None, Some("a\n")),
            "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n"
        );
        assert_eq!(
            unified("f", Some("a\n"), None),
            "--- f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"
        );
        assert_eq!(unified("f", Some("a"), Some("a")), "");
    }

    proptest! {
        #[test]
        fn the_script_turns_one_into_the_other(a in "[ab\\n]{0,30}", b in "[ab\\n]{0,30}") {
            let a: Vec<&str> = a.split_inclusive('\n').collect();
            let b: Vec<&str> = b.split_inclusive('\n').collect();
            let (mut i, mut j) = (0, 0);
            for side in script(&a, &b) {
                if side == Side::Both {
                    prop_assert_eq!(a[i], b[j]);
                }
                i += usize::from(side != Side::New);
                j += usize::from(side != Side::Old);
            }
            prop_assert_eq!((i, j), (a.len(), b.len()));
        }
    }
}
