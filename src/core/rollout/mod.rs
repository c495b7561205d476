//! Plays whole episodes with an agent: one, or many in parallel.
//!
//! A result depends only on the rules, the agent and the seed, never on the number of threads, the kernel or other
//! work. Games are played in slices of about [`SLICE`] pieces' work. After each slice the game goes back to the end of
//! the pool's queue, so long games and several evaluations share the cores fairly, and a stop takes effect at the next
//! slice. A slice may end in the middle of a choice or of a piece's fall.
//!
//! Games that last for hundreds of millions of pieces need not be played to their end: `splitting.rs` estimates their
//! length from tens of thousands of pieces.
//!
//! This module knows nothing of requests or of the network, and reads no clock.

mod episode;
mod match_episode;
mod order;
mod record;
mod slice_players;
mod splitting;

pub use episode::{Bounds, Episode, SLICE};
use match_episode::MatchEpisode;
pub use order::GameOrder;
pub use record::{GameRecord, PackedActions};
pub use splitting::Estimate;
use splitting::{EstimateTask, Splitting};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::agents::{Agent, AgentRng, Kernel};
use crate::engine::rng::{Tag, word};
use crate::engine::{Dealer, EpisodeEnd, Game, Piece, Rules, episode_seed};
use crate::pool::Lane;

/// The seeds or sequences that each policy plays in an evaluation.
#[derive(Clone, Debug)]
pub enum Deal {
    /// Every policy plays all of these seeds.
    Common(Vec<u64>),
    /// Policy p plays row p of a matrix of seeds.
    PerSlot {
        /// Seeds row by row, one row per policy.
        seeds: Vec<u64>,
        /// Seeds per policy.
        columns: usize,
    },
    /// Every policy plays all of these explicit sequences.
    Sequences(Vec<Arc<[Piece]>>),
}

impl Deal {
    /// Seeds or sequences per policy.
    pub fn len(&self) -> usize {
        match self {
            Deal::Common(seeds) => seeds.len(),
            Deal::PerSlot { columns, .. } => *columns,
            Deal::Sequences(sequences) => sequences.len(),
        }
    }

    /// Whether a policy has nothing to play.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Many games: every policy plays its seeds, under one set of rules.
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub rules: Rules,
    pub policies: Vec<Agent>,
    pub deal: Deal,
    /// Number of episodes per seed, at least 1. They are the first episodes of an environment with that seed.
    pub episodes_per_seed: u32,
    /// The (policy, seed) pairs to play, in this order. `None` plays all of them, policy by policy.
    pub pairs: Option<Vec<(u32, u32)>>,
    /// Pieces after which a game is cut.
    pub max_pieces: u64,
    /// Steps after which a game is cut: key presses in keypress games, pieces in all others.
    pub max_steps: u64,
    /// Number of trials per level for estimates of game length; 0 plays the games.
    pub loss_trials: u32,
    /// The agent that all policies play against, under rules of two players and only then. Episode k of a seed is a match
    /// with the policy on side k modulo 2, and with the seed of episode k / 2.
    pub opponent: Option<Agent>,
    /// The kernel for the sums. The kernel never changes a result.
    pub kernel: Kernel,
}

/// One game of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayedGame {
    /// Index of the game in the evaluation's order, from 0.
    pub game: u64,
    /// Index of the policy that played.
    pub policy: u32,
    /// Index of the seed among the policy's seeds.
    pub seed_index: u32,
    /// Index of the episode among the seed's episodes.
    pub episode: u32,
    /// The episode's seed; 0 for an explicit sequence.
    pub seed: u64,
    pub lines: u64,
    pub pieces: u64,
    /// Steps taken: key presses in keypress games, pieces in all others.
    pub steps: u64,
    /// Points under the rules' scoring.
    pub score: f64,
    /// The reason for the end.
    pub end: Option<EpisodeEnd>,
}

impl PlayedGame {
    /// Whether a limit or the end of the sequence cut the game.
    pub fn is_truncated(&self) -> bool {
        !self.end.is_some_and(EpisodeEnd::is_terminated)
    }
}

