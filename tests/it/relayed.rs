//! A world whose configuration names a Relay, paired already.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::fake_relay::FakeRelay;
use crate::sandbox::Sandbox;

/// A route that lets every question out.
pub const EVERYTHING: &str = "[[relay.route]]\nenabled = true\ninclude_message = true\n";

/// A world and its Relay, the provider `home`.
pub struct Relayed {
    pub relay: FakeRelay,
    pub world: Sandbox,
}

impl Relayed {
    /// Every question goes out.
    pub fn new() -> Self {
        Self::routed(EVERYTHING)
    }

    /// What these routes let out goes out.
    pub fn routed(routes: &str) -> Self {
        Self::of(Sandbox::new(), routes)
    }

    pub fn of(world: Sandbox, routes: &str) -> Self {
        let relay = FakeRelay::start();
        configure(&world, &table(&relay, routes));
        paired(&world, &relay);
        Self { relay, world }
    }

    /// The provider's directory.
    pub fn dir(&self) -> PathBuf {
        dir(&self.world, "home")
    }

    /// The entry of the provider's outbox, if there is exactly one.
    pub fn entry(&self) -> Option<Value> {
        let files = fs::read_dir(self.dir().join("outbox")).ok()?;
        let paths: Vec<PathBuf> = files.map(|f| f.unwrap().path()).collect();
        assert!(paths.len() < 2, "{paths:?}");
        let text = fs::read_to_string(paths.first()?).unwrap();
        Some(serde_json::from_str(&text).unwrap())
    }

    /// Lets the one entry's time come.
    pub fn make_due(&self) {
        let mut entry = self.entry().unwrap();
        entry["due_at"] = "2020-01-01T00:00:00.000000Z".into();
        let name = format!("{}.json", entry["id"].as_str().unwrap());
        fs::write(self.dir().join("outbox").join(name), entry.to_string()).unwrap();
    }

    /// How the one provider stands, as `relay status --json` says.
    pub fn status(&self) -> Value {
        self.world.json(&["relay", "status"])[0].clone()
    }

    /// `relay poll --json`: the data of a run that must succeed.
    pub fn poll(&self) -> Value {
        self.world.json(&["relay", "poll"])
    }

    /// The one provider's part of it.
    pub fn polled(&self) -> Value {
        let data = self.poll();
        assert_eq!(data.as_array().unwrap().len(), 1, "{data}");
        data[0].clone()
    }

    /// The cursor that the next poll begins with.
    pub fn cursor(&self) -> String {
        let before = self.relay.count();
        let ran = self.world.run(["relay", "poll"]);
        let requests = self.relay.requests(crate::fake_relay::Endpoint::Responses);
        assert!(self.relay.count() > before, "{ran:?}");
        requests.last().unwrap().query_value("since").unwrap()
    }
}

/// Where a provider's files are.
pub fn dir(world: &Sandbox, provider: &str) -> PathBuf {
    world.store().join("relay").join(provider)
}

/// The configuration's table for a Relay.
pub fn table(relay: &FakeRelay, routes: &str) -> String {
    let provider = relay.state().provider.clone();
    let url = relay.url();
    format!(
        "[[relay]]\nprovider_id = \"{provider}\"\nbase_url = \"{url}\"\nallow_private = true\n{routes}\n"
    )
}

/// Writes the configuration file.
pub fn configure(world: &Sandbox, text: &str) {
    let dir = world.path().join("home/.config/sayso");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("config.toml"), text).unwrap();
}

/// Leaves the credentials as a pairing would.
pub fn paired(world: &Sandbox, relay: &FakeRelay) {
    let state = relay.state();
    let credentials = json!({ "installation_id": state.installation_id, "token": state.token });
    write_private(
        world,
        &state.provider,
        "credentials.json",
        &credentials.to_string(),
    );
}

/// Writes one of a provider's files with the modes that the product gives them.
pub fn write_private(world: &Sandbox, provider: &str, name: &str, text: &str) {
    let dir = dir(world, provider);
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(&dir).unwrap();
    let mut options = fs::File::options();
    let file = options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = file.open(dir.join(name)).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}
