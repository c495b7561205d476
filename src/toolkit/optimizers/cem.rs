//! The cross-entropy method with noise (Rubinstein 1999; for Tetris Szita and Lorincz 2006, Thiery and Scherrer 2009).
//!
//! Every generation draws a population from a normal distribution and keeps the part with the best scores, the elite.
//! The elite's mean and variance (divided by n) define the next distribution. With a small elite and noisy scores, the
//! variance shrinks before the mean has arrived, so [`Noise`] is added: to the *variance*, never to the deviation.
//!
//! # A second look
//!
//! Tetris scores are nearly exponential, so the best of a hundred single games is mostly a lucky one. With
//! `second_look` set, a generation has two rounds: first all candidates, then the best part of them again, which the
//! caller should score on more and other games. The second scores replace the first, and only they decide elite and
//! best. So luck in the first round buys a second round and nothing else.
//!
//! # Full covariance without a factorisation
//!
//! With 20 weights, the elite often has 10 vectors, whose covariance is singular: it has no Cholesky factor. None is
//! needed. If r_1 .. r_k are the elite's deviations from their mean over sqrt(k), the covariance is the sum of r_i
//! r_i'. Then mean + sum of z_i r_i with standard normal z_i has exactly that distribution. So the distribution *is*
//! its [`Variance::Full`] rows, and needs no inverse, no root and no regularisation.

use serde::{Deserialize, Serialize};

use super::draws::Draws;
use super::{
    Best, Generation, InvalidParameter, Look, MAX_MAGNITUDE, MAX_POPULATION, Optimizer, OptimizerState,
    Round, TellError, seed_text,
};

/// The parameters of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CemConfig {
    /// Weight vectors per generation, at least 2.
    pub population: u32,
    /// Share of the population that forms the elite, above 0 and at most 1; see [`num_elites`](Self::num_elites).
    pub elite_fraction: f64,
    /// Initial mean of every weight.
    pub initial_mean: f64,
    /// Initial mean of each weight, instead of `initial_mean`. Under `unit_norm` it is scaled to length 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Vec<f64>>,
    /// Initial standard deviation of every weight, above 0.
    pub initial_std: f64,
    /// Noise added to the variance of every weight.
    pub noise: Noise,
    /// Whether weights are drawn independently or together.
    pub covariance: Covariance,
    /// Whether every drawn vector is scaled to length 1 before it is proposed. The scale does not affect a greedy
    /// linear controller; without scaling, lengths can drift, and fixed noise loses its meaning.
    pub unit_norm: bool,
    /// Share of the population that is scored twice; 0 for none, otherwise at least the elite's share and at most 1.
    pub second_look: f64,
}

/// Noise added to the variance in generation t = 0, 1, 2 ...
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Noise {
    None,
    Constant {
        variance: f64,
    },
    /// variance * max(1 - t / generations, 0).
    Linear {
        /// Variance at t = 0.
        variance: f64,
        /// The first t without noise, above 0; may be fractional.
        generations: f64,
    },
    /// variance / (t + 1).
    Hyperbolic {
        /// Variance at t = 0.
        variance: f64,
    },
}

/// The part of the elite's covariance that a distribution keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Covariance {
    /// The variance of each weight, as in the Tetris literature.
    Diagonal,
    Full,
}

/// Named settings for a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CemPreset {
    /// Szita and Lorincz 2006 with their best, decreasing noise: N(0, 100), 10 of 100, noise max(5 - t / 10, 0).
    SzitaLorincz,
    /// Thiery and Scherrer's programs: N(0, 100), 10 of 100, constant noise 4.
    ThieryScherrer,
    /// The lab notebook: N(0, 1), 20 of 100, noise that falls from 4 to 0 at 60 % of the generations. Omits the
    /// notebook's last step, dividing the weights by their sum, because a negative sum turns a controller upside down.
    Lab,
    /// This project's settings: unit vectors, a second look at the best third, and noise scaled for unit vectors.
    Tetrion,
}

/// Every preset and its name.
pub const CEM_PRESETS: [(&str, CemPreset); 4] = [
    ("szita-lorincz", CemPreset::SzitaLorincz),
    ("thiery-scherrer", CemPreset::ThieryScherrer),
    ("lab", CemPreset::Lab),
    ("tetrion", CemPreset::Tetrion),
];

/// The distribution from which a search draws, without its mean and noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variance {
    /// The variance of each weight.
    Diagonal(Vec<f64>),
    /// Rows whose outer products add up to the covariance.
    Full(Vec<Vec<f64>>),
}

