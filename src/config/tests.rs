use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn parse(text: &str) -> Result<Config> {
    Config::parse(Source {
        path: PathBuf::from("/c.toml"),
        text: text.to_owned(),
    })
}

fn error(text: &str) -> Error {
    parse(text).expect_err(text)
}

fn env(config: Option<&Path>, xdg: Option<&Path>) -> Env {
    Env {
        sayso_config: config.map(|p| p.as_os_str().to_owned()),
        xdg_config_home: xdg.map(|p| p.as_os_str().to_owned()),
        home: None,
    }
}

#[test]
fn an_empty_file_is_the_default() {
    let config = parse("").unwrap();
    assert_eq!(
        (config.max_pending.get(), config.retention_days),
        (1000, 30)
    );
    assert!(config.agents.is_empty() && config.relay.is_empty() && config.notify.is_empty());
}

#[test]
fn every_table_is_read() {
    let config = parse(
        r#"
max_pending = 5
retention_days = 7

[agents.swe.approval_policy]
auto_allow = ["cargo *", "Read"]
auto_deny = ["git push*"]
default = "deny"

[agents."*".approval_policy]
default = "ask"

[resume]
command = ["claude", "-p", "--resume", "{session_id}"]

[[relay]]
provider_id = "home"
base_url = "https://relay.example.org"
[[relay.route]]
enabled = true
include_message = true
kinds = ["permission", "input"]
min_priority = "high"
[[relay.route]]

[[notify]]
webhook = "https://example.org/x"
format = "slack"
kinds = ["permission", "single_choice"]
token_file = "/etc/token"
[[notify]]
command = ["beep"]
"#,
    )
    .unwrap();
    let swe = config.agents["swe"].approval_policy.as_ref().unwrap();
    assert_eq!(swe.auto_allow[1].get_ref(), "Read");
    assert_eq!(swe.default.as_ref().unwrap().get_ref(), &Decision::Deny);
    let place = config.source.place(swe.auto_allow[1].span().start);
    assert_eq!(place.to_string(), "/c.toml:6:26");
    let (name, _) = config.agents.get_key_value("swe").unwrap();
    assert_eq!(config.source.place(name.span().start).line, 5);
    let relay = &config.relay[0];
    assert!(relay.enabled && !relay.allow_private);
    assert!(relay.route[0].enabled && !relay.route[1].enabled);
    assert!(relay.route[0].min_priority > relay.route[1].min_priority);
    assert_eq!(config.notify[0].get_ref().format, Some(Format::Slack));
    assert!(!config.notify[1].get_ref().include_prompt);
    assert_eq!(config.resume.unwrap().command.get_ref().len(), 4);
}

#[test]
fn what_is_not_understood_is_an_error_with_its_position() {
    for (text, place) in [
        ("max_pendin = 1", "/c.toml:1:1: "),
        (
            "\n[agents.a.approval_policy]\nauto_alow = []",
            "/c.toml:3:1: ",
        ),
        ("[agents.a]\nname = 1", "/c.toml:2:1: "),
        (
            "[agents.\"ä\".approval_policy]\ndefault = \"nope\"",
            "/c.toml:2:11: ",
        ),
        (
            "[agents.a.approval_policy]\nauto_deny = [1]",
            "/c.toml:2:14: ",
        ),
        ("max_pending = 1\nmax_pending = 2", "/c.toml:2:1: "),
        ("max_pending = 0", "/c.toml:1:15: "),
        ("retention_days = -1", "/c.toml:1:18: "),
        ("[resume]\ncommand = []", "/c.toml:2:11: "),
        ("[resume]\ncommand = [\"\"]", "/c.toml:2:11: "),
        ("[resume]\ncommand = [\"./resume.sh\"]", "/c.toml:2:11: "),
        ("[resume]\ncommand = [\"~/resume.sh\"]", "/c.toml:2:11: "),
        ("[resume]\ncommand = [\"{session_id}\"]", "/c.toml:2:11: "),
        (
            "[resume]\ncommand = [\"/opt/{workflow_id}\"]",
            "/c.toml:2:11: ",
        ),
        (
            "[resume]\ncommand = [\"true\", \"{session}\"]",
            "/c.toml:2:11: ",
        ),
        (
            "[[relay]]\nprovider_id = \"-\"\nbase_url = \"\"",
            "/c.toml:2:15: ",
        ),
        ("[[relay]]\nprovider_id = \"a\"", "/c.toml:1:1: "),
        ("[[notify]]\ndesktop = true\nntfy = \"x\"", "/c.toml:1:1: "),
        ("[[notify]]\ninclude_prompt = true", "/c.toml:1:1: "),
        (
            "[[notify]]\ndesktop = true\nformat = \"json\"",
            "/c.toml:1:1: ",
        ),
        (
            "[[notify]]\nwebhook = \"x\"\ntoken_file = \"t\"",
            "/c.toml:1:1: ",
        ),
        ("[[notify]]\ncommand = []", "/c.toml:1:1: "),
        (
            "[[notify]]\ndesktop = true\ntoken_file = \"/t\"",
            "/c.toml:1:1: ",
        ),
        (
            "[[notify]]\ncommand = [\"x\"]\nallow_private = true",
            "/c.toml:1:1: ",
        ),
        (
            "[[notify]]\nwebhook = \"x\"\nformat = \"telegram\"\nchat_id = \"1\"",
            "/c.toml:1:1: ",
        ),
        (
            "[[notify]]\nwebhook = \"x\"\nformat = \"telegram\"\ntoken_file = \"/t\"",
            "/c.toml:1:1: ",
        ),
        ("[[notify]]\nntfy = \"x\"\nchat_id = \"1\"", "/c.toml:1:1: "),
        ("= broken", "/c.toml:1:1: "),
        ("a = \"unterminated", "/c.toml:1:"),
    ] {
        let error = error(text);
        assert_eq!(error.code, Code::ConfigError, "{text}");
        assert!(error.message.starts_with(place), "{text}: {error}");
        assert!(!error.message.contains('\n'), "{error}");
    }
}

