//! What makes a machine poll by itself: a crontab line, a systemd user service and its timer.

/// The crontab line, the service and the timer, ready to paste, for a program and the variables that it
/// needs there.
pub fn units(program: &str, variables: &[(&str, String)]) -> String {
    let shell: String = variables
        .iter()
        .map(|(name, value)| format!("{name}={} ", shell_word(value)))
        .collect();
    let cron = format!("{shell}{} relay poll --quiet", shell_word(program)).replace('%', "\\%");
    let environment: String = variables
        .iter()
        .map(|(name, value)| {
            format!(
                "Environment={}\n",
                quoted(&format!("{name}={value}").replace('%', "%%"))
            )
        })
        .collect();
    let start = systemd_word(program);
    format!(
        "# crontab -e
* * * * * {cron}

# ~/.config/systemd/user/sayso-relay.service
[Unit]
Description=Fetch answers from Relay for sayso

[Service]
Type=oneshot
{environment}ExecStart={start} relay poll --quiet
# What a poll starts (a resumed workflow, a notice) outlives it.
KillMode=process

# ~/.config/systemd/user/sayso-relay.timer
[Unit]
Description=Fetch answers from Relay for sayso every minute

[Timer]
OnStartupSec=1min
OnUnitInactiveSec=1min
AccuracySec=5s

[Install]
WantedBy=timers.target

# systemctl --user daemon-reload && systemctl --user enable --now sayso-relay.timer
"
    )
}

fn is_plain(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-+:@=,".contains(&b);
    !text.is_empty() && text.bytes().all(plain)
}

fn shell_word(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// A word of a unit's command line, where `%` and `$` mean something (systemd.service).
fn systemd_word(text: &str) -> String {
    quoted(&text.replace('%', "%%").replace('$', "$$"))
}

fn quoted(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_paths_are_quoted_for_each_reader() {
        let text = units(
            "/opt/my tools/100%/sayso",
            &[("SAYSO_HOME", "/a $b".to_owned())],
        );
        let cron = "* * * * * SAYSO_HOME='/a $b' '/opt/my tools/100\\%/sayso' relay poll --quiet\n";
        assert!(text.contains(cron), "{text}");
        assert!(text.contains("Environment=\"SAYSO_HOME=/a $b\"\n"));
        assert!(text.contains("ExecStart=\"/opt/my tools/100%%/sayso\" relay poll --quiet\n"));
        assert!(text.contains("KillMode=process"));
    }
}
