//! Address patterns through whole policies, and their parts.

use super::*;
use crate::policy::contents::{Argument, Spec};

fn allowed(spec: &str, text: &str) -> bool {
    Spec::parse(spec).unwrap().allows(&Argument::address(text))
}

fn denied(spec: &str, text: &str) -> bool {
    Spec::parse(spec).unwrap().denies(&Argument::address(text))
}

#[track_caller]
fn check(spec: &str, yes: &[&str], no: &[&str]) {
    let allowed = |text: &&&str| allowed(spec, text);
    let refused: Vec<_> = yes.iter().filter(|text| !allowed(text)).collect();
    let passed: Vec<_> = no.iter().filter(allowed).collect();
    assert!(
        refused.is_empty() && passed.is_empty(),
        "{spec}: refused {refused:?}, passed {passed:?}"
    );
}

#[test]
fn a_pattern_allows_exactly_its_host() {
    check(
        "https://docs.rs/*",
        &[
            "https://docs.rs/",
            "https://docs.rs",
            "https://docs.rs/x",
            "https://docs.rs?q=1",
            "https://docs.rs#top",
            "HTTPS://DOCS.RS/x",
            "https://Docs.Rs:443/x",
            "https://docs.rs:443/",
            "https://docs.rs/../x",
            "https://docs.rs/a/%2e%2E/x",
            "https://docs.rs/a%2Fb?u=https://evil.com/#f",
            "https://docs.rs/x@evil.com/",
            "https://docs.rs/grüße?q=日本",
        ],
        &[
            "",
            "docs.rs/x",
            "//docs.rs/x",
            "http://docs.rs/",
            "https:/docs.rs/",
            "https:docs.rs/",
            "https:///docs.rs/",
            "https:////docs.rs/",
            "https://docs.rs:8443/",
            "https://docs.rs:80/",
            "https://docs.rs:/",
            "https://docs.rs:0443/",
            "https://docs.rs:443:443/",
            "https://docs.rs:x/",
            "https://docs.rs.evil.com/",
            "https://evil-docs.rs/",
            "https://www.docs.rs/",
            "https://docs.rs./",
            "https://docs.rs@evil.com/",
            "https://docs.rs:443@evil.com/",
            "https://@docs.rs/",
            "https://u:p@docs.rs/",
            "https://docs.rs%40evil.com/",
            "https://docs.rs%2fevil.com/",
            "https://docs%2ers/",
            "https://docs.rs\\@evil.com/",
            "https://evil.com\\@docs.rs/",
            "https:\\\\docs.rs/",
            "https://docs.rs\\.evil.com/",
            "https://evil.com/https://docs.rs/",
            "https://evil.com/?https://docs.rs/",
            "https://evil.com#@docs.rs/",
            "https://evil.com?@docs.rs/",
            "https://docs.rs /x",
            " https://docs.rs/x",
            "https://docs.rs/x y",
            "https://docs.rs\t/x",
            "https://do\ncs.rs/x",
            "ht\ttps://docs.rs/x",
            "https://docs.rs/x\r",
            "https://docs.rs/\u{202e}x",
            "https://do\u{ad}cs.rs/",
            "https://docs\u{3002}rs/",
            "https://docs\u{ff0e}rs/",
            "https://ｄｏｃｓ.rs/",
            "https://doc\u{17f}.rs/",
            "https://docs.rs/%",
            "https://docs.rs/%zz",
            "https://docs.rs/a/..%2f..%2fx",
            "https://docs.rs/a/%252e%252e/x",
            "https://docs.rs/a//../x",
            "https://docs.rs/a/..;/x",
            "https://docs.rs/%00",
            "data:text/plain,https://docs.rs/",
            "javascript://docs.rs/%0aalert(1)",
            "file:///etc/passwd",
        ],
    );
}

