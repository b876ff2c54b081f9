//! `sayso request`: opens a question and prints it.

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use crate::broker::Lifetime;
use crate::cli::{QuestionArgs, RequestArgs};
use crate::error::{self, Error};
use crate::model::draft::{Draft, ttl};
use crate::model::interaction::{Choice, FormOption, FormQuestion, Question, Tool};
use crate::model::json::{self, INPUT_MAX, Json};
use crate::model::record::Secrets;
use crate::park::{self, Courier, Stay};
use crate::render::json as envelope;
use crate::render::question::{self, Look};
use crate::repo;
use crate::store::Store;
use crate::store::create::Created;
use crate::time::Time;

/// Opens a question; `ask` waits for it too.
pub fn run(context: &Context, args: RequestArgs) -> Result<Exit> {
    let store = context.asking_store(None)?;
    let lifetime = ttl(args.question.ttl);
    let question = question(context, args.question, &store)?;
    open(context, &store, question, lifetime, |created| {
        show(context, created)
    })?;
    Ok(Exit::Done)
}

/// Opens a question, shows it, and sees to it that others are told.
pub(super) fn open(
    context: &Context,
    store: &Store,
    question: Question,
    lifetime: Duration,
    show: impl FnOnce(&Created) -> io::Result<()>,
) -> Result<()> {
    let mut courier = Courier::new(Stay::Leaves);
    let config = context.config()?;
    let lifetime = Lifetime::For(lifetime);
    let created = park::open(store, question, lifetime, &config, &mut courier)?;
    show(&created)?;
    drop(created);
    courier.finish();
    super::prune::prune_when_due(context, store);
    Ok(())
}

fn show(context: &Context, created: &Created) -> io::Result<()> {
    let mut out = context.out();
    let now = Time::now();
    if context.global.json {
        let extra = [("reused", created.reused.into())];
        let record = envelope::record(&created.record, now, Secrets::Shown, &extra);
        out.line(&envelope::success(&record))?;
    } else {
        let look = Look {
            style: out.style,
            columns: out.columns,
            now,
        };
        out.lines(&question::record(&created.record, None, look))?;
        if created.reused {
            out.line("the same question was pending under this key already")?;
        }
    }
    out.flush()
}

/// The question that the options describe.
pub(super) fn question(
    context: &Context,
    args: QuestionArgs,
    store: &Store,
) -> error::Result<Question> {
    let agent = args
        .agent
        .or_else(|| context.var("SAYSO_AGENT"))
        .unwrap_or_else(|| "cli".into());
    let session = args.session.or_else(|| context.var("SAYSO_SESSION"));
    let questions = match &args.questions {
        Some(path) => form_questions(&read_file("--questions", path)?)?,
        None => Vec::new(),
    };
    let prompt = match args.positional.as_deref() {
        Some("-") if args.questions.as_deref() == Some(Path::new("-")) => {
            return Err(Error::input(
                "only one of the prompt and --questions can be standard input",
            ));
        }
        Some("-") => read_file("the prompt", Path::new("-"))?,
        Some(text) => text.to_owned(),
        None => args.prompt.unwrap_or_default(),
    };
    let tool = match args.tool {
        Some(name) => Some(Tool {
            name,
            input: args
                .input
                .as_deref()
                .map(|text| json_argument("--input", text))
                .transpose()?
                // As everywhere else, `null` is no input.
                .filter(|input| input.as_str() != "null"),
            use_id: None,
            suggestions: None,
        }),
        None => None,
    };
    let draft = Draft {
        key: args.key,
        kind: args.kind,
        agent: Some(agent),
        host: None,
        agent_instance: args.agent_instance,
        project: args.project.or_else(|| project_name(store)),
        session_id: session,
        turn_id: args.turn,
        native_request_id: args.native_request,
        workflow_id: args.workflow,
        task_id: args.task,
        cwd: repo::current_dir()
            .ok()
            .and_then(|d| d.to_str().map(str::to_owned)),
        prompt,
        choices: choices(args.choice, args.choice_detail, args.effect)?,
        text_max_length: args.text_max,
        questions,
        tool,
        action: args.action,
        suspended: false,
    };
    draft.check()
}

