//! Whether two numbers are the same: what somebody printed, and what came out here.
//!
//! Both are means of games, and games vary. The standard error of ours is known; that of a printed figure follows from the
//! number of games behind it, taken to vary as ours do, or from the interval printed with it. Two figures agree when they
//! are within three standard errors of their difference. Of a few figures no more is known than their order of magnitude.

use crate::summary::Statistics;

/// A figure that somebody has printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Said {
    /// The figure.
    pub value: f64,
    /// How exact it is.
    pub margin: Margin,
}

/// How exact a printed figure is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// The mean of so many games.
    Games(u32),
    /// The share of so many games.
    Share(u32),
    /// The same with its decimals cut off, so that the mean was up to 1 more.
    CutOff(u32),
    /// A mean with its 95 % interval.
    Interval(f64, f64),
    /// Known to this factor, one way or the other.
    Factor(f64),
}

/// What becomes of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The figures are the same, as far as games tell.
    Agrees,
    /// They are not.
    Differs,
    /// Games were cut here, so that ours is a lower bound, and it is lower.
    Cut,
}

/// Fewer games do not tell how much games vary.
const FEW: u64 = 10;

/// How many standard errors of their difference two figures may be apart.
const ERRORS: f64 = 3.0;

impl Said {
    /// Compares a figure with ours, of which games may have been cut.
    pub fn compare(&self, ours: &Statistics, num_games: u64, cut: bool) -> Verdict {
        // The lengths of games are close to exponential: where a few of them cannot tell how much they vary, their mean can.
        let std = match ours.spread {
            Some(spread) if num_games >= FEW => spread.std,
            Some(spread) => spread.std.max(ours.mean.abs()),
            None => ours.mean.abs(),
        };
        let error = std / (num_games as f64).sqrt();
        let (low, high, said_error) = match self.margin {
            Margin::Games(games) => (self.value, self.value, std / f64::from(games).sqrt()),
            Margin::Share(games) => {
                // Counted in few games, all or none may have met the same end by chance.
                let spread = (self.value * (1.0 - self.value)).sqrt();
                let errors = 1.0 / f64::from(games).sqrt() + 1.0 / (num_games as f64).sqrt();
                (self.value, self.value, spread * errors)
            }
            Margin::CutOff(games) => (self.value, self.value + 1.0, std / f64::from(games).sqrt()),
            Margin::Interval(low, high) => (self.value, self.value, (high - low) / 2.0 / 1.96),
            Margin::Factor(factor) => (self.value / factor, self.value * factor, 0.0),
        };
        let apart = (low - ours.mean).max(ours.mean - high).max(0.0);
        if apart <= ERRORS * (error * error + said_error * said_error).sqrt() {
            Verdict::Agrees
        } else if cut && ours.mean < low {
            Verdict::Cut
        } else {
            Verdict::Differs
        }
    }
}

/// Whether lines and pieces of games on a playfield can be true together: four cells a piece, `width` cells a line, and what
/// is left lies on the playfield. Both are means whose decimals may have been cut off.
///
/// ```
/// use tetrion::cli::reproduce::verdict::balances;
/// assert!(balances(10, 10, 68.0, 186.0));
/// assert!(!balances(20, 15, 1_228_724.0, 5_868_939.0)); // more lines than the pieces have cells for
/// ```
pub fn balances(width: u32, height: u32, lines: f64, pieces: f64) -> bool {
    let width = f64::from(width);
    let least = 4.0 * pieces - width * (lines + 1.0);
    let most = 4.0 * (pieces + 1.0) - width * lines;
    most >= 0.0 && least <= width * f64::from(height)
}
