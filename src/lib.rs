//! Tetrion: a Tetris environment server for reinforcement learning.
//!
//! The crate is layered; every layer knows only the ones below it.
//!
//! | layer | is | refuses to know |
//! | --- | --- | --- |
//! | [`cli`] | the program that a person starts, and its files | how a game is decided: it asks a server, or the rooms below |
//! | [`viewers`] | screens for a terminal: what they show, and what keys do | the terminal, the clock, the network |
//! | [`benchmark`] | the benchmark for papers: classes of players, results, what is wrong with one | flags, terminals, who plays the games |
//! | [`players`] | agents and trained weights at games that are shown | flags, terminals, servers |
//! | [`conformance`] | the kit of calls and expected answers that any server is held to | the engine, the services, the generated messages |
//! | [`bench`](mod@bench) | `tetrion bench`: work to time, over the wire or not, and the table of results | flags, stdout, signals |
//! | [`trainer`] | the reference agent: it trains controllers on a server and keeps them in folders | flags, terminals |
//! | [`plot`] | charts, as SVG and as text | what they show |
//! | [`input`], [`text`] | input that is refused, files with a bound; numbers and texts for people | everything else |
//!
//! The packages below have their own pages, and are modules of this crate too:
//!
//! | package | is | refuses to know |
//! | --- | --- | --- |
//! | [`client`] | what a program asks of servers, and what it does when one is lost | what callers do with the answers |
//! | [`server`] | one port: gRPC, gRPC-Web, HTTP; and a bounded shutdown | what the services do |
//! | [`service`] | the calls: decode, call, encode | sockets, files, the rules of the game, the shutdown of the server |
//! | [`protocol`] | the messages, and what they mean | sockets, sessions |
//! | [`tetrion_toolkit`] | recordings, pictures, text, tasks, exact values, optimizers, bots, ratings | networks, messages |
//! | [`tetrion_core`] | the rules, features, environments, agents, whole games | all of the above |

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see `cli::output`

#[doc(inline)]
pub use tetrion_core::{
    agents, engine, env, features, formula, names, placements, pool, render, rollout, summary, values,
};
#[doc(inline)]
pub use tetrion_toolkit::{files, optimizers, optimum, picture, prompts, ratings, recording, tasks, tbp};
pub use {
    tetrion_client as client, tetrion_protocol as protocol, tetrion_server as server,
    tetrion_service as service,
};

pub mod text;

pub mod input;

pub mod plot;

pub mod trainer;

pub mod players;

pub mod benchmark;

pub mod viewers;

pub mod conformance;

pub mod bench;

pub mod cli;

/// The programs on the page about languages, which compile and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/languages.md")]
pub struct Embedding;
