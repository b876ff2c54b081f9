//! Properties of the rules: whatever happens in whatever order, a question ends once and with at most one
//! answer, what is shown is what is bound, and damage never turns anything into an allow.

use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use super::digest::{digest, same_question};
use super::draft::Draft;
use super::form::{FormAnswer, Labels};
use super::interaction::{
    Choice, Effect, FormOption, FormQuestion, Interaction, Kind, Question, State, Status, Tool,
};
use super::json::{INPUT_MAX, Json};
use super::record::{Loaded, Secrets, parse, to_json};
use super::response::{Answer, Permissions, Responder, Submission};
use super::transition::{self, Decision};
use crate::id::Id;
use crate::secret::Nonce;
use crate::time::Time;

fn json(text: &str) -> Json {
    Json::parse("test", text, INPUT_MAX).unwrap()
}

fn question(kind: Kind, texts: &[String], members: &[Option<String>]) -> Question {
    let text = |at: usize| {
        format!(
            "{} .",
            texts[at % texts.len()].replace(|c: char| c.is_control(), "")
        )
    };
    let member = |at: usize| members[at % members.len()].clone();
    let choice = |id: &str, at: usize| Choice {
        id: id.into(),
        label: text(at),
        detail: member(at),
        effect: None,
    };
    let choices = matches!(kind, Kind::Permission | Kind::SingleChoice);
    let draft = Draft {
        key: member(0),
        kind: Some(kind),
        agent: member(1),
        agent_instance: member(2),
        project: member(3),
        session_id: member(4),
        turn_id: member(5),
        workflow_id: member(6),
        task_id: member(7),
        cwd: member(8).map(|m| format!("/{m}")),
        prompt: text(0),
        choices: if choices {
            vec![
                choice("allow-once", 1),
                choice("deny", 2),
                choice("later", 3),
            ]
        } else {
            Vec::new()
        },
        text_max_length: (kind == Kind::Text).then_some(9),
        questions: if kind == Kind::Form {
            vec![FormQuestion {
                header: member(9),
                question: text(4),
                options: vec![
                    FormOption {
                        label: format!("a{}", text(5)),
                        description: member(10),
                    },
                    FormOption {
                        label: format!("b{}", text(6)),
                        description: None,
                    },
                ],
                multi_select: true,
            }]
        } else {
            Vec::new()
        },
        tool: (kind == Kind::Permission).then(|| Tool {
            name: text(7),
            input: Some(json(
                &serde_json::json!({ "command": text(8), "n": 1.0 }).to_string(),
            )),
            use_id: member(11),
            suggestions: Some(json("[{\"destination\":\"localSettings\"}]")),
        }),
        action: member(12).filter(|_| kind == Kind::Permission),
        ..Draft::default()
    };
    draft.check().unwrap()
}

prop_compose! {
    pub(super) fn any_question()(
        kind in prop_oneof![Just(Kind::Permission), Just(Kind::SingleChoice), Just(Kind::Text), Just(Kind::Form)],
        // A label is one line.
        texts in vec("[^\\n\\r\\x0b\\x0c\\x{85}\\x{2028}\\x{2029}]{1,12}", 1..9),
        members in vec(option::of("[^\\pC\\s]{1,12}"), 1..13),
    ) -> Question {
        question(kind, &texts, &members)
    }
}

fn opened(number: u8, question: Question) -> Interaction {
    let id = Id::from_bytes(&[number; 16]);
    let created_at = Time::from_micros(1_000_000_000_000_000);
    Interaction {
        digest: digest(&id, &question),
        id,
        question,
        nonce: Nonce::from_bytes(&[number; 24]),
        created_at,
        expires_at: Some(created_at.plus(Duration::from_secs(600))),
        state: State::Pending,
    }
}

/// One of the answers that a question may or may not take.
fn submission(record: &Interaction, way: u8, client: u8) -> Submission {
    let mut given = Submission {
        response_id: format!("r{client}"),
        digest: Some(record.digest.clone()),
        nonce: Some(record.nonce.expose().to_owned()),
        source: "cli".into(),
        answered_by: "me".into(),
        ..Submission::default()
    };
    match (way % 8, record.question.questions().first()) {
        (0, _) => given.choice_id = Some("allow-once".into()),
        (1, _) => given.choice_id = Some("deny".into()),
        (2, _) => given.choice_id = Some("never-offered".into()),
        (3, _) => given.text = Some(" text ".into()),
        (4, _) => given.declined = true,
        (5, Some(asked)) => {
            let labels = asked.options.iter().map(|o| o.label.clone()).collect();
            let answer = FormAnswer {
                labels: Some(Labels::List(labels)),
                other: (client > 0).then(|| " own text".into()),
                note: (client > 1).then(|| "a note ".into()),
            };
            given.answers = Some(vec![(asked.question.clone(), answer)]);
        }
        (6, _) => {
            given.choice_id = Some("allow-once".into());
            given.updated_input = Some(json("{\"command\":\"other\"}"));
            given.permissions = Permissions::Remember;
        }
        _ => given.response = Some("as you like".into()),
    }
    given
}

