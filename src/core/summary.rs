//! Statistics of many games: means with their intervals, and differences between policies that met the same pieces.
//!
//! Games finish in any order, but are added up in the order of policy, seed and episode, so that the same games give
//! the same bits. Numbers that are close to normal only for large n (a game's length is nearly exponential) still get the
//! normal interval: the literature prints it, and its readers know its worth.

use crate::rollout::{Estimate, EstimatedGame, GameOrder, PlayedGame};

/// The numbers kept of every game of an evaluation, by its place in it.
///
/// Separate columns, so that a large table costs nothing before it is filled.
#[derive(Clone, Debug)]
pub struct GameTable {
    lines: Vec<u64>,
    pieces: Vec<u64>,
    steps: Vec<u64>,
    scores: Vec<f64>,
    truncated: Vec<bool>,
}

impl GameTable {
    /// A table of `num_games` rows, all zero until a game is recorded.
    pub fn new(num_games: u64) -> GameTable {
        let games = num_games as usize;
        GameTable {
            lines: vec![0; games],
            pieces: vec![0; games],
            steps: vec![0; games],
            scores: vec![0.0; games],
            truncated: vec![false; games],
        }
    }

    /// Keeps a finished game.
    ///
    /// # Panics
    /// If there is no such game.
    pub fn record(&mut self, result: &PlayedGame) {
        let game = result.game as usize;
        self.lines[game] = result.lines;
        self.pieces[game] = result.pieces;
        self.steps[game] = result.steps;
        self.scores[game] = result.score;
        self.truncated[game] = result.is_truncated();
    }
}

/// The estimates of an evaluation, by their places in it.
#[derive(Clone, Debug)]
pub struct EstimateTable(Vec<Estimate>);

impl EstimateTable {
    /// A table of `num_estimates` rows, all zero until an estimate is recorded.
    pub fn new(num_estimates: u64) -> EstimateTable {
        let none = Estimate {
            loss_rate: 0.0,
            lines_per_piece: 0.0,
            steps_per_piece: 0.0,
            score_per_piece: 0.0,
            lasts_longer: false,
        };
        EstimateTable(vec![none; num_estimates as usize])
    }

    /// Keeps a finished estimate.
    ///
    /// # Panics
    /// If there is no such estimate.
    pub fn record(&mut self, result: &EstimatedGame) {
        self.0[result.game as usize] = result.estimate;
    }
}

/// Mean and spread of a number over games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    pub mean: f64,
    /// The statistics that need at least two games.
    pub spread: Option<Spread>,
    pub min: f64,
    pub max: f64,
}

/// Spread of single games and of the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Sample standard deviation, divided by n - 1.
    pub std: f64,
    /// The 95 % interval of the mean: mean - and + 1.96 std / sqrt(n).
    pub ci95: (f64, f64),
}

impl Statistics {
    /// The statistics of at least one number, added up in order.
    ///
    /// ```
    /// use tetrion_core::summary::Statistics;
    /// let statistics = Statistics::of([2.0, 4.0, 9.0].into_iter()).unwrap();
    /// assert_eq!((statistics.mean, statistics.spread.unwrap().std), (5.0, 13f64.sqrt()));
    /// ```
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Option<Statistics> {
        let (mut n, mut sum, mut min, mut max) = (0u64, 0.0, f64::INFINITY, f64::NEG_INFINITY);
        for value in values.clone() {
            n += 1;
            sum += value;
            min = value.min(min);
            max = value.max(max);
        }
        if n == 0 {
            return None;
        }
        let count = n as f64;
        let mean = sum / count;
        let spread = (n > 1).then(|| {
            let squares = values.fold(0.0, |sum, value| sum + (value - mean) * (value - mean));
            let std = (squares / (count - 1.0)).sqrt();
            let half = 1.96 * std / count.sqrt();
            Spread { std, ci95: (mean - half, mean + half) }
        });
        Some(Statistics { mean, spread, min, max })
    }

    /// The statistics per game of a number that is known per piece, over at least one estimate of how often games are
    /// lost: from the number per piece and the losses per piece of each estimate. For pieces the number is 1.
    ///
    /// The rate of an estimate has next to no bias, its inverse has. So the mean is the mean number per piece over the
    /// mean rate. Its interval is that of the rate as a factor, and so never reaches 0: the factor is e^x with
    /// x = 1.96 standard errors of the rate over the rate, to the second order, which every language computes to the same
    /// bit.
    ///
    /// ```
    /// use tetrion_core::summary::Statistics;
    /// // A loss in 100 pieces, and one in 300: one in 150 on average.
    /// let pieces = Statistics::per_loss([(1.0, 1.0 / 100.0), (1.0, 1.0 / 300.0)].into_iter()).unwrap();
    /// assert_eq!(pieces.mean.round(), 150.0);
    /// ```
    pub fn per_loss(estimates: impl Iterator<Item = (f64, f64)> + Clone) -> Option<Statistics> {
        let rates = Statistics::of(estimates.clone().map(|(_, rate)| rate))?;
        let per_piece = Statistics::of(estimates.clone().map(|(number, _)| number))?;
        let mean = per_piece.mean / rates.mean;
        let values = Statistics::of(estimates.map(|(number, rate)| number / rate))?;
        let spread = rates.spread.map(|Spread { std, ci95: (_, high) }| {
            let x = (high - rates.mean) / rates.mean;
            let factor = 1.0 + x + x * x / 2.0;
            Spread { std: mean * std / rates.mean, ci95: (mean / factor, mean * factor) }
        });
        Some(Statistics { mean, spread, min: values.min, max: values.max })
    }
}

