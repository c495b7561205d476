//! Tetrion: a Tetris environment server for reinforcement learning.
//!
//! The crate is layered; every layer knows only the ones below it.
//!
//! | layer | is | refuses to know |
//! | --- | --- | --- |
//! | [`cli`] | what a person starts, and the files it leaves | the rules: what it knows of a game came through the protocol |
//! | [`workloads`] | named work to be timed, from the kernels to the wire | how long it takes, who asks |
//! | [`client`] | what a program asks of servers, and what it does when one is lost | what is done with the answers |
//! | [`server`] | one port: gRPC, gRPC-Web, HTTP; and a bounded end | what the services do |
//! | [`service`] | the calls: decode, call, encode | the rules of the game, the end of the server |
//! | [`wire`] | the messages, and what they stand for | sockets, sessions |
//! | [`optimizers`] | the search for good weights: weights out, scores in | everything else of ours |
//! | [`summary`] | what many games say: means, intervals, differences | who asked for them |
//! | [`rollout`] | whole episodes, many at once | requests, the network, the clock |
//! | [`pool`] | threads, and jobs begun in the order in which they came | what the jobs do |
//! | [`agents`] | who plays: a placement for a playfield and a piece | episodes, seeds, threads |
//! | [`render`] | playfields as text | who asks |
//! | [`placements`] | what the pieces of many positions can do | sessions, requests |
//! | [`mod@env`] | environments: episodes, seeds, rewards, observations | threads, the clock, the network |
//! | [`features`] | what an agent sees of a landing; the fast kernels | weights, agents |
//! | [`engine`] | the rules of the game | features, rewards over time, threads, the network |
//! | [`secret`] | texts that are shown nowhere | what they open |
//! | [`names`] | what a misspelt name was meant to be | what the names are of |

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when nobody reads: see cli::output

pub mod names;
pub mod secret;

pub mod engine;
pub mod features;

pub mod env;
pub mod placements;
pub mod render;

pub mod agents;
pub mod pool;
pub mod rollout;
pub mod summary;

pub mod optimizers;

pub mod wire;

pub mod service;

pub mod server;

pub mod client;

pub mod workloads;

pub mod cli;

/// The programs of the page on embedding, which compile and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
pub struct Embedding;