/// The complete state of a search. Needs no position in the random numbers, because every generation has a separate
/// stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CemState {
    #[serde(with = "seed_text")]
    pub seed: u64,
    pub generation: u32,
    pub mean: Vec<f64>,
    /// Shape of the distribution, before noise.
    pub spread: Variance,
    /// The candidate with the best score so far; of equals, the latest generation's.
    pub best: Option<Best>,
    /// Scores of the whole population, while a second look is in progress.
    pub first_scores: Option<Vec<f64>>,
}

/// A cross-entropy search: its parameters and its state.
#[derive(Debug, Clone)]
pub struct Cem {
    config: CemConfig,
    state: CemState,
}

/// Statistics of the elite of a generation.
#[derive(Debug, Clone, PartialEq)]
pub struct EliteStatistics {
    /// Positions of the elite among the candidates, best first.
    pub elites: Vec<usize>,
    pub mean: Vec<f64>,
    /// Standard deviation of each column, divided by n.
    pub std: Vec<f64>,
    /// The first candidate with the largest score.
    pub best: Vec<f64>,
}

/// The `num_elites` candidates with the largest scores, and their statistics. Of equal scores, the earlier one comes
/// first.
///
/// # Errors
///
/// If scores are not one number per candidate.
///
/// # Panics
///
/// If `num_elites` is 0 or exceeds the number of candidates, or candidates have different lengths.
pub fn elite_statistics(
    candidates: &[Vec<f64>],
    scores: &[f64],
    num_elites: usize,
) -> Result<EliteStatistics, TellError> {
    assert!((1..=candidates.len()).contains(&num_elites), "{num_elites} elites of {}", candidates.len());
    super::check_scores(scores, candidates.len())?;
    let mut elites = super::ranking(scores);
    elites.truncate(num_elites);
    let rows: Vec<&[f64]> = elites.iter().map(|&elite| candidates[elite].as_slice()).collect();
    let (mean, std) = super::column_mean_and_std(&rows, rows[0].len());
    let best = rows[0].to_vec();
    Ok(EliteStatistics { elites, mean, std, best })
}

impl Noise {
    /// Variance of the noise in this generation, counted from 0.
    pub fn variance(self, generation: u32) -> f64 {
        let t = f64::from(generation);
        match self {
            Self::None => 0.0,
            Self::Constant { variance } => variance,
            Self::Linear { variance, generations } => variance * (1.0 - t / generations).max(0.0),
            Self::Hyperbolic { variance } => variance / (t + 1.0),
        }
    }

    /// Noise of the same kind with another variance at t = 0; constant noise if there was none.
    pub fn with_variance(self, variance: f64) -> Noise {
        match self {
            Self::None | Self::Constant { .. } => Self::Constant { variance },
            Self::Linear { generations, .. } => Self::Linear { variance, generations },
            Self::Hyperbolic { .. } => Self::Hyperbolic { variance },
        }
    }

    fn check(self) -> Result<(), InvalidParameter> {
        let check_variance = |variance| super::check("noise.variance", variance, 0.0..=MAX_MAGNITUDE);
        match self {
            Self::None => Ok(()),
            Self::Constant { variance } | Self::Hyperbolic { variance } => check_variance(variance),
            Self::Linear { variance, generations } => {
                check_variance(variance)?;
                super::check("noise.generations", generations, f64::MIN_POSITIVE..=MAX_MAGNITUDE)
            }
        }
    }
}

impl CemPreset {
    /// The parameters for a search of `num_generations`.
    pub fn config(self, num_generations: u32) -> CemConfig {
        let literature = CemConfig {
            population: 100,
            elite_fraction: 0.1,
            initial_mean: 0.0,
            start: None,
            initial_std: 10.0,
            noise: Noise::Constant { variance: 4.0 },
            covariance: Covariance::Diagonal,
            unit_norm: false,
            second_look: 0.0,
        };
        match self {
            Self::SzitaLorincz => {
                CemConfig { noise: Noise::Linear { variance: 5.0, generations: 50.0 }, ..literature }
            }
            Self::ThieryScherrer => literature,
            Self::Lab => CemConfig {
                elite_fraction: 0.2,
                initial_std: 1.0,
                noise: Noise::Linear { variance: 4.0, generations: 0.6 * f64::from(num_generations.max(1)) },
                ..literature
            },
            Self::Tetrion => CemConfig {
                initial_std: 1.0,
                noise: Noise::Hyperbolic { variance: 0.02 },
                unit_norm: true,
                second_look: 1.0 / 3.0,
                ..literature
            },
        }
    }
}

