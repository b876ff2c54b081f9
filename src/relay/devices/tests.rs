use proptest::prelude::*;

use super::*;
use crate::relay::seal::DeviceKey;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

fn device(id: &str, key: u8) -> Device {
    let key = DeviceKey::parse(&URL_SAFE_NO_PAD.encode([key + 2; 32])).unwrap();
    Device {
        id: id.to_owned(),
        key_id: None,
        key,
    }
}

fn listed(devices: &[(&str, u8)]) -> Listed {
    Listed {
        sound: devices.iter().map(|(id, key)| device(id, *key)).collect(),
        revoked: Vec::new(),
    }
}

fn meet(known: Option<&Devices>, devices: &[(&str, u8)]) -> Devices {
    Devices::meet(known, &listed(devices), Newcomers::Wait, Time::now())
}

fn states(devices: &Devices) -> Vec<(&str, &str)> {
    let all = devices.all().iter();
    all.map(|d| (&*d.device_id, devices.word(d))).collect()
}

fn sent(devices: &Devices, to: &[(&str, u8)]) -> Vec<String> {
    let found = devices.recipients(&listed(to));
    found.into_iter().map(|d| d.id).collect()
}

#[test]
fn the_first_list_is_believed_and_no_later_one() {
    let first = meet(None, &[("a", 1), ("b", 2)]);
    assert_eq!(states(&first), [("a", "accepted"), ("b", "accepted")]);
    let later = [("a", 1), ("b", 9), ("c", 3)];
    let second = meet(Some(&first), &later);
    let expected = [
        ("a", "accepted"),
        ("b", "accepted"),
        ("b", "changed"),
        ("c", "new"),
    ];
    assert_eq!(states(&second), expected);
    assert_eq!(
        (second.waiting(), sent(&second, &later)),
        (2, vec!["a".to_owned()])
    );
    // A first list of none is a list.
    let none = meet(None, &[]);
    assert_eq!(states(&meet(Some(&none), &[("a", 1)])), [("a", "new")]);
    // One that is named no more is still known if it was accepted, and forgotten if not.
    let third = meet(Some(&second), &[]);
    assert_eq!(states(&third), [("a", "accepted"), ("b", "accepted")]);
    assert_eq!(
        meet(Some(&second), &later),
        second,
        "seen again, it is the same"
    );
}

#[test]
fn who_is_accepted_is_accepted_with_one_key() {
    let now = Time::now();
    let twice = [("a", 1), ("a", 2)];
    let mut devices = meet(None, &twice);
    assert_eq!(states(&devices), [("a", "accepted"), ("a", "changed")]);
    let changed = devices.all()[1].clone();
    assert_eq!(
        devices.accept("a", now).unwrap().unwrap().fingerprint(),
        changed.fingerprint()
    );
    assert_eq!(states(&devices), [("a", "accepted")]);
    let devices = meet(Some(&devices), &twice);
    assert_eq!(devices.recipients(&listed(&twice)), [device("a", 2)]);
    // Of two that are new, the fingerprint says which.
    let mut both = meet(Some(&meet(None, &[])), &twice);
    assert!(both.accept("a", now).is_err());
    let second = both.all()[1].fingerprint();
    both.accept(&second, now).unwrap().unwrap();
    assert_eq!(states(&both), [("a", "accepted")]);
    assert_eq!(both.all()[0].fingerprint(), second);
    // A device that calls itself by the fingerprint of another is not taken for it.
    let mut posing = meet(Some(&meet(None, &[])), &[("a", 1), (&second, 9)]);
    let own = posing
        .all()
        .iter()
        .find(|d| d.device_id == second)
        .unwrap()
        .fingerprint();
    assert!(posing.accept(&own, now).unwrap().is_some());
    let mut posing = meet(Some(&meet(None, &[])), &[("a", 2), (&second, 9)]);
    assert!(posing.accept(&second, now).is_err() && posing.remove(&second, now).is_err());
}

