//! The tests of the calls: one binary, one module per theme. They know no program.

/// A real server on a separate port: each call, each refusal, and that a refusal changed nothing.
mod service;

/// Whole games over the network are those of the engine, and stop when no caller waits for them.
mod evaluation;

/// Agents by name over the network: their parameters, their echoes, their refusals.
mod agents_by_name;

/// Division of a server's memory among its limits.
mod server_limits;

/// Every bound on a request, at the bound and one past it.
mod limits;

/// Long texts in requests take no long time.
mod texts;

mod slices;

mod unread_games;

/// Facts that a server reports about itself.
mod info;

/// Games of other pieces than the tetrominoes.
mod pieces;

/// Networks and tables that add to a weighted sum.
mod models;

/// Formulas that are sent to a server.
mod formulas;

/// A server with a clock that only tests move.
mod support;