/// A rate per piece: the sum over all games, divided by all their pieces.
///
/// A long game weighs more than a short one, as it does not in a mean over games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerPiece {
    /// The quotient of the sums.
    pub mean: f64,
    /// The 95 % interval of the rate, that of a ratio of two sums over at least two games (Cochran 1977, section
    /// 6.3).
    pub ci95: Option<(f64, f64)>,
}

impl PerPiece {
    /// From the number and the pieces of each game; `None` without a piece.
    ///
    /// ```
    /// use tetrion_core::summary::PerPiece;
    /// let of = PerPiece::of([(10.0, 20.0), (40.0, 80.0)].into_iter()).unwrap();
    /// assert_eq!((of.mean, of.ci95), (0.5, Some((0.5, 0.5))));
    /// ```
    pub fn of(games: impl Iterator<Item = (f64, f64)> + Clone) -> Option<PerPiece> {
        let (n, sum, pieces) = games
            .clone()
            .fold((0.0, 0.0, 0.0), |(n, sum, all), (value, pieces)| (n + 1.0, sum + value, all + pieces));
        if pieces == 0.0 {
            return None;
        }
        let mean = sum / pieces;
        let ci95 = (n > 1.0).then(|| {
            let squares = games.fold(0.0, |all, (value, pieces)| all + (value - mean * pieces).powi(2));
            let half = 1.96 * (squares / (n - 1.0) * n).sqrt() / pieces;
            (mean - half, mean + half)
        });
        Some(PerPiece { mean, ci95 })
    }
}

/// How long games last, estimated from games of which some were cut: lines a loss.
///
/// A good player's stack goes back to much the same heights again and again, so a game is about as likely to be lost at one
/// piece as at the next, and its length is nearly exponential. Then the lines of all games divided by the losses among them
/// estimate the mean of whole games, however short the games were cut, as long as that is long after their beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinesPerLoss {
    /// The estimate; `None` without a loss.
    pub estimate: Option<f64>,
    /// The lower end of its 95 % interval: that of the number of losses as a Poisson variable (Garwood 1936).
    pub at_least: f64,
    /// The upper end; `None` without a loss.
    pub at_most: Option<f64>,
}

impl LinesPerLoss {
    /// From the lines of all games together and how many of these were lost, not cut.
    ///
    /// ```
    /// use tetrion_core::summary::LinesPerLoss;
    /// let of = LinesPerLoss::of(1_000_000, 10);
    /// assert_eq!(of.estimate, Some(100_000.0));
    /// // Ten losses are compatible with any mean number from 4.80 to 18.39.
    /// assert_eq!((of.at_least.round(), of.at_most.unwrap().round()), (54_376.0, 208_534.0));
    /// ```
    pub fn of(lines: u64, losses: u64) -> LinesPerLoss {
        let lines = lines as f64;
        let most = poisson_mean(|mean| poisson_cdf(mean, losses) > 0.025, losses);
        LinesPerLoss {
            estimate: (losses > 0).then(|| lines / losses as f64),
            at_least: lines / most,
            at_most: (losses > 0)
                .then(|| lines / poisson_mean(|mean| poisson_cdf(mean, losses - 1) > 0.975, losses)),
        }
    }
}

/// The mean up to which something is true of a Poisson variable that was observed; true of 0, false of large ones.
fn poisson_mean(is_true: impl Fn(f64) -> bool, observed: u64) -> f64 {
    let (mut low, mut high) = (0.0, 20.0 + 2.0 * observed as f64);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if is_true(middle) { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The probability that a Poisson variable is at most `count`, added up from its largest term so that no term is lost.
fn poisson_cdf(mean: f64, count: u64) -> f64 {
    // Terms relative to the one at `count`: each is the next larger one times k / mean.
    let (mut term, mut sum, mut k) = (1.0f64, 0.0f64, count as f64);
    let mut logarithm = -mean + k * mean.max(f64::MIN_POSITIVE).ln() - log_factorial(count);
    while term > sum * 1e-17 && k >= 0.0 {
        sum += term;
        term *= k / mean.max(f64::MIN_POSITIVE);
        k -= 1.0;
        // Large ones become the new measure, so that nothing overflows.
        if term > 1e200 {
            logarithm += term.ln();
            sum /= term;
            term = 1.0;
        }
    }
    (logarithm + sum.ln()).exp().min(1.0)
}

fn log_factorial(n: u64) -> f64 {
    (2..=n).map(|k| (k as f64).ln()).sum()
}

/// All games of one policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolicySummary {
    /// The index of the policy.
    pub policy: u32,
    pub num_games: u64,
    /// Number of cut games; if there are any, the means are lower bounds.
    pub num_truncated: u64,
    pub lines: Statistics,
    pub pieces: Statistics,
    pub steps: Statistics,
    pub score: Statistics,
}

/// All estimates of one policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimateSummary {
    /// The index of the policy.
    pub policy: u32,
    /// Number of estimates of the policy.
    pub num_estimates: u64,
    /// Number of estimates whose games last longer; if there are any, the means are lower bounds.
    pub num_lasting_longer: u64,
    pub lines: Statistics,
    pub pieces: Statistics,
    pub steps: Statistics,
    pub score: Statistics,
}

