//! Writes `src/words/hidden.rs`, the table of the characters that are shown as escapes:
//! `cargo run --example words`.

mod hidden;

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/words/hidden.rs");
    fs::write(&file, hidden::file())?;
    println!("{} ranges in {}", hidden::ranges().len(), file.display());
    Ok(())
}