impl std::str::FromStr for CemPreset {
    type Err = InvalidParameter;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        CEM_PRESETS.iter().find(|(known, _)| *known == name).map(|&(_, preset)| preset).ok_or_else(|| {
            let names = CEM_PRESETS.map(|(name, _)| name).join(", ");
            super::invalid("preset", format!("is {name:?}, not one of {names}"))
        })
    }
}

impl CemConfig {
    /// Number of candidates in the elite: its share of the population, rounded down, but at least 1.
    pub fn num_elites(&self) -> usize {
        self.share(self.elite_fraction)
    }

    /// Number of candidates in the second look; 0 without one.
    pub fn num_second_looks(&self) -> usize {
        if self.second_look == 0.0 { 0 } else { self.share(self.second_look) }
    }

    fn share(&self, fraction: f64) -> usize {
        ((f64::from(self.population) * fraction) as usize).max(1)
    }

    fn check(&self) -> Result<(), InvalidParameter> {
        super::check_count("population", self.population as usize, 2..=MAX_POPULATION)?;
        super::check("elite_fraction", self.elite_fraction, f64::MIN_POSITIVE..=1.0)?;
        super::check("initial_mean", self.initial_mean, -MAX_MAGNITUDE..=MAX_MAGNITUDE)?;
        super::check("initial_std", self.initial_std, f64::MIN_POSITIVE..=MAX_MAGNITUDE)?;
        self.noise.check()?;
        if self.second_look == 0.0 {
            return Ok(());
        }
        super::check("second_look", self.second_look, self.elite_fraction..=1.0)
    }
}

impl Cem {
    /// Starts a search over vectors of `num_weights`.
    ///
    /// # Errors
    ///
    /// The first parameter that is out of its range.
    pub fn new(config: CemConfig, num_weights: u32, seed: u64) -> Result<Self, InvalidParameter> {
        config.check()?;
        super::check_count("num_weights", num_weights as usize, 1..=MAX_POPULATION)?;
        let num_weights = num_weights as usize;
        let mut mean = vec![config.initial_mean; num_weights];
        if let Some(start) = &config.start {
            super::check_vector("start", start, num_weights)?;
            mean.clone_from(start);
            if config.unit_norm {
                scale_to_unit_norm(&mut mean);
            }
        }
        let std = config.initial_std;
        let spread = match config.covariance {
            Covariance::Diagonal => Variance::Diagonal(vec![std * std; num_weights]),
            Covariance::Full => Variance::Full(
                (0..num_weights)
                    .map(|i| (0..num_weights).map(|j| if i == j { std } else { 0.0 }).collect())
                    .collect(),
            ),
        };
        let state = CemState { seed, generation: 0, mean, spread, best: None, first_scores: None };
        Ok(Self { config, state })
    }

    /// Continues a search from its `state`.
    ///
    /// # Errors
    ///
    /// The first parameter that is out of its range, or the first part of `state` that does not fit `config`.
    pub fn resume(config: CemConfig, state: CemState) -> Result<Self, InvalidParameter> {
        config.check()?;
        let num_weights = state.mean.len();
        super::check_count("state.mean", num_weights, 1..=MAX_POPULATION)?;
        super::check_vector("state.mean", &state.mean, num_weights)?;
        match (&state.spread, config.covariance) {
            (Variance::Diagonal(variance), Covariance::Diagonal) => {
                super::check_vector("state.spread", variance, num_weights)?;
                if let Some(negative) = variance.iter().find(|&&variance| variance < 0.0) {
                    return Err(super::invalid("state.spread", format!("holds a variance of {negative}")));
                }
            }
            (Variance::Full(rows), Covariance::Full) => {
                super::check_count("state.spread", rows.len(), 1..=MAX_POPULATION)?;
                rows.iter().try_for_each(|row| super::check_vector("state.spread", row, num_weights))?;
            }
            (_, covariance) => {
                return Err(super::invalid(
                    "state.spread",
                    format!("does not fit covariance {covariance:?}"),
                ));
            }
        }
        super::check_best(state.best.as_ref(), num_weights)?;
        if let Some(scores) = &state.first_scores {
            if config.num_second_looks() == 0 {
                return Err(super::invalid(
                    "state.first_scores",
                    "has scores for a second look, but there is none",
                ));
            }
            super::check_scores(scores, config.population as usize)
                .map_err(|error| super::invalid("state.first_scores", format!("does not fit: {error}")))?;
        }
        Ok(Self { config, state })
    }

