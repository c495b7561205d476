//! The benchmark for papers: fixed rules, seeds, numbers of games and cuts for each class of players, and results that a
//! reader can check.
//!
//! A [`Class`] is the protocol of one kind of player, as data. A [`BenchmarkResult`] is a result with everything that
//! determines it; [`Folder`] keeps it with recordings of its games. An [`Entrant`] is the player, which plays the games
//! again when a reader checks them. This module plays no evaluation and prints nothing: `tetrion-lab benchmark` and
//! `tetrion verify` do.
//!
//! The surprising decision: no class has a quick form. A number from fewer games is no result of the benchmark, and
//! `tetrion evaluate` measures it just as well.

mod class;
mod entrant;
mod folder;
mod recorded;
mod result;

pub use class::{CLASSES, Class, NAME, Players, SEED};
pub use entrant::{BenchmarkPlayer, Entrant, Source};
pub use folder::{Folder, Problem, RESULT, compare_games};
pub use recorded::{GameNumbers, OutsideGames};
pub use result::{BenchmarkResult, Summary};
