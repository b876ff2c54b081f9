//! No text takes more than linear time.

use std::time::{Duration, Instant};

use super::*;

/// What, repeated, has cost a parser or matcher dearly.
const REPEATED: &[&str] = &[
    "a",
    "a ",
    "a|",
    "a;",
    "a;;",
    "a&&",
    "a\n",
    "$(",
    "a $(b ",
    "`a ",
    "`a` ",
    "(",
    "{ ",
    "\"a$(",
    "${a:-",
    "cat <<E\n",
    "<<E ",
    "|sh",
    "eval ",
    "eval 'eval a' ",
    "if a; then ",
    "case a in b) ",
    "a=(b ",
    "$((1+",
    "((1<<",
    "[[ a && ",
    "[[ a =~ ( ",
    "a@(b|",
    "[ a ",
    "for a in b; do ",
    "for a in b <",
    "for a in b c; do ls \"$a\" ",
    "f() { ",
    "! ",
    "sudo ",
    "sudo -Z x ",
    "env -Z ",
    "env A=1 ",
    "xargs ",
    "find -exec a ",
    "-exec a ; ",
    "--x ",
    "-c alias.a=b ",
    "sh -c ",
    "`<]",
    "&>$x`",
    "^);;",
    "=(& $'",
    "a=f() $(}",
    "alias a='alias b=c' ",
    "timeout 5 nice -n 5 ",
    "'a'\"b\"",
    "é",
    "\\\n",
    "a\\\n",
    "2>&1 ",
    ">b ",
    "\0",
    "\\",
];

#[test]
fn no_command_takes_more_than_linear_time() {
    let many = |form: fn(usize) -> String| -> Vec<String> { (0..1000).map(form).collect() };
    let deny = many(|n| format!("*zq{n}*"));
    let allow = many(|n| format!("{}{n}", "*a".repeat(20)));
    let of = |list: &[String]| {
        list.iter()
            .map(|text| format!("{text:?}"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let config = config(&format!(
        "[agents.a.approval_policy]\nauto_deny = [{}]\nauto_allow = [{}]\ndefault = 'allow'",
        of(&deny),
        of(&allow)
    ));
    let policy = Effective::new(&config, "a", &[]).unwrap();
    for piece in REPEATED {
        for (start, length, end) in [
            ("", 30_000, ""),
            ("", 4_000, ")"),
            ("git ", 30_000, " x"),
            ("find ", 30_000, ""),
            ("echo x", 10_000, "|"),
            ("~f() ", 4_000, "~[ "),
        ] {
            let command = start.to_owned() + &piece.repeat(length / piece.len()) + end;
            let call = Call {
                action: Some(&command),
                ..Call::default()
            };
            let started = Instant::now();
            decide(&policy, &call);
            // Without optimisation, on a busy machine; what is quadratic takes minutes.
            let took = started.elapsed();
            assert!(took < Duration::from_secs(30), "{piece:?} took {took:?}");
        }
    }
}

#[test]
fn a_command_that_is_too_long_is_not_allowed() {
    let long = format!("git log {}", "a".repeat(70_000));
    let lax = config(
        "[agents.a.approval_policy]\nauto_allow = ['git *']\nauto_deny = ['rm *']\ndefault = 'allow'",
    );
    assert_eq!(of_bash(&lax, &long), Decision::Ask);
    let denied = config("[agents.a.approval_policy]\nauto_deny = ['git l*']");
    assert_eq!(of_bash(&denied, &long), Decision::Deny);
    let hidden = format!("git log {}; rm x", "a".repeat(70_000));
    assert_eq!(of_bash(&lax, &hidden), Decision::Ask);
}
