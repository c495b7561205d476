//! One test binary, one module a theme.

/// Perft tables and drawings: the engine against counts from other programs.
mod rules;

/// Placements with kicks, spins and the keys that lead to them, against counts from other programs and a slow twin.
mod perfect_clears;
mod reachable;

/// Whole games that another engine played under the rules of modern Tetris.
mod guideline_games;

/// Tetrominoes that walk and fall, against a plain model of the notebook they come from.
mod keypress;

/// Whole games of key presses, on the notebook's board.
mod keypress_games;

/// Drawings and the numbers counted on them, every feature against its twin, sets by name.
mod features;

/// The named controllers play the games that other programs recorded of them.
mod controllers;

/// What the proto files say is true, and everything in them has a comment.
mod contract;

/// The table of rules fields: complete, and the same rules in every form.
mod rules_fields;
/// Messages that are right, and messages that are wrong.
mod wire;

/// Environments against a slow model of one, their refusals, and whole episodes as text.
mod env;
/// Pictures of recorded games, in every form.
mod pictures;
/// Games of other pieces than the tetrominoes.
mod pieces;
/// Games of evaluations that are recorded, replayed and exported.
mod recorded_games;
/// Recorded games are those of environments, in colours; falsified ones are found.
mod recording;
/// Recordings as files of either form; what is wrong in one is named.
mod recording_files;

/// Pictures, to the character.
mod render;

/// Every placement of many positions at once.
mod placements;

/// A real server on a port of its own: each call, each refusal, and that a refusal changed nothing.
mod service;

/// The Tetris Bot Protocol, as a bot and as what plays bots.
mod tbp;

/// The other protocol: worlds of dm_env_rpc, which are sessions of one environment.
mod dm_env_rpc;

/// Every bound on a request, at it and one past it.
mod limits;

/// The memory of a server is divided among all limits on it.
mod allotment;

/// The cross-entropy search finds its maximum, and takes the same path every time.
mod cem;

/// So does the genetic algorithm.
mod genetic;

/// Temporal-difference learning moves scores as its formulas say.
mod td;

/// Temporal-difference learning of a network.
mod network;

/// The rules, the features and the seeds a second time, slowly and plainly.
mod twin;

/// What checks the twin itself: examples, counts, vectors and games from other sources.
mod twin_facts;

/// A training run survives whatever stops it.
mod run_folder;

/// Every kernel gives the bits of the features' own functions.
mod kernel;

/// So do placements measured together, wherever they are.
mod together;

/// The agents, each against a slow plain one.
mod agents;

/// The exact mean over hidden pieces.
mod expectation;

/// Networks and tables beside a weighted sum.
mod models;

/// Exact values on small playfields, against a slow plain solver, reasoning, and games that were played.
mod optimum;
/// `tetrion play`, driven by keys and simulated time.
mod play;
/// Learning curves, as text and as SVG.
mod plot;
/// The screens of games, as pictures of characters.
mod screen;
/// The program on a terminal, which it restores.
#[cfg(target_os = "linux")]
mod terminal;
/// Controllers are watched, forward and back.
mod watch;
mod watch_session;

/// Whole episodes, alone and in parallel.
mod rollout;

/// How long games last, estimated: against exact values and whole games.
mod splitting;

/// Whole games over the network are those of the engine, and stop when no caller waits for them.
mod evaluation;

/// The requests of one caller do not hold up the others.
mod fairness;

/// Agents by name over the network: their parameters, their echoes, their refusals.
mod agents_by_name;

/// What a server says about itself.
mod info;

/// The benchmark as a person starts it.
mod bench;
/// Sessions through our own client.
mod sessions_client;

/// Servers of another version, and other services, as our own client meets them.
mod strangers;

/// Whole games through our own client.
mod games_client;

/// The program as a person starts it.
mod command_line;
/// Controllers from the command line: numbers, comparisons, refusals.
mod evaluate;
/// Output that has lost its reader.
mod lost_output;

/// The tables of documents and papers, from the command line.
mod reproduce;

/// Tokens with names, certificates of both sides, and what is shown of them.
mod access;
/// Certificates that change while the server runs.
mod certificates;

/// The server as a process: its one line, its signals, and which callers it lets in.
mod server;

/// The page at `/`: its files, their headers, who may have them, and what it shows of a training.
mod page;

/// Servers that stop and start again with the same folder.
mod restart;

/// What a server tells the program that started it.
mod notified;

/// Whether a server serves, as an exit code.
mod health;

/// What happens around every call, whatever it does.
mod around_calls;

/// What messages take in memory, and lengths of time in them.
mod durations;
mod weight;

/// Threads shared by callers, work in slices, games that are not read.
mod queues;
mod slices;
mod unread_games;

/// Counting placements in little memory.
mod perft;

/// What the benchmark makes of its measurements.
mod bench_figures;

/// Completions for shells, and pages of the manual.
mod manual;

/// The files that start the program elsewhere use flags that it knows.
mod deploy;

/// Messages written byte by byte.
mod raw_bytes;
/// Bytes that are not a message, by every way in.
mod unreadable;

/// Requests that pages in browsers can send reach no session.
mod hosts;

/// Answers that clients do not read have a limited amount of room.
mod answers;

/// Connections and calls are bounded in number and in time.
mod connections;
/// What an operator sees: metrics, log lines, traces.
mod seeing;

/// Requests on their way in have a limited amount of room.
mod reception;
/// A server to call, and what tests repeat.
mod support;
/// Training from the command line: the same bytes whatever happens.
mod train;

/// Training that learns from every step.
mod learning;

/// The arrows between the modules are the ones that were drawn.
mod layering;

/// The documents say what the code says, and their links lead somewhere.
mod documents;
