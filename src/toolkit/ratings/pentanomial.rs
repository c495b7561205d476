//! Pairs of matches, counted by points, and the strength that they show.

use super::{ELO_PER_LOGIT, HALF_WIDTH};

/// Count of a class without pairs, where zero has no logarithm or no variance: the value that chess programs use.
const EMPTY_CLASS: f64 = 0.001;

/// Points per match above 1/2 in each class of pairs.
pub(super) const MARGINS: [f64; 5] = [-0.5, -0.25, 0.0, 0.25, 0.5];

/// How a match ended for the first player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchOutcome {
    Loss = 0,
    Draw = 1,
    Win = 2,
}

/// Counts of pairs of matches between two players, by the points of the first player.
///
/// A win is a point, a draw half a point. A pair is two matches with one seed and exchanged sides, so it gives 0 to 2
/// points in halves. Only whole pairs are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pentanomial {
    /// Number of pairs with 0, 1/2, 1, 3/2 and 2 points.
    pub counts: [u64; 5],
}

/// A difference in strength in Elo, positive if the first player is stronger, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EloEstimate {
    pub elo: f64,
    /// Lower and upper end. An end is infinite if scores of 0 or 1 lie within the interval.
    pub ci95: (f64, f64),
}

impl Pentanomial {
    /// Counts one pair: the outcomes of both matches for the first player, in any order.
    pub fn add(&mut self, pair: [MatchOutcome; 2]) {
        let mut one = Pentanomial::default();
        one.counts[pair[0] as usize + pair[1] as usize] = 1;
        self.merge(&one);
    }

    /// Adds the pairs of another count of the same players.
    pub fn merge(&mut self, other: &Pentanomial) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.saturating_add(more);
        }
    }

    /// Number of pairs, which is half the number of matches.
    pub fn num_pairs(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Mean points per match of the first player, from 0 to 1; `None` without pairs.
    pub fn score(&self) -> Option<f64> {
        (self.num_pairs() > 0).then(|| 0.5 + Moments::new(&self.counts.map(|count| count as f64)).margin)
    }

    /// Logistic Elo, 400 log10(score / (1 - score)), and its interval from score +- 1.96 sqrt(variance / pairs); `None`
    /// without pairs.
    ///
    /// If all pairs gave equal points, each empty class counts as 0.001 pairs: a player who won everything gets a
    /// large number instead of infinity, which means little without its interval.
    ///
    /// ```
    /// use tetrion_toolkit::ratings::Pentanomial;
    /// let estimate = Pentanomial { counts: [10, 20, 40, 30, 20] }.elo().unwrap();
    /// assert_eq!((estimate.elo.round(), estimate.ci95.0.round()), (44.0, 7.0));
    /// ```
    pub fn elo(&self) -> Option<EloEstimate> {
        let Moments { total, margin, variance } = self.moments()?;
        let half = HALF_WIDTH * (variance / total).sqrt();
        let score = 0.5 + margin;
        Some(EloEstimate { elo: elo(score), ci95: (elo(score - half), elo(score + half)) })
    }

    /// Normalized Elo, which measures the distance of the score from 1/2 in standard deviations per match; `None` without
    /// pairs.
    ///
    /// With mean m and variance V of the points per match over N pairs it is K (m - 1/2) / sqrt(2V) +- 1.96 K / sqrt(2N),
    /// where K = 800 / ln 10 (Van den Bergh, *Normalized Elo*). The number of pairs that a test needs depends on
    /// normalized Elo alone, however many matches are drawn or split. Empty classes count as for [`elo`](Self::elo).
    pub fn normalized_elo(&self) -> Option<EloEstimate> {
        let Moments { total, margin, variance } = self.moments()?;
        let elo = 2.0 * ELO_PER_LOGIT * margin / (2.0 * variance).sqrt();
        let half = HALF_WIDTH * 2.0 * ELO_PER_LOGIT / (2.0 * total).sqrt();
        Some(EloEstimate { elo, ci95: (elo - half, elo + half) })
    }

    /// The counts, without an empty class.
    pub(super) fn filled(&self) -> [f64; 5] {
        self.counts.map(|count| if count == 0 { EMPTY_CLASS } else { count as f64 })
    }

    /// Moments with a variance above 0.
    fn moments(&self) -> Option<Moments> {
        match self.counts.iter().filter(|count| **count > 0).count() {
            0 => None,
            1 => Some(Moments::new(&self.filled())),
            _ => Some(Moments::new(&self.counts.map(|count| count as f64))),
        }
    }
}

/// Mean and variance of the points per match over pairs.
pub(super) struct Moments {
    /// Sum of the weights of all classes.
    pub(super) total: f64,
    /// The mean minus 1/2.
    pub(super) margin: f64,
    pub(super) variance: f64,
}

impl Moments {
    pub(super) fn new(weights: &[f64; 5]) -> Moments {
        let total = weights.iter().sum::<f64>();
        let average = |values: [f64; 5]| {
            weights.iter().zip(values).map(|(weight, value)| weight * value).sum::<f64>() / total
        };
        let margin = average(MARGINS);
        let variance = average(MARGINS.map(|other| (other - margin) * (other - margin)));
        Moments { total, margin, variance }
    }
}

/// Logistic Elo of a score, infinite outside 0 to 1.
fn elo(score: f64) -> f64 {
    let score = score.clamp(0.0, 1.0);
    400.0 * libm::log10(score / (1.0 - score))
}