/// An estimate of the length of a policy's games. In an evaluation of estimates it replaces one game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EstimatedGame {
    /// Index of the estimate in the evaluation's order, from 0.
    pub game: u64,
    /// Index of the policy that played.
    pub policy: u32,
    /// Index of the seed among the policy's seeds.
    pub seed_index: u32,
    /// Index of the episode among the seed's episodes.
    pub episode: u32,
    pub seed: u64,
    pub estimate: Estimate,
}

impl Evaluation {
    /// The order of its games: that in which they are numbered, if its pairs are in ascending order.
    pub fn order(&self) -> GameOrder<'_> {
        GameOrder {
            num_policies: self.policies.len() as u32,
            num_seeds: self.deal.len() as u32,
            episodes: self.episodes_per_seed,
            pairs: self.pairs.as_deref(),
        }
    }

    /// Number of games, or of estimates.
    pub fn num_games(&self) -> u64 {
        self.order().num_games()
    }

    /// Plays one game from beginning to end. Returns `None` if it was stopped.
    ///
    /// # Panics
    /// When the evaluation has no such game, or estimates games instead of playing them.
    pub fn play(&self, game: u64, stop: &AtomicBool) -> Option<PlayedGame> {
        match self.finish(game, stop)? {
            FinishedGame::Game(result, _) => Some(result),
            FinishedGame::Estimate(_) => panic!("the evaluation plays no games"),
        }
    }

    /// Estimates the length of a game. Returns `None` if it was stopped.
    ///
    /// # Panics
    /// When the evaluation has no such game, or plays games instead of estimating them.
    pub fn estimate(&self, game: u64, stop: &AtomicBool) -> Option<EstimatedGame> {
        match self.finish(game, stop)? {
            FinishedGame::Estimate(estimate) => Some(estimate),
            FinishedGame::Game(..) => panic!("the evaluation plays games"),
        }
    }

    fn finish(&self, game: u64, stop: &AtomicBool) -> Option<FinishedGame> {
        let mut playing = GameInProgress::new(self, game, false);
        while !playing.advance(self) {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
        }
        Some(playing.outcome(self))
    }
}

/// A game or an estimate in progress.
struct GameInProgress {
    result: PlayedGame,
    course: GameCourse,
}

enum GameCourse {
    Game(Box<Episode>),
    Match(Box<MatchEpisode>),
    Estimate(Box<Splitting>),
}

impl GameInProgress {
    fn new(evaluation: &Evaluation, game: u64, record: bool) -> GameInProgress {
        let episodes = u64::from(evaluation.episodes_per_seed);
        let (pair, episode) = (game / episodes, game % episodes);
        let (policy, seed_index) = evaluation.order().pair(pair);
        let (at, row) = (seed_index as usize, policy as usize);
        let number = if evaluation.opponent.is_some() { episode / 2 } else { episode };
        let seed = match &evaluation.deal {
            Deal::Common(seeds) => episode_seed(seeds[at], number),
            Deal::PerSlot { seeds, columns } => episode_seed(seeds[row * columns + at], number),
            Deal::Sequences(_) => 0,
        };
        let (dealer, rng) = match &evaluation.deal {
            Deal::Sequences(sequences) => (
                Dealer::sequence(sequences[at].clone()),
                AgentRng::new(word(0, Tag::Game, seed_index.into())),
            ),
            _ => (evaluation.rules.dealer(seed), AgentRng::new(seed)),
        };
        let course = if evaluation.opponent.is_some() {
            let versus = MatchEpisode::new(&evaluation.rules, &dealer, seed);
            GameCourse::Match(Box::new(if record { versus.recorded(&evaluation.rules) } else { versus }))
        } else if evaluation.loss_trials > 0 {
            let first = Episode::new(&evaluation.rules, dealer, rng);
            GameCourse::Estimate(Box::new(Splitting::new(&evaluation.rules, seed, first)))
        } else if record {
            GameCourse::Game(Box::new(
                Episode::new(&evaluation.rules, dealer, rng).recorded(&evaluation.rules),
            ))
        } else {
            GameCourse::Game(Box::new(Episode::new(&evaluation.rules, dealer, rng)))
        };
        GameInProgress {
            course,
            result: PlayedGame {
                game,
                policy,
                seed_index,
                episode: episode as u32,
                seed,
                lines: 0,
                pieces: 0,
                steps: 0,
                score: 0.0,
                end: None,
            },
        }
    }

