//! The thread that writes standard output: a client that does not read holds up nothing else.

use std::io::{self, Write};
use std::sync::{Arc, mpsc};

use tokio::sync::oneshot;

use super::parked::Parked;
use crate::model::interaction::Interaction;

/// The way to standard output.
#[derive(Clone)]
pub(super) struct Output(mpsc::Sender<Job>);

struct Job {
    line: Vec<u8>,
    delivers: Option<Interaction>,
    done: oneshot::Sender<io::Result<()>>,
}

impl Output {
    /// Starts the thread.
    pub(super) fn start(parked: Arc<Parked>) -> io::Result<Self> {
        let (sender, jobs) = mpsc::channel::<Job>();
        std::thread::Builder::new()
            .name("output".into())
            .spawn(move || {
                let mut stdout = io::stdout();
                for job in jobs {
                    let written = stdout.write_all(&job.line).and_then(|()| stdout.flush());
                    if let (Ok(()), Some(record)) = (&written, &job.delivers) {
                        parked.delivered(record);
                    }
                    let _ = job.done.send(written);
                }
            })?;
        Ok(Self(sender))
    }

    /// Writes a message as one line; once it is out, the answer in it counts as delivered.
    pub(super) async fn write(
        self,
        message: serde_json::Result<Vec<u8>>,
        delivers: Option<Interaction>,
    ) -> io::Result<()> {
        let written = self.post(message, delivers)?;
        written.await.unwrap_or_else(|_| Err(gone()))
    }

    /// As [`Output::write`], without waiting for it.
    pub(super) fn post(
        &self,
        message: serde_json::Result<Vec<u8>>,
        delivers: Option<Interaction>,
    ) -> io::Result<oneshot::Receiver<io::Result<()>>> {
        let mut line = message.map_err(io::Error::other)?;
        line.push(b'\n');
        let (done, written) = oneshot::channel();
        let job = Job {
            line,
            delivers,
            done,
        };
        self.0.send(job).map_err(|_| gone())?;
        Ok(written)
    }
}

fn gone() -> io::Error {
    io::Error::from(io::ErrorKind::BrokenPipe)
}
