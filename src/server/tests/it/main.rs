//! The tests of the port around the calls: one binary, one module per theme. They know no program.

/// Unread answers have limited memory.
mod answers;

/// The layer around every call.
mod around_calls;

/// Incoming requests have limited memory.
mod reception;

/// Bytes that are not a message, through every entry.
mod unreadable;

/// Fields that a server does not know, and the revision of the protocol.
mod unknown_fields;
