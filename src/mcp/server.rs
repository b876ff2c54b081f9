//! The protocol's side: which tools there are, and how a call asks, waits and returns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use tokio::sync::oneshot::Receiver;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::arguments::Arguments;
use super::call::{Plan, Shape};
use super::parked::{Parked, Settled, Waiting, closing};
use super::transport::{Deliveries, Verbatim};
use super::{Settings, TIMEOUT_BOUNDS, approval, manage, questions, replies, tools};
use crate::broker::decide::{self, Ruled};
use crate::config::{Config, Env};
use crate::error::{Code, Error, Result};
use crate::id::Id;
use crate::model::interaction::{Interaction, State};

/// How often a client that wants to know is told that the call still waits.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

type Call = RequestContext<RoleServer>;

/// The server; cheap to clone.
#[derive(Clone)]
pub(super) struct Server(Arc<Shared>);

struct Shared {
    settings: Settings,
    parked: Arc<Parked>,
    deliveries: Deliveries,
    asked: Mutex<HashMap<Id, Asked>>,
}

/// A question that this server asked. The digest holds everything that was asked: a record that has it
/// is that question.
#[derive(Clone)]
struct Asked {
    shape: Shape,
    digest: String,
}

/// What became of the attempt to ask.
enum Opening {
    /// The policy decided; there is no question.
    Ruled(CallToolResult),
    /// Nobody waits for it.
    Suspended(Box<Interaction>),
    /// It waits.
    Parked(Waiting),
}

/// How a wait ended.
enum Waited {
    Settled(Box<Settled>),
    OutOfTime,
    /// The client does not want the result any more.
    Cancelled,
}

