//! Agents: ways of choosing a placement.
//!
//! An agent sees the rules, the playfield, the current piece and the next ones as far as they are shown ([`Sight`]), draws
//! its own [`AgentRng`] if it draws any, and answers with a placement; one of them answers with keys instead. It knows nothing of
//! episodes, seeds or the network; what it knows of features is their names and numbers. [`AGENTS`] is the table of them
//! all. A linear controller is a list of features and as many weights; [`controllers`] is the table of those with a name.
//!
//! The surprising decision: an agent need not choose in one go. An agent that weighs one placement after the other weighs
//! one per call, and the caller keeps what it has found so far, as a [`Thought`]. So a game in which a single choice takes a
//! second can be stopped within some milliseconds, and shares its thread with others.

mod agent_rng;
pub mod controllers;
mod flat_stacking;
pub mod linear;
pub mod lookahead;
pub mod monte_carlo;
mod random;
mod table;

pub use crate::features::kernel::{Kernel, TerminalPolicy};
pub use agent_rng::AgentRng;
pub use controllers::{CONTROLLERS, Controller, ControllerError, Figure, Measured};
pub use flat_stacking::flat_stacking;
pub use linear::{LinearAgent, MAX_WEIGHT, WeightError};
pub use lookahead::LookaheadAgent;
pub use monte_carlo::MonteCarlo;
pub use table::{AGENTS, AgentKind, AgentRow, CONTROLLER_PARAMETERS, Parameter};

use crate::engine::{ActionModel, Key, Placement, Playfield, Rules, Tetromino, placements};

/// Any agent that can play an episode.
#[derive(Clone, Debug)]
pub enum Agent {
    /// A weight vector over a feature set.
    Linear(LinearAgent),
    /// The same with a look at the next pieces.
    Lookahead(LookaheadAgent),
    /// Every placement played to the end at random.
    MonteCarlo(MonteCarlo),
    /// Every placement with the same chance.
    Random,
    /// One of four quarter turns, then a column.
    RandomSurvey,
    /// Every key with the same chance; for rules of key presses only.
    RandomKeys,
    /// The first orientation at the left wall.
    Dummy,
}

/// What an agent sees of a game.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The rules.
    pub rules: &'a Rules,
    /// The cells.
    pub playfield: &'a Playfield,
    /// The piece to be placed; it can come into play.
    pub piece: Tetromino,
    /// The pieces after it, as far as the rules show them.
    pub next: &'a [Tetromino],
    /// Lines cleared so far in the game.
    pub lines: u64,
}

/// A choice that is being made: the placements weighed so far, and the first of the best among them.
#[derive(Clone, Debug, Default)]
pub struct Thought {
    weighed: u32,
    best: Option<(Worth, Placement)>,
}

/// What a placement was found to be worth: the larger in the order of its agent's own numbers.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Worth {
    Playouts(monte_carlo::Tally),
    /// Kept as two records: see [`monte_carlo`].
    PlayoutsAsCoded(monte_carlo::Tally),
    Score(lookahead::Value),
}

/// About how long a look at a piece takes, in pieces of a kernel's own loop: on a fast path, and by the features' functions.
const FAST: u64 = 4;
/// See [`FAST`].
const PLAIN: u64 = 32;
/// About how many pieces of a random playout take as long as one piece of a kernel.
const PLAYOUT_PIECES: u64 = 8;

impl Agent {
    /// Thinks on, for one placement or to the end; `Some` when the choice is made, after which the thought is spent.
    ///
    /// # Panics
    /// When the piece cannot come into play, or the agent presses keys.
    pub fn think(
        &self,
        kernel: Kernel,
        sight: &Sight<'_>,
        thought: &mut Thought,
        rng: &mut AgentRng,
    ) -> Option<Placement> {
        match self {
            Agent::Linear(agent) => {
                Some(agent.choose(kernel, sight.rules, sight.playfield, sight.piece).placement)
            }
            Agent::Lookahead(agent) => {
                thought.weigh(sight, |placement| Worth::Score(agent.value(kernel, sight, placement)))
            }
            Agent::MonteCarlo(agent) => {
                thought.weigh(sight, |placement| agent.weigh(kernel, sight, placement, rng))
            }
            Agent::Random => Some(random::placement(sight, rng)),
            Agent::RandomSurvey => Some(random::survey(sight, rng)),
            Agent::Dummy => Some(random::dummy(sight)),
            Agent::RandomKeys => unreachable!("this one does not think in placements"),
        }
    }

    /// The next key of an agent that presses keys; `None` for an agent that thinks in placements.
    pub fn press(&self, rng: &mut AgentRng) -> Option<Key> {
        match self {
            Agent::RandomKeys => Some(random::key(rng)),
            _ => None,
        }
    }

    /// Whether it can play by these rules: one that presses keys needs keys.
    pub fn plays(&self, rules: &Rules) -> bool {
        !matches!(self, Agent::RandomKeys) || rules.action_model == ActionModel::Keypress
    }

    /// About how long one call of [`Agent::think`] takes, in pieces that a linear controller places with a kernel.
    pub fn cost(&self, rules: &Rules) -> u64 {
        let cost_of = |agent: &LinearAgent| if agent.is_fast() { FAST } else { PLAIN };
        match self {
            Agent::Linear(agent) => cost_of(agent),
            Agent::Lookahead(agent) => {
                // All but the last of the next pieces are placed wherever they can go.
                let branches = agent.pieces().saturating_sub(1);
                cost_of(agent.linear()) * (3 * u64::from(rules.width)).saturating_pow(branches)
            }
            Agent::MonteCarlo(agent) => 1 + agent.estimated_pieces(rules) / PLAYOUT_PIECES,
            Agent::Random | Agent::RandomSurvey | Agent::RandomKeys | Agent::Dummy => 1,
        }
    }
}

impl Thought {
    /// Weighs the next placement; the choice, when that was the last one.
    fn weigh(&mut self, sight: &Sight<'_>, worth: impl FnOnce(Placement) -> Worth) -> Option<Placement> {
        let all = placements(sight.rules, sight.playfield, sight.piece);
        let placement = all.nth(self.weighed).expect("a piece that can be played");
        let worth = worth(placement);
        self.weighed += 1;
        let best = self.best.map(|(best, _)| best);
        if best.is_none_or(|best| worth > best) {
            self.best = Some((worth.recorded_after(best), placement));
        }
        self.best.map(|(_, placement)| placement).filter(|_| self.weighed == all.len())
    }
}

impl Worth {
    /// The record to keep for a placement that is better than the best before it.
    fn recorded_after(self, best: Option<Worth>) -> Worth {
        let Worth::PlayoutsAsCoded(tally) = self else { return self };
        let records = match best {
            Some(Worth::PlayoutsAsCoded(records)) => records,
            _ => monte_carlo::Tally::default(),
        };
        Worth::PlayoutsAsCoded(tally.recorded_after(records))
    }
}
