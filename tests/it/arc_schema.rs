//! What `sayso arc` accepts, against the contract's own schema: events of every type at every bound, and
//! the same ones broken in every way.

use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::sample::select;
use sayso::arc;
use serde_json::{Map, Value, json};

/// The schema, dates and times included.
pub fn schema() -> &'static jsonschema::Validator {
    static SCHEMA: OnceLock<jsonschema::Validator> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let text = include_str!("../fixtures/arc-0.2.schema.json");
        let schema: Value = serde_json::from_str(text).unwrap();
        let options = jsonschema::options().should_validate_formats(true);
        options.build(&schema).unwrap()
    })
}

/// Why an event that the schema allows may be refused all the same; each is told.
const REASONS: [&str; 9] = [
    "must be more than blanks",
    "choice ids must be unique",
    "must be one line",
    "a choice's label is required",
    "response_id is required",
    "response_id must hold no control characters",
    "context.cwd must be an absolute path",
    "must be at most 2000 characters where an answer is wanted",
    "extensions.x-agentnotify",
];

/// Whether an event is accepted; what the schema allows and what is refused must fit together.
fn check(event: &Value) -> bool {
    let allowed = schema().is_valid(event);
    match arc::parse(&event.to_string()) {
        Ok(_) => {
            assert!(allowed, "accepted against the schema: {event}");
            true
        }
        Err(error) => {
            assert_eq!(error.code.name(), "invalid_input");
            let told = REASONS.iter().any(|reason| error.message.contains(reason));
            assert!(!allowed || told, "{}: {event}", error.message);
            false
        }
    }
}

/// Characters of one to four bytes, blanks of all sorts, and what JSON escapes.
fn character() -> impl Strategy<Value = char> {
    let odd = "aZ09_-./: \t\n\r\0\u{1b}\u{85}\u{a0}\u{2028}\u{200b}\u{feff}\u{202e}\"\\éß漢字🦀\u{10ffff}";
    prop_oneof![
        4 => select(odd.chars().collect::<Vec<_>>()),
        4 => select(('a'..='z').collect::<Vec<_>>()),
        1 => any::<char>(),
    ]
}

/// A text of `min` to `max` characters, most often at a bound.
fn text(min: usize, max: usize) -> BoxedStrategy<String> {
    let length = prop_oneof![
        Just(min),
        Just((min + 1).min(max)),
        Just(max),
        min..=max.min(min + 20),
    ];
    length
        .prop_flat_map(|length| {
            let some = proptest::collection::vec(character(), 1..=40);
            some.prop_map(move |some| some.iter().cycle().take(length).collect())
        })
        .boxed()
}

fn key() -> BoxedStrategy<Value> {
    let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let said = move |key: &String| !key.chars().all(blank);
    value(text(1, 100).prop_filter("a blank key", said))
}

fn name(max: usize) -> impl Strategy<Value = String> {
    proptest::string::string_regex(&format!("[A-Za-z0-9_-]{{1,{max}}}")).unwrap()
}

fn moment() -> impl Strategy<Value = String> {
    let written = [
        "2030-01-31T12:00:00Z",
        "2030-01-31T12:00:00.123456789+05:30",
        "2000-02-29T23:59:59z",
        "2026-12-31T23:59:60Z",
        "2026-12-31T15:59:60-08:00",
        "0000-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59.9-23:59",
    ];
    select(written.map(str::to_owned).to_vec())
}

