//! Notices over HTTP: webhooks and ntfy topics.
//!
//! The secret goes where its service wants it and nowhere else: as a bearer, or, for Telegram, in the
//! path; no error holds a path.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::token;
use super::wording::{Notice, fit};
use crate::config::{Format, Notify};
use crate::http::{Client, Destination, Private, Request};
use crate::secret::Token;

/// The bound of one attempt.
const WITHIN: Duration = Duration::from_secs(5);
/// The bound of Telegram's text, in UTF-16 units (Bot API, `sendMessage`), with room to spare.
const TELEGRAM_MAX: usize = 4000;
/// The bound of ntfy's text, in bytes; a longer one becomes an attachment (docs.ntfy.sh/publish).
const NTFY_MAX: usize = 4000;
/// The bound of a Slack text, in characters; the service's own is 40,000.
const SLACK_MAX: usize = 8000;
const JSON: &str = "application/json";

/// Where an entry's notices go.
///
/// # Errors
/// Why they go nowhere; the address is not repeated.
pub(super) fn destination(notify: &Notify) -> Result<Destination, String> {
    let address = notify.webhook.as_ref().or(notify.ntfy.as_ref());
    let address = address.map_or("", String::as_str);
    Destination::parse(address, Private::allowed(notify.allow_private)).map_err(|e| e.message)
}

/// Checks everything that sending needs of this machine.
///
/// # Errors
/// What is wrong.
pub(super) fn ready(notify: &Notify) -> Result<(), String> {
    destination(notify)?;
    let token = secret(notify)?;
    path(notify, token.as_ref()).map(drop)
}

fn secret(notify: &Notify) -> Result<Option<Token>, String> {
    notify.token_file.as_deref().map(token::read).transpose()
}

fn is_telegram(notify: &Notify) -> bool {
    notify.format == Some(Format::Telegram)
}

/// What is appended to the address: Telegram's holds the bot's token.
fn path(notify: &Notify, token: Option<&Token>) -> Result<String, String> {
    if !is_telegram(notify) {
        return Ok(String::new());
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || b":_-".contains(&b);
    let token = token.map(Token::expose).filter(|t| t.bytes().all(plain));
    let token = token.ok_or("token_file holds no Telegram bot token")?;
    Ok(format!("/bot{token}/sendMessage"))
}

/// Posts a notice.
///
/// # Errors
/// Why it did not arrive.
pub(super) fn post(notify: &Notify, notice: &Notice) -> Result<(), String> {
    let client = Client::new(destination(notify)?);
    let token = secret(notify)?;
    let path = path(notify, token.as_ref())?;
    let bearer = token.as_ref().filter(|_| !is_telegram(notify));
    if notify.ntfy.is_some() {
        let title = header_text(&notice.title);
        let priority = if notice.urgent { "high" } else { "default" };
        let headers = [
            ("title", title.as_str()),
            ("priority", priority),
            ("tags", notice.tag),
        ];
        let body = fit(&notice.text, NTFY_MAX, char::len_utf8);
        let kind = "text/plain; charset=utf-8";
        return send(&client, &path, bearer, &headers, (kind, &body));
    }
    let text = format!("{}\n{}", notice.title, notice.text);
    let body = match notify.format {
        None | Some(Format::Json) => notice.event.clone(),
        Some(Format::Slack) => json!({ "text": slack(&fit(&text, SLACK_MAX, |_| 1)) }),
        Some(Format::Telegram) => json!({
            "chat_id": notify.chat_id,
            "text": fit(&text, TELEGRAM_MAX, char::len_utf16),
            // What is asked may hold a link: nobody should fetch it because of a notice.
            "link_preview_options": { "is_disabled": true },
        }),
    };
    send(&client, &path, bearer, &[], (JSON, &body.to_string()))
}

fn send(
    client: &Client,
    path: &str,
    bearer: Option<&Token>,
    headers: &[(&str, &str)],
    (kind, body): (&str, &str),
) -> Result<(), String> {
    let request = Request {
        method: "POST",
        path,
        bearer,
        headers,
        body: Some((kind, body.as_bytes())),
        within: WITHIN,
    };
    let reply = client.send(&request).map_err(|failure| failure.why)?;
    if (200..300).contains(&reply.status) {
        return Ok(());
    }
    let host = client.destination().host();
    Err(format!("{host} replied with status {}", reply.status))
}

/// Text in which Slack finds no link, mention or channel (its three control characters).
fn slack(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// A header's value: ASCII as it is, anything else in RFC 2047's words, which ntfy decodes.
fn header_text(text: &str) -> String {
    if text.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
        return text.to_owned();
    }
    let mut words = vec![String::new()];
    for c in text.chars() {
        let last = words.len() - 1;
        // 45 bytes are 60 of base64: a word is at most 75 characters.
        if words[last].len() + c.len_utf8() > 45 {
            words.push(String::from(c));
        } else {
            words[last].push(c);
        }
    }
    let encoded = words
        .iter()
        .map(|word| format!("=?UTF-8?B?{}?=", STANDARD.encode(word)));
    encoded.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_ascii_whatever_the_text() {
        assert_eq!(header_text("claude asks (shop)"), "claude asks (shop)");
        assert_eq!(header_text("é"), "=?UTF-8?B?w6k=?=");
        let long = header_text(&"日本".repeat(20));
        assert!(long.is_ascii() && long.split(' ').all(|word| word.len() <= 75));
        assert_eq!(long.split(' ').count(), 3);
    }

    #[test]
    fn nothing_in_a_slack_text_is_a_command() {
        assert_eq!(slack("<!channel> a&b"), "&lt;!channel&gt; a&amp;b");
    }

    #[test]
    fn a_telegram_path_takes_a_bot_token_only() {
        let notify: Notify =
            toml::from_str("webhook = 'https://api.telegram.org'\nformat = 'telegram'").unwrap();
        let token = |text: &str| path(&notify, Token::parse(text).as_ref());
        assert_eq!(token("12:aB_-").unwrap(), "/bot12:aB_-/sendMessage");
        assert!(token("12/../x").is_err() && token("").is_err());
        assert!(!token("secret?").unwrap_err().contains("secret"));
    }
}
