//! Compiles `proto/` to Rust with nothing installed but cargo: protox reads the files, tonic-prost-build writes the code.
//!
//! The descriptors are written out as well, comments included: the server offers them through reflection.

use std::path::PathBuf;
use std::{env, error::Error, fs};

use prost::Message;
use protox::file::IncludeFileResolver;

/// What others import; the files that these import come along.
const ROOTS: [&str; 3] = [
    "tetrion/v1/environment_service.proto",
    "tetrion/v1/evaluation_service.proto",
    "dm_env_rpc/v1/dm_env_rpc.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=proto");
    // Of `proto/` alone, not even of the files that protox itself brings: the folder holds all that a generator needs.
    let mut compiler = protox::Compiler::with_file_resolver(IncludeFileResolver::new("proto".into()));
    compiler.include_source_info(true).include_imports(true).open_files(ROOTS)?;
    let descriptors = compiler.file_descriptor_set();
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    let mut config = tonic_prost_build::Config::new();
    config.enable_type_names(); // the codec looks messages up by their names
    tonic_prost_build::configure()
        .codec_path("crate::wire::codec::WeighedCodec")
        // Tensor data and snapshots are slices of the message they came in, not copies of it.
        .bytes(".tetrion.v1")
        .bytes(".dm_env_rpc.v1")
        .compile_fds_with_config(descriptors, config)?;
    Ok(())
}
