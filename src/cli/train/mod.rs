//! `tetrion train`: the search for a good controller, as a client of a server.
//!
//! Here the optimiser, which knows only weights and scores, meets the client, which knows only games. Everything else
//! is for the person who waits: a folder that survives whatever happens ([`run_folder`](crate::trainer::run_folder)), a display, a
//! result that can be believed.
//!
//! A score means little on the games that chose its owner. So every use has seeds of its own: the generation's first look,
//! its second look, the check of what the search would hand in, the choice at the end among the last of them, and
//! the score of the one chosen. All of them follow from the seed of the run, so the files of a run depend on its
//! settings and on nothing else: not on the servers, not on the time, not on how often it was stopped.

mod args;
mod display;
mod features;
mod kept;
mod learner;
mod learning;
mod lessons;
mod record;
mod searches;
mod settings;
mod training;
mod unit;

pub use args::{GameSeeds, Method, TrainArgs};
pub use learning::LearningRecord;
pub use record::Record;
pub use settings::{Purpose, Settings};
pub use unit::Unit;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};

use self::display::{Display, curve, news};
use self::learning::Learning;
use self::record::{Kept, Timing};
use self::settings::LAST_GENERATIONS;
use self::training::{Training, Winner, create, follow, keep_best, mismatch, note, print_winner};
use super::connection::Connection;
use crate::client::{Client, Evaluated, EvaluationRequest};
use crate::optimizers::{self, Look, Optimizer, State};
use crate::trainer::run_folder::{Resumed, RunFolder, read_generations};
use crate::trainer::score::{Score, statistics};

/// Trains to the end, or until it is interrupted.
///
/// # Errors
/// Options that do not go together, what a server refuses, or a folder that cannot be opened. What stops a search under
/// way is said here, with the way to go on.
pub fn run(args: TrainArgs) -> anyhow::Result<ExitCode> {
    if args.resume.is_none() {
        searches::check_options(&args)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        let connection = Connection::open(&args.connection, &args.computing).await?.with_page().await?;
        let learns = match &args.resume {
            Some(folder) => lessons::is_learning(folder),
            None => args.optimizer == Method::Td,
        };
        if learns {
            follow(Learning::open(&args, &connection).await?, &args, &connection).await
        } else {
            follow(Search::open(&args, &connection).await?, &args, &connection).await
        }
    });
    runtime.shutdown_background();
    code
}

/// A search under way.
struct Search {
    settings: Settings,
    client: Client,
    optimizer: Box<dyn Optimizer>,
    run: RunFolder,
    records: Vec<Record>,
    display: Display,
}

impl Search {
    /// Begins a run, or opens one to go on with it. Before it makes or changes anything, it asks the server whether it would
    /// play the games.
    async fn open(args: &TrainArgs, connection: &Connection) -> anyhow::Result<Search> {
        let client = &connection.client;
        let (settings, run, kept) = match &args.resume {
            Some(folder) => {
                let Resumed { run, mut config, state } = RunFolder::resume::<Settings, Kept>(folder)?;
                config.check(client).await?;
                if let Some(Kept { settings: made_under, .. }) = &state {
                    config.check_same(made_under).with_context(|| mismatch(folder))?;
                }
                if let Some(generations) = args.generations
                    && generations != config.generations
                {
                    config.extend(generations, run.num_generations())?;
                    run.write_config(&config)?;
                }
                (config, run, state)
            }
            None => {
                let settings = Settings::new(args, client).await?;
                settings.check(client).await?;
                let run = create(args, &settings)?;
                (settings, run, None)
            }
        };
        let num_weights = settings.feature_names.len() as u32;
        let optimizer = match kept {
            Some(Kept { search, .. }) => settings.optimizer.resume(search),
            None => settings.optimizer.start(num_weights, settings.seed),
        };
        let optimizer = optimizer.with_context(|| mismatch(run.folder()))?;
        let records = read_generations(run.folder())?;
        let chart = curve(&settings, &records);
        let display = Display::new(settings.generations, records.len(), &chart, connection);
        let search = Search { settings, client: client.clone(), optimizer, run, records, display };
        search.check_checkpoint().with_context(|| mismatch(search.run.folder()))?;
        Ok(search)
    }

    /// Checks that the state of the search is the one that the record describes.
    fn check_checkpoint(&self) -> anyhow::Result<()> {
        let (generations, seed) = match self.optimizer.state() {
            State::Cem(state) => (state.generation, state.seed),
            State::Genetic(state) => (state.generation, state.seed),
        };
        if u64::from(generations) != self.run.num_generations() {
            bail!("its search is at generation {generations}, its number is {}", self.run.num_generations());
        }
        if seed != self.settings.seed {
            bail!("its search has the seed {seed}, the settings {}", self.settings.seed);
        }
        let misplaced = self.records.iter().zip(0..).find(|(record, at)| record.generation.generation != *at);
        if let Some((record, at)) = misplaced {
            bail!("line {} of the record is generation {}", at + 1, record.generation.generation);
        }
        let Some(Record { generation, .. }) = self.records.last() else { return Ok(()) };
        // The mean of one method, the best individual of the other.
        if !self.optimizer.incumbent().is_some_and(|last| last == generation.mean || last == generation.best)
        {
            bail!(
                "its search has another result than generation {} of the record",
                generation.generation + 1
            );
        }
        Ok(())
    }

