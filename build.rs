//! Links the release for a quick start: a shell prompt may run it each time.
//!
//! Without these two, the dynamic loader works for a third of the time that `sayso count` takes: it maps and
//! searches libgcc_s for the few functions that unwinding needs, and corrects 3,000 addresses.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|v| v == value);
    let dynamic = !env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|f| f.contains("crt-static"));
    let glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is("PROFILE", "release") && glibc && dynamic {
        println!("cargo:rustc-link-lib=static:-bundle=gcc_eh");
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
