//! Learning from every step, as a client of a server. This file connects temporal-difference learning, which knows only
//! scores, with games.
//!
//! Many games are in progress at a time, and this process holds their playfields. Before a piece is dealt, one call
//! lists every placement of all seven tetrominoes on all playfields. So a playfield's value moves towards the exact
//! mean over the next piece, and the same answer contains the placement to play. The server keeps no state: a lost call
//! is repeated, and a checkpoint holds one row of numbers per game.
//!
//! The games form two halves. While the server lists the placements of one half, the learner learns from the other. The
//! order is fixed, so the bytes of a run do not depend on timing.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use super::curve::title;
use super::error::TrainError;
use super::learner::{Learner, LearnerState};
use super::lessons::{Lessons, check};
use super::record::GenerationTiming;
use super::rounds::Purpose;
use super::run::{Progress, Winner, keep_best, measured};
use super::run_folder::{Resumed, RunFolder, read_generations};
use super::score::Score;
use super::seen_playfields::SeenPlayfields;
use super::settings::Settings;
use super::weights::{MeasuredScore, Weights};
use crate::plot::{Chart, Line, Point};
use tetrion_client::session::{PackedPositions, PlacementList, PlacementsRequest};
use tetrion_client::{Client, ClientError, Evaluated, Features, ModelShape, NTuple};
use tetrion_core::engine::Tetromino;
use tetrion_core::engine::rng::{Tag, below, word};
use tetrion_core::features::kernel::Kernel;

/// A game of the learner, as a checkpoint holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Playing {
    /// The playfield, lowest row first.
    rows: Vec<u32>,
    lines: u64,
    /// Pieces until the game restarts from another playfield, if restarts are on.
    left: u32,
    /// Inputs of the last afterstate's score; `None` at the start of a game or a generation.
    #[serde(skip)]
    seen: Option<ScoreInputs>,
}

/// The inputs of a score, to which an update applies.
#[derive(Clone, Debug, PartialEq)]
struct ScoreInputs {
    features: Vec<f32>,
    entries: Vec<u32>,
}

/// A line of `generations.jsonl` of a run that learns from every step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearningRecord {
    /// Number of the generation, from 0.
    pub generation: u32,
    /// Root mean square of the errors, in logarithms of the risk.
    pub error: f64,
    /// Mean lines of the games that ended while learning; absent if none did.
    pub lines: Option<f64>,
    /// Number of games that ended while learning.
    pub games: u64,
    pub pieces: u64,
    /// Score of the current result, in games for this check only.
    pub check: MeasuredScore,
}

/// Content of a checkpoint, besides the number of its generation.
#[derive(Serialize, Deserialize)]
struct Learned {
    #[serde(flatten)]
    learner: LearnerState,
    games: Vec<Playing>,
    /// Playfields from which games restart.
    kept: SeenPlayfields,
    /// The settings that produced this state.
    settings: Settings<Lessons>,
}

/// Durations and score of a generation.
#[derive(Debug)]
pub struct Lesson {
    pub learned_in: Duration,
    /// Time of the whole generation.
    pub took: Duration,
    pub score: Score,
}

/// All placements in some games, as the server lists them.
struct Successors {
    row_offsets: Vec<u32>,
    lines: Vec<u8>,
    /// Whether the placement ends the game.
    terminated: Vec<bool>,
    features: Vec<f32>,
    afterstates: Vec<u32>,
    /// Entries that each afterstate looks up, one per tuple.
    entries: Vec<u32>,
}

/// Totals of a generation so far.
#[derive(Default)]
struct GenerationTotals {
    squares: f64,
    errors: u64,
    lines: u64,
    games: u64,
    pieces: u64,
}

/// A run in progress that learns from every step.
#[derive(Debug)]
pub struct Learning {
    settings: Settings<Lessons>,
    model: Option<Arc<ModelShape>>,
    client: Client,
    learner: Learner,
    games: Vec<Playing>,
    kept: SeenPlayfields,
    run: RunFolder,
    records: Vec<LearningRecord>,
}

impl Learning {
    /// Starts a run in a new folder.
    ///
    /// # Errors
    /// If a parameter is out of its range.
    pub fn begin(
        settings: Settings<Lessons>,
        client: &Client,
        run: RunFolder,
    ) -> Result<Learning, TrainError> {
        Learning::open(settings, client, run, None)
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
    ) -> Result<Learning, TrainError> {
        let Resumed { run, mut config, state } = RunFolder::resume::<Settings<Lessons>, Learned>(folder)?;
        check(&config, client).await?;
        if let Some(Learned { settings: made_under, .. }) = &state {
            config.check_same(made_under).map_err(|error| TrainError::mismatch(folder, error))?;
        }
        if let Some(generations) = generations
            && generations != config.generations
        {
            config.lengthen(generations, run.num_generations())?;
            run.write_config(&config)?;
        }
        Learning::open(config, client, run, state)
    }