fn responder() -> Responder {
    Responder {
        uid: 1,
        tty: None,
        pid: 2,
        agent_session: None,
    }
}

fn round_trip(record: &Interaction) -> Interaction {
    match parse(&record.id, to_json(record, Secrets::Shown).as_bytes()) {
        Ok(Loaded::Current(read)) => *read,
        other => panic!("does not read back: {other:?}"),
    }
}

#[derive(Clone, Debug)]
enum Step {
    Answer {
        which: Index,
        way: u8,
        client: u8,
        proof: u8,
    },
    Cancel(Index),
    Expire(Index),
    Supersede(Index, Index),
    Jump(i64),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any::<Index>(), any::<u8>(), 0..3u8, 0..6u8).prop_map(|(which, way, client, proof)| Step::Answer { which, way, client, proof }),
        1 => any::<Index>().prop_map(Step::Cancel),
        2 => any::<Index>().prop_map(Step::Expire),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(old, new)| Step::Supersede(old, new)),
        2 => (-900i64..900).prop_map(Step::Jump),
    ]
}

/// Applies an answer as the store does; whether it was newly accepted.
fn answer(record: &mut Interaction, given: Submission, now: Time) -> bool {
    if let Some(expired) = transition::expire(record, now) {
        *record = expired;
    }
    let before = record.clone();
    let answer = Answer::try_from(given).unwrap();
    match transition::answer(record, &answer, &responder(), now) {
        Ok(Decision::Accept(settled)) => {
            assert_eq!(before.state, State::Pending);
            assert!(before.expires_at.unwrap() > now);
            *record = *settled;
            let again = transition::answer(
                record,
                &answer,
                &responder(),
                now.plus(Duration::from_secs(9999)),
            );
            assert!(matches!(again, Ok(Decision::Replay)));
            true
        }
        Ok(Decision::Replay) => {
            assert_eq!(record.response().unwrap().response_id, answer.response_id);
            false
        }
        Err(_) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_question_ends_once_whatever_happens(
        questions in vec(any_question(), 1..5),
        steps in vec(any_step(), 1..40),
    ) {
        let mut records: Vec<Interaction> =
            questions.into_iter().enumerate().map(|(i, q)| opened(u8::try_from(i).unwrap(), q)).collect();
        let mut accepted = vec![0; records.len()];
        let mut now = records[0].created_at;
        for step in steps {
            let before = records.clone();
            match step {
                Step::Answer { which, way, client, proof } => {
                    let at = which.index(records.len());
                    let mut given = submission(&records[at], way, client);
                    let other = records[(at + 1) % records.len()].clone();
                    let proven = match proof {
                        0 => { given.digest = None; false }
                        1 => { given.nonce = None; false }
                        2 => {
                            given.digest = Some(other.digest.clone());
                            other.id == records[at].id
                        }
                        _ => true,
                    };
                    let newly = answer(&mut records[at], given, now);
                    prop_assert!(proven || !newly, "accepted without proof");
                    accepted[at] += u32::from(newly);
                }
                Step::Cancel(which) => {
                    let record = which.get_mut(&mut records);
                    *record = transition::cancel(record, now).unwrap_or_else(|| record.clone());
                }
                Step::Expire(which) => {
                    let record = which.get_mut(&mut records);
                    *record = transition::expire(record, now).unwrap_or_else(|| record.clone());
                }
                Step::Supersede(old, new) => {
                    let by = new.get(&records).id.clone();
                    let record = old.get_mut(&mut records);
                    *record = transition::supersede(record, &by, now).unwrap_or_else(|| record.clone());
                }
                Step::Jump(seconds) => now = Time::from_micros(now.micros() + seconds * 1_000_000),
            }
            for (was, is) in before.iter().zip(&records) {
                prop_assert!(was.state == State::Pending || was == is, "a terminal state changed");
                prop_assert_eq!(&was.question, &is.question);
                prop_assert_eq!(&was.digest, &is.digest);
                prop_assert_eq!(&round_trip(is), is);
                prop_assert!(is.is_overdue(now) == (is.status() == Status::Pending && is.status_at(now) == Status::Expired));
            }
            prop_assert!(accepted.iter().all(|times| *times <= 1));
        }
        for (record, times) in records.iter().zip(accepted) {
            prop_assert_eq!(record.response().is_some(), times == 1);
        }
    }

    #[test]
    fn a_shown_member_that_changes_changes_the_digest(
        question in any_question(),
        change in any::<Index>(),
        character in prop_oneof![Just('\u{200b}'), Just('\u{301}'), Just('a'), Just(' ')],
    ) {
        let id = Id::from_bytes(&[7; 16]);
        let record = opened(7, question.clone());
        let mut value: Value = serde_json::from_str(&to_json(&record, Secrets::Shown)).unwrap();
        let mut places = Vec::new();
        strings(&value, String::new(), &mut places);
        let bound = |place: &String| {
            let first = place.split('/').nth(1).unwrap();
            ["agent", "agent_instance", "project", "session_id", "cwd", "prompt", "choices", "questions", "tool", "action", "workflow_id", "task_id"].contains(&first)
        };
        places.retain(|place| bound(place) && !place.ends_with("/id") && !place.ends_with("/effect"));
        let place = change.get(&places);
        let changed = value.pointer_mut(place).unwrap();
        *changed = format!("{}{character}", changed.as_str().unwrap()).into();
        let text = value.to_string();
        prop_assert!(parse(&id, text.as_bytes()).is_err(), "{} may change unnoticed", place);
    }

    #[test]
    fn another_id_is_another_digest_and_a_place_makes_no_other_question(
        question in any_question(),
        numbers in any::<(u8, u8)>(),
        place in "[a-z]{1,9}",
    ) {
        let (one, two) = (Id::from_bytes(&[numbers.0; 16]), Id::from_bytes(&[numbers.1; 16]));
        prop_assert_eq!(digest(&one, &question) == digest(&two, &question), one == two);
        let moved = Question {
            cwd: Some(format!("/{place}")),
            session_id: Some(place.clone()),
            agent_instance: Some(place),
            ..question.clone()
        };
        prop_assert!(same_question(&question, &moved));
        let other = Question { prompt: format!("{}\u{200b}", question.prompt), ..question.clone() };
        prop_assert!(!same_question(&question, &other));
    }

    #[test]
    fn damage_never_makes_an_allow(
        question in any_question(),
        way in any::<u8>(),
        ending in 0..4u8,
        place in any::<Index>(),
        bit in 0..8u8,
        remove in any::<Index>(),
    ) {
        let record = ended(question, way, ending);
        let text = to_json(&record, Secrets::Shown);
        let mut flipped = text.clone().into_bytes();
        let at = place.index(flipped.len());
        flipped[at] ^= 1 << bit;
        same_or_no_allow(&record, &flipped)?;
        same_or_no_allow(&record, &text.as_bytes()[..at])?;
        let mut value: Value = serde_json::from_str(&text).unwrap();
        let mut names: Vec<(bool, String)> = members(&value).map(|name| (false, name)).collect();
        names.extend(value.get("response").into_iter().flat_map(members).map(|name| (true, name)));
        let (inner, name) = remove.get(&names);
        let object = if *inner { &mut value["response"] } else { &mut value };
        object.as_object_mut().unwrap().remove(name);
        same_or_no_allow(&record, value.to_string().as_bytes())?;
    }
}

/// A question that ended, if the answer fits it.
pub(super) fn ended(question: Question, way: u8, ending: u8) -> Interaction {
    let mut record = opened(3, question);
    let now = record.created_at.plus(Duration::from_secs(1));
    let late = record.created_at.plus(Duration::from_secs(601));
    match ending {
        0 => record = transition::cancel(&record, now).unwrap(),
        1 => record = transition::expire(&record, late).unwrap(),
        2 => record = transition::supersede(&record, &Id::from_bytes(&[9; 16]), now).unwrap(),
        _ => {
            let given = submission(&record, way, 0);
            answer(&mut record, given, now);
        }
    }
    record
}

/// What loads as an allow was one, of the same question as far as its digest binds it.
fn same_or_no_allow(record: &Interaction, bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(Loaded::Current(read)) = parse(&record.id, bytes)
        && read.effect() == Some(Effect::Allow)
    {
        prop_assert_eq!(record.effect(), Some(Effect::Allow));
        prop_assert_eq!(&read.digest, &record.digest);
    }
    Ok(())
}

fn members(value: &Value) -> impl Iterator<Item = String> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
}

/// The JSON pointers of all strings.
fn strings(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                strings(item, format!("{at}/{index}"), found);
            }
        }
        Value::Object(items) => {
            for (name, item) in items {
                strings(item, format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}