/// A policy minus another one, game by game on the same pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedDifference {
    /// Index of the policy from which the baseline is subtracted.
    pub policy: u32,
    /// Index of the policy that is subtracted.
    pub baseline: u32,
    /// Pairs of games.
    pub num_games: u64,
    /// Pairs in which a game was cut.
    pub num_truncated: u64,
    pub lines: Statistics,
    pub score: Statistics,
}

/// The games that two policies played on the same pieces.
fn common(order: GameOrder<'_>, policy: u32, baseline: u32) -> Vec<(usize, usize)> {
    let (mut left, mut right) = (order.games(policy).peekable(), order.games(baseline).peekable());
    let episodes = order.episodes as usize;
    let deal = |game: usize| (order.pair((game / episodes) as u64).1, game % episodes);
    let mut common = Vec::new();
    while let (Some(&a), Some(&b)) = (left.peek(), right.peek()) {
        match deal(a).cmp(&deal(b)) {
            std::cmp::Ordering::Less => _ = left.next(),
            std::cmp::Ordering::Greater => _ = right.next(),
            std::cmp::Ordering::Equal => {
                common.push((a, b));
                left.next();
                right.next();
            }
        }
    }
    common
}

/// Sums up a complete table: every policy that played, and each but the baseline compared with it.
pub fn summarize(
    order: GameOrder<'_>,
    table: &GameTable,
    baseline: Option<u32>,
) -> (Vec<PolicySummary>, Vec<PairedDifference>) {
    let num_policies = order.num_policies;
    let policies = (0..num_policies).filter_map(|policy| table.policy(order, policy)).collect();
    let others = (0..num_policies).filter(|policy| Some(*policy) != baseline);
    let differences = baseline
        .map(|baseline| others.filter_map(|policy| table.difference(order, policy, baseline)).collect());
    (policies, differences.unwrap_or_default())
}

/// Sums up the complete estimates of every policy that was played.
pub fn summarize_estimates(order: GameOrder<'_>, table: &EstimateTable) -> Vec<EstimateSummary> {
    let summary = |policy| {
        let estimates = &table.0[order.games(policy)];
        let per_loss = |number: fn(&Estimate) -> f64| {
            Statistics::per_loss(estimates.iter().map(|estimate| (number(estimate), estimate.loss_rate)))
        };
        Some(EstimateSummary {
            policy,
            num_estimates: estimates.len() as u64,
            num_lasting_longer: estimates.iter().filter(|estimate| estimate.lasts_longer).count() as u64,
            lines: per_loss(|estimate| estimate.lines_per_piece)?,
            pieces: per_loss(|_| 1.0)?,
            steps: per_loss(|estimate| estimate.steps_per_piece)?,
            score: per_loss(|estimate| estimate.score_per_piece)?,
        })
    };
    (0..order.num_policies).filter_map(summary).collect()
}

impl GameTable {
    fn policy(&self, order: GameOrder<'_>, policy: u32) -> Option<PolicySummary> {
        let games = order.games(policy);
        let counts = |column: &[u64]| Statistics::of(column[games.clone()].iter().map(|count| *count as f64));
        Some(PolicySummary {
            policy,
            num_games: games.len() as u64,
            num_truncated: self.truncated[games.clone()].iter().filter(|cut| **cut).count() as u64,
            lines: counts(&self.lines)?,
            pieces: counts(&self.pieces)?,
            steps: counts(&self.steps)?,
            score: Statistics::of(self.scores[games.clone()].iter().copied())?,
        })
    }

    fn difference(&self, order: GameOrder<'_>, policy: u32, baseline: u32) -> Option<PairedDifference> {
        let common = common(order, policy, baseline);
        let lines = |game: usize| self.lines[game] as f64;
        Some(PairedDifference {
            policy,
            baseline,
            num_games: common.len() as u64,
            num_truncated: common.iter().filter(|(a, b)| self.truncated[*a] || self.truncated[*b]).count()
                as u64,
            lines: Statistics::of(common.iter().map(|(a, b)| lines(*a) - lines(*b)))?,
            score: Statistics::of(common.iter().map(|(a, b)| self.scores[*a] - self.scores[*b]))?,
        })
    }
}
