//! The tests of the messages: one binary, one module per theme. They know no server and no program.

/// Messages that are right, and messages that are wrong.
mod wire;

/// A request for an evaluation, read some policies at a time.
mod evaluation;

/// Lengths of time in messages.
mod durations;

/// Memory of messages, before they are decoded.
mod weight;

/// Recordings as files of either form; what is wrong in one is named.
mod recording_files;

/// The statements of the proto files, and that everything in them has a comment.
mod contract;

/// The table of rules fields: complete, and the same rules in every form.
mod rules_fields;
