//! The tests of the client: one binary, one module per theme. They know no program.

/// Sessions through our own client.
mod sessions_client;

/// The table of the calls of sessions.
mod kinds;

/// Whole games through our own client.
mod games_client;

/// Evaluations over several servers, without servers.
mod spread;

/// Our own client with servers of another version, and with other services.
mod strangers;
