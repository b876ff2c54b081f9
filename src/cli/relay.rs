//! The arguments of Relay's verbs.

use clap::{Args, Subcommand};

/// `publish`
#[derive(Args, Debug)]
pub struct PublishArgs {
    /// The question's id or its beginning
    pub id: String,
}

/// `relay`
#[derive(Args, Debug)]
pub struct RelayArgs {
    /// What to do
    #[command(subcommand)]
    pub action: RelayAction,
}

/// `relay ACTION`
#[derive(Subcommand, Debug)]
pub enum RelayAction {
    /// Pair this machine with a Relay: you approve it in a browser
    Pair(PairArgs),
    /// Say how each Relay stands, without asking it
    Status(StatusArgs),
    /// List the devices that each Relay names; accept or remove one
    Devices(DevicesArgs),
    /// Send what is due, fetch answers once: made for cron
    Poll(PollArgs),
    /// The same as poll
    Sync(PollArgs),
}

/// `relay pair`
#[derive(Args, Debug)]
pub struct PairArgs {
    /// The Relay's base URL: https, or http on loopback
    #[arg(long, value_name = "URL")]
    pub url: String,
    /// How phones name this machine [default: the host's name]
    #[arg(long)]
    pub name: Option<String>,
    /// The Relay's name here [default: the known one with this URL, else the URL's host]
    #[arg(long, value_name = "ID")]
    pub provider: Option<String>,
    /// Let it be at a private or loopback address
    #[arg(long)]
    pub allow_private: bool,
    /// Use it at once: every question goes out whole, sealed for your phones
    #[arg(long)]
    pub enable: bool,
}

/// `relay status`
#[derive(Args, Debug)]
pub struct StatusArgs {
    /// Print a crontab line, a systemd user timer and its service that poll
    #[arg(long)]
    pub units: bool,
}

/// `relay devices`
#[derive(Args, Debug)]
pub struct DevicesArgs {
    /// Only this Relay
    #[arg(long, value_name = "ID")]
    pub provider: Option<String>,
    /// Let this device have questions and answer them: its id or its fingerprint
    #[arg(long, value_name = "DEVICE", conflicts_with = "remove")]
    pub accept: Option<String>,
    /// Give this device no more questions, and drop its answers
    #[arg(long, value_name = "DEVICE")]
    pub remove: Option<String>,
}

/// `relay poll`
#[derive(Args, Debug)]
pub struct PollArgs {
    /// Only this Relay
    #[arg(long, value_name = "ID")]
    pub provider: Option<String>,
}