impl Server {
    /// A server that parks its questions here.
    pub(super) fn new(settings: Settings, parked: Arc<Parked>, deliveries: Deliveries) -> Self {
        Self(Arc::new(Shared {
            settings,
            parked,
            deliveries,
            asked: Mutex::default(),
        }))
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<Id, Asked>> {
        let asked = self.0.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, shape: Shape, opened: &Interaction) {
        let digest = opened.digest.clone();
        let asked = Asked { shape, digest };
        self.asked().insert(opened.id.clone(), asked);
    }

    async fn ask(&self, arguments: Result<Arguments>, call: &Call) -> CallToolResult {
        let plan = arguments.and_then(|a| questions::plan(&a, &self.0.settings));
        match plan {
            Ok(plan) => self.carry_out(plan, call).await,
            Err(error) => replies::failed(Shape::Flat, None, &error),
        }
    }

    async fn request_approval(&self, arguments: Result<Arguments>, call: &Call) -> CallToolResult {
        // What cannot even be read may be a host's prompt: it is told so in the host's words.
        let shape = arguments.as_ref().map_or(Shape::Native, approval::shape);
        let plan = arguments.and_then(|a| approval::plan(&a, &self.0.settings));
        match plan {
            Ok(plan) => self.carry_out(plan, call).await,
            Err(error) => replies::failed(shape, None, &error),
        }
    }

    /// Opens the question, waits, and returns what became of it.
    async fn carry_out(&self, plan: Plan, call: &Call) -> CallToolResult {
        let (shape, budget, warning) = (plan.shape, plan.waiting.budget, plan.waiting.warning);
        let server = self.clone();
        let opening = spawn_blocking(move || server.open(plan)).await;
        let Waiting { opened, settled } = match opening.unwrap_or_else(|_| Err(closing())) {
            Ok(Opening::Ruled(result)) => return result,
            Ok(Opening::Suspended(opened)) => {
                self.remember(shape, &opened);
                return replies::suspended(shape, &opened, warning);
            }
            Ok(Opening::Parked(waiting)) => waiting,
            Err(error) => return replies::failed(shape, None, &error),
        };
        self.remember(shape, &opened);
        let waited = self.wait(settled, budget, call).await;
        if matches!(waited, Waited::Cancelled) {
            let (parked, opened) = (Arc::clone(&self.0.parked), Arc::clone(&opened));
            let _ = spawn_blocking(move || parked.withdraw(&opened)).await;
        }
        self.reply(shape, &opened, waited, warning, call)
    }

    /// Policy, then human. Blocks on the store.
    fn open(&self, plan: Plan) -> Result<Opening> {
        let settings = &self.0.settings;
        let config = Config::load(&Env::of_process())?;
        let question = plan.draft.check()?;
        if plan.renamed {
            decide::note_pin(&settings.store, &question.agent);
        }
        let lifetime = plan.waiting.lifetime();
        if plan.shape.is_approval() && question.questions().is_empty() {
            let input = question.tool().and_then(|tool| tool.input.as_ref());
            let warning = plan.waiting.warning;
            let block = match decide::decide(&settings.store, &config, &question)? {
                Ruled::Ask => None,
                Ruled::Allow { rule } => Some(approval::policy_allows(input, &rule)),
                Ruled::Deny { rule, message } => Some(approval::policy_denies(&rule, &message)),
            };
            if let Some(block) = block {
                return Ok(Opening::Ruled(replies::one_block(block.text(warning))));
            }
        }
        if plan.waiting.suspends() {
            let opened = self.0.parked.suspend(question, &config)?;
            return Ok(Opening::Suspended(Box::new(opened)));
        }
        let parked = &self.0.parked;
        let waiting = parked.open(question, lifetime, &config)?;
        Ok(Opening::Parked(waiting))
    }

    /// Waits, and tells the client meanwhile that it does, if the client wants to know.
    async fn wait(
        &self,
        mut settled: Receiver<Settled>,
        budget: Option<Duration>,
        call: &Call,
    ) -> Waited {
        let token = call.meta.get_progress_token();
        let until = budget.map(|budget| Instant::now() + budget);
        let mut ticks = interval(PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut progress = 0.0;
        loop {
            tokio::select! {
                biased;
                () = call.ct.cancelled() => return Waited::Cancelled,
                ended = &mut settled => {
                    let ended = ended.unwrap_or_else(|_| Err(closing()));
                    return Waited::Settled(Box::new(ended));
                }
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {
                    return Waited::OutOfTime;
                }
                _ = ticks.tick(), if token.is_some() => {}
            }
            if let Some(token) = &token {
                progress += 1.0;
                let told = ProgressNotificationParam::new(token.clone(), progress)
                    .with_message("waiting for a human");
                let _ = call.peer.notify_progress(told).await;
            }
        }
    }

    fn reply(
        &self,
        shape: Shape,
        opened: &Interaction,
        waited: Waited,
        warning: Option<&str>,
        call: &Call,
    ) -> CallToolResult {
        let failed = |error: &Error| replies::failed(shape, Some(opened.id.as_str()), error);
        match waited {
            Waited::OutOfTime => {
                let waits_on = self.0.settings.names.outside("wait_for_answer");
                replies::still_open(shape, opened, waits_on, warning)
            }
            // The client wants no result any more; what is returned here is not sent.
            Waited::Cancelled => failed(&closing()),
            Waited::Settled(settled) => match *settled {
                Err(error) => failed(&error),
                Ok(record) => {
                    if record.response().is_some() {
                        self.0.deliveries.note(&call.id, &record);
                    }
                    replies::settled(shape, opened, &record, warning)
                }
            },
        }
    }

    async fn wait_for_answer(&self, arguments: Result<Arguments>, call: &Call) -> CallToolResult {
        let read = |a: Arguments| {
            let id = a.text("interaction_id")?;
            let budget = a.seconds("wait_secs", (0, TIMEOUT_BOUNDS.1))?;
            let id = id.ok_or_else(|| Error::input("interaction_id is required"))?;
            let id = Id::parse(id.trim()).ok_or_else(not_asked)?;
            let asked = self.asked().get(&id).cloned().ok_or_else(not_asked)?;
            Ok((id, asked, budget))
        };
        let (id, asked, budget) = match arguments.and_then(read) {
            Ok(read) => read,
            Err(error) => return replies::failed(Shape::Flat, None, &error),
        };
        if let Some(Waiting { opened, settled }) = self.0.parked.listen(&id) {
            let waited = self.wait(settled, budget, call).await;
            return self.reply(asked.shape, &opened, waited, None, call);
        }
        let (server, shape, text) = (self.clone(), asked.shape, id.to_string());
        let settled = spawn_blocking(move || server.settled(&id, &asked)).await;
        match settled.unwrap_or_else(|_| Err(closing())) {
            Ok(record) if record.state == State::Pending => {
                replies::suspended(shape, &record, None)
            }
            Ok(record) => {
                let waited = Waited::Settled(Box::new(Ok(record.clone())));
                self.reply(shape, &record, waited, None, call)
            }
            Err(error) => replies::failed(shape, Some(&text), &error),
        }
    }

    /// A question that does not wait here, or not any more. Blocks on the store.
    fn settled(&self, id: &Id, asked: &Asked) -> Settled {
        let record = self.0.settings.store.must_load(id)?;
        if record.digest != asked.digest {
            let told = format!("interaction '{id}' is not the question that was asked");
            return Err(Error::new(Code::Corrupt, told));
        }
        if record.state == State::Pending && !record.question.suspended {
            let told = format!("interaction '{id}' is being withdrawn");
            return Err(Error::unavailable(told));
        }
        Ok(record)
    }

    async fn manage(
        &self,
        name: &str,
        arguments: Result<Arguments>,
    ) -> std::result::Result<CallToolResult, ErrorData> {
        let run = match (name, &self.0.settings.operator) {
            ("interactions_list", Some(_)) => manage::list,
            ("interactions_answer", Some(_)) => manage::answer,
            _ => {
                let outside = self.0.settings.names.outside(name);
                return Err(unknown_tool(outside.unwrap_or(name)));
            }
        };
        let server = self.clone();
        let done = spawn_blocking(move || run(&arguments?, &server.0.settings)).await;
        Ok(match done.unwrap_or_else(|_| Err(closing())) {
            Ok(value) => replies::structured(value, false),
            Err(error) => manage::refused(&error),
        })
    }
}

fn unknown_tool(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("unknown tool: {name}"), None)
}

fn not_asked() -> Error {
    let told = "this server did not ask a question with that id";
    Error::new(Code::NotFound, told)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("sayso", env!("CARGO_PKG_VERSION"));
        let name = |own| self.0.settings.names.outside(own).unwrap_or(own);
        info.instructions = Some(format!(
            "Puts questions in front of a human and brings the answers back. '{}' asks; '{}' asks for permission before something destructive; both wait until a human answers.",
            name("ask"),
            name("request_approval"),
        ));
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _call: Call,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        let mut tools = tools::for_agents();
        if self.0.settings.operator.is_some() {
            tools.extend(tools::for_management());
        }
        let names = self.0.settings.names;
        let named = |mut tool: Tool| {
            tool.name = names.outside(&tool.name)?.to_owned().into();
            Some(tool)
        };
        let tools = tools.into_iter().filter_map(named).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        call: Call,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let verbatim = call.extensions.get::<Verbatim>();
        let arguments = Arguments::parse(verbatim.map(|v| v.0.as_str()));
        let outside = request.name.as_ref();
        let own = self.0.settings.names.own(outside);
        let result = match own.ok_or_else(|| unknown_tool(outside))? {
            "ask" => self.ask(arguments, &call).await,
            "request_approval" => self.request_approval(arguments, &call).await,
            "wait_for_answer" => self.wait_for_answer(arguments, &call).await,
            name => self.manage(name, arguments).await?,
        };
        Ok(result.into())
    }
}
