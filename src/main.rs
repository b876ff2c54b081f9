//! Parses, runs, prints the error and its hint, sets the exit code. A closed pipe is not an error.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::FromArgMatches;
use clap::error::ErrorKind;

use sayso::cli::{self, Global, Verb};
use sayso::cmd::{self, context::Context, failure};
use sayso::error::Error;
use sayso::log;
use sayso::render::{json, out};

fn main() -> ExitCode {
    let args = cli::verb_first(cli::modernise(std::env::args_os().collect()));
    match cli::named_verb(&args) {
        Some("hook") => return hook(&args),
        Some(cli::older::GROUP) => return ExitCode::from(cmd::older::run(&args)),
        _ => {}
    }
    let json = args.iter().any(|arg| arg == "--json");
    match parse(&args) {
        Ok((global, verb)) => run(global, verb),
        Err(error) => usage(&error, json),
    }
}

fn parse(args: &[OsString]) -> Result<(Global, Verb), clap::Error> {
    let matches = cli::command_for(args).try_get_matches_from(args)?;
    let missing = || clap::Error::new(ErrorKind::MissingSubcommand);
    let (name, sub) = matches.subcommand().ok_or_else(missing)?;
    Ok((
        Global::from_arg_matches(sub)?,
        Verb::from_matches(name, sub)?,
    ))
}

fn run(global: Global, verb: Verb) -> ExitCode {
    let json = global.json;
    if !global.quiet {
        log::start(out::to_stderr, global.verbose);
    }
    let result = Context::new(global)
        .map_err(anyhow::Error::from)
        .and_then(|context| cmd::run(&context, verb));
    match result {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => failed(error, json),
    }
}

/// A hook exits 0 whatever happens, a panic included, and says at most one line on standard error.
fn hook(args: &[OsString]) -> ExitCode {
    let asks = |arg: &OsString| arg == "--help" || arg == "-h";
    if args.iter().any(asks)
        && let Err(help) = parse(args)
        && help.exit_code() == 0
    {
        return usage(&help, false);
    }
    std::panic::set_hook(Box::new(|_| {}));
    let run = || -> Result<(), String> {
        let (global, verb) = match parse(args) {
            Ok(parsed) => parsed,
            Err(error) => return Err(failure::first_line(&error)),
        };
        if global.verbose > 0 {
            log::start(out::to_stderr, global.verbose);
        }
        let context = Context::new(global).map_err(|e| e.to_string())?;
        cmd::run(&context, verb)
            .map(drop)
            .map_err(|e| e.to_string())
    };
    match std::panic::catch_unwind(run) {
        Ok(Ok(())) => {}
        Ok(Err(why)) => cmd::hook::fell_silent(args, &why),
        Err(_) => cmd::hook::fell_silent(args, "internal failure"),
    }
    ExitCode::SUCCESS
}

fn failed(error: anyhow::Error, json: bool) -> ExitCode {
    match failure::of(error) {
        None => ExitCode::SUCCESS,
        Some(error) => {
            report(&error, json);
            ExitCode::from(error.code.exit())
        }
    }
}

fn report(error: &Error, json: bool) {
    if json {
        let _ = writeln!(io::stderr(), "{}", json::failure(error));
    } else {
        cmd::print_error_lines(error);
    }
}

/// What clap refused, or help that was asked for.
fn usage(error: &clap::Error, json: bool) -> ExitCode {
    if error.exit_code() == 0 {
        return match error.print().and_then(|()| io::stdout().flush()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failed(failure.into(), json),
        };
    }
    if json {
        report(
            &Error::input(failure::first_line(error)).hint("'sayso help VERB' shows the options"),
            true,
        );
    } else {
        for line in failure::told(error).lines() {
            out::to_stderr(line);
        }
    }
    ExitCode::from(2)
}
