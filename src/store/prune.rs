//! Removing what is past its retention.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{Store, Writer};
use crate::error::{Code, Error, Result};
use crate::fsio;
use crate::id::Id;
use crate::log;
use crate::model::interaction::State;
use crate::model::record::Loaded;
use crate::time::Time;

/// However short the retention, nothing that was settled less than this ago is removed.
pub const PRUNE_FLOOR: Duration = Duration::from_secs(3600);
/// How often a request prunes by itself.
const PRUNE_EVERY: Duration = Duration::from_secs(24 * 3600);

impl Store {
    /// The settled records that are older than `retention`. Those whose age is not known are warned of,
    /// and stay.
    pub fn past_retention(&self, retention: Duration, now: Time) -> Result<Vec<Id>> {
        let retention = retention.max(PRUNE_FLOOR);
        let mut old = Vec::new();
        for id in self.ids_in(&self.layout().settled)? {
            match self.load(&id) {
                Ok(Loaded::Current(record)) => {
                    if let State::Settled { at, .. } = record.state
                        && now.since(at) >= retention
                    {
                        old.push(id);
                    }
                }
                Ok(Loaded::Newer(newer)) => log::warn(&format!(
                    "interaction '{id}' is not pruned: a newer sayso wrote it (schema {})",
                    newer.schema
                )),
                Err(e) if e.code == Code::NotFound => {}
                Err(e) if e.code == Code::Corrupt => {
                    log::warn(&format!("not pruned: {}", e.message));
                }
                Err(e) => return Err(e),
            }
        }
        Ok(old)
    }

    /// Whether a request should prune now: at most once a day.
    pub fn prune_is_due(&self) -> bool {
        let stamp = self.layout().pruned().metadata().and_then(|m| m.modified());
        match stamp {
            Ok(last) => SystemTime::now()
                .duration_since(last)
                .is_ok_and(|age| age >= PRUNE_EVERY),
            Err(_) => true,
        }
    }
}

impl Writer<'_> {
    /// Removes settled records: a question that still stands and the key's index first,
    /// then the marks, then the record. After this returns, they are gone from the disk too.
    pub fn prune(&self, ids: &[Id]) -> Result<()> {
        let layout = self.store.layout();
        let sync = |dir: &Path| fsio::sync_dir(dir).map_err(|e| Error::io("sync", dir, &e));
        for id in ids {
            // A question that stayed would be open again without its record.
            match self.store.must_load(id) {
                Ok(record) => {
                    self.finish(&record)?;
                    self.forget_key(&record);
                }
                Err(e) if e.code == Code::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        sync(&layout.pending)?;
        for id in ids {
            let marks = [
                layout.delivered_mark(id),
                layout.resume_mark(id),
                layout.feedback(id),
            ];
            for path in marks.into_iter().chain([layout.settled_file(id)]) {
                fsio::remove(&path).map_err(|e| Error::io("remove", &path, &e))?;
            }
            log::debug(|| format!("pruned {id}"));
        }
        sync(&layout.settled)
    }

    /// Notes that the scope was pruned now.
    pub fn stamp_prune(&self) {
        let path = self.store.layout().pruned();
        let stamp = fsio::open_or_create(&path).map(|f| f.set_modified(SystemTime::now()));
        if stamp.is_err() {
            log::warn("the time of the last prune could not be kept");
        }
    }
}