#[test]
fn a_star_in_the_host_is_whole_labels() {
    check(
        "https://*.example.com/*",
        &[
            "https://a.example.com/",
            "https://a.b.example.com/x",
            "https://A.EXAMPLE.com:443/x",
            "https://xn--bcher-kva.example.com/",
            "https://bücher.example.com/",
        ],
        &[
            "https://example.com/",
            "https://evil.com/?x=.example.com/",
            "https://evil.com/#.example.com/x",
            "https://evil.com/.example.com/",
            "https://evil.com\\.example.com/",
            "https://evil.com%2f.example.com/",
            "https://evil.com:1.example.com/",
            "https://evilexample.com/",
            "https://.example.com/",
            "https://a..example.com/",
            "https://a.example.com.evil.com/",
            "https://a.example.com@evil.com/",
            "https://x@a.example.com/",
            "https://a.example.com./",
        ],
    );
    check(
        "https://a.*.com/*",
        &["https://a.b.com/", "https://a.b.c.com/"],
        &["https://a.com/", "https://ab.com/", "https://b.a.com/"],
    );
    check(
        "https://*/*",
        &[
            "https://a/",
            "https://a.b/x",
            "https://127.0.0.1/",
            "https://[::1]/x",
        ],
        &["http://a/", "https://a:1/", "https://x@a/", "file:///x"],
    );
    check(
        "https://10.*/*",
        &["https://10.a/"],
        &["https://10.0.0.1/", "https://[::1]/"],
    );
    assert!(
        AddressPattern::parse("https://example.*/*")
            .unwrap()
            .unwrap()
            .is_open_ended()
    );
    assert!(
        !AddressPattern::parse("https://*/*")
            .unwrap()
            .unwrap()
            .is_open_ended()
    );
}

#[test]
fn numbers_count_as_they_are_usually_written() {
    check(
        "http://127.0.0.1/*",
        &["http://127.0.0.1/", "http://127.0.0.1:80/x"],
        &[
            "http://127.1/",
            "http://0x7f.0.0.1/",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://127.0.0.1./",
            "http://127.0.0.256/",
            "http://localhost/",
        ],
    );
    check(
        "http://[::1]:8080/*",
        &["http://[::1]:8080/", "http://[0:0::1]:8080/"],
        &[
            "http://[::1]/",
            "http://[::1%25eth0]:8080/",
            "http://::1:8080/",
            "http://[::1]x:8080/",
        ],
    );
}

#[test]
fn schemes_ports_and_paths() {
    check(
        "http://localhost:*/*",
        &[
            "http://localhost:3000/x",
            "http://localhost/",
            "http://localhost:80/",
        ],
        &[
            "http://localhost:x@evil.com/",
            "http://localhost:80@evil.com/",
            "http://localhost:/",
            "https://localhost/",
        ],
    );
    check(
        "HTTPS://Docs.RS:443/a*",
        &[
            "https://docs.rs/abc",
            "https://docs.rs/x/../a",
            "https://docs.rs/%61",
        ],
        &[
            "https://docs.rs/b",
            "https://docs.rs/a/../b",
            "https://docs.rs/A",
        ],
    );
    check(
        "https://docs.rs/tokio/*",
        &["https://docs.rs/tokio/x", "https://docs.rs/x/../tokio/"],
        &[
            "https://docs.rs/tokio/../x",
            "https://docs.rs/tokio/%2e%2e/x",
            "https://docs.rs/tokio/%2e%2e%2fx",
            "https://docs.rs/x?/tokio/x",
            "https://docs.rs/tokio",
        ],
    );
    check(
        "https://docs.rs/x",
        &["https://docs.rs/x", "https://docs.rs:443/%78"],
        &[
            "https://docs.rs/x?y",
            "https://docs.rs/x#y",
            "https://docs.rs/x/",
        ],
    );
    check(
        "https://docs.rs/grüße/*",
        &[
            "https://docs.rs/grüße/x",
            "https://docs.rs/gr%c3%bc%C3%9Fe/x",
        ],
        &["https://docs.rs/gruesse/x"],
    );
    check(
        "ssh://host.org/*",
        &["ssh://HOST.org/x"],
        &[
            "ssh://git@host.org/x",
            "ssh://host.org:22/x",
            "ssh://host.orgx/",
        ],
    );
}

#[test]
fn international_names_are_compared_in_punycode() {
    for spec in [
        "https://bücher.example/*",
        "https://BÜCHER.example/*",
        "https://xn--bcher-kva.example/*",
    ] {
        check(
            spec,
            &[
                "https://bücher.example/",
                "https://BÜCHER.Example/x",
                "https://xn--bcher-kva.example/",
                "https://XN--BCHER-KVA.example/",
            ],
            &[
                "https://bucher.example/",
                "https://b\u{fc}cher\u{3002}example/",
                "https://bücher.example.evil.com/",
            ],
        );
    }
    // One reader's ß is another's ss.
    check(
        "https://xn--strae-oqa.de/*",
        &["https://xn--strae-oqa.de/"],
        &["https://straße.de/"],
    );
    check(
        "https://strasse.de/*",
        &[],
        &["https://straße.de/", "https://STRAẞE.de/"],
    );
}

#[test]
fn another_form_is_matched_on_the_whole_text() {
    for spec in [
        "*docs.rs*",
        "https://docs.rs*",
        "*://docs.rs/*",
        "http*://docs.rs/*",
        "domain:docs.rs",
        "https://docs.rs",
    ] {
        assert!(AddressPattern::parse(spec).is_none(), "{spec}");
    }
    check(
        "*docs.rs*",
        &[
            "https://docs.rs/x",
            "https://evil.com/?docs.rs",
            "see docs.rs",
        ],
        &["https://DOCS.RS/"],
    );
}

