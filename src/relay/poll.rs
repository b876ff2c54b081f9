//! Fetching answers and applying them.
//!
//! Promise: every answer passes the rules of any other; the cursor moves only after a whole page was
//! processed; whatever a page holds, each of its items is judged by itself.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::client::{Client, NoPage, Page};
use super::cursor::Cursor;
use super::devices::Answerers;
use super::item::{self, Item};
use super::provider::Provider;
use super::publish;
use crate::broker;
use crate::error::{Code, Error, Result};
use crate::events::{Event, Type};
use crate::http;
use crate::id::Id;
use crate::log;
use crate::model::response::Responder;
use crate::store::layout::Home;
use crate::store::{Store, WITHDRAW_WAIT};
use crate::time::Time;

/// The most pages of one poll.
const PAGES_MAX: usize = 20;
/// The most items that a poll lists: a Relay could send millions.
const LISTED_MAX: usize = 1000;
/// How long a poll waits for another one of the same provider.
const LOCK_WAIT: Duration = Duration::from_secs(15);
/// How long a poll may spend on sending what is due.
const FLUSH_WITHIN: Duration = Duration::from_secs(30);

/// What became of one item of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handled {
    /// As the Relay named it; none where it named none that can be shown.
    pub response_id: Option<String>,
    /// As the Relay named it.
    pub interaction_id: Option<String>,
    /// Whether it is the accepted answer.
    pub applied: bool,
    /// Why not.
    pub note: String,
}

/// What one poll of a provider came to.
#[derive(Debug, Default)]
pub struct Polled {
    /// Whose.
    pub provider_id: String,
    /// How many items came.
    pub fetched: usize,
    /// Each of them.
    pub answers: Vec<Handled>,
    /// How many more were not applied.
    pub unlisted: usize,
    /// Why questions that were due did not go out, a word for each.
    pub unsent: Vec<String>,
    /// What ended the poll early.
    pub error: Option<Error>,
    /// Why nothing was asked although nothing is wrong.
    pub idle: Option<String>,
}

impl Polled {
    /// How many answers were accepted.
    pub fn applied(&self) -> usize {
        self.answers.iter().filter(|a| a.applied).count()
    }

    /// As `relay poll --json` prints it.
    pub fn json(&self) -> Value {
        let answer = |a: &Handled| {
            json!({
                "response_id": a.response_id, "interaction_id": a.interaction_id,
                "applied": a.applied, "note": a.note,
            })
        };
        let mut value = json!({
            "provider_id": self.provider_id,
            "applied": self.applied(),
            "fetched": self.fetched,
            "answers": self.answers.iter().map(answer).collect::<Vec<_>>(),
        });
        if self.unlisted > 0 {
            value["unlisted"] = self.unlisted.into();
        }
        if let Some(error) = &self.error {
            value["error"] = json!({ "code": error.code.name(), "message": error.message });
        }
        value
    }
}

/// Sends what is due to a provider and fetches its answers, page by page.
pub fn poll(home: &Home, provider: &Provider) -> Polled {
    let mut polled = Polled {
        provider_id: provider.id.clone(),
        ..Polled::default()
    };
    if let Err(error) = run(home, provider, &mut polled) {
        polled.error = Some(error);
    }
    polled
}

fn run(home: &Home, provider: &Provider, polled: &mut Polled) -> Result<()> {
    let client = provider.client()?;
    if let Err(error) = provider.dir().make() {
        log::warn(&format!("nothing is sent: {error}"));
    }
    let held = Cursor::read(provider.dir(), client.installation_id()).hold(Time::now());
    if let Some(left) = held {
        polled.idle = Some(asked_to_wait(left));
        return Ok(());
    }
    if let Err(error) = publish::catch_up(home, provider) {
        log::warn(&format!("pending questions could not be read: {error}"));
    }
    polled.unsent = publish::flush(home, provider, Instant::now() + FLUSH_WITHIN);
    let Some(_lock) = provider.dir().lock(LOCK_WAIT)? else {
        polled.idle = Some("already polling".to_owned());
        return Ok(());
    };
    provider.dir().tidy();
    for _ in 0..PAGES_MAX {
        match page(home, provider, &client, polled)? {
            Step::More => {}
            Step::End => break,
        }
    }
    Ok(())
}