/// Some of these members, and all that are needed.
fn object(
    needed: Vec<(&'static str, BoxedStrategy<Value>)>,
    optional: Vec<(&'static str, BoxedStrategy<Value>)>,
) -> BoxedStrategy<Value> {
    let always = needed
        .into_iter()
        .map(|(name, value)| value.prop_map(move |v| Some((name, v))).boxed());
    let perhaps = optional.into_iter().map(|(name, value)| {
        let value = value.prop_map(move |v| Some((name, v)));
        prop_oneof![Just(None), value].boxed()
    });
    let members: Vec<_> = always.chain(perhaps).collect();
    members
        .prop_map(|members| {
            let members = members.into_iter().flatten();
            let members = members.map(|(name, value)| (name.to_owned(), value));
            Value::Object(members.collect())
        })
        .boxed()
}

fn value<T>(of: impl Strategy<Value = T> + 'static) -> BoxedStrategy<Value>
where
    T: Into<Value> + std::fmt::Debug + 'static,
{
    of.prop_map(Into::into).boxed()
}

fn one_of(names: &[&str]) -> BoxedStrategy<Value> {
    value(select(
        names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>(),
    ))
}

fn sender() -> BoxedStrategy<Value> {
    object(
        vec![("id", value(text(1, 100)))],
        vec![
            ("name", value(text(1, 160))),
            ("version", value(text(0, 100))),
            ("instance_id", value(text(0, 100))),
        ],
    )
}

fn context() -> BoxedStrategy<Value> {
    let cwd = prop_oneof![
        text(0, 1023).prop_map(|rest| format!("/{rest}")),
        text(0, 3)
    ];
    object(
        vec![],
        vec![
            ("session_id", value(text(0, 100))),
            ("correlation_id", value(text(0, 200))),
            ("project", value(text(0, 200))),
            ("cwd", value(cwd)),
            ("pid", value(prop_oneof![Just(0u64), any::<u64>()])),
            ("turn_id", value(text(0, 200))),
            ("native_request_id", value(text(0, 200))),
        ],
    )
}

fn extensions() -> BoxedStrategy<Value> {
    let vendor = proptest::string::string_regex("x-[a-z0-9][a-z0-9.-]{0,63}").unwrap();
    let anything = prop_oneof![
        Just(Value::Null),
        Just(json!({ "deep": [{ "er": 1.5 }] })),
        Just(json!("text")),
    ];
    let ours = prop_oneof![
        Just(json!({})),
        Just(json!({ "notification_type": "custom" }))
    ];
    (
        proptest::collection::btree_map(vendor, anything, 0..3),
        proptest::option::of(ours),
    )
        .prop_map(|(others, ours)| {
            let ours = ours.map(|ours| ("x-agentnotify".to_owned(), ours));
            Value::Object(others.into_iter().chain(ours).collect::<Map<_, _>>())
        })
        .boxed()
}

fn response_wanted() -> BoxedStrategy<Value> {
    let choice = object(
        vec![("id", value(name(64))), ("label", value(text(1, 200)))],
        vec![("detail", value(text(1, 500)))],
    );
    let choices = proptest::collection::vec(choice, 2..=12).prop_map(Value::from);
    prop_oneof![
        object(
            vec![
                ("kind", one_of(&["permission", "single_choice"])),
                ("choices", choices.boxed()),
                ("expires_at", value(moment())),
            ],
            vec![],
        ),
        object(
            vec![("kind", one_of(&["text"])), ("expires_at", value(moment()))],
            vec![(
                "text_max_length",
                value(prop_oneof![Just(1u64), Just(2000), 1..=2000u64])
            )],
        ),
    ]
    .boxed()
}

fn request(keyed: bool) -> BoxedStrategy<Value> {
    let kinds = [
        "information",
        "question",
        "permission",
        "blocked",
        "failure",
        "completion",
    ];
    let mut needed = vec![
        ("kind", one_of(&kinds)),
        (
            "message",
            value(prop_oneof![3 => text(1, 2000), 1 => text(1, 4000)]),
        ),
    ];
    let mut optional = vec![
        ("title", value(text(1, 200))),
        ("priority", one_of(&["low", "normal", "high", "critical"])),
        ("response", response_wanted()),
    ];
    let place = if keyed { &mut needed } else { &mut optional };
    place.push(("key", key()));
    object(needed, optional)
}

fn response_given() -> BoxedStrategy<Value> {
    let digest = proptest::string::string_regex("[0-9a-f]{64}").unwrap();
    let given = object(
        vec![
            ("response_id", value(text(1, 128))),
            ("digest", value(digest)),
        ],
        vec![
            ("nonce", value(text(1, 128))),
            ("source", value(name(64))),
            ("device_id", value(text(1, 128))),
        ],
    );
    let answer = prop_oneof![
        name(64).prop_map(|id| ("choice_id", id)),
        text(1, 2000).prop_map(|text| ("text", text)),
    ];
    (given, answer)
        .prop_map(|(mut given, (name, text))| {
            given[name] = text.into();
            given
        })
        .boxed()
}

/// Any event that the schema allows.
fn event() -> BoxedStrategy<Value> {
    let outcomes = [
        "answered",
        "expired",
        "cancelled",
        "superseded",
        "not_needed",
    ];
    let key_only = object(vec![("key", key())], vec![]);
    let resolved = object(vec![("key", key())], vec![("outcome", one_of(&outcomes))]);
    let of = |kind: &'static str, request: BoxedStrategy<Value>| {
        move |more: Vec<(&'static str, BoxedStrategy<Value>)>| {
            let mut needed = vec![
                ("arc_version", one_of(&["0.2"])),
                ("event_id", value(text(1, 512))),
                ("event_type", one_of(&[kind])),
                ("occurred_at", value(moment())),
                ("sender", sender()),
                ("request", request),
            ];
            needed.extend(more);
            object(
                needed,
                vec![("context", context()), ("extensions", extensions())],
            )
        }
    };
    prop_oneof![
        of("request.created", request(false))(vec![]),
        of("request.updated", request(true))(vec![]),
        of("response.submitted", key_only)(vec![("response", response_given())]),
        of("request.resolved", resolved)(vec![]),
    ]
    .boxed()
}

/// The places of all values within a value, as JSON pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    let escape = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                places(inner, &format!("{at}/{}", escape(name)), found);
            }
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                places(inner, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

/// What a value is replaced by, or lengthened with.
fn instead() -> BoxedStrategy<Value> {
    let texts = [
        "",
        " ",
        "\u{feff}",
        "\u{85}",
        "\0",
        "x",
        "0.1",
        "1.0",
        "0.2 ",
        "text",
        "permission",
        "single_choice",
        "form",
        "request.created",
        "request.updated",
        "request.resolved",
        "response.submitted",
        "notification.sent",
        "unsupported",
        "not_needed",
        "a b",
        "ü",
        "2030-01-31",
        "2030-01-31T12:00:00",
        "2030-01-31T12:00Z",
        "2030-02-30T12:00:00Z",
        "2030-01-31 12:00:00Z",
        "2030-01-31t12:00:00Z",
        "2030-01-31T12:00:00+24:00",
        "2030-01-31T12:59:60Z",
        "2030-01-31T12:00:00.Z",
        "2030-01-31T12:00:00Z\n",
        "20300-01-31T12:00:00Z",
        "2030-01-31T24:00:00Z",
        "2030-01-31T12:00:00+0100",
        "2030-01-31T12:00:00,5Z",
        "relative/path",
    ];
    prop_oneof![
        select(texts.map(Value::from).to_vec()),
        select(vec![
            Value::Null,
            json!(true),
            json!(0),
            json!(1),
            json!(-1),
            json!(2000),
            json!(2001),
            json!(1.5),
            json!([]),
            json!({}),
            json!({ "a": 1 }),
            json!([{ "id": "a", "label": "A" }]),
            json!([{ "id": "a", "label": "A" }, { "id": "b", "label": "B", "detail": "" }]),
            json!([{ "id": "a", "label": "A" }, { "id": "b", "label": "B", "effect": "allow" }]),
            json!(vec![json!({ "id": "a", "label": "A" }); 13]),
            json!({ "x-agentnotify": { "other": 1 } }),
            json!({ "x-agentnotify": 1 }),
            json!({ "vendor": 1 }),
            json!({ "x-Vendor": 1 }),
            json!({ "x-": 1 }),
        ]),
        text(0, 4001).prop_map(Value::from),
        select(vec![101usize, 161, 201, 501, 513, 1025, 2001, 4001])
            .prop_map(|length| "é".repeat(length).into()),
    ]
    .boxed()
}

#[derive(Clone, Debug)]
enum Damage {
    Replace(Value),
    Remove,
    Add(&'static str, Value),
    Lengthen,
}

fn damage() -> BoxedStrategy<Damage> {
    let names = [
        "unknown",
        "response",
        "outcome",
        "key",
        "nonce",
        "text",
        "choice_id",
        "choices",
        "digest",
        "text_max_length",
        "expires_at",
        "kind",
        "detail",
        "vendor",
        "x-agentnotify",
        "",
    ];
    prop_oneof![
        4 => instead().prop_map(Damage::Replace),
        2 => Just(Damage::Remove),
        3 => (select(names.to_vec()), instead()).prop_map(|(name, value)| Damage::Add(name, value)),
        2 => Just(Damage::Lengthen),
    ]
    .boxed()
}

fn break_at(event: &mut Value, place: &str, damage: Damage) {
    if let Damage::Remove = damage {
        let (parent, name) = place.rsplit_once('/').unwrap_or_default();
        match event.pointer_mut(parent) {
            Some(Value::Object(map)) => {
                map.remove(&name.replace("~1", "/").replace("~0", "~"));
            }
            Some(Value::Array(items)) => drop(items.remove(name.parse().unwrap())),
            _ => {}
        }
        return;
    }
    let target = event.pointer_mut(place).unwrap();
    match (damage, target) {
        (Damage::Replace(value), target) => *target = value,
        (Damage::Add(name, value), Value::Object(map)) => drop(map.insert(name.into(), value)),
        (Damage::Lengthen, Value::String(text)) => text.push('é'),
        (Damage::Lengthen, Value::Array(items)) => {
            items.extend(items.first().cloned());
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_event_that_the_schema_allows_is_accepted_or_refused_for_a_reason(event in event()) {
        prop_assert!(schema().is_valid(&event), "the test's own fault: {event}");
        check(&event);
    }

    #[test]
    fn every_event_that_the_schema_does_not_allow_is_refused(
        event in event(),
        place in any::<proptest::sample::Index>(),
        damage in damage(),
    ) {
        let mut event = event;
        let mut all = Vec::new();
        places(&event, "", &mut all);
        let place: &String = place.get(&all);
        break_at(&mut event, place, damage);
        check(&event);
    }
}

#[test]
fn an_event_with_every_member_at_its_bound_is_accepted() {
    let text = |length: usize| "漢".repeat(length);
    let choices: Vec<Value> = (0..12)
        .map(|n| json!({ "id": format!("{n:064}"), "label": text(200), "detail": text(500) }))
        .collect();
    let mut event = json!({
        "arc_version": "0.2",
        "event_id": text(512),
        "event_type": "request.created",
        "occurred_at": "2030-01-31T12:00:00Z",
        "sender": { "id": text(100), "name": text(160), "version": text(100), "instance_id": text(100) },
        "context": {
            "session_id": text(100), "correlation_id": text(200), "project": text(200),
            "cwd": format!("/{}", text(1023)), "pid": 0, "turn_id": text(200), "native_request_id": text(200),
        },
        "request": {
            "key": text(100), "kind": "permission", "message": text(2000), "title": text(200),
            "priority": "critical",
            "response": { "kind": "permission", "choices": choices, "expires_at": "2030-01-31T12:00:00Z" },
        },
        "extensions": { format!("x-{}", "a".repeat(64)): [1, 2] },
    });
    assert!(check(&event));
    event["event_type"] = "request.updated".into();
    assert!(check(&event));
    let pointers = [
        "/event_id",
        "/sender/id",
        "/sender/name",
        "/sender/version",
        "/sender/instance_id",
        "/context/session_id",
        "/context/correlation_id",
        "/context/project",
        "/context/cwd",
        "/context/turn_id",
        "/context/native_request_id",
        "/request/key",
        "/request/title",
        "/request/response/choices/0/label",
        "/request/response/choices/11/detail",
    ];
    for pointer in pointers {
        let mut longer = event.clone();
        let Some(Value::String(text)) = longer.pointer_mut(pointer) else {
            panic!("{pointer}");
        };
        text.push('漢');
        assert!(!schema().is_valid(&longer), "{pointer}");
        let error = arc::parse(&longer.to_string()).map(drop).unwrap_err();
        let name = pointer.rsplit('/').next().unwrap();
        let bound = (text_length(&event, pointer)).to_string();
        assert!(
            error.message.contains(name)
                && error.message.contains(&format!("to {bound} characters")),
            "{pointer}: {}",
            error.message
        );
    }
}

fn text_length(event: &Value, pointer: &str) -> usize {
    event
        .pointer(pointer)
        .unwrap()
        .as_str()
        .unwrap()
        .chars()
        .count()
}

#[test]
fn most_of_what_the_schema_allows_is_accepted() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let events = (0..200).map(|_| event().new_tree(&mut runner).unwrap().current());
    let accepted = events.filter(check).count();
    assert!(accepted > 100, "{accepted} of 200");
}