    /// Plays one slice. Returns true at the end.
    fn advance(&mut self, evaluation: &Evaluation) -> bool {
        let agent = &evaluation.policies[self.result.policy as usize];
        match &mut self.course {
            GameCourse::Game(episode) => {
                let bounds = Bounds::of_game(evaluation.max_pieces, evaluation.max_steps);
                episode.advance(&evaluation.rules, agent, evaluation.kernel, bounds, SLICE);
                episode.is_over(bounds)
            }
            GameCourse::Match(versus) => {
                let bounds = Bounds::of_game(evaluation.max_pieces, evaluation.max_steps);
                let opponent = evaluation.opponent.as_ref().expect("a match has two players");
                let mut agents = [agent, opponent];
                agents.rotate_right(self.result.episode as usize % 2);
                versus.advance(&evaluation.rules, agents, evaluation.kernel, bounds, SLICE);
                versus.is_over(bounds)
            }
            GameCourse::Estimate(splitting) => {
                let Evaluation { rules, kernel, loss_trials, max_pieces, max_steps, .. } = evaluation;
                let (kernel, trials) = (*kernel, *loss_trials);
                let (max_pieces, max_steps) = (*max_pieces, *max_steps);
                splitting
                    .advance(&EstimateTask { rules, agent, kernel, trials, max_pieces, max_steps }, SLICE)
            }
        }
    }

    /// Pieces and lines so far.
    fn counts(&self) -> (u64, u64) {
        match &self.course {
            GameCourse::Game(episode) => (episode.game.pieces, episode.game.lines),
            GameCourse::Match(versus) => {
                let [first, second] = [0, 1].map(|side| versus.side(side).game);
                (first.pieces + second.pieces, first.lines + second.lines)
            }
            GameCourse::Estimate(splitting) => (splitting.played().pieces, splitting.played().lines),
        }
    }

    fn outcome(&mut self, evaluation: &Evaluation) -> FinishedGame {
        match &mut self.course {
            GameCourse::Game(episode) => {
                let result = result_of(self.result, evaluation, episode, episode.game.end);
                FinishedGame::Game(result, episode.take_record(&evaluation.rules).map(Box::new))
            }
            GameCourse::Match(versus) => {
                let side = self.result.episode as usize % 2;
                let result = result_of(self.result, evaluation, versus.side(side), versus.end(side));
                FinishedGame::Game(result, versus.take_record(&evaluation.rules).map(Box::new))
            }
            GameCourse::Estimate(splitting) => {
                let PlayedGame { game, policy, seed_index, episode, seed, .. } = self.result;
                let estimate = splitting.estimate();
                FinishedGame::Estimate(EstimatedGame { game, policy, seed_index, episode, seed, estimate })
            }
        }
    }
}

/// The result of an episode with this end, or cut by a limit.
fn result_of(
    game: PlayedGame,
    evaluation: &Evaluation,
    episode: &Episode,
    end: Option<EpisodeEnd>,
) -> PlayedGame {
    let Game { lines, pieces, score, .. } = episode.game;
    let limit = match pieces >= evaluation.max_pieces {
        true => EpisodeEnd::PieceLimit,
        false => EpisodeEnd::StepLimit,
    };
    PlayedGame { lines, pieces, steps: episode.steps, score, end: end.or(Some(limit)), ..game }
}

/// Counters that other threads may read while an evaluation runs.
#[derive(Debug, Default)]
pub struct Counters {
    pub pieces: AtomicU64,
    pub lines: AtomicU64,
}

struct EvaluationRun<F> {
    lane: Lane,
    evaluation: Arc<Evaluation>,
    next_game: AtomicU64,
    num_games: u64,
    /// When at most this many games have not started yet, all of them start.
    last_games: u64,
    stop: Arc<AtomicBool>,
    progress: Arc<Counters>,
    record: bool,
    sink: F,
}

/// The outcome of a game: its result with its record, if it was recorded, or an estimate.
#[derive(Debug)]
pub enum FinishedGame {
    /// A finished game, with its record if the evaluation keeps records.
    Game(PlayedGame, Option<Box<GameRecord>>),
    Estimate(EstimatedGame),
}

