//! What surrounds games of Tetris: games written down and drawn, games as text, tasks with a known optimum, exact values on small
//! playfields, the search for good weights, bots, and how strong players are.
//!
//! Nothing here knows a network, a message or a flag, and nothing below knows this package: `tetrion-core` plays without pictures,
//! files or random numbers from outside.
//!
//! | layer | is | refuses to know |
//! | --- | --- | --- |
//! | [`optimizers`] | the search for good weights: weights out, scores in | everything else of ours |
//! | [`ratings`] | statistics of matches between players | games, who plays |
//! | [`tasks`] | the suite of tasks with a known optimum | requests, sessions, who plays |
//! | [`optimum`] | exact values of play on small playfields | games, seeds, how long it takes |
//! | [`tbp`] | the Tetris Bot Protocol, both sides: a bot, and games of bots | files, flags, our own protocol |
//! | [`prompts`] | games as text for language models | sessions, episodes |
//! | [`picture`] | scenes as pixels, SVG and characters | files, games |
//! | [`mod@recording`] | games played: written down, replayed, in colours | files, messages, who played |
//! | [`files`] | whole files | what is in them |

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see cli::output of `tetrion`

pub mod files;

pub mod recording;

pub mod picture;

pub mod prompts;

pub mod tbp;

pub mod optimum;

pub mod tasks;

pub mod ratings;

pub mod optimizers;