    /// The parameters of the search.
    pub fn config(&self) -> &CemConfig {
        &self.config
    }

    /// Draws the generation's population. Each round draws it again instead of storing it, because drawing is cheap and
    /// the state stays small.
    fn population(&self) -> Vec<Vec<f64>> {
        let CemState { seed, generation, mean, spread, .. } = &self.state;
        let noise = self.config.noise.variance(*generation);
        let mut draws = Draws::new(*seed, u64::from(*generation));
        let mut draw = || {
            let mut weights = mean.clone();
            match spread {
                Variance::Diagonal(variance) => {
                    for (weight, variance) in weights.iter_mut().zip(variance) {
                        *weight += (variance + noise).sqrt() * draws.normal();
                    }
                }
                Variance::Full(rows) => {
                    for row in rows {
                        let z = draws.normal();
                        weights.iter_mut().zip(row).for_each(|(weight, deviation)| *weight += z * deviation);
                    }
                    if noise > 0.0 {
                        weights.iter_mut().for_each(|weight| *weight += noise.sqrt() * draws.normal());
                    }
                }
            }
            if self.config.unit_norm {
                scale_to_unit_norm(&mut weights);
            }
            weights
        };
        (0..self.config.population).map(|_| draw()).collect()
    }

    /// Positions of the current candidates: the whole population or, best first, the second look.
    fn slots(&self) -> Vec<usize> {
        match &self.state.first_scores {
            None => (0..self.config.population as usize).collect(),
            Some(scores) => {
                let mut slots = super::ranking(scores);
                slots.truncate(self.config.num_second_looks());
                slots
            }
        }
    }
}

impl Optimizer for Cem {
    fn ask(&self) -> Round {
        let mut population = self.population();
        let slots = self.slots();
        Round {
            generation: self.state.generation,
            look: if self.state.first_scores.is_none() { Look::First } else { Look::Second },
            candidates: slots.iter().map(|&slot| std::mem::take(&mut population[slot])).collect(),
            slots: slots.into_iter().map(|slot| slot as u32).collect(),
        }
    }

    fn tell(&mut self, scores: &[f64]) -> Result<Option<Generation>, TellError> {
        let num_second_looks = self.config.num_second_looks();
        if self.state.first_scores.is_none() && num_second_looks > 0 {
            super::check_scores(scores, self.config.population as usize)?;
            self.state.first_scores = Some(scores.to_vec());
            return Ok(None);
        }
        super::check_scores(scores, self.slots().len())?;
        let candidates = self.ask().candidates;
        let elite = elite_statistics(&candidates, scores, self.config.num_elites())?;
        let best_score = scores[elite.elites[0]];
        let first_scores = self.state.first_scores.take();
        let (mean_score, std_score) =
            super::mean_and_std(first_scores.as_deref().unwrap_or(scores).iter().copied());

        let state = &mut self.state;
        super::keep_best(&mut state.best, best_score, state.generation, &elite.best);
        state.spread = match self.config.covariance {
            Covariance::Diagonal => Variance::Diagonal(elite.std.iter().map(|std| std * std).collect()),
            Covariance::Full => Variance::Full(deviations(&candidates, &elite)),
        };
        state.mean.clone_from(&elite.mean);
        let generation = state.generation;
        state.generation += 1;
        let EliteStatistics { mean, std, best, .. } = elite;
        Ok(Some(Generation { generation, best_score, mean_score, std_score, best, mean, std }))
    }

    fn generation(&self) -> u32 {
        self.state.generation
    }

    fn incumbent(&self) -> Option<Vec<f64>> {
        (self.state.generation > 0).then(|| self.state.mean.clone())
    }

    fn best(&self) -> Option<&Best> {
        self.state.best.as_ref()
    }

    fn state(&self) -> OptimizerState {
        OptimizerState::Cem(self.state.clone())
    }
}

/// The elite's deviations from their mean, divided by the square root of their number.
fn deviations(candidates: &[Vec<f64>], elite: &EliteStatistics) -> Vec<Vec<f64>> {
    let root = (elite.elites.len() as f64).sqrt();
    let deviation = |&slot: &usize| -> Vec<f64> {
        candidates[slot].iter().zip(&elite.mean).map(|(weight, mean)| (weight - mean) / root).collect()
    };
    elite.elites.iter().map(deviation).collect()
}

/// Scales a vector to length 1. A vector of zeros stays unchanged, because it has no direction.
fn scale_to_unit_norm(weights: &mut [f64]) {
    let norm = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
    if norm > 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= norm);
    }
}