/// One page on a waiting process's thread, the provider's lock held for as long only. Returns how many
/// failures there were in a row.
pub(super) fn look(home: &Home, provider: &Provider) -> u32 {
    let looked = || -> Result<u32> {
        let client = provider.client()?;
        let mut failures = 0;
        for _ in 0..PAGES_MAX {
            let Some(_lock) = provider.dir().lock(Duration::ZERO)? else {
                break;
            };
            let mut polled = Polled::default();
            let step = page(home, provider, &client, &mut polled);
            failures = Cursor::read(provider.dir(), client.installation_id()).failures;
            if step? == Step::End {
                break;
            }
        }
        Ok(failures)
    };
    looked().unwrap_or_else(|error| {
        log::info(|| format!("'{}' could not be polled: {error}", provider.id));
        Cursor::peek(provider.dir()).map_or(1, |c| c.failures.max(1))
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    More,
    End,
}

/// Fetches and processes one page. The caller holds the provider's lock.
fn page(home: &Home, provider: &Provider, client: &Client, polled: &mut Polled) -> Result<Step> {
    let dir = provider.dir();
    let mut cursor = Cursor::read(dir, client.installation_id());
    let now = Time::now();
    if let Some(left) = cursor.hold(now) {
        polled.idle = Some(asked_to_wait(left));
        return Ok(Step::End);
    }
    cursor.polled_at = Some(now.to_string());
    cursor.not_before = None;
    let fetched = client.responses(&cursor.cursor, Instant::now() + http::WHOLE);
    let outcome = match fetched {
        Ok(page) => apply_all(home, provider, client, &page, polled).map(|()| Some(page)),
        Err(NoPage::Later(wait)) => {
            cursor.not_before = Some(Time::now().plus(wait).to_string());
            polled.idle = Some(format!(
                "the Relay asked not to be asked for {} s",
                wait.as_secs()
            ));
            Ok(None)
        }
        Err(NoPage::Rejected) => Err(Error::unavailable("relay rejected the installation token")
            .hint("pair again: sayso relay pair --url URL --provider ID")),
        Err(NoPage::Failed(why)) => Err(Error::unavailable(why)),
    };
    let step = match &outcome {
        Ok(Some(page)) => {
            let same = page.next_cursor == cursor.cursor;
            if !same {
                cursor.cursor.clone_from(&page.next_cursor);
                cursor.moved_at = Some(now.to_string());
            }
            cursor.failures = 0;
            if same || page.responses.is_empty() {
                Step::End
            } else {
                Step::More
            }
        }
        Ok(None) => Step::End,
        Err(_) => {
            cursor.failures = cursor.failures.saturating_add(1);
            Step::End
        }
    };
    cursor.write(dir)?;
    outcome.map(|_| step)
}

fn asked_to_wait(left: Duration) -> String {
    let seconds = left.as_secs() + 1;
    format!("the Relay asked not to be asked for another {seconds} s")
}

/// Judges every item.
///
/// # Errors
/// `unavailable`: the store could not be changed, so that the page has to come again.
fn apply_all(
    home: &Home,
    provider: &Provider,
    client: &Client,
    page: &Page,
    polled: &mut Polled,
) -> Result<()> {
    if page.responses.is_empty() {
        return Ok(());
    }
    let answerers = Answerers::of(provider, client, Instant::now() + http::WHOLE)?;
    polled.fetched += page.responses.len();
    for raw in &page.responses {
        let value = item::parse(raw.get());
        let read = value.as_ref().map_err(Clone::clone);
        let read = read.and_then(|v| item::read(v, client.installation_id()));
        let ours = |item: &Item| answerers.include(item.device_id.as_deref());
        let handled = match read {
            Ok(item) if ours(&item) => apply(home, item)?,
            Ok(item) => item.refused("device not accepted"),
            Err(note) => item::dropped(value.as_ref().unwrap_or(&Value::Null), note),
        };
        if !handled.applied {
            log::info(|| format!("an answer was not applied: {}", handled.note));
        }
        if handled.applied || polled.answers.len() < LISTED_MAX {
            polled.answers.push(handled);
        } else {
            polled.unlisted += 1;
        }
    }
    Ok(())
}

fn apply(home: &Home, item: Item) -> Result<Handled> {
    let mut handled = item.refused("");
    let holder = Id::parse(&item.interaction_id).map(|id| (holder(home, &id), id));
    let (store, id) = match holder {
        Some((Ok(Some(store)), id)) => (store, id),
        Some((Err(error), _)) => return Err(error),
        Some((Ok(None), _)) | None => {
            handled.note = "not_found: no such interaction is here".to_owned();
            return Ok(handled);
        }
    };
    let (response_id, device) = (item.response_id.clone(), item.device_id.clone());
    let answered = item
        .answer()
        .and_then(|answer| broker::answer(&store, &id, &answer, &responder()));
    match answered {
        Ok(_) => {
            handled.applied = true;
            handled.note = "applied".to_owned();
        }
        Err(error) if matches!(error.code, Code::Unavailable | Code::Internal) => {
            return Err(error);
        }
        Err(error) => handled.note = format!("{}: {}", error.code.name(), error.message),
    }
    append(&store, &id, &response_id, device, &handled);
    Ok(handled)
}

/// The scope that holds a question.
fn holder(home: &Home, id: &Id) -> Result<Option<Store>> {
    let names = home.scope_names()?;
    let stores: Vec<Store> = names.iter().map(|n| Store::new(home, n, None)).collect();
    let holds = |store: &&Store| {
        let layout = store.layout();
        let there = |path: PathBuf| path.symlink_metadata().is_ok();
        there(layout.pending_file(id)) || there(layout.settled_file(id))
    };
    // A scope that cannot be looked into counts only where no other one has it.
    let found = stores.iter().find(holds);
    let found = found.or_else(|| stores.iter().find(|store| store.has(id)));
    Ok(found.cloned())
}

fn responder() -> Responder {
    Responder {
        uid: nix::unistd::getuid().as_raw(),
        tty: None,
        pid: std::process::id(),
        agent_session: None,
    }
}

fn append(store: &Store, id: &Id, response_id: &str, device: Option<String>, handled: &Handled) {
    let (Ok(record), Ok(writer)) = (store.must_load(id), store.lock(WITHDRAW_WAIT)) else {
        return;
    };
    let mut event = Event::of(&record, Type::RelayPolled, writer.now);
    let hash = Sha256::digest(response_id.as_bytes());
    let name = Type::RelayPolled.name();
    event.id = format!("{id}:{name}:{}", crate::id::hex(&hash[..8]));
    event.outcome = Some(
        if handled.applied {
            "applied"
        } else {
            "refused"
        }
        .to_owned(),
    );
    event.by = device;
    event.source = Some("relay".to_owned());
    writer.append(event);
}
