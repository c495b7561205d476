//! Compresses the files of the page, as most browsers want them.

use std::io::Write;
use std::path::PathBuf;
use std::{env, error::Error, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=page");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for entry in fs::read_dir("page")? {
        let path = entry?.path();
        let name = path.file_name().ok_or("a file without a name")?.to_string_lossy().into_owned();
        let mut gzip = GzEncoder::new(fs::File::create(out.join(name + ".gz"))?, Compression::best());
        gzip.write_all(&fs::read(&path)?)?;
        gzip.finish()?;
    }
    Ok(())
}
