//! The conformance kit: calls and expected answers, played against any server of the protocol.
//!
//! The files are in `conformance/`, one per subject, for people to read and to add to; `docs/conformance.md` describes the
//! format and what passing promises. A [`run`] makes the calls of the files in order and returns every part of an answer that is not
//! as expected, with its line.
//!
//! A checker must not share code with what it checks. So this room knows neither the engine nor the generated messages:
//! it sends and receives bytes, and decodes them by the descriptors of the proto files, with every field that the protocol
//! does not have.

mod compare;
mod form;
mod kit;
mod order;
mod runner;
mod script;
mod tensor;

pub use compare::{Mismatch, Names};
pub use form::{encode, from_value, methods};
pub use kit::KIT;
pub use runner::{ConformanceReport, LineMismatch, ServerEvent, run};
pub use script::{Expected, Request, Script, ScriptError, ScriptLine, ScriptStep};
pub use tensor::Tensor;
