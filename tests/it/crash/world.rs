//! A prepared store, the command that is hit there, and what must hold after that.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use sayso::events;
use sayso::model::interaction::Interaction;
use sayso::store::Store;
use sayso::store::create::Lease;
use sayso::store::layout::Home;
use serde_json::Value;

use super::trace::{self, Call, Fault, copy};
use super::verbs::{Effect, NEW, Verb, records};
use crate::library;
use crate::sandbox::{Ran, Sandbox};

/// A store that is prepared afresh for every run of a verb.
pub struct World<'a> {
    pub sandbox: Sandbox,
    pub store: Store,
    pub verb: &'a Verb,
    pub target: Interaction,
    untouched: Vec<(PathBuf, Vec<u8>)>,
    lease: Mutex<Option<Lease>>,
}

impl<'a> World<'a> {
    /// In memory, and copied for every run.
    pub fn new(verb: &'a Verb) -> Self {
        let world = Self::on(Sandbox::in_memory(), verb);
        if world.sandbox.store().exists() {
            copy(&world.sandbox.store(), &world.template());
        }
        world
    }

    /// In this place, as the first run meets it.
    pub fn on(sandbox: Sandbox, verb: &'a Verb) -> Self {
        let home = sandbox.store();
        let home =
            Home::locate(|name| (name == "SAYSO_HOME").then(|| home.clone().into())).unwrap();
        let store = Store::new(&home, "shop", None);
        let bystander = library::open(&store, "a bystander", Duration::from_secs(600));
        let other = library::open(&store, "another one", Duration::from_secs(600));
        library::respond(&store, &other, "r0").unwrap();
        let layout = store.layout().clone();
        fs::write(layout.pruned(), "").unwrap();
        let target = (verb.prepare)(&store);
        if verb.waiter {
            fs::write(layout.delivered_mark(&target.id), "").unwrap();
        }
        let untouched = [
            layout.pending_file(&bystander.id),
            layout.settled_file(&other.id),
        ];
        let untouched = untouched
            .into_iter()
            .filter_map(|path| Some((path.clone(), fs::read(path).ok()?)));
        Self {
            untouched: untouched.collect(),
            sandbox,
            store,
            verb,
            target,
            lease: Mutex::default(),
        }
    }

    fn template(&self) -> PathBuf {
        self.sandbox.path().join("template")
    }

    pub fn reset(&self) {
        let _ = fs::remove_dir_all(self.sandbox.store());
        if self.template().exists() {
            copy(&self.template(), &self.sandbox.store());
        }
        let lease = self
            .verb
            .waiter
            .then(|| self.store.lease(&self.target.id).unwrap());
        *self.lease.lock().unwrap() = lease;
    }

    fn args(&self) -> Vec<String> {
        let mut args = (self.verb.args)(&self.target);
        args.extend(["--scope", "shop", "--json"].map(str::to_owned));
        args
    }

    pub fn plain(&self) -> Ran {
        self.sandbox.run(self.args())
    }

    fn traced(&self, options: &[&str]) -> Ran {
        trace::run(&self.sandbox, options, &self.args())
    }

    /// The calls of a run without a fault, from the first that is about this world.
    pub fn record(&self) -> Vec<Call> {
        let file = self.sandbox.path().join("trace");
        let what = format!("trace={}", trace::CALLS);
        let ran = self.traced(&["-y", "-e", &what, "-o", file.to_str().unwrap()]);
        assert_eq!(ran.code, self.verb.exit, "{}: {ran:?}", self.verb.name);
        assert_eq!((self.verb.effect)(&self.store, &self.target), Effect::Done);
        let text = fs::read_to_string(file).unwrap();
        let calls = trace::calls(&text, &self.sandbox.path());
        assert!(
            calls.iter().any(Call::changes),
            "{}: {calls:?}",
            self.verb.name
        );
        calls
    }

    pub fn inject(&self, call: &Call, fault: Fault) -> Ran {
        let [trace, what] = trace::injection(call, fault);
        let options = ["-e", &trace, "-e", &what, "-o", "/dev/null"];
        self.traced(&options)
    }

