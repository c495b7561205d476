//! Tasks that ask for a formula: it plays whole games, and counts by how much it leads over random play.

use super::suite::Split;
use tetrion_core::agents::{Agent, AgentRng, Controller, Kernel};
use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::engine::{Rules, episode_seed};
use tetrion_core::rollout::{Bounds, Episode, SLICE};

/// Games that a formula plays per task.
pub const GAMES: usize = 8;

/// The best controller that looks at one piece only.
const ORACLE: &str = "tetrion-10x10";

/// A task that asks for a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaTask {
    pub rules: Rules,
    /// Pieces after which a game is cut.
    pub max_pieces: u64,
    /// Seeds of the games. The player does not see them.
    seeds: [u64; GAMES],
}

/// Games of a formula, of the oracle and of random play, on the same seeds.
#[derive(Debug)]
pub struct FormulaScore {
    task: FormulaTask,
    players: [Agent; 3],
    /// Lines and pieces of each player in all finished games.
    totals: [(u64, u64); 3],
    num_finished: usize,
    current: Episode,
}

impl FormulaTask {
    /// The seeds of a split have the same last bit, so the splits share none.
    pub(super) fn new(split: Split, index: u32, difficulty: u8) -> FormulaTask {
        let seed = |game| word(2 * u64::from(index) + split.bit(), Tag::Game, game as u64) & !1 | split.bit();
        FormulaTask {
            rules: Rules::simplified(10, 10),
            max_pieces: [1_000, 3_000, 10_000][usize::from(difficulty) - 1],
            seeds: std::array::from_fn(seed),
        }
    }

    /// The formula that scores 1: the weighted sum of a controller.
    pub fn oracle(&self) -> String {
        let controller = Controller::named(ORACLE).expect("a controller of the table");
        let features = controller.features(self.rules.width).expect("features of this width");
        let terms = features.names().into_iter().zip(controller.weights);
        terms.map(|(feature, weight)| format!("{weight} * {feature}")).collect::<Vec<_>>().join("\n+ ")
    }

    /// Number of pieces of all games together, at most.
    pub fn num_pieces(&self) -> u64 {
        GAMES as u64 * self.max_pieces
    }

    fn episode(&self, game: usize) -> Episode {
        let seed = episode_seed(self.seeds[game], 0);
        Episode::new(&self.rules, self.rules.dealer(seed), AgentRng::new(seed))
    }
}

impl FormulaScore {
    /// Starts the games of a formula's agent.
    pub fn new(task: FormulaTask, formula: Agent) -> FormulaScore {
        let controller = Controller::named(ORACLE).expect("a controller of the table");
        let oracle = controller.agent(task.rules.width).expect("a controller of this width");
        let current = task.episode(0);
        let players = [formula, Agent::Linear(oracle), Agent::Random];
        FormulaScore { task, players, totals: [(0, 0); 3], num_finished: 0, current }
    }

    /// Plays a slice. Returns whether all games are finished.
    pub fn advance(&mut self) -> bool {
        let player = self.num_finished / GAMES;
        let Some(agent) = self.players.get(player) else { return true };
        let bounds = Bounds::of_game(self.task.max_pieces, u64::MAX);
        self.current.advance(&self.task.rules, agent, Kernel::best(), bounds, SLICE);
        if self.current.is_over(bounds) {
            let (lines, pieces) = &mut self.totals[player];
            *lines += self.current.game.lines;
            *pieces += self.current.game.pieces;
            self.num_finished += 1;
            self.current = self.task.episode(self.num_finished % GAMES);
        }
        self.num_finished == GAMES * self.players.len()
    }

    /// Lines cleared by the formula.
    pub fn lines(&self) -> u64 {
        self.totals[0].0
    }

    /// Pieces placed by the formula.
    pub fn pieces(&self) -> u64 {
        self.totals[0].1
    }

    /// The score when all games are finished: the logarithm of the lines per game, 0 for random play and 1 for the oracle.
    pub fn score(&self) -> f64 {
        let [formula, oracle, random] =
            self.totals.map(|(lines, _)| libm::log(1.0 + lines as f64 / GAMES as f64));
        ((formula - random) / (oracle - random)).clamp(0.0, 1.0)
    }
}
