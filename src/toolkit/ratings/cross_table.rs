//! Many players on one scale: Bradley and Terry's model.
//!
//! A player scores against another with the odds e^(difference of their strengths). The likeliest strengths solve a
//! concave problem, by Newton's method; they exist if and only if points lead from every player to every other one (Ford,
//! *Solution of a ranking problem from binary comparisons*, 1957; Hunter, *MM algorithms for generalized Bradley-Terry
//! models*, 2004).

use super::pentanomial::Pentanomial;
use super::{ELO_PER_LOGIT, HALF_WIDTH};

/// Largest step, in units of [`ELO_PER_LOGIT`], after which Newton's method ends; the next one would be near its square.
const LAST_STEP: f64 = 1e-9;

/// Most steps of Newton's method: 59 are enough for twelve players who each score a millionth against the one before.
const MAX_STEPS: u32 = 1_000;

/// Points of players against each other.
///
/// A table of n players takes 8 n^2 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrossTable {
    num_players: usize,
    /// Half points that the player of a row scored against the player of a column, row by row.
    half_points: Vec<u64>,
}

/// The strength of a player, relative to the fixed player of its table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    pub elo: f64,
    /// Standard error of the difference from the fixed player, in Elo; 0 for the fixed player.
    pub standard_error: f64,
}

/// A player without a finite rating, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatingError {
    #[error(
        "player {player} lost no point to player {fixed}, directly or through others: its rating has no upper bound"
    )]
    Unbeaten { player: u32, fixed: u32 },
    #[error(
        "player {player} scored no point against player {fixed}, directly or through others: its rating has no lower bound"
    )]
    Scoreless { player: u32, fixed: u32 },
}

impl Rating {
    /// The 95 % interval of the difference from the fixed player: elo +- 1.96 standard errors.
    pub fn ci95(&self) -> (f64, f64) {
        let half = HALF_WIDTH * self.standard_error;
        (self.elo - half, self.elo + half)
    }
}

impl CrossTable {
    /// A table without matches.
    pub fn new(num_players: u32) -> CrossTable {
        let num_players = num_players as usize;
        CrossTable { num_players, half_points: vec![0; num_players * num_players] }
    }

    /// Adds pairs of matches of two players.
    ///
    /// # Panics
    /// If there is no such player, or if both are the same.
    pub fn add(&mut self, first: u32, second: u32, pairs: &Pentanomial) {
        let (first, second) = (first as usize, second as usize);
        assert!(first != second, "a match of player {first} against itself says nothing");
        assert!(first.max(second) < self.num_players, "there are {} players", self.num_players);
        for (half_points, count) in (0..).zip(pairs.counts) {
            for (row, column, share) in [(first, second, half_points), (second, first, 4 - half_points)] {
                let sum = &mut self.half_points[row * self.num_players + column];
                *sum = sum.saturating_add(count.saturating_mul(share));
            }
        }
    }

    /// The likeliest rating of each player if the fixed one has 0. A draw is half a win.
    ///
    /// Standard errors come from the inverse Hessian, which takes all matches as independent. So they are too large if equal
    /// players split more than half of their pairs, and too small if they split fewer. They are errors of differences from
    /// the fixed player: to compare two others, fix one of them.
    ///
    /// The time grows with the cube of the number of players: a few seconds for 1,000.
    ///
    /// ```
    /// use tetrion_toolkit::ratings::{CrossTable, Pentanomial};
    /// let mut table = CrossTable::new(2);
    /// table.add(0, 1, &Pentanomial { counts: [0, 0, 25, 0, 25] }); // 75 to 25 points
    /// let ratings = table.ratings(0)?;
    /// assert_eq!((ratings[1].elo.round(), ratings[1].standard_error.round()), (-191.0, 40.0));
    /// # Ok::<(), tetrion_toolkit::ratings::RatingError>(())
    /// ```
    ///
    /// # Errors
    /// The first player whom a chain of points does not connect with the fixed player in both directions. The ratings of
    /// the others depend on it too.
    ///
    /// # Panics
    /// If there is no fixed player.
    pub fn ratings(&self, fixed: u32) -> Result<Vec<Rating>, RatingError> {
        assert!((fixed as usize) < self.num_players, "there are {} players", self.num_players);
        self.check_connected(fixed)?;
        let fixed = fixed as usize;
        let mut strengths = vec![0.0; self.num_players];
        for _ in 0..MAX_STEPS {
            let (gradient, covariance) = self.derivatives(&strengths, fixed);
            let step: Vec<f64> = covariance.iter().map(|row| dot(row, &gradient)).collect();
            let size = step.iter().copied().fold(0.0, f64::max) - step.iter().copied().fold(0.0, f64::min);
            // A whole step may lead too far; this share of it always leads closer (Sun and Tran-Dinh,
            // *Generalized self-concordant functions*, 2019).
            let share = if size > 0.0 { libm::log1p(size) / size } else { 1.0 };
            for (strength, change) in strengths.iter_mut().zip(&step) {
                *strength += share * change;
            }
            if size < LAST_STEP {
                break;
            }
        }
        let (_, covariance) = self.derivatives(&strengths, fixed);
        let rating = |player: usize| {
            let variance = if player == fixed { 0.0 } else { covariance[player][player] };
            Rating { elo: ELO_PER_LOGIT * strengths[player], standard_error: ELO_PER_LOGIT * variance.sqrt() }
        };
        Ok((0..self.num_players).map(rating).collect())
    }

