//! The second API: the messages of `dm_env_rpc.v1`, and their meaning in this server.
//!
//! A world is one environment. Its settings arrive as named tensors and become a session's configuration
//! ([`settings`]), so checks and defaults exist once. Specs describe its actions and observations, each with a number
//! ([`specs`]). Tensors have their own message, with one array per element type ([`tensor`]).
//!
//! The surprising decision: in this protocol an array of one element fills any shape, so a few bytes can ask for any
//! amount of memory. Here the reader states the shape it wants, and never allocates more.

pub mod settings;
pub mod specs;
pub mod tensor;

pub use super::packages::dm_env_rpc::v1 as pb;