    fn open(
        settings: Settings<Lessons>,
        client: &Client,
        run: RunFolder,
        learned: Option<Learned>,
    ) -> Result<Learning, TrainError> {
        let model = settings.policy.model.clone().map(Arc::new);
        let num_entries = model.as_deref().and_then(ModelShape::tables).map_or(0, NTuple::num_entries);
        let sizes = (settings.feature_names.len(), num_entries);
        let height = settings.size().1 as usize;
        let (state, games, kept) = match learned {
            Some(Learned { learner, games, kept, .. }) => (Some(learner), games, kept),
            None => (None, vec![Playing::new(height); settings.games as usize], SeenPlayfields::default()),
        };
        let learner = Learner::open(&settings.optimizer, sizes, settings.seed, state)
            .map_err(|error| TrainError::mismatch(run.folder(), error))?;
        if games.len() != settings.games as usize
            || games.iter().any(|game| game.rows.len() != height)
            || !kept.are_of(height)
        {
            return Err(TrainError::mismatch(run.folder(), "its games are not those of the settings"));
        }
        let records = read_generations(run.folder())?;
        let client = client.clone();
        Ok(Learning { settings, model, client, learner, games, kept, run, records })
    }

    /// The settings of the run, as its folder has them.
    pub fn settings(&self) -> &Settings<Lessons> {
        &self.settings
    }

    /// The folder of the run, which this value holds locked.
    pub fn run(&self) -> &RunFolder {
        &self.run
    }

    /// Records of the generations so far.
    pub fn records(&self) -> &[LearningRecord] {
        &self.records
    }

    /// The learning curve so far.
    pub fn curve(&self) -> Chart {
        curve(&self.settings, &self.records)
    }

    /// Learns for one generation and saves it.
    ///
    /// # Errors
    /// If a call to the server fails, or a file cannot be written.
    pub async fn generation(&mut self, report: &mut dyn FnMut(Progress)) -> Result<Lesson, TrainError> {
        let start = Instant::now();
        let generation = self.records.len() as u32;
        let tally = self.learn(generation, report).await?;
        let learned_in = start.elapsed();
        let (weights, score, _) = self.play(Purpose::Check(generation), report).await?;
        let timing = GenerationTiming::of(generation, tally.pieces, start.elapsed());
        let record = LearningRecord {
            generation,
            error: (tally.squares / tally.errors.max(1) as f64).sqrt(),
            lines: (tally.games > 0 && self.settings.optimizer.stretch == 0)
                .then(|| tally.lines as f64 / tally.games as f64),
            games: tally.games,
            pieces: tally.pieces,
            check: measured(&score, self.settings.score_by),
        };
        let lesson = Lesson { learned_in, took: start.elapsed(), score };
        let learned = Learned {
            learner: self.learner.state(),
            games: self.games.clone(),
            kept: self.kept.clone(),
            settings: self.settings.of_a_generation(),
        };
        self.run.record(&record, &timing, &learned)?;
        self.records.push(record);
        self.run.write_weights(&weights)?;
        self.run.write_curve(&self.curve().to_svg())?;
        Ok(lesson)
    }

    /// Plays one generation's pieces in all games, and learns from each piece.
    async fn learn(
        &mut self,
        generation: u32,
        report: &mut dyn FnMut(Progress),
    ) -> Result<GenerationTotals, TrainError> {
        report(Progress::Begins);
        let seed = self.settings.lessons_seed(generation);
        let (count, rounds) = (self.games.len(), self.settings.optimizer.rounds);
        let halves = [0..count / 2, count / 2..count];
        let mut tally = GenerationTotals::default();
        // Checkpoints do not hold these inputs, so a resumed run must not have them either.
        self.games.iter_mut().for_each(|game| game.seen = None);
        let mut asked = halves.clone().map(|half| self.ask(half));
        for round in 0..rounds {
            for (half, asked) in halves.iter().zip(&mut asked) {
                let broke = |error| TrainError::Settings(format!("the call for placements broke: {error}"));
                let successors = (&mut *asked).await.map_err(broke)??;
                for (at, game) in half.clone().enumerate() {
                    let draw = u64::from(round) * count as u64 + game as u64;
                    self.step(&successors, at, game, (seed, draw), &mut tally);
                }
                if round + 1 < rounds {
                    *asked = self.ask(half.clone());
                }
            }
            self.learner.end_round();
            let pieces = u64::from(rounds) * count as u64;
            report(Progress::Pieces(u64::from(round + 1) * count as u64, pieces));
        }
        Ok(tally)
    }

