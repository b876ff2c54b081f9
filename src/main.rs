//! Parses, runs, prints the error and its hint, sets the exit code. A closed pipe is not an error.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use sayso::cli::{self, Global, Verb};
use sayso::cmd::{self, context::Context};
use sayso::error::{Code, Error};
use sayso::log;
use sayso::render::{json, out};

fn main() -> ExitCode {
    let args = cli::modernise(std::env::args_os().collect());
    let json = args.iter().any(|arg| arg == "--json");
    let matches = match cli::command_for(&args).try_get_matches_from(&args) {
        Ok(matches) => matches,
        Err(error) => return usage(&error, json),
    };
    let parsed = matches.subcommand().map(|(name, sub)| {
        use clap::FromArgMatches;
        Ok::<_, clap::Error>((
            Global::from_arg_matches(sub)?,
            Verb::from_matches(name, sub)?,
        ))
    });
    match parsed {
        Some(Ok((global, verb))) => run(global, verb),
        Some(Err(error)) => usage(&error, json),
        None => ExitCode::from(2),
    }
}

fn run(global: Global, verb: Verb) -> ExitCode {
    let json = global.json;
    let verbosity = global.verbose;
    if !global.quiet {
        log::start(out::to_stderr, verbosity);
    }
    let result = Context::new(global)
        .map_err(anyhow::Error::from)
        .and_then(|context| cmd::run(&context, verb));
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => failed(error, json),
    }
}

fn failed(error: anyhow::Error, json: bool) -> ExitCode {
    let error = match error.downcast::<Error>() {
        Ok(error) => error,
        Err(other) => match other.downcast::<std::io::Error>() {
            Ok(io) if io.kind() == ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Ok(io) => Error::unavailable(format!("cannot write the output: {io}")),
            Err(other) => Error::new(Code::Internal, format!("{other}")),
        },
    };
    report(&error, json);
    ExitCode::from(error.code.exit())
}

fn report(error: &Error, json: bool) {
    if json {
        let _ = writeln!(std::io::stderr(), "{}", json::failure(error));
    } else {
        cmd::print_error_lines(error);
    }
}

/// What clap refused, or help that was asked for.
fn usage(error: &clap::Error, json: bool) -> ExitCode {
    if error.exit_code() == 0 {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if json {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first);
        report(
            &Error::input(message).hint("'sayso help VERB' shows the options"),
            true,
        );
    } else {
        for line in error.render().to_string().lines() {
            out::to_stderr(line);
        }
    }
    ExitCode::from(2)
}
