//! The manual: sayso(1) and one page per verb, from the parser's types and the texts of `sayso help`.
//! The test that compares them with the committed ones builds them with this same file.

use std::io;

use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use sayso::cli;
use sayso::cmd::help::TOPICS;

/// Every page: file name and text.
pub(crate) fn pages() -> io::Result<Vec<(String, String)>> {
    let mut root = cli::full_command();
    root.build();
    let mut pages = vec![("sayso.1".to_owned(), root_page(&root)?)];
    for verb in visible(&root) {
        pages.push((file(verb), verb_page(verb)?));
        for part in visible(verb) {
            pages.push((file(part), part_page(verb, part)?));
        }
    }
    Ok(pages)
}

fn visible(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set())
}

fn file(command: &clap::Command) -> String {
    let name = command.get_display_name().unwrap_or(command.get_name());
    format!("{name}.1")
}

fn man(command: &clap::Command) -> Man {
    Man::new(command.clone())
        .source(concat!("sayso ", env!("CARGO_PKG_VERSION")))
        .manual("sayso manual")
        .date(" ")
}

fn root_page(root: &clap::Command) -> io::Result<String> {
    let man = man(root);
    let mut page = Vec::new();
    head(&man, &mut page)?;
    man.render_subcommands_section(&mut page)?;
    let mut rest = Roff::new();
    for (topic, text) in TOPICS {
        section(&mut rest, heading(topic), body(text));
    }
    let verbs = cli::VERBS.iter().filter(|verb| !verb.starts_with('_'));
    see_also(&mut rest, verbs.map(|verb| format!("sayso-{verb}")));
    rest.to_writer(&mut page)?;
    text(page)
}

fn verb_page(verb: &clap::Command) -> io::Result<String> {
    let name = verb.get_name();
    let man = man(verb);
    let mut page = Vec::new();
    head(&man, &mut page)?;
    if visible(verb).next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut rest = Roff::new();
    if matches!(name, "hook" | "harness") {
        section(&mut rest, "HOSTS", body(topic("hosts")));
    }
    match name {
        "mcp" | "workflow" => section(&mut rest, "MCP", body(topic("mcp-server"))),
        "policy" => section(&mut rest, "APPROVAL POLICY", body(topic("approval-policy"))),
        "relay" | "publish" => section(&mut rest, "PHONES", body(topic("phones"))),
        _ => {}
    }
    section(&mut rest, "EXIT STATUS", &exit_status(name));
    section(&mut rest, "ENVIRONMENT", &environment(name));
    if let Some(after) = verb.get_after_help() {
        let after = after.to_string();
        let example = after.trim_start_matches("Example:").trim_matches('\n');
        section(&mut rest, "EXAMPLE", example);
    }
    see_also(
        &mut rest,
        related(name).iter().map(|page| (*page).to_owned()),
    );
    rest.to_writer(&mut page)?;
    text(page)
}

/// The page of a part of a verb, as `harness install`.
fn part_page(verb: &clap::Command, part: &clap::Command) -> io::Result<String> {
    let mut page = Vec::new();
    head(&man(part), &mut page)?;
    let mut rest = Roff::new();
    section(&mut rest, "EXIT STATUS", &exit_status(verb.get_name()));
    section(&mut rest, "ENVIRONMENT", &environment(verb.get_name()));
    see_also(
        &mut rest,
        [format!("sayso-{}", verb.get_name()), "sayso".to_owned()].into_iter(),
    );
    rest.to_writer(&mut page)?;
    text(page)
}

fn head(man: &Man, page: &mut Vec<u8>) -> io::Result<()> {
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)
}

/// A section whose lines stay as they are.
fn section(roff: &mut Roff, heading: &str, lines: &str) {
    roff.control("SH", [heading]).control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
}

fn see_also(roff: &mut Roff, pages: impl Iterator<Item = String>) {
    roff.control("SH", ["SEE ALSO"]);
    let mut words = Vec::new();
    for page in pages {
        if !words.is_empty() {
            words.push(roman(", "));
        }
        words.extend([bold(page), roman("(1)")]);
    }
    roff.text(words);
}

fn heading(topic: &str) -> &'static str {
    match topic {
        "exit-codes" => "EXIT STATUS",
        "environment" => "ENVIRONMENT",
        "files" => "FILES",
        "hosts" => "HOSTS",
        "mcp-server" => "MCP",
        "approval-policy" => "APPROVAL POLICY",
        "phones" => "PHONES",
        "security" => "SECURITY",
        _ => "INTERACTIONS",
    }
}

fn topic(name: &str) -> &'static str {
    let found = TOPICS.iter().find(|(topic, _)| *topic == name);
    found.map_or("", |(_, text)| *text)
}