    /// Plays one generation, and keeps it.
    async fn generation(&mut self) -> anyhow::Result<()> {
        let start = Instant::now();
        let (mut games, mut pieces) = (0, 0);
        let (generation, elite_score) = loop {
            let round = self.optimizer.ask();
            let purpose = match round.look {
                Look::First => Purpose::First(round.generation),
                Look::Second => Purpose::Second(round.generation),
            };
            let evaluated = self.play(&round.candidates, purpose).await?;
            count(&evaluated, &mut games, &mut pieces);
            let scores = mean_scores(&evaluated, self.settings.unit);
            if let Some(generation) = self.optimizer.tell(&scores)? {
                break (generation, mean_of_best(scores, self.settings.num_elites()));
            }
        };
        let incumbent = self.optimizer.incumbent().expect("a generation is complete");
        let purpose = Purpose::Check(generation.generation);
        let evaluated = self.play(std::slice::from_ref(&incumbent), purpose).await?;
        count(&evaluated, &mut games, &mut pieces);
        let check = note(&Score::of("", &evaluated, 1.0), self.settings.unit);
        let weights = self.settings.weights(&incumbent, None, &evaluated.started, check.clone(), purpose);
        let took = start.elapsed();
        let timing = Timing::of(generation.generation, pieces, took);
        let record = Record { generation, elite_score, check, games, pieces };
        let news = news(&self.settings, &record, took);
        let kept = Kept { search: self.optimizer.state(), settings: self.settings.of_a_generation() };
        self.run.record(&record, &timing, &kept)?;
        self.records.push(record);
        self.run.write_weights(&weights)?;
        let chart = curve(&self.settings, &self.records);
        self.run.write_curve(&chart.to_svg())?;
        self.display.generation(self.records.len(), news, &chart);
        Ok(())
    }

    /// Chooses among the last results and candidates, and scores the chosen one on games that no choice has used.
    async fn finish(&mut self) -> anyhow::Result<Winner> {
        let mut choices = choices(&self.records);
        let scores = mean_scores(&self.play(&choices, Purpose::Choice).await?, self.settings.unit);
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let chosen = scores.iter().position(|score| *score == best).expect("there is a largest one");
        let chosen = choices.swap_remove(chosen);
        let start = Instant::now();
        let request = self.request(std::slice::from_ref(&chosen), Purpose::Score);
        let evaluated = self.evaluate(&request, Purpose::Score).await?;
        let score = Score::of(self.settings.features_title(), &evaluated, start.elapsed().as_secs_f64());
        self.run.write_weights(&self.settings.weights(
            &chosen,
            None,
            &evaluated.started,
            note(&score, self.settings.unit),
            Purpose::Score,
        ))?;
        self.run.write_curve(&curve(&self.settings, &self.records).to_svg())?;
        let name = self.settings.features_title();
        let best = keep_best(&self.client, (&request, &evaluated), name, (&self.run, &self.display)).await?;
        Ok(Winner { score, seed: self.settings.games_seed(Purpose::Score), best })
    }

    async fn play(&mut self, candidates: &[Vec<f64>], purpose: Purpose) -> anyhow::Result<Evaluated> {
        self.evaluate(&self.request(candidates, purpose), purpose).await
    }

    /// The games of candidates for a purpose.
    fn request(&self, candidates: &[Vec<f64>], purpose: Purpose) -> EvaluationRequest {
        EvaluationRequest {
            rules: self.settings.rules_choice(),
            rules_version: self.settings.rules_version.clone(),
            policies: self.settings.policies(candidates.to_vec(), None),
            seeds: self.settings.seeds(purpose, candidates.len()),
            max_pieces: self.settings.max_pieces,
            max_steps: self.settings.max_steps,
            loss_trials: self.settings.loss_trials,
        }
    }

    async fn evaluate(&mut self, request: &EvaluationRequest, purpose: Purpose) -> anyhow::Result<Evaluated> {
        let what = match purpose {
            Purpose::First(_) => "all candidates",
            Purpose::Second(_) => "the better ones again",
            Purpose::Check(_) => "the result so far",
            Purpose::Choice => "the last results, to choose among them",
            Purpose::Score => "the chosen one",
        };
        self.display.begin();
        let display = &self.display;
        Ok(self.client.evaluate_all(request, |now| display.progress(what, now)).await?)
    }
}

impl Training for Search {
    fn folder(&self) -> &RunFolder {
        &self.run
    }

    fn display(&self) -> &Display {
        &self.display
    }

    async fn train(&mut self) -> anyhow::Result<Winner> {
        while self.optimizer.generation() < self.settings.generations {
            self.generation().await?;
        }
        self.finish().await
    }

    fn print(&self, winner: &Winner, json: bool) -> anyhow::Result<()> {
        print_winner(&self.settings, &self.run, &curve(&self.settings, &self.records), winner, json)
    }
}

/// What a run may hand in: the results and the best candidates of its last generations, and the means of the results of these
/// and of its second half. The scores that move a result about are noisy; a mean of many lies nearer to where it moves around.
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

fn count(evaluated: &Evaluated, games: &mut u64, pieces: &mut u64) {
    *games += evaluated.games.iter().map(|games| games.len() as u64).sum::<u64>();
    *pieces += evaluated.pieces;
}

/// The scores of the candidates, added up in the order of the seeds.
fn mean_scores(evaluated: &Evaluated, unit: Unit) -> Vec<f64> {
    (0..evaluated.games.len())
        .map(|policy| statistics(evaluated, policy, |game| unit.of(game)).mean)
        .collect()
}

fn mean_of_best(mut scores: Vec<f64>, count: usize) -> f64 {
    scores.sort_by(|a, b| b.total_cmp(a));
    let best = &scores[..count.min(scores.len())];
    best.iter().sum::<f64>() / best.len() as f64
}
