//! Statistics of matches between players: who is stronger, by how much, and when a test may stop.
//!
//! The unit is the pair: two matches with one seed and exchanged sides. The matches of a pair are not independent (a
//! player against itself wins one and loses the other), so [`Pentanomial`] counts pairs by their points, and estimates
//! and tests take their variance from whole pairs.
//!
//! | question | answer |
//! | --- | --- |
//! | How much stronger is one player than another? | [`Pentanomial::elo`], [`Pentanomial::normalized_elo`] |
//! | Is it stronger, with as few matches as possible? | [`Sprt`] |
//! | How strong is each of many players? | [`CrossTable::ratings`] |
//!
//! Nothing here knows a game, a player or how matches are played. Equal counts give equal bits on every machine, because
//! logarithms come from `libm`: a test stops after the same pair everywhere.
//!
//! ```
//! use tetrion_toolkit::ratings::{MatchOutcome::*, Pentanomial, Sprt, SprtVerdict};
//!
//! // Seven pairs of ten are split, two are won, and one is won and drawn.
//! let pairs = [[Win, Loss], [Win, Win], [Loss, Win], [Win, Loss], [Win, Draw]].into_iter().cycle();
//! let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05)?;
//! let (counts, verdict) = sprt.decide(pairs.take(1_000));
//! assert_eq!(verdict, SprtVerdict::AcceptsHigher);
//! assert!(counts.num_pairs() < 100 && counts.elo().unwrap().ci95.0 > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cross_table;
mod pentanomial;
mod sprt;

pub use cross_table::{CrossTable, Rating, RatingError};
pub use pentanomial::{EloEstimate, MatchOutcome, Pentanomial};
pub use sprt::{LARGEST_HYPOTHESIS, Sprt, SprtError, SprtVerdict};

/// Elo per unit of the natural logarithm of the odds: 400 / ln 10.
const ELO_PER_LOGIT: f64 = 400.0 / std::f64::consts::LN_10;

/// Half the width of a 95 % interval, in standard errors: the 0.975 quantile of the normal distribution.
const HALF_WIDTH: f64 = 1.959_963_984_540_054;