/// A topic's text without its title.
fn body(text: &str) -> &str {
    text.split_once("\n\n").map_or(text, |(_, body)| body)
}

/// The rows of the table of exit codes that a verb can end with.
fn exit_status(verb: &str) -> String {
    let codes: &[&str] = match verb {
        "ask" => &[
            "0", "1", "2", "6", "7", "10", "11", "12", "124", "130", "143",
        ],
        "wait" => &[
            "0", "1", "2", "3", "7", "10", "11", "12", "124", "130", "143",
        ],
        "answer" => &["0", "1", "2", "3", "4", "5", "6", "7", "8", "130", "143"],
        "respond" => &["0", "1", "2", "3", "4", "5", "6", "7", "8"],
        "arc" => &["0", "1", "2", "3", "4", "5", "6", "7", "8"],
        "inbox" => &["0", "1", "2", "7", "8", "130", "143"],
        "watch" | "events" => &["0", "1", "2", "7", "130", "143"],
        "get" | "show" | "cancel" => &["0", "1", "2", "3", "7"],
        "hook" => return "  0    always: hosts take other codes for a decision".to_owned(),
        "policy" => &["0", "1", "2", "7", "10", "12"],
        "mcp" => &["0", "1", "2", "7", "130", "143"],
        "workflow" => &["0", "1", "2", "3", "7"],
        "publish" => &["0", "1", "2", "3", "5", "7"],
        "completions" | "help" => &["0", "2", "7"],
        _ => &["0", "1", "2", "7"],
    };
    rows(topic("exit-codes"), |code| codes.contains(&code))
}

/// The variables that a verb reads, beside those that every verb reads.
fn environment(verb: &str) -> String {
    let every = [
        "SAYSO_HOME",
        "SAYSO_CONFIG",
        "SAYSO_SCOPE",
        "SAYSO_REPO",
        "NO_COLOR",
    ];
    let own: &[&str] = match verb {
        "ask" => &["SAYSO_AGENT", "SAYSO_SESSION", "TERM", "VISUAL,"],
        "request" => &["SAYSO_AGENT", "SAYSO_SESSION"],
        "mcp" => &["SAYSO_MCP_AGENT_ID,", "CLAUDE_PROJECT_DIR"],
        "policy" => &["SAYSO_AGENT", "CLAUDE_PROJECT_DIR"],
        "workflow" => &["SAYSO_WORKFLOW_ID,"],
        "answer" | "inbox" => &["SAYSO_AGENT", "TERM", "VISUAL,"],
        "respond" | "arc" => &["SAYSO_AGENT"],
        "relay" | "publish" => &["SAYSO_RELAY_TOKEN_ID"],
        "hook" => &[
            "SAYSO_AGENT",
            "CLAUDE_PROJECT_DIR",
            "CLAUDE_CODE_SESSION_ATTENDED",
        ],
        _ => &[],
    };
    let mut found = rows(topic("environment"), |name| {
        every.contains(&name) || own.contains(&name)
    });
    found.push_str("\nsayso(1) has the whole list.");
    found
}

/// The rows of a topic's tables whose first word is wanted, with the lines that continue them.
fn rows(text: &str, wanted: impl Fn(&str) -> bool) -> String {
    let mut taken = false;
    let mut found = String::new();
    for line in text.lines() {
        match line.len() - line.trim_start().len() {
            2 => taken = line.split_whitespace().next().is_some_and(&wanted),
            3.. => {}
            _ => taken = false,
        }
        if taken {
            found.push_str(line);
            found.push('\n');
        }
    }
    found
}

fn related(verb: &str) -> &'static [&'static str] {
    match verb {
        "ask" | "request" => &[
            "sayso",
            "sayso-wait",
            "sayso-get",
            "sayso-cancel",
            "sayso-answer",
        ],
        "wait" | "get" | "cancel" => &["sayso", "sayso-ask", "sayso-request"],
        "list" | "show" => &["sayso", "sayso-answer", "sayso-inbox", "sayso-watch"],
        "answer" | "respond" | "inbox" => &["sayso", "sayso-list", "sayso-show", "sayso-ask"],
        "watch" | "count" | "events" => &["sayso", "sayso-list", "sayso-inbox"],
        "arc" => &["sayso", "sayso-request", "sayso-respond", "sayso-events"],
        "prune" | "doctor" => &["sayso", "sayso-list"],
        "hook" => &[
            "sayso",
            "sayso-harness",
            "sayso-inbox",
            "sayso-answer",
            "sayso-doctor",
        ],
        "harness" => &["sayso", "sayso-hook", "sayso-doctor"],
        _ => &["sayso"],
    }
}

fn text(page: Vec<u8>) -> io::Result<String> {
    String::from_utf8(page).map_err(io::Error::other)
}
