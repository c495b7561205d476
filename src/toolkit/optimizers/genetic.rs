//! A genetic algorithm for real numbers: tournament selection, blend crossover, Gaussian mutation, elitism.
//!
//! The loop is the standard one (DEAP's `eaSimple`), after a report that evolved the four weights of its Tetris player
//! in this way without stating the rates: every number here is a parameter. Unlike in that loop, survivors are scored
//! again in every generation: their games are new, and a lucky score should not live forever.
//!
//! Generation g + 1 is bred from generation g with the draws of stream g + 1, in this order. Each pair of children
//! takes two tournaments, the coin for a crossover, and one blend per weight. Then every weight of either child, in
//! order, takes the coin for a mutation and its step.

use serde::{Deserialize, Serialize};

use super::draws::Draws;
use super::{
    Best, Generation, InvalidParameter, Look, MAX_MAGNITUDE, MAX_POPULATION, Optimizer, OptimizerState,
    Round, TellError, seed_text,
};

/// The parameters of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneticConfig {
    /// Individuals per generation, at least 2.
    pub individuals: u32,
    /// Range of the initial weights, uniform in [-`initial_range`, `initial_range`); above 0.
    pub initial_range: f64,
    /// Number of individuals drawn (with replacement) for a tournament, whose winner becomes a parent. At least 1.
    pub tournament: u32,
    /// Probability that two parents are crossed rather than copied.
    pub crossover_probability: f64,
    /// How far a child may lie outside the range of its parents; 0 keeps it between them (Eshelman and Schaffer's
    /// BLX-alpha).
    pub blend_alpha: f64,
    /// Probability that a weight of a child mutates.
    pub mutation_probability: f64,
    /// Standard deviation of a mutation.
    pub mutation_std: f64,
    /// Number of best individuals that survive unchanged; less than `individuals`.
    pub keep: u32,
}

/// The complete state of a search. Needs no position in the random numbers, because every generation has a separate
/// stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeneticState {
    #[serde(with = "seed_text")]
    pub seed: u64,
    pub generation: u32,
    /// The individuals that wait for their scores.
    pub individuals: Vec<Vec<f64>>,
    /// The best individual of the last completed generation.
    pub incumbent: Option<Vec<f64>>,
    /// The individual with the best score so far; of equals, the latest generation's.
    pub best: Option<Best>,
}

/// A genetic search: its parameters and its population.
#[derive(Debug, Clone)]
pub struct Genetic {
    config: GeneticConfig,
    state: GeneticState,
}

impl Default for GeneticConfig {
    fn default() -> Self {
        Self {
            individuals: 50,
            initial_range: 1.0,
            tournament: 3,
            crossover_probability: 0.5,
            blend_alpha: 0.5,
            mutation_probability: 0.2,
            mutation_std: 0.2,
            keep: 1,
        }
    }
}

impl GeneticConfig {
    fn check(&self) -> Result<(), InvalidParameter> {
        super::check_count("individuals", self.individuals as usize, 2..=MAX_POPULATION)?;
        super::check("initial_range", self.initial_range, f64::MIN_POSITIVE..=MAX_MAGNITUDE)?;
        super::check_count("tournament", self.tournament as usize, 1..=MAX_POPULATION)?;
        super::check("crossover_probability", self.crossover_probability, 0.0..=1.0)?;
        super::check("blend_alpha", self.blend_alpha, 0.0..=10.0)?;
        super::check("mutation_probability", self.mutation_probability, 0.0..=1.0)?;
        super::check("mutation_std", self.mutation_std, 0.0..=MAX_MAGNITUDE)?;
        super::check_count("keep", self.keep as usize, 0..=self.individuals - 1)
    }
}

impl Genetic {
    /// Starts a search over vectors of `num_weights`.
    ///
    /// # Errors
    ///
    /// The first parameter that is out of its range.
    pub fn new(config: GeneticConfig, num_weights: u32, seed: u64) -> Result<Self, InvalidParameter> {
        config.check()?;
        super::check_count("num_weights", num_weights as usize, 1..=MAX_POPULATION)?;
        let mut draws = Draws::new(seed, 0);
        let range = config.initial_range;
        let mut individual =
            || (0..num_weights).map(|_| range * (2.0 * draws.uniform() - 1.0)).collect::<Vec<f64>>();
        let individuals = (0..config.individuals).map(|_| individual()).collect();
        let state = GeneticState { seed, generation: 0, individuals, incumbent: None, best: None };
        Ok(Self { config, state })
    }