    /// Requests the placements of all seven tetrominoes in some games, then finds the table entries of their
    /// afterstates. This runs on a separate thread, because nothing in it depends on what is learned.
    fn ask(&self, games: Range<usize>) -> JoinHandle<Result<Successors, TrainError>> {
        let (client, model) = (self.client.clone(), self.model.clone());
        let (width, height) = self.settings.size();
        let rules = self.settings.rules.clone();
        let num_features = self.settings.feature_names.len();
        let wanted = PlacementsRequest {
            features: Some(Features::List(self.settings.feature_names.clone())),
            columns: vec!["afterstates".to_owned()],
            ..Default::default()
        };
        let mut positions = PackedPositions::new(Vec::new(), height, Vec::new());
        for game in &self.games[games] {
            for piece in Tetromino::ALL {
                positions.boards.extend(&game.rows);
                positions.pieces.push(piece.number());
            }
        }
        tokio::spawn(async move {
            let placements = client.enumerate_placements(&rules, &positions, &wanted).await?;
            let mut successors =
                Successors::read(placements, positions.pieces.len(), num_features, height as usize)?;
            if let Some(tables) = model.as_deref().and_then(ModelShape::tables) {
                let size = (width as u8, height as u8);
                let Successors { afterstates, entries, .. } = &mut successors;
                tables.append_entries(Kernel::best(), size, afterstates, entries);
            }
            Ok(successors)
        })
    }

    /// Learns from all successors of a game, and places its next piece. `at` is the playfield's index in the answer;
    /// `draw` is the index of the piece in the generation.
    fn step(
        &mut self,
        successors: &Successors,
        at: usize,
        game: usize,
        (seed, draw): (u64, u64),
        tally: &mut GenerationTotals,
    ) {
        let Successors { row_offsets, lines, terminated, features, afterstates, entries } = successors;
        let (height, num_features) = (self.settings.size().1 as usize, self.settings.feature_names.len());
        let features = |row: usize| &features[row * num_features..][..num_features];
        let num_tuples = self.tables().map_or(0, |tables| tables.tuples().len());
        let entries = |row: usize| &entries[row * num_tuples..][..num_tuples];
        let afterstate = |row: usize| &afterstates[row * height..][..height];
        // The rows of a tetromino's placements that do not end the game.
        let safe = |piece: usize| {
            let position = at * Tetromino::ALL.len() + piece;
            let [first, end] = [position, position + 1].map(|position| row_offsets[position]);
            (first as usize..end as usize).filter(|row| !terminated[*row])
        };
        let mut best = [None; Tetromino::ALL.len()];
        for (piece, best) in best.iter_mut().enumerate() {
            for row in safe(piece) {
                let score = self.learner.score(features(row), entries(row));
                if best.is_none_or(|(largest, _)| score > largest) {
                    *best = Some((score, row));
                }
            }
        }
        if let Some(ScoreInputs { features, entries }) = self.games[game].seen.take() {
            let target = self.learner.target(best.iter().map(|best| best.map(|(score, _)| score)));
            let error = self.learner.learn(&features, &entries, target);
            tally.squares += error * error;
            tally.errors += 1;
        }
        let piece = below(word(seed, Tag::Pieces, draw), Tetromino::ALL.len() as u64) as usize;
        let share = below(word(seed, Tag::Agent, 2 * draw), 1 << 30) as f64 / f64::from(1 << 30);
        let explores = share < self.settings.optimizer.exploration;
        let chosen = if explores {
            let rows: Vec<usize> = safe(piece).collect();
            rows.get(below(word(seed, Tag::Agent, 2 * draw + 1), rows.len() as u64) as usize).copied()
        } else {
            best[piece].map(|(_, row)| row)
        };
        let game = &mut self.games[game];
        match chosen {
            Some(row) => {
                game.rows.clear();
                game.rows.extend(afterstate(row));
                game.lines += u64::from(lines[row]);
                game.seen =
                    Some(ScoreInputs { features: features(row).to_vec(), entries: entries(row).to_vec() });
                tally.pieces += 1;
            }
            None => {
                tally.games += 1;
                tally.lines += game.lines;
                *game = Playing::new(height);
            }
        }
        let stretch = self.settings.optimizer.stretch;
        if stretch > 0 {
            let draws = [0, 1, 2].map(|number| word(seed, Tag::Trial, 3 * draw + number));
            game.left = game.left.saturating_sub(1);
            if chosen.is_some() {
                self.kept.keep(&game.rows, draws[0]);
            }
            if game.left == 0 || chosen.is_none() {
                let third = stretch.div_ceil(3);
                game.left = stretch - third + below(draws[1], 2 * u64::from(third)) as u32;
                if let Some(rows) = self.kept.any(height, draws[2]) {
                    *game = Playing { rows: rows.to_vec(), left: game.left, ..Playing::new(height) };
                }
            }
        }
    }

