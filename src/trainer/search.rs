//! A search in progress. This file connects the optimiser, which knows only weights and scores, with the client, which
//! knows only games.
//!
//! A score says little about games that were used to choose the winner. So each purpose has separate seeds: the first
//! look at a generation, the second look, the check of the current result, the choice among the finalists, and the
//! score of the winner. All seeds follow from the seed of the run. So the files of a run depend only on its settings,
//! not on servers, time or interruptions.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::curve::curve;
use super::error::TrainError;
use super::record::{CheckpointState, GenerationTiming, Record};
use super::rounds::Purpose;
use super::rounds::{Checked, GameRound, Rounds};
use super::run::{Progress, Winner, keep_best, measured};
use super::run_folder::{Resumed, RunFolder, read_generations};
use super::score::{Score, statistics};
use super::settings::{LAST_GENERATIONS, Settings};
use super::unit::Unit;
use crate::plot::Chart;
use tetrion_client::{Client, Evaluated, EvaluationRequest};
use tetrion_toolkit::optimizers::{self, Optimizer, OptimizerState};

/// A training run that searches: the optimiser, and the folder that records it.
pub struct SearchRun {
    settings: Settings,
    client: Client,
    optimizer: Box<dyn Optimizer>,
    run: RunFolder,
    records: Vec<Record>,
}

impl fmt::Debug for SearchRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchRun")
            .field("settings", &self.settings)
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}