#[test]
fn a_pattern_of_no_host_allows_nothing() {
    for spec in [
        "https://api-*.example.com/*",
        "https://u@docs.rs/*",
        "file:///srv/*",
        "https://docs.rs:x/*",
        "https://docs.rs:/*",
        "https://a..b/*",
        "https://*.a b/*",
        "https://docs.rs?x/*",
        "https://docs.rs/a/../*",
        "https://docs.rs/%2e%2E/*",
        "https://a\\*b.org/*",
        "https://docs.rs:99999/*",
    ] {
        assert!(AddressPattern::parse(spec).unwrap().is_err(), "{spec}");
        let same = spec.replace('*', "x");
        assert!(!allowed(spec, &same), "{spec} {same}");
    }
}

#[test]
fn a_deny_sees_through_every_way_of_writing() {
    for text in [
        "https://evil.org/",
        "HTTPS://EVIL.ORG/x",
        "https://evil.org:443/",
        "https://u@evil.org/",
        "https://docs.rs\\@evil.org/",
        "https://evil.org\\@docs.rs/",
        "https://a@evil.org@b/",
        "https://evil.org./x",
        "https:evil.org/x",
        "https:/evil.org/x",
        "https:///evil.org/x",
        "https:\\\\evil.org/x",
        "evil.org/x",
        " https://evil.org/x",
        "https://ev\til.org/x",
        "https://evil%2Eorg/",
        "https://ｅvil.org/",
        "https://evil\u{3002}org/",
        "https://e\u{ad}vil.org/",
    ] {
        assert!(denied("https://evil.org/*", text), "{text}");
        assert!(denied("https://evil.org*", text), "{text}");
        assert!(!allowed("https://docs.rs/*", text), "{text}");
    }
    for text in [
        "https://evil.org/secret/x",
        "https://evil.org/a/../secret/x",
        "https://evil.org//secret/x",
        "https://evil.org/%73ecret/x",
        "https://evil.org/a/%2e%2e/secret/x",
        "https://evil.org/a/..%2fsecret/x",
        "https://evil.org/a/..;/secret/x",
        "https://evil.org/%2573ecret/x",
        "https://evil.org\\secret\\x",
    ] {
        assert!(denied("https://evil.org/secret/*", text), "{text}");
    }
    for text in [
        "http://127.1/",
        "http://0x7f.1/",
        "http://2130706433/",
        "http://0177.0.0.1/x",
    ] {
        assert!(denied("http://127.0.0.1/*", text), "{text}");
    }
    for text in [
        "https://docs.rs/",
        "https://docs.rs/evil.org/",
        "https://notevil.org/",
        "https://x.evil.org/",
    ] {
        assert!(!denied("https://evil.org/*", text), "{text}");
    }
}

#[test]
fn a_long_text_takes_no_time_and_is_never_allowed() {
    for text in [
        format!("https://{}docs.rs/", "a@".repeat(1 << 19)),
        format!("https://docs.rs/{}", "a/".repeat(1 << 19)),
        "%25".repeat(1 << 19),
    ] {
        let start = std::time::Instant::now();
        let argument = Argument::address(&text);
        assert!(!Spec::parse("https://docs.rs/*").unwrap().allows(&argument));
        assert!(start.elapsed().as_secs() < 2, "{:?}", start.elapsed());
    }
}

proptest::proptest! {
    /// Whoever reads the host of an address that is allowed reads the pattern's.
    #[test]
    fn every_reading_of_what_is_allowed_is_of_the_same_place(
        text in r"(https|HTTPS|http)?:?/?/?[a@:.\\/%?#\t-]{0,3}(docs\.rs|evil\.com)?[a@:.\\/%?#2ef;\t。-]{0,6}(docs\.rs|evil\.com)?[/?#]?[a.]{0,3}"
    ) {
        if allowed("https://docs.rs/*", &text) {
            for reading in Address::readings(&text) {
                proptest::prop_assert_eq!((&*reading.host, reading.port), ("docs.rs", None), "{}", &text);
            }
            proptest::prop_assert!(!denied("https://evil.com/*", &text), "{}", text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,40}", spec in "(https://)?[a-z*.:@/%\\[\\]]{0,12}/?\\PC{0,5}") {
        let argument = Argument::address(&text);
        if let Ok(spec) = Spec::parse(&spec) {
            proptest::prop_assert!(!spec.allows(&argument) || spec.denies(&argument));
        }
    }
}
