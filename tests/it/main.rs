//! One test binary with one module per theme.

/// The conformance kit: complete, passed by our server over every transport, and failed by wrong servers.
mod conformance;

/// Games of evaluations that are recorded, replayed and exported.
mod recorded_games;
/// Bots that play on the Tetris Bot Protocol, and bots that do not.
#[cfg(unix)]
mod tbp;

/// Training runs survive every kind of interruption.
mod run_folder;

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

/// Requests of one caller do not delay other callers.
mod fairness;

/// `tetrion bench` as a person starts it, and the figures that it computes from its measurements.
mod bench;
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

/// Matches of players, and what they say of who is stronger.
mod matches;

/// Completions for shells, and pages of the manual.
mod manual;

/// The files of `deploy/` use only known flags.
mod deploy;

/// Connections and calls are bounded in number and in time.
mod connections;
/// Metrics, log lines and traces for an operator.
mod seeing;

/// Programs with a limit on their time.
mod support;
/// Training from the command line: the same bytes whatever happens.
mod train;

/// Training that learns from every step.
mod learning;

/// The imports between modules are the allowed ones, and a type name stands for one type.
mod layering;

/// The documents agree with the code, and their links are valid.
mod documents;

/// `tetrion optimum`, and the files that it writes.
mod values;

/// Requests that pages in browsers can send reach no session.
mod hosts;