impl SearchRun {
    /// Starts a run in a new folder.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn begin(settings: Settings, client: &Client, run: RunFolder) -> Result<SearchRun, TrainError> {
        SearchRun::open(settings, client, run, None)
    }

    /// Reopens a run, optionally with a new number of generations. Before any change it asks the server whether it
    /// would play the games.
    ///
    /// # Errors
    /// If the folder cannot be read, its files belong to different runs, or the server does not play the games.
    pub async fn resume(
        folder: &Path,
        generations: Option<u32>,
        client: &Client,
    ) -> Result<SearchRun, TrainError> {
        let Resumed { run, mut config, state } = RunFolder::resume::<Settings, CheckpointState>(folder)?;
        config.check(client).await?;
        if let Some(CheckpointState { settings: made_under, .. }) = &state {
            config.check_same(made_under).map_err(|error| TrainError::mismatch(folder, error))?;
        }
        if let Some(generations) = generations
            && generations != config.generations
        {
            config.extend(generations, run.num_generations())?;
            run.write_config(&config)?;
        }
        SearchRun::open(config, client, run, state)
    }

    fn open(
        settings: Settings,
        client: &Client,
        run: RunFolder,
        kept: Option<CheckpointState>,
    ) -> Result<SearchRun, TrainError> {
        let num_weights = settings.feature_names.len() as u32;
        let optimizer = match kept {
            Some(CheckpointState { search, .. }) => settings.optimizer.resume(search),
            None => settings.optimizer.start(num_weights, settings.seed),
        };
        let optimizer = optimizer.map_err(|error| TrainError::mismatch(run.folder(), error))?;
        let records = read_generations(run.folder())?;
        let search = SearchRun { settings, client: client.clone(), optimizer, run, records };
        search.check_checkpoint().map_err(|reason| TrainError::mismatch(search.run.folder(), reason))?;
        Ok(search)
    }

    /// The settings of the run, as its folder has them.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The folder of the run, which this value holds locked.
    pub fn run(&self) -> &RunFolder {
        &self.run
    }

    /// Records of the generations so far.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The learning curve so far.
    pub fn curve(&self) -> Chart {
        curve(&self.settings, &self.records)
    }

    /// Checks that the state of the search matches the last record.
    fn check_checkpoint(&self) -> Result<(), String> {
        let (generations, seed) = match self.optimizer.state() {
            OptimizerState::Cem(state) => (state.generation, state.seed),
            OptimizerState::Genetic(state) => (state.generation, state.seed),
        };
        if u64::from(generations) != self.run.num_generations() {
            let number = self.run.num_generations();
            return Err(format!("its search is at generation {generations}, its number is {number}"));
        }
        if seed != self.settings.seed {
            return Err(format!("its search has the seed {seed}, the settings {}", self.settings.seed));
        }
        let misplaced = self.records.iter().zip(0..).find(|(record, at)| record.generation.generation != *at);
        if let Some((record, at)) = misplaced {
            return Err(format!(
                "line {} of the record is generation {}",
                at + 1,
                record.generation.generation
            ));
        }
        let Some(Record { generation, .. }) = self.records.last() else { return Ok(()) };
        // The cross-entropy method returns its mean, the genetic algorithm its best individual.
        if !self.optimizer.incumbent().is_some_and(|last| last == generation.mean || last == generation.best)
        {
            let number = generation.generation + 1;
            return Err(format!("its search has another result than generation {number} of the record"));
        }
        Ok(())
    }

    /// Plays one generation and saves it. Returns its duration.
    ///
    /// # Errors
    /// If a call to the server fails, or a file cannot be written.
    pub async fn generation(&mut self, report: &mut dyn FnMut(Progress)) -> Result<Duration, TrainError> {
        let start = Instant::now();
        let mut rounds = Rounds::new(self.settings.game_plan());
        let (Checked { generation, elite_score, games, pieces }, evaluated) = loop {
            let GameRound { purpose, candidates, seeds } = rounds.ask(&*self.optimizer);
            let evaluated = self.evaluate(&self.settings.request(candidates, seeds), purpose, report).await?;
            let scores = mean_scores(&evaluated, self.settings.score_by);
            let (games, pieces) = (evaluated.num_games(), evaluated.pieces);
            if let Some(checked) = rounds.tell(&mut *self.optimizer, scores, games, pieces)? {
                break (checked, evaluated);
            }
        };
        let result = self.optimizer.incumbent().expect("a generation is complete");
        let check = measured(&Score::of("", &evaluated, 1.0), self.settings.score_by);
        let purpose = Purpose::Check(generation.generation);
        let weights = self.settings.weights(result, &evaluated.started, check.clone(), purpose);
        let took = start.elapsed();
        let timing = GenerationTiming::of(generation.generation, pieces, took);
        let record = Record { generation, elite_score, check, games, pieces };
        let kept =
            CheckpointState { search: self.optimizer.state(), settings: self.settings.of_a_generation() };
        self.run.record(&record, &timing, &kept)?;
        self.records.push(record);
        self.run.write_weights(&weights)?;
        self.run.write_curve(&self.curve().to_svg())?;
        Ok(took)
    }

    /// Chooses among the last results and candidates, and scores the winner on games that no choice has used.
    ///
    /// # Errors
    /// If a call to the server fails, or a file cannot be written.
    pub async fn finish(&mut self, report: &mut dyn FnMut(Progress)) -> Result<Winner, TrainError> {
        let mut choices = choices(&self.records);
        let request = self.settings.request(choices.clone(), self.settings.shared_seeds(Purpose::Choice));
        let played = self.evaluate(&request, Purpose::Choice, report).await?;
        let scores = mean_scores(&played, self.settings.score_by);
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let chosen = scores.iter().position(|score| *score == best).expect("there is a largest one");
        let chosen = choices.swap_remove(chosen);
        let start = Instant::now();
        let seeds = self.settings.shared_seeds(Purpose::Score);
        let request = self.settings.request(vec![chosen.clone()], seeds);
        let evaluated = self.evaluate(&request, Purpose::Score, report).await?;
        let score = Score::of(self.settings.features_title(), &evaluated, start.elapsed().as_secs_f64());
        self.run.write_weights(&self.settings.weights(
            chosen,
            &evaluated.started,
            measured(&score, self.settings.score_by),
            Purpose::Score,
        ))?;
        self.run.write_curve(&self.curve().to_svg())?;
        let name = self.settings.features_title();
        let (best, warning) = keep_best(&self.client, (&request, &evaluated), name, &self.run).await?;
        Ok(Winner { score, seed: self.settings.games_seed(Purpose::Score), best, warning })
    }

    async fn evaluate(
        &self,
        request: &EvaluationRequest,
        purpose: Purpose,
        report: &mut dyn FnMut(Progress),
    ) -> Result<Evaluated, TrainError> {
        report(Progress::Begins);
        Ok(self.client.evaluate_all(request, |now| report(Progress::Games(purpose, now))).await?)
    }
}

/// The finalists: the results and best candidates of the last generations, the mean of these results, and the mean of
/// all results in the second half of the run. Noisy scores move a result about; the mean of many results is closer to
/// the centre.
fn choices(records: &[Record]) -> Vec<Vec<f64>> {
    let mut choices: Vec<Vec<f64>> = Vec::new();
    let mut add = |weights: Vec<f64>| {
        if !choices.contains(&weights) {
            choices.push(weights);
        }
    };
    let last = &records[records.len().saturating_sub(LAST_GENERATIONS)..];
    for Record { generation, .. } in last.iter().rev() {
        add(generation.mean.clone());
        add(generation.best.clone());
    }
    for records in [last, &records[records.len() / 2..]] {
        let means: Vec<&[f64]> = records.iter().map(|record| record.generation.mean.as_slice()).collect();
        add(optimizers::mean_vector(&means));
    }
    choices
}

/// The candidates' mean scores, added up in the order of the seeds.
fn mean_scores(evaluated: &Evaluated, unit: Unit) -> Vec<f64> {
    statistics(evaluated, unit).iter().map(|statistics| statistics.mean).collect()
}