    /// Continues a search from its `state`.
    ///
    /// # Errors
    ///
    /// The first parameter that is out of its range, or the first part of `state` that does not fit `config`.
    pub fn resume(config: GeneticConfig, state: GeneticState) -> Result<Self, InvalidParameter> {
        config.check()?;
        if state.individuals.len() != config.individuals as usize {
            let (got, expected) = (state.individuals.len(), config.individuals);
            return Err(super::invalid("state.individuals", format!("are {got}, not {expected}")));
        }
        let num_weights = state.individuals[0].len();
        super::check_count("state.individuals", num_weights, 1..=MAX_POPULATION)?;
        for individual in state.individuals.iter().chain(&state.incumbent) {
            super::check_vector("state.individuals", individual, num_weights)?;
        }
        super::check_best(state.best.as_ref(), num_weights)?;
        Ok(Self { config, state })
    }

    /// The parameters of the search.
    pub fn config(&self) -> &GeneticConfig {
        &self.config
    }

    /// The next generation. `ranking` has the positions of the current individuals, best first.
    fn breed(&self, ranking: &[usize]) -> Vec<Vec<f64>> {
        let GeneticState { seed, generation, individuals, .. } = &self.state;
        let mut draws = Draws::new(*seed, u64::from(*generation) + 1);
        let mut next: Vec<Vec<f64>> =
            ranking[..self.config.keep as usize].iter().map(|&kept| individuals[kept].clone()).collect();
        while next.len() < individuals.len() {
            let mut children = [(); 2].map(|()| individuals[self.parent(ranking, &mut draws)].clone());
            self.cross(&mut children, &mut draws);
            for weight in children.iter_mut().flatten() {
                if draws.uniform() < self.config.mutation_probability {
                    *weight += self.config.mutation_std * draws.normal();
                }
            }
            next.extend(children);
        }
        next.truncate(individuals.len()); // an odd number of children: the last one is dropped
        next
    }

    /// The winner of a tournament. Each contender is drawn as a position in the ranking, so the lowest position wins.
    fn parent(&self, ranking: &[usize], draws: &mut Draws) -> usize {
        let place = (0..self.config.tournament).map(|_| draws.below(ranking.len())).min();
        ranking[place.expect("a tournament has contenders")]
    }

    /// Blends two parents weight by weight, or leaves them unchanged.
    fn cross(&self, [a, b]: &mut [Vec<f64>; 2], draws: &mut Draws) {
        if draws.uniform() >= self.config.crossover_probability {
            return;
        }
        let alpha = self.config.blend_alpha;
        for (x, y) in a.iter_mut().zip(b) {
            let gamma = (1.0 + 2.0 * alpha) * draws.uniform() - alpha;
            (*x, *y) = ((1.0 - gamma) * *x + gamma * *y, gamma * *x + (1.0 - gamma) * *y);
        }
    }
}

impl Optimizer for Genetic {
    fn ask(&self) -> Round {
        Round {
            generation: self.state.generation,
            look: Look::First,
            candidates: self.state.individuals.clone(),
            slots: (0..self.config.individuals).collect(),
        }
    }

    fn tell(&mut self, scores: &[f64]) -> Result<Option<Generation>, TellError> {
        super::check_scores(scores, self.state.individuals.len())?;
        let ranking = super::ranking(scores);
        let next = self.breed(&ranking);

        let state = &mut self.state;
        let individuals = std::mem::replace(&mut state.individuals, next);
        let best = individuals[ranking[0]].clone();
        let best_score = scores[ranking[0]];
        super::keep_best(&mut state.best, best_score, state.generation, &best);
        state.incumbent = Some(best.clone());
        let generation = state.generation;
        state.generation += 1;

        let rows: Vec<&[f64]> = individuals.iter().map(Vec::as_slice).collect();
        let (mean, std) = super::column_mean_and_std(&rows, best.len());
        let (mean_score, std_score) = super::mean_and_std(scores.iter().copied());
        Ok(Some(Generation { generation, best_score, mean_score, std_score, best, mean, std }))
    }

    fn generation(&self) -> u32 {
        self.state.generation
    }

    fn incumbent(&self) -> Option<Vec<f64>> {
        self.state.incumbent.clone()
    }

    fn best(&self) -> Option<&Best> {
        self.state.best.as_ref()
    }

    fn state(&self) -> OptimizerState {
        OptimizerState::Genetic(self.state.clone())
    }
}
