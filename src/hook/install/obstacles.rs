//! Settings of a host that keep an installed hook from ever being asked. A gate that is missing is said
//! out loud, not found out later.

use jsonc_parser::ast::{Object, Value};

use super::events::Modes;
use super::json;
use crate::hook::host::Host;

/// What stands in the way, one sentence each; nothing for a text that cannot be read.
pub(super) fn find(host: Host, settings: &str, modes: Modes) -> Vec<String> {
    let Ok(root) = json::object(settings) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let all_off = match host {
        Host::Claude | Host::Copilot => is(&root, &["disableAllHooks"], true),
        Host::Gemini => is(&root, &["hooksConfig", "enabled"], false),
        _ => false,
    };
    if all_off {
        found.push(format!(
            "these settings turn all hooks of {} off",
            host.title()
        ));
    }
    let mode = text(&root, &["permissions", "defaultMode"]);
    let promptless = host == Host::Claude && modes.ask && !modes.gate;
    if let (true, Some(mode @ ("bypassPermissions" | "dontAsk"))) = (promptless, mode.as_deref()) {
        found.push(format!(
            "permissions.defaultMode is {mode}: there will be no prompts to answer; --gate decides without them"
        ));
    }
    found
}

fn lookup<'b, 'a>(root: &'b Object<'a>, path: &[&str]) -> Option<&'b Value<'a>> {
    let (last, parents) = path.split_last()?;
    let inner = parents
        .iter()
        .try_fold(root, |object, name| object.get_object(name))?;
    inner.get(last).map(|p| &p.value)
}

fn is(root: &Object<'_>, path: &[&str], value: bool) -> bool {
    lookup(root, path)
        .and_then(Value::as_boolean_lit)
        .is_some_and(|b| b.value == value)
}

fn text(root: &Object<'_>, path: &[&str]) -> Option<String> {
    Some(lookup(root, path)?.as_string_lit()?.value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases A37, A38.
    #[test]
    fn what_silences_a_hook_is_named() {
        let ask = Modes {
            ask: true,
            gate: false,
        };
        let both = Modes {
            ask: true,
            gate: true,
        };
        let bypass = r#"{"permissions": {"defaultMode": "bypassPermissions"}}"#;
        assert!(find(Host::Claude, bypass, ask)[0].contains("--gate"));
        assert!(find(Host::Claude, bypass, both).is_empty());
        assert!(
            find(
                Host::Claude,
                r#"{"permissions": {"defaultMode": "plan"}}"#,
                ask
            )
            .is_empty()
        );
        for (host, text) in [
            (Host::Claude, r#"{"disableAllHooks": true}"#),
            (Host::Copilot, r#"{"disableAllHooks": true}"#),
            (Host::Gemini, r#"{"hooksConfig": {"enabled": false}}"#),
        ] {
            assert_eq!(find(host, text, ask).len(), 1, "{text}");
            assert!(find(host, "{}", ask).is_empty());
        }
    }
}
