//! An MCP server on standard input and output, for one agent session.
//!
//! Promise: it lives and dies with its client. Any number of calls wait at once, each for its own
//! question; when the input ends or a signal comes, every question that waits is withdrawn in one
//! transition and the process is gone within 400 ms. Standard output carries the protocol and nothing
//! else, and an answer counts as delivered only after its result was written.
//!
//! Three threads: the protocol's (this is the only room that knows of `rmcp` and `tokio`), the desk's,
//! which looks at standard input, signals and question files, and the one that writes.

mod approval;
mod arguments;
mod call;
mod desk;
mod manage;
mod names;
mod output;
mod parked;
mod questions;
mod replies;
mod server;
mod tools;
mod transport;

use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ServiceExt;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::interrupt::Interrupts;
use crate::model::response::Responder;
use crate::store::Store;
use desk::Desk;
pub use names::Names;
use output::Output;
use parked::Parked;
use server::Server;
use transport::{Deliveries, Lines};

/// The bounds of a question's deadline, in seconds.
pub const TIMEOUT_BOUNDS: (u64, u64) = (1, 3600);
/// How long withdrawing takes at most, once the client is gone.
const CLOSE_WAIT: Duration = Duration::from_millis(250);
/// When the process ends at the latest, once the client is gone.
const END_WAIT: Duration = Duration::from_millis(350);

/// How many threads work on the store at once: it takes one writer at a time, and each thread's memory
/// outlasts the burst of calls that wanted it.
const STORE_THREADS: usize = 8;

/// How a server is set up.
pub struct Settings {
    /// The scope that its questions go to.
    pub store: Store,
    /// What no call can change.
    pub pins: Pins,
    /// How long a call waits that does not say.
    pub timeout: Duration,
    /// The project's name.
    pub project: Option<String>,
    /// The server's own directory.
    pub cwd: Option<PathBuf>,
    /// Who answers through the management tools; without it they are not there.
    pub operator: Option<Operator>,
    /// What its tools are called.
    pub names: Names,
}

/// What holds for every question of a server, whatever a call says.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// Who asks.
    pub agent: Option<String>,
    /// The workflow; its questions suspend.
    pub workflow: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The task.
    pub task: Option<String>,
}

/// Who answers through the management tools.
#[derive(Clone, Debug)]
pub struct Operator {
    /// As the operating system says.
    pub responder: Responder,
    /// As records name him.
    pub answered_by: String,
}

/// Why a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client closed its end.
    Closed,
    /// This signal came.
    Signal(i32),
}

/// Serves until the client is gone or a signal comes.
///
/// # Errors
/// `unavailable` where threads, signals or descriptors cannot be had.
pub fn serve(settings: Settings) -> Result<Ended> {
    let unavailable = |e: std::io::Error| Error::unavailable(format!("cannot serve: {e}"));
    let interrupts = Interrupts::listen().map_err(unavailable)?;
    let (parked, bell) = Parked::new(settings.store.clone()).map_err(unavailable)?;
    let parked = Arc::new(parked);
    let (send_line, lines) = mpsc::unbounded_channel();
    let (tell_begun, begun) = oneshot::channel();
    let (tell_done, done) = oneshot::channel();
    let output = Output::start(Arc::clone(&parked)).map_err(unavailable)?;
    let desk = Desk::new(Arc::clone(&parked), bell, interrupts, send_line).map_err(unavailable)?;
    std::thread::Builder::new()
        .name("desk".into())
        .spawn(move || desk.run(tell_begun, tell_done))
        .map_err(unavailable)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(STORE_THREADS)
        .build()
        .map_err(unavailable)?;
    let deliveries = Deliveries::default();
    let transport = Lines::new(lines, output, deliveries.clone());
    let server = Server::new(settings, Arc::clone(&parked), deliveries);
    let ended = runtime.block_on(async {
        let served = async {
            if let Ok(running) = server.serve(transport).await {
                let _ = running.waiting().await;
            }
        };
        tokio::select! {
            biased;
            ended = end(begun, done) => ended,
            () = served => Ended::Closed,
        }
    });
    runtime.shutdown_background();
    drop(parked.close(Instant::now() + CLOSE_WAIT));
    Ok(ended)
}

/// The end that the desk tells: after a signal as soon as everything is withdrawn; a client that only
/// closed its input may read what was still to come. At the latest after [`END_WAIT`].
async fn end(begun: oneshot::Receiver<Ended>, done: oneshot::Receiver<()>) -> Ended {
    let ended = begun.await.unwrap_or(Ended::Closed);
    let _ = match ended {
        Ended::Signal(_) => timeout(END_WAIT, async { drop(done.await) }).await,
        Ended::Closed => timeout(END_WAIT, pending()).await,
    };
    ended
}
