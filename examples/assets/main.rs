//! Writes the manual pages that are committed under `man/`: `cargo run --example assets`.

mod man;

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("man");
    fs::create_dir_all(&dir)?;
    let pages = man::pages()?;
    for entry in fs::read_dir(&dir)? {
        let name = entry?.file_name();
        if !pages.iter().any(|(page, _)| name == page.as_str()) {
            fs::remove_file(dir.join(name))?;
        }
    }
    for (name, page) in &pages {
        fs::write(dir.join(name), page)?;
    }
    println!("{} pages in {}", pages.len(), dir.display());
    Ok(())
}