/// The repository's name, as far as it fits.
pub(super) fn project_name(store: &Store) -> Option<String> {
    let name = store
        .root
        .as_ref()?
        .file_name()?
        .to_string_lossy()
        .into_owned();
    (name.chars().count() <= 200).then_some(name)
}

fn choices(
    given: Vec<(String, String)>,
    details: Vec<(String, String)>,
    effects: Vec<(String, crate::model::interaction::Effect)>,
) -> error::Result<Vec<Choice>> {
    let mut choices: Vec<Choice> = given
        .into_iter()
        .map(|(id, label)| Choice {
            id: id.trim().to_owned(),
            label,
            detail: None,
            effect: None,
        })
        .collect();
    let unknown = |option: &str| {
        Error::input(format!(
            "{option} names a choice that is not given with --choice"
        ))
    };
    once("--choice-detail", details.iter().map(|(id, _)| id.as_str()))?;
    once("--effect", effects.iter().map(|(id, _)| id.as_str()))?;
    for (id, detail) in details {
        let choice = choices.iter_mut().find(|c| c.id == id.trim());
        choice.ok_or_else(|| unknown("--choice-detail"))?.detail = Some(detail);
    }
    for (id, effect) in effects {
        let choice = choices.iter_mut().find(|c| c.id == id.trim());
        choice.ok_or_else(|| unknown("--effect"))?.effect = Some(effect);
    }
    Ok(choices)
}

/// Which of two would count is nobody's to guess.
fn once<'a>(option: &str, ids: impl Iterator<Item = &'a str>) -> error::Result<()> {
    let mut seen = std::collections::HashSet::new();
    for id in ids {
        if !seen.insert(id.trim()) {
            return Err(Error::input(format!("{option} names a choice twice")));
        }
    }
    Ok(())
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenQuestion {
    #[serde(default)]
    header: Option<String>,
    question: String,
    #[serde(default)]
    options: Vec<FormOption>,
    #[serde(default, alias = "multiSelect")]
    multi_select: bool,
}

fn form_questions(text: &str) -> error::Result<Vec<FormQuestion>> {
    let text = Json::parse("--questions", text, INPUT_MAX)?;
    let given: Vec<GivenQuestion> = serde_json::from_str(text.as_str()).map_err(|e| {
        Error::input(format!(
            "--questions must be an array of {{header?,question,options?,multi_select?}}: {}",
            json::reason(&e)
        ))
    })?;
    if given.is_empty() {
        return Err(Error::input(
            "questions must contain 1 to 12 entries, not 0",
        ));
    }
    let question = |q: GivenQuestion| FormQuestion {
        header: q.header,
        question: q.question,
        options: q.options,
        multi_select: q.multi_select,
    };
    Ok(given.into_iter().map(question).collect())
}

/// An option's JSON, or that of the file behind its `@`.
pub(super) fn json_argument(name: &str, text: &str) -> error::Result<Json> {
    match text.strip_prefix('@') {
        Some(path) => Json::parse(name, &read_file(name, Path::new(path))?, INPUT_MAX),
        None => Json::parse(name, text, INPUT_MAX),
    }
}

/// A file's text, or that of standard input for `-`; at most 1 MiB and a bit.
pub(super) fn read_file(name: &str, path: &Path) -> error::Result<String> {
    const MAX: u64 = INPUT_MAX as u64 + 4096;
    let fail = |e: std::io::Error| {
        Error::input(format!("cannot read {name} from {}: {e}", path.display()))
    };
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin()
            .lock()
            .take(MAX + 1)
            .read_to_end(&mut bytes)
            .map_err(fail)?;
    } else {
        let file = std::fs::File::open(path).map_err(fail)?;
        file.take(MAX + 1).read_to_end(&mut bytes).map_err(fail)?;
    }
    if bytes.len() as u64 > MAX {
        return Err(Error::input(format!("{name} is longer than {MAX} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| Error::input(format!("{name} is not UTF-8")))
}
