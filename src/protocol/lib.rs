//! The boundary: the messages and services of `proto/`, as Rust.
//!
//! This package includes the generated types once and names them [`pb`]. The engine and the rooms around it have
//! separate types; `tests/it/layering.rs` lists the rooms that may use [`pb`].
//!
//! The comments of the generated items come from the proto files, which are the reference of the protocol: start with
//! `proto/tetrion/v1/environment_service.proto`.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see cli::output of `tetrion`

pub mod codec;
pub mod colors;
mod episode_end;
pub mod error;
pub mod limits;

pub mod duration;
pub mod envs;
pub mod evaluation;
pub mod features;
pub mod fields;
pub mod files;
pub mod footprint;
pub mod models;
pub mod placements;
pub mod policies;
pub mod positions;
pub mod recording;
pub mod rendering;
pub mod results;
pub mod revision;
pub mod rules;
pub mod search;
pub mod secret;
pub mod seeding;
pub mod session;
pub mod tasks;
pub mod tensor;
pub mod watching;

pub use error::{DecodeError, Fault, InField};
pub use packages::google::rpc;
pub use packages::tetrion::v1 as pb;

/// Every message, service and comment of `proto/`, as an encoded `google.protobuf.FileDescriptorSet`, which
/// reflection serves.
pub const FILE_DESCRIPTOR_SET: &[u8] = tonic::include_file_descriptor_set!("descriptors");

/// One module per part of a package name, because the generated code expects packages here.
#[allow(
    clippy::all,
    rustdoc::all // the comments are written for readers of every language, not for rustdoc
)]
mod packages {
    pub mod tetrion {
        pub mod v1 {
            tonic::include_proto!("tetrion.v1");
            include!(concat!(env!("OUT_DIR"), "/tetrion.v1.serde.rs"));
        }
    }
    pub mod google {
        pub mod rpc {
            tonic::include_proto!("google.rpc");
        }
    }
}
