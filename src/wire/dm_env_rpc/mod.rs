//! The second API: the messages of `dm_env_rpc.v1`, and what they mean here.
//!
//! A world is one environment. Its settings arrive as named tensors and become the same configuration that a session has
//! ([`settings`]), so there is one set of checks and one set of defaults. Specs describe its actions and observations, each
//! with a number ([`specs`]). Tensors are messages of their own kind, with an array for each element type ([`tensor`]).
//!
//! The surprising decision: an array of one element fills any shape in this protocol, so a few bytes can ask for any amount
//! of memory. Here the reader gives the shape it wants, and never makes anything larger.

pub mod settings;
pub mod specs;
pub mod tensor;

pub use super::packages::dm_env_rpc::v1 as pb;