    /// Points that a player scored against another.
    fn points(&self, player: usize, other: usize) -> f64 {
        self.half_points[player * self.num_players + other] as f64 / 2.0
    }

    /// Checks that ratings are finite.
    fn check_connected(&self, fixed: u32) -> Result<(), RatingError> {
        let has_lost = self.reached(fixed as usize, |from, to| self.points(from, to) > 0.0);
        let has_scored = self.reached(fixed as usize, |from, to| self.points(to, from) > 0.0);
        for (player, (has_lost, has_scored)) in (0..).zip(has_lost.into_iter().zip(has_scored)) {
            if !has_lost {
                return Err(RatingError::Unbeaten { player, fixed });
            }
            if !has_scored {
                return Err(RatingError::Scoreless { player, fixed });
            }
        }
        Ok(())
    }

    /// Whether links lead to each player from this one.
    fn reached(&self, start: usize, is_linked: impl Fn(usize, usize) -> bool) -> Vec<bool> {
        let (mut reached, mut open) = (vec![false; self.num_players], vec![start]);
        reached[start] = true;
        while let Some(player) = open.pop() {
            for (next, is_reached) in reached.iter_mut().enumerate() {
                if !*is_reached && is_linked(player, next) {
                    *is_reached = true;
                    open.push(next);
                }
            }
        }
        reached
    }

    /// Gradient of the log-likelihood, and the inverse of its negated Hessian, both without the fixed player.
    fn derivatives(&self, strengths: &[f64], fixed: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
        let n = self.num_players;
        let (mut gradient, mut hessian) = (vec![0.0; n], vec![vec![0.0; n]; n]);
        for player in (0..n).filter(|player| *player != fixed) {
            for other in (0..n).filter(|other| *other != player) {
                let difference = strengths[player] - strengths[other];
                let (win, loss) = (1.0 / (1.0 + libm::exp(-difference)), 1.0 / (1.0 + libm::exp(difference)));
                let (points, lost) = (self.points(player, other), self.points(other, player));
                gradient[player] += points * loss - lost * win;
                let weight = (points + lost) * win * loss;
                hessian[player][player] += weight;
                if other != fixed {
                    hessian[player][other] -= weight;
                }
            }
        }
        hessian[fixed][fixed] = 1.0;
        invert(&mut hessian);
        (gradient, hessian)
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Inverts a symmetric, positive definite matrix by Gauss and Jordan's method, which needs no pivoting there.
fn invert(matrix: &mut [Vec<f64>]) {
    for k in 0..matrix.len() {
        let mut row = std::mem::take(&mut matrix[k]);
        let scale = 1.0 / row[k];
        row[k] = 1.0;
        row.iter_mut().for_each(|entry| *entry *= scale);
        for other in matrix.iter_mut().filter(|other| !other.is_empty()) {
            let factor = std::mem::take(&mut other[k]);
            for (entry, part) in other.iter_mut().zip(&row) {
                *entry -= factor * part;
            }
        }
        matrix[k] = row;
    }
}
