//! One test binary with one module per theme.

/// Formulas against a walker of trees, and what is refused of them.
mod formulas;

/// The conformance kit: complete, passed by our server over every transport, and failed by wrong servers.
mod conformance;

/// The statements of the proto files, and that everything in them has a comment.
mod contract;

/// The table of rules fields: complete, and the same rules in every form.
mod rules_fields;
/// Messages that are right, and messages that are wrong.
mod wire;

/// Games of other pieces than the tetrominoes.
mod pieces;
/// Games of evaluations that are recorded, replayed and exported.
mod recorded_games;
/// Recordings as files of either form; what is wrong in one is named.
mod recording_files;

/// A real server on a separate port: each call, each refusal, and that a refusal changed nothing.
mod service;

/// Both sides of the Tetris Bot Protocol.
mod tbp;

/// Worlds of dm_env_rpc, the second protocol.
mod dm_env_rpc;

/// Every bound on a request, at the bound and one past it.
mod limits;

/// Long texts in requests take no long time.
mod texts;

/// Division of a server's memory among its limits.
mod allotment;

/// Training runs survive every kind of interruption.
mod run_folder;

/// Networks and tables that add to a weighted sum.
mod models;

/// `tetrion play`, driven by keys and simulated time.
mod play;
/// Learning curves, as text and as SVG.
mod plot;
/// The screens of games, as pictures of characters.
mod screen;
/// The program on a terminal, which it restores.
#[cfg(target_os = "linux")]
mod terminal;
/// Results of the benchmark: honest ones pass, and what is forged is named.
mod verify;
/// Controllers are watched, forward and back.
mod watch;
mod watch_session;

/// Whole games over the network are those of the engine, and stop when no caller waits for them.
mod evaluation;

/// Requests of one caller do not delay other callers.
mod fairness;

/// Agents by name over the network: their parameters, their echoes, their refusals.
mod agents_by_name;

/// Facts that a server reports about itself.
mod info;

/// The benchmark as a person starts it.
mod bench;
/// Sessions through our own client.
mod sessions_client;

/// Our own client with servers of another version, and with other services.
mod strangers;

/// Whole games through our own client.
mod games_client;

/// The program as a person starts it.
mod command_line;
/// Controllers from the command line: numbers, comparisons, refusals.
mod evaluate;
/// Files that appear whole, and pipes, devices and links that stay.
mod files;
/// Output that has lost its reader.
mod lost_output;

/// Named tokens, certificates of both sides, and what errors and logs show of them.
mod access;
/// Certificates that change while the server runs.
mod certificates;

/// The server as a process: its only output line, its signals, and its access control.
mod server;

/// The page at `/`: files, headers, access, and the learning curve of a training.
mod page;

/// Servers that restart with their folder of sessions.
mod restart;

/// Notifications to the program that started a server.
mod notified;

/// `tetrion health`: whether a server serves, as an exit code.
mod health;

/// The layer around every call.
mod around_calls;

/// Memory of messages, and lengths of time in them.
mod durations;
mod weight;

mod slices;
mod unread_games;

/// Figures that the benchmark computes from its measurements.
mod bench_figures;

/// Completions for shells, and pages of the manual.
mod manual;

/// The files of `deploy/` use only known flags.
mod deploy;

/// Fields that a server does not know, and the revision of the protocol.
mod unknown_fields;
/// Bytes that are not a message, through every entry.
mod unreadable;

/// Requests that pages in browsers can send reach no session.
mod hosts;

/// Unread answers have limited memory.
mod answers;

/// Connections and calls are bounded in number and in time.
mod connections;
/// Metrics, log lines and traces for an operator.
mod seeing;

/// Incoming requests have limited memory.
mod reception;
/// A server to call, and helpers shared by tests.
mod support;
/// Training from the command line: the same bytes whatever happens.
mod train;

/// Training that learns from every step.
mod learning;

/// The imports between modules are the allowed ones.
mod layering;

/// The documents agree with the code, and their links are valid.
mod documents;

/// `tetrion optimum`, and the files that it writes.
mod values;
