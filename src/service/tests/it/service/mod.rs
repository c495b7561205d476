//! The calls of EnvironmentService over a real socket.

/// Create, get, list, delete; leases, room, and names for requests.
mod sessions;

/// Amounts that are shared out.
mod budget;

/// A session belongs to the caller that made it.
mod owners;

/// Sessions that one server writes and the next restores.
mod stored;

/// The memory that all sessions share, reserved before it is used.
mod memory;

/// Numbered requests: done once, answered as often as sent.
mod sequence;

/// Finished episodes, thinned.
mod history;

/// Steps over one long call.
pub mod stream;

/// Each row of the table of errors, and that a refusal changed nothing.
mod refusals;

/// Equal bytes by either way of stepping, alone, in company and on another server.
mod same_bytes;

/// What learners rely on from one episode to the next.
mod episodes;

/// Random calls against a plain model.
mod model;

/// What actions say, and which ones exist.
mod actions;

/// Actions written as text.
mod texts;

/// Values and choices of a policy.
mod judging;

mod tasks;

/// Resets and restores of so many environments that they take several turns.
mod restarting;

/// Why episodes end.
mod ends;

mod no_envs;

/// Placements, restored drawings and pictures.
mod positions;

/// Pictures and texts that show the piece that each cell came from.
mod drawing;

/// Placements with the keys that lead to them.
mod keys;

/// Rows that rise.
mod garbage;

/// Modern Tetris key by key.
mod steering;

/// Sessions that are watched while they are stepped.
mod watching;