    /// What must hold after any fault, and after the same command again.
    pub fn judge(&self, call: &Call, fault: Fault, ran: &Ran) {
        let case = format!(
            "{} with {fault:?} at {} {}: {} — {ran:?}",
            self.verb.name, call.name, call.nth, call.line
        );
        let effect = self.effect(&case);
        self.judge_exit(call, fault, ran, effect, &case);
        *self.lease.lock().unwrap() = None;
        self.judge_others(&case);
        self.judge_again(&case);
        self.judge_tidy(&case);
        self.judge_events(ran, &case);
    }

    /// No other record is affected.
    pub fn judge_others(&self, case: &str) {
        for (path, bytes) in &self.untouched {
            let now = fs::read(path).ok();
            assert_eq!(now.as_ref(), Some(bytes), "{case}: {}", path.display());
        }
    }

    /// The same command again succeeds, and leaves what is settled as it is.
    pub fn judge_again(&self, case: &str) {
        let settled = self.store.layout().settled_file(&self.target.id);
        let before = fs::read(&settled).ok();
        let again = self.plain();
        assert_eq!(again.code, self.verb.exit, "{case}; then {again:?}");
        assert_eq!(self.effect(case), Effect::Done, "{case}; then {again:?}");
        if let (Some(before), Ok(after)) = (before, fs::read(&settled)) {
            assert_eq!(before, after, "{case}: rewritten");
        }
    }

    /// What is seen of the command; every record must be readable.
    pub fn effect(&self, case: &str) -> Effect {
        let effect = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            (self.verb.effect)(&self.store, &self.target)
        }));
        effect.unwrap_or_else(|_| panic!("{case}"))
    }

    /// What was acknowledged, even if the process ended right after that, is there.
    pub fn judge_promise(&self, ran: &Ran, effect: Effect, case: &str) {
        let told = !ran.stdout.is_empty() && self.verb.promises;
        assert!(
            !told || effect == Effect::Done,
            "acknowledged, but not there: {case}"
        );
    }

    fn judge_exit(&self, call: &Call, fault: Fault, ran: &Ran, effect: Effect, case: &str) {
        if fault == Fault::Kill {
            assert_eq!(ran.code, 128 + 9, "the call never came: {case}");
            self.judge_promise(ran, effect, case);
            return;
        }
        if ran.code == self.verb.exit {
            assert!(
                effect == Effect::Done || !self.verb.promises,
                "acknowledged, but not there: {case}"
            );
            assert!(
                !self.verb.promises || !call.commits() || fault == Fault::Error("EINTR"),
                "acknowledged, but not on disk: {case}"
            );
            let envelope: Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!(envelope["ok"], true, "{case}");
            return;
        }
        assert!(fault != Fault::Error("EINTR"), "{case}");
        let error = ran.error();
        // A configuration that cannot be read never counts as none, and says so with a code of its own; so
        // does an input.
        let given = ["config.toml", "event.json"];
        let expected = if given.iter().any(|file| call.line.contains(file)) {
            2
        } else {
            7
        };
        assert_eq!(ran.code, expected, "{case}");
        assert!(error["message"].as_str().unwrap().len() > 20, "{case}");
        for secret in [
            NEW,
            "shall it go",
            &self.target.digest,
            self.target.nonce.expose(),
        ] {
            assert!(!ran.stderr.contains(secret), "{case}");
        }
    }

    /// Nothing stale is left once the next writer has tidied up.
    pub fn judge_tidy(&self, case: &str) {
        let writer = self.store.lock(Duration::from_secs(5)).unwrap();
        writer.sweep().unwrap();
        let layout = self.store.layout();
        let names = |dir: &Path| {
            fs::read_dir(dir)
                .unwrap()
                .map(|e| e.unwrap().file_name())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&layout.tmp), [""; 0], "{case}");
        let settled = names(&layout.settled);
        let open = names(&layout.pending);
        assert!(!open.iter().any(|name| settled.contains(name)), "{case}");
    }

    /// Every end is in the events, unless it was said that it could not be written.
    fn judge_events(&self, ran: &Ran, case: &str) {
        if ran.stderr.contains("an event could not be written") {
            return;
        }
        let log = events::read(&self.store.layout().dir).unwrap();
        for event in records(&self.store)
            .iter()
            .filter_map(events::Event::of_settled)
        {
            let there = log.iter().any(|e| e.id == event.id);
            assert!(there, "{case}: no {} in {log:?}", event.id);
        }
    }
}
