//! Compiles `proto/` to Rust with nothing installed but cargo: protox reads the files, tonic-prost-build writes the code.
//! `src/protocol` names this file as its build script.
//!
//! The descriptors are written out as well, comments included: the server offers them through reflection.

use std::path::PathBuf;
use std::{env, error::Error, fs};

use prost::Message;
use protox::file::IncludeFileResolver;

/// As seen from the package that this script builds.
const PROTO: &str = "../../proto";

/// What others import; the files that these import come along. Clients read the details of errors, which the server takes
/// from a library.
const ROOTS: [&str; 4] = [
    "tetrion/v1/environment_service.proto",
    "tetrion/v1/evaluation_service.proto",
    "tetrion/v1/recording.proto",
    "google/rpc/error_details.proto",
];

/// What is read and written as JSON: the messages of files, and what they are made of.
const AS_JSON: [&str; 39] = [
    ".tetrion.v1.Policy",
    ".tetrion.v1.Weights",
    ".tetrion.v1.FeatureSelection",
    ".tetrion.v1.FeatureNames",
    ".tetrion.v1.Tensor",
    ".tetrion.v1.DataType",
    ".tetrion.v1.Mlp",
    ".tetrion.v1.Activation",
    ".tetrion.v1.NTuple",
    ".tetrion.v1.TuplePattern",
    ".tetrion.v1.TupleKind",
    ".tetrion.v1.MonteCarlo",
    ".tetrion.v1.Formula",
    ".tetrion.v1.Search",
    ".tetrion.v1.Greedy",
    ".tetrion.v1.Lookahead",
    ".tetrion.v1.Expectation",
    ".tetrion.v1.Beam",
    ".tetrion.v1.ExpectationTerms",
    ".tetrion.v1.TerminalValue",
    ".tetrion.v1.Recording",
    ".tetrion.v1.RecordedOpponent",
    ".tetrion.v1.RecordedOutcome",
    ".tetrion.v1.EpisodeEnd",
    ".tetrion.v1.InvalidActionPolicy",
    ".tetrion.v1.Drawing",
    ".tetrion.v1.Rules",
    ".tetrion.v1.Scoring",
    ".tetrion.v1.Garbage",
    ".tetrion.v1.Randomizer",
    ".tetrion.v1.ActionModel",
    ".tetrion.v1.TopOut",
    ".tetrion.v1.OrientationTable",
    ".tetrion.v1.Reach",
    ".tetrion.v1.RotationSystem",
    ".tetrion.v1.HalfTurns",
    ".tetrion.v1.SpinRule",
    ".tetrion.v1.ClearPoints",
    ".tetrion.v1.AttackTable",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=../../build.rs");
    println!("cargo:rerun-if-changed={PROTO}");
    // Of `proto/` alone, not even of the files that protox itself brings: the folder holds all that a generator needs.
    let mut compiler = protox::Compiler::with_file_resolver(IncludeFileResolver::new(PROTO.into()));
    compiler.include_source_info(true).include_imports(true).open_files(ROOTS)?;
    let descriptors = compiler.file_descriptor_set();
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let encoded = descriptors.encode_to_vec();
    fs::write(out.join("descriptors.bin"), &encoded)?;
    // Fields of newer programs are passed over, as in the binary form.
    pbjson_build::Builder::new().register_descriptors(&encoded)?.ignore_unknown_fields().build(&AS_JSON)?;
    let mut config = tonic_prost_build::Config::new();
    config.enable_type_names(); // the codec looks messages up by their names
    tonic_prost_build::configure()
        .codec_path("crate::codec::WeighedCodec")
        // Tensor data and snapshots are slices of the message they came in, not copies of it.
        .bytes(".tetrion.v1")
        .compile_fds_with_config(descriptors, config)?;
    Ok(())
}
