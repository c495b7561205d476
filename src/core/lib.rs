//! The part of Tetrion that plays: the rules of Tetris, what an agent sees of a game, environments, agents, and whole
//! games by the thousand.
//!
//! A game by one of the strongest controllers for one piece, to its 500th piece:
//!
//! ```
//! use tetrion_core::agents::{Controller, Kernel};
//! use tetrion_core::engine::{Live, Rules};
//!
//! let rules = Rules::simplified(10, 20);
//! let player = Controller::named("dt-20")?.agent(rules.width)?;
//! let mut game = Live::new(&rules, 1)?;
//! while let Some(piece) = game.piece().filter(|_| game.statistics().pieces < 500) {
//!     let choice = player.choose(Kernel::best(), &rules, game.playfield(), piece);
//!     game.place(choice.placement)?;
//! }
//! println!("{}\n{} lines", game.playfield(), game.statistics().lines);
//! assert_eq!(game.statistics().lines, 198);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here knows a network, a message, a file or a flag. Recordings, pictures and tasks are in `tetrion-toolkit`, the
//! server and the program in the packages above. All of this is one package, because without link-time optimization a
//! border between packages costs inlining.
//!
//! The crate is layered; every layer knows only the ones below it.
//!
//! | layer | is | refuses to know |
//! | --- | --- | --- |
//! | [`summary`] | statistics of many games: means, intervals, differences | their caller |
//! | [`rollout`] | whole episodes, many at once | requests, the network, the clock |
//! | [`pool`] | threads, and jobs that begin in the order of their arrival | what the jobs do |
//! | [`agents`] | policies: a placement for a playfield and a piece | episodes, seeds, threads |
//! | [`values`] | tables of exact values on small playfields, and regret | how values are computed |
//! | [`render`] | playfields as text | its caller |
//! | [`placements`] | every placement of many positions | sessions, requests |
//! | [`mod@env`] | environments: episodes, seeds, rewards, observations | threads, the clock, the network |
//! | [`formula`] | a score for a placement, written as text | agents, games, requests |
//! | [`features`] | what an agent sees of a landing; the fast kernels | weights, agents |
//! | [`engine`] | the rules of the game | features, rewards over time, threads, the network |
//! | [`names`] | suggestions for misspelt names | what the names are of |

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see cli::output of `tetrion`
#![warn(unreachable_pub)] // `pub` is what other packages can name

pub mod names;

pub mod engine;
pub mod features;
pub mod formula;

pub mod env;
pub mod placements;
pub mod render;

pub mod values;

pub mod agents;
pub mod pool;

pub mod rollout;
pub mod summary;