    /// The tables that are learned, if any.
    fn tables(&self) -> Option<&NTuple> {
        self.model.as_deref().and_then(ModelShape::tables)
    }

    /// The weights, then the parameters of the model, if the run learns one.
    fn incumbent(&self) -> Vec<f64> {
        let (weights, parameters) = self.learner.incumbent(self.settings.feature_names.len());
        weights.into_iter().chain(parameters.into_iter().map(f64::from)).collect()
    }

    /// Plays whole games with a result.
    async fn play(
        &self,
        purpose: Purpose,
        report: &mut dyn FnMut(Progress),
    ) -> Result<(Weights, Score, Evaluated), TrainError> {
        let row = self.incumbent();
        let request = self.settings.request(vec![row.clone()], self.settings.shared_seeds(purpose));
        report(Progress::Begins);
        let start = Instant::now();
        let evaluated =
            self.client.evaluate_all(&request, |now| report(Progress::Games(purpose, now))).await?;
        let seconds = start.elapsed().as_secs_f64();
        let score = Score::of(self.settings.features_title(), &evaluated, seconds);
        let told = measured(&score, self.settings.score_by);
        Ok((self.settings.weights(row, &evaluated.started, told, purpose), score, evaluated))
    }

    /// Scores the result.
    ///
    /// # Errors
    /// If a call to the server fails, or a file cannot be written.
    pub async fn finish(&mut self, report: &mut dyn FnMut(Progress)) -> Result<Winner, TrainError> {
        let (weights, score, evaluated) = self.play(Purpose::Score, report).await?;
        self.run.write_weights(&weights)?;
        self.run.write_curve(&self.curve().to_svg())?;
        let seeds = self.settings.shared_seeds(Purpose::Score);
        let request = self.settings.request(vec![self.incumbent()], seeds);
        let name = self.settings.features_title();
        let (best, warning) = keep_best(&self.client, (&request, &evaluated), name, &self.run).await?;
        Ok(Winner { score, seed: self.settings.games_seed(Purpose::Score), best, warning })
    }
}

impl Playing {
    fn new(height: usize) -> Playing {
        Playing { rows: vec![0; height], lines: 0, left: 0, seen: None }
    }
}

impl Successors {
    /// Reads an answer, and checks that it has all of its rows, so that later look-ups cannot fail.
    fn read(
        PlacementList { row_offsets, columns, .. }: PlacementList,
        positions: usize,
        num_features: usize,
        height: usize,
    ) -> Result<Successors, ClientError> {
        let rows = row_offsets.last().map_or(0, |rows| *rows as usize);
        let lines: Vec<u8> = columns.column("lines")?.elements;
        let terminated = columns.flags("terminated")?;
        let features: Vec<f32> = columns.column("features")?.elements;
        let afterstates = columns.boards("afterstates")?.elements;
        let found = [row_offsets.len(), terminated.len(), lines.len(), features.len(), afterstates.len()];
        if found != [positions + 1, rows, rows, rows * num_features, rows * height]
            || !row_offsets.is_sorted()
        {
            return Err(ClientError::Answer("its columns are of different lengths".to_owned()));
        }
        Ok(Successors { row_offsets, lines, terminated, features, afterstates, entries: Vec::new() })
    }
}

/// The learning curve, for the run folder and for the terminal.
fn curve(settings: &Settings<Lessons>, records: &[LearningRecord]) -> Chart {
    /// Value of a point, and its interval.
    type Height = (f64, Option<[f64; 2]>);
    let line = |name: &str, point: fn(&LearningRecord) -> Option<Height>| Line {
        name: name.to_owned(),
        points: records
            .iter()
            .filter_map(|record| {
                let (y, band) = point(record)?;
                Some(Point { x: f64::from(record.generation + 1), y, band })
            })
            .collect(),
    };
    let mut lines = vec![line("result so far, 95 % interval", |record| {
        let check = &record.check;
        Some((check.mean, Some([check.ci95_low, check.ci95_high])))
    })];
    if settings.optimizer.stretch == 0 {
        lines.push(line("games while learning, mean", |record| record.lines.map(|lines| (lines, None))));
    }
    let chart = Chart {
        title: title(settings),
        x_label: "generation".to_owned(),
        y_label: format!("{} per game", settings.score_by.name()),
        lines,
        weights: None,
    };
    chart.with_bands_from(settings.score_by.least())
}