#[test]
fn relays_that_would_share_a_variable_are_refused() {
    let relay = |id: &str| format!("[[relay]]\nprovider_id = \"{id}\"\nbase_url = \"u\"\n");
    assert!(parse(&(relay("a.b") + &relay("a.c"))).is_ok());
    for (one, other) in [("a.b", "A_b"), ("a", "a")] {
        let error = error(&(relay(one) + &relay(other)));
        assert!(error.message.starts_with("/c.toml:5:15: "), "{error}");
    }
}

#[test]
fn permission_mode_is_refused_with_a_hint() {
    for text in [
        "permission_mode = \"x\"",
        "[agents.a]\npermission_mode = \"x\"",
        "[agents.a.approval_policy]\npermission_mode = \"x\"",
    ] {
        let hint = error(text).hint.expect(text);
        assert!(hint.contains("--permission-mode"), "{hint}");
    }
    assert!(error("permission_mod = 1").hint.is_none());
}

#[test]
fn the_file_is_found_by_the_environment() {
    let at = |env: &Env| path(env).unwrap();
    let mut env = Env {
        sayso_config: Some("/a/b.toml".into()),
        xdg_config_home: Some("/xdg".into()),
        home: Some("/home/u".into()),
    };
    assert_eq!(at(&env), ("/a/b.toml".into(), true));
    env.sayso_config = Some("rel.toml".into());
    assert_eq!(
        at(&env).0,
        std::env::current_dir().unwrap().join("rel.toml")
    );
    env.sayso_config = Some("".into());
    assert_eq!(at(&env), ("/xdg/sayso/config.toml".into(), false));
    env.xdg_config_home = Some("relative".into());
    assert_eq!(at(&env).0, Path::new("/home/u/.config/sayso/config.toml"));
    env.home = None;
    let (passwd, named) = at(&env);
    assert!(passwd.is_absolute() && passwd.ends_with(".config/sayso/config.toml") && !named);
}

#[test]
fn only_an_unnamed_file_may_be_missing() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing.toml");
    assert!(Config::load(&env(None, Some(dir.path()))).is_ok());
    let error = Config::load(&env(Some(&missing), None)).unwrap_err();
    assert_eq!(error.code, Code::ConfigError);
    assert!(error.message.contains("missing.toml"), "{error}");
    // A dotfile link whose target is not mounted is not "no policy".
    fs::create_dir(dir.path().join("sayso")).unwrap();
    symlink(&missing, dir.path().join("sayso/config.toml")).unwrap();
    let error = Config::load(&env(None, Some(dir.path()))).unwrap_err();
    assert_eq!(error.code, Code::ConfigError);
    fs::write(&missing, "max_pending = 3").unwrap();
    let config = Config::load(&env(None, Some(dir.path()))).unwrap();
    assert_eq!(config.max_pending.get(), 3);
    assert_eq!(config.source.path, dir.path().join("sayso/config.toml"));
}