#[test]
fn removed_and_revoked_devices_get_nothing() {
    let now = Time::now();
    let both = [("a", 1), ("b", 2)];
    let mut devices = meet(None, &both);
    devices.remove("a", now).unwrap().unwrap();
    for newcomers in [Newcomers::Wait, Newcomers::Accepted] {
        for list in [&both[..], &[("a", 7), ("b", 2)]] {
            let met = Devices::meet(Some(&devices), &listed(list), newcomers, now);
            assert_eq!(states(&met), [("a", "removed"), ("b", "accepted")]);
            assert_eq!((met.waiting(), sent(&met, list)), (0, vec!["b".to_owned()]));
        }
    }
    devices.accept("a", now).unwrap().unwrap();
    assert_eq!(sent(&devices, &both), ["a", "b"]);
    assert_eq!(devices.remove("c", now).unwrap(), None);
    assert_eq!(devices.accept("c", now).unwrap(), None);
    // A Relay that revokes a device ends what was accepted; named again, it is new.
    let key = device("a", 1).key.text();
    for key in [Some(key), None] {
        let gone = Listed {
            revoked: vec![("a".to_owned(), key)],
            ..listed(&[("b", 2)])
        };
        let met = Devices::meet(Some(&devices), &gone, Newcomers::Wait, now);
        assert_eq!(states(&met), [("b", "accepted")]);
        assert_eq!(
            states(&meet(Some(&met), &both)),
            [("a", "new"), ("b", "accepted")]
        );
    }
    // Of an old key of its own it may be revoked.
    let other = Listed {
        revoked: vec![
            ("a".to_owned(), Some(device("a", 9).key.text())),
            ("a".to_owned(), None),
        ],
        ..listed(&both)
    };
    assert_eq!(
        Devices::meet(Some(&devices), &other, Newcomers::Wait, now),
        devices
    );
}

#[test]
fn a_relay_that_names_thousands_fills_nothing() {
    let names: Vec<String> = (0..3000).map(|n| format!("d{n:04}")).collect();
    let list: Vec<(&str, u8)> = names.iter().map(|n| (&**n, 1)).collect();
    let first = meet(None, &list);
    let count = |d: &Devices| (d.count(State::Accepted), d.count(State::New), d.unlisted());
    assert_eq!(count(&first), (50, 20, 2930));
    assert_eq!(sent(&first, &list).len(), 10);
    // Those that wait do not crowd out who is accepted.
    let known = meet(None, &[("mine", 5)]);
    let all = [&list[..], &[("mine", 5)]].concat();
    let met = meet(Some(&known), &all);
    assert_eq!(
        (count(&met), sent(&met, &all)),
        ((1, 20, 2980), vec!["mine".to_owned()])
    );
    assert!(serde_json::to_string(&first).unwrap().len() < 64 << 10);
    let mut full = first;
    assert!(
        full.accept(&full.all()[60].device_id.clone(), Time::now())
            .is_err()
    );
}

proptest! {
    #[test]
    fn nothing_goes_to_a_device_that_nobody_accepted(
        lists in proptest::collection::vec(
            (proptest::collection::vec((0..4usize, 0..3u8), 0..6), any::<bool>(), 0..5usize),
            1..8,
        ),
    ) {
        let names = ["a", "b", "c", "d"];
        let mut known: Option<Devices> = None;
        let mut accepted: Vec<(String, String)> = Vec::new();
        for (n, (list, accepts, at)) in lists.iter().enumerate() {
            let list: Vec<(&str, u8)> = list.iter().map(|(id, key)| (names[*id], *key)).collect();
            let mut met = meet(known.as_ref(), &list);
            if n == 0 {
                let sound = listed(&list).sound;
                accepted = sound.iter().map(|d| (d.id.clone(), d.key.text())).collect();
            }
            if *accepts && let Some(name) = names.get(*at)
                && let Ok(Some(device)) = met.accept(name, Time::now()) {
                accepted.push((device.device_id.clone(), device.public_key));
            }
            for device in met.recipients(&listed(&list)) {
                prop_assert!(accepted.contains(&(device.id.clone(), device.key.text())));
            }
            known = Some(met);
        }
    }
}