/// Starts the next game after a finished one, if any is left.
pub type NextGame = Box<dyn FnOnce() + Send>;

/// Starts an evaluation on a pool and returns at once.
///
/// At most `parallelism` games are in progress at a time. 0 means one per thread, and two per thread at the end: the
/// last games start early and share the threads in slices, so three long games on two threads take as long as one and a
/// half games, not two. The pool's threads call `sink` with every finished game, in the order in which they finish. The
/// sink decides when the next game starts: at once, or later if the sink has more results than it can handle. The sink
/// must not block.
///
/// The sink is dropped when the last game is done, when the evaluation has noticed the stop, or when a game or the sink
/// has panicked, which stops the evaluation.
///
/// # Panics
/// In the pool's threads, if the evaluation estimates games instead of playing them.
pub fn spawn<F>(
    lane: &Lane,
    evaluation: Arc<Evaluation>,
    parallelism: usize,
    stop: Arc<AtomicBool>,
    progress: Arc<Counters>,
    sink: F,
) where
    F: Fn(PlayedGame, NextGame) + Send + Sync + 'static,
{
    let sink = move |outcome, next| match outcome {
        FinishedGame::Game(result, _) => sink(result, next),
        FinishedGame::Estimate(_) => panic!("the evaluation plays no games"),
    };
    spawn_outcomes(lane, evaluation, parallelism, stop, progress, false, sink);
}

/// Like [`spawn`], for games or estimates. With `record`, the outcomes include the records of the games, which stay in
/// memory until the sink takes them.
pub fn spawn_outcomes<F>(
    lane: &Lane,
    evaluation: Arc<Evaluation>,
    parallelism: usize,
    stop: Arc<AtomicBool>,
    progress: Arc<Counters>,
    record: bool,
    sink: F,
) where
    F: Fn(FinishedGame, NextGame) + Send + Sync + 'static,
{
    let num_games = evaluation.num_games();
    let threads = lane.num_threads();
    let (chains, last_games) = match parallelism {
        0 => (threads, threads as u64),
        parallelism => (parallelism.min(threads), 0),
    };
    let (lane, next_game) = (lane.clone(), AtomicU64::new(0));
    let shared =
        EvaluationRun { lane, evaluation, next_game, num_games, last_games, stop, progress, record, sink };
    let shared = Arc::new(shared);
    for _ in 0..(chains as u64).min(num_games) {
        start_next_game(shared.clone());
    }
}

fn start_next_game<F: Fn(FinishedGame, NextGame) + Send + Sync + 'static>(shared: Arc<EvaluationRun<F>>) {
    loop {
        let game = shared.next_game.fetch_add(1, Ordering::Relaxed);
        if game >= shared.num_games || shared.stop.load(Ordering::Relaxed) {
            return;
        }
        let playing = GameInProgress::new(&shared.evaluation, game, shared.record);
        continue_game(shared.clone(), playing);
        if shared.num_games - game - 1 > shared.last_games {
            return;
        }
    }
}

/// Queues the next slice of a game after all other waiting work.
fn continue_game<F: Fn(FinishedGame, NextGame) + Send + Sync + 'static>(
    shared: Arc<EvaluationRun<F>>,
    mut playing: GameInProgress,
) {
    let lane = shared.lane.clone();
    lane.spawn(move || {
        if shared.stop.load(Ordering::Relaxed) {
            return;
        }
        let _stop = StopOnPanic(&shared.stop);
        let before = playing.counts();
        let over = playing.advance(&shared.evaluation);
        let (pieces, lines) = playing.counts();
        shared.progress.pieces.fetch_add(pieces - before.0, Ordering::Relaxed);
        shared.progress.lines.fetch_add(lines - before.1, Ordering::Relaxed);
        if over {
            let next = shared.clone();
            let outcome = playing.outcome(&shared.evaluation);
            (shared.sink)(outcome, Box::new(move || start_next_game(next)));
        } else {
            continue_game(shared.clone(), playing);
        }
    });
}

/// Stops an evaluation when a game or the sink panics, because half an evaluation is not a result.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}