#[test]
fn only_a_regular_text_of_bounded_size_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let binary = dir.path().join("binary");
    fs::write(&binary, b"a = \"\xff\"").unwrap();
    let large = dir.path().join("large");
    fs::write(&large, "#".repeat(1024 * 1024 + 1)).unwrap();
    for (path, why) in [
        (&fifo, "not a regular file"),
        (&dir.path().to_owned(), "not a regular file"),
        (&binary, "not UTF-8"),
        (&large, "larger than 1048576 bytes"),
    ] {
        let error = Config::load(&env(Some(path), None)).unwrap_err();
        assert_eq!(error.code, Code::ConfigError);
        assert!(error.message.contains(why), "{error}");
    }
    fs::write(&large, "#".repeat(1024 * 1024)).unwrap();
    assert!(Config::load(&env(Some(&large), None)).is_ok());
}

#[test]
fn a_repositorys_file_is_not_followed_or_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let read = |name| read_repository_file(dir.path(), name, 10);
    assert!(read("missing").unwrap().is_none());
    fs::write(dir.path().join("short"), "0123456789").unwrap();
    let source = read("short").unwrap().unwrap();
    assert_eq!(source.text, "0123456789");
    assert_eq!(source.path, dir.path().join("short"));
    fs::write(dir.path().join("long"), "0123456789x").unwrap();
    symlink(dir.path().join("short"), dir.path().join("link")).unwrap();
    symlink(dir.path().join("nowhere"), dir.path().join("dangling")).unwrap();
    let fifo = dir.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for name in ["long", "link", "dangling", "fifo", "."] {
        let error = read(name).expect_err(name);
        assert_eq!(error.code, Code::ConfigError);
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_one_that_was_meant() {
    const POLICY: &str = "the policy lives in a table of its agent:\n  [agents.claude.approval_policy]\n  auto_allow = [\"cargo *\"]";
    for (text, hint) in [
        ("[policy]\nauto_allow = []", POLICY),
        ("[approval_policy]\nauto_allow = []", POLICY),
        ("[permissions]\nallow = []", POLICY),
        ("auto_allow = []", POLICY),
        ("default = \"ask\"", POLICY),
        ("[agents.approval_policy]\nauto_deny = []", POLICY),
        ("[agents.claude]\nauto-allow = []", POLICY),
        (
            "[agents.claude]\npolicy = {}",
            "did you mean `approval_policy`?",
        ),
        (
            "[agents.claude.approval-policy]",
            "did you mean `approval_policy`?",
        ),
        (
            "[agents.claude.aproval_polcy]",
            "did you mean `approval_policy`?",
        ),
        (
            "[agents.a.approval_policy]\nautoAllow = []",
            "did you mean `auto_allow`?",
        ),
        (
            "[agents.a.approval_policy]\nallow = []",
            "did you mean `auto_allow`?",
        ),
        (
            "[agents.a.approval_policy]\nauto_alow = []",
            "did you mean `auto_allow`?",
        ),
        (
            "[agents.a.approval_policy]\ndefault = \"alow\"",
            "did you mean `allow`?",
        ),
        ("[agent.claude.approval_policy]", "did you mean `agents`?"),
        ("[Agents.claude.approval_policy]", "did you mean `agents`?"),
        ("max_pendign = 1", "did you mean `max_pending`?"),
        ("retention = 1", "did you mean `retention_days`?"),
        ("[[relays]]", "did you mean `relay`?"),
        ("[resume]\ncmd = []\ncommand = [\"x\"]", ""),
        ("[resume]\ncomand = []", "did you mean `command`?"),
        ("base_url = \"x\"", "`base_url` is a member of [[relay]]"),
        ("[[relay]]\nprovider = 1", "did you mean `provider_id`?"),
        (
            "[[relay]]\nprovider_id = \"a\"\nbase_url = \"b\"\n[[relay.route]]\ninclude_mesage = true",
            "did you mean `include_message`?",
        ),
        (
            "[[relay]]\nprovider_id = \"a\"\nbase_url = \"b\"\n[[relay.route]]\nbase_url = \"x\"",
            "`base_url` is a member of [[relay]]",
        ),
        ("[[notify]]\nweb_hook = \"x\"", "did you mean `webhook`?"),
        (
            "[[notify]]\nmin_priority = \"x\"",
            "`min_priority` is a member of [[relay.route]]",
        ),
        ("[[notify]]\nformat = \"slak\"", "did you mean `slack`?"),
        ("desktop = true", "`desktop` is a member of [[notify]]"),
        ("zzz = 1", ""),
        ("\"a`, expected `b\" = 1", ""),
    ] {
        let error = error(text);
        assert_eq!(
            error.hint.as_deref().unwrap_or_default(),
            hint,
            "{text}: {error}"
        );
    }
}
