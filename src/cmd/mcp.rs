//! `sayso mcp serve`: an MCP server for one agent session.

use std::time::Duration;

use anyhow::Result;

use super::context::Context;
use super::exit::Exit;
use super::operator::login_name;
use super::request::project_name;
use crate::cli::{McpAction, McpArgs, McpServeArgs, ToolNames};
use crate::mcp::{self, Ended, Names, Operator, Pins, Settings, TIMEOUT_BOUNDS};
use crate::model::response::Responder;
use crate::repo;

/// Serves until the client is gone.
pub fn run(context: &Context, args: &McpArgs) -> Result<Exit> {
    let McpAction::Serve(args) = &args.action;
    let store = context.asking_store(None)?;
    let settings = Settings {
        pins: pins(context, args),
        timeout: Duration::from_secs(args.timeout.clamp(TIMEOUT_BOUNDS.0, TIMEOUT_BOUNDS.1)),
        project: project_name(&store),
        cwd: repo::current_dir().ok(),
        operator: args.management.then(operator),
        names: match args.names {
            ToolNames::Sayso => Names::Own,
            ToolNames::Animus => Names::Animus,
        },
        store,
    };
    Ok(match mcp::serve(settings)? {
        Ended::Closed => Exit::Done,
        Ended::Signal(signal) => Exit::Interrupted(signal),
    })
}

/// A blank pin is none.
fn pins(context: &Context, args: &McpServeArgs) -> Pins {
    // The older tool's variable counts too: a pin that is ignored is a hole.
    let named = |name: &str| {
        let ours = context.var(&format!("SAYSO_MCP_{name}"));
        let pin = ours.or_else(|| context.var(&format!("ANIMUS_MCP_{name}")))?;
        Some(pin.trim().to_owned())
    };
    let given = |option: &Option<String>| {
        let text = option.as_deref().map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    Pins {
        agent: given(&args.agent_id).or_else(|| named("AGENT_ID")),
        workflow: given(&args.workflow_id).or_else(|| named("WORKFLOW_ID")),
        session: given(&args.session_id),
        task: given(&args.task_id),
    }
}

/// The assistant's answers are marked as such.
fn operator() -> Operator {
    Operator {
        responder: Responder {
            uid: nix::unistd::getuid().as_raw(),
            tty: None,
            pid: std::process::id(),
            agent_session: Some("mcp --management".into()),
        },
        answered_by: login_name(),
    }
}
