//! The second door: the messages of `dm_env_rpc.v1`, and what they stand for here.
//!
//! A world is one environment. Its settings come as tensors by name and become the very configuration that a session has
//! ([`settings`]), so there is one set of checks and one set of defaults. Its actions and observations are told by specs with
//! a number each ([`specs`]). Tensors are messages of their own kind, an array for each element type ([`tensor`]).
//!
//! The surprising decision: an array of one element fills any shape in this protocol, so a few bytes can ask for as much
//! memory as they like. Here the reader says which shape it wants, and nothing is ever made that is larger than that.

pub mod settings;
pub mod specs;
pub mod tensor;

pub use super::packages::dm_env_rpc::v1 as pb;
