//! One test binary, one module a theme.

/// Perft tables and drawings: the engine against counts made by others.
mod rules;

/// Tetrominoes that walk and fall, against a plain model of the notebook they come from.
mod keypress;

/// Whole games of key presses, on the notebook's board.
mod keypress_games;

/// Drawings and the numbers counted on them, every feature against its twin, sets by name.
mod features;

/// The controllers with a name play the games that others recorded of them.
mod controllers;

/// What the proto files say is true, and nothing in them goes without saying.
mod contract;

/// Messages that say what they should, and messages that do not.
mod wire;

/// Environments against a slow model of one, their refusals, and whole episodes as text.
mod env;
/// Pictures, to the character.
mod render;

/// Every placement of many positions at once.
mod placements;

/// A real server on a port of its own: each call, each refusal, and that a refusal changed nothing.
mod service;

/// The second door: worlds of dm_env_rpc, which are sessions of one environment.
mod dm_env_rpc;

/// Every bound on a request, at it and one past it.
mod limits;

/// The cross-entropy search finds its maximum, and takes the same path every time.
mod cem;

/// So does the genetic algorithm.
mod genetic;

/// The rules, the features and the seeds a second time, slowly and plainly.
mod twin;

/// What holds the twin itself: examples, counts, vectors and games made by others.
mod twin_facts;

/// A training run survives whatever stops it.
mod run_folder;

/// Every kernel gives the bits of the features' own functions.
mod kernel;

/// The agents, each against a slow plain one.
mod agents;

/// Learning curves, as text and as SVG.
mod plot;
/// Whole episodes, alone and in parallel.
mod rollout;

/// Whole games asked for over the network are those of the engine, and stop when nobody waits for them.
mod evaluation;

/// What one caller asks for does not hold up the others.
mod fairness;

/// Agents by name over the network: their parameters, their echoes, their refusals.
mod agents_by_name;

/// What a server says of itself.
mod info;

/// The benchmark as a person starts it.
mod bench;
/// Sessions through our own client.
mod sessions_client;

/// Servers of another version, and what is no server of ours, as our own client meets them.
mod strangers;

/// Whole games through our own client.
mod games_client;

/// The program as a person starts it.
mod command_line;
/// Controllers from the command line: numbers, comparisons, refusals.
mod evaluate;
/// What is printed and nobody reads.
mod lost_output;

/// The tables of documents and papers, from the command line.
mod reproduce;

/// Tokens with names, certificates of both sides, and what is shown of them.
mod access;

/// The server as a process: its one line, its signals, and whom it lets in.
mod server;

/// Servers that stop and start again with the same folder.
mod restart;

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

/// What starts the program elsewhere knows its flags.
mod deploy;

/// Messages written byte by byte.
mod raw_bytes;
/// Bytes that are no message, by every way in.
mod unreadable;

/// What pages in browsers can send reaches no session.
mod hosts;

/// Answers that clients do not read have so much room and no more.
mod answers;

/// Connections and calls are bounded in number and in time.
mod connections;
/// What an operator sees: metrics, log lines, traces.
mod seeing;

/// Requests on their way in have so much room and no more.
mod reception;
/// A server to talk to, and what tests say over and over.
mod support;
/// Training from the command line: the same bytes whatever happens.
mod train;

/// The arrows between the rooms are the ones that were drawn.
mod layering;

/// The documents say what the code says, and their links lead somewhere.
mod documents;
