//! Agents: ways of choosing a placement.
//!
//! An agent sees the rules, the playfield, the current piece and the next ones as far as they are shown ([`Sight`]), draws
//! its own [`AgentRng`] if it draws any, and decides ([`Decision`]): on a placement, or to press keys. It knows nothing of
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
pub use table::{AGENTS, AgentError, AgentRow, CONTROLLER_PARAMETERS, LINEAR, Parameter, Parameters};

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
    /// The first orientation at the left wall.
    Dummy,
    /// One that presses keys; for rules of key presses only.
    Keys(KeyAgent),
}

/// An agent that presses keys, one after the other, rather than choose a placement.
#[derive(Clone, Copy, Debug)]
pub enum KeyAgent {
    /// Every key with the same chance.
    Random,
}

/// What an agent does with a piece.
#[derive(Clone, Copy, Debug)]
pub enum Decision {
    /// It goes there.
    Place(Placement),
    /// It falls, and this agent presses the keys.
    Press(KeyAgent),
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
    /// A linear controller that looks at this many of the next pieces, as far as they are shown.
    pub fn linear(agent: LinearAgent, lookahead: u32) -> Agent {
        match lookahead {
            0 => Agent::Linear(agent),
            pieces => Agent::Lookahead(LookaheadAgent::new(agent, pieces)),
        }
    }

    /// Thinks on, for one placement or to the end; `Some` when it has decided, after which the thought is spent.
    ///
    /// # Panics
    /// When the piece cannot come into play.
    pub fn think(
        &self,
        kernel: Kernel,
        sight: &Sight<'_>,
        thought: &mut Thought,
        rng: &mut AgentRng,
    ) -> Option<Decision> {
        let placement = match self {
            Agent::Linear(agent) => agent.choose(kernel, sight.rules, sight.playfield, sight.piece).placement,
            Agent::Lookahead(agent) => {
                thought.weigh(sight, |placement| Worth::Score(agent.value(kernel, sight, placement)))?
            }
            Agent::MonteCarlo(agent) => {
                thought.weigh(sight, |placement| agent.weigh(kernel, sight, placement, rng))?
            }
            Agent::Random => random::placement(sight, rng),
            Agent::RandomSurvey => random::survey(sight, rng),
            Agent::Dummy => random::dummy(sight),
            Agent::Keys(agent) => return Some(Decision::Press(*agent)),
        };
        Some(Decision::Place(placement))
    }

    /// Whether it can play by these rules: one that presses keys needs keys.
    pub fn plays(&self, rules: &Rules) -> bool {
        !matches!(self, Agent::Keys(_)) || rules.action_model == ActionModel::Keypress
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
            Agent::Random | Agent::RandomSurvey | Agent::Dummy | Agent::Keys(_) => 1,
        }
    }
}

impl KeyAgent {
    /// The next key.
    pub fn press(self, rng: &mut AgentRng) -> Key {
        match self {
            KeyAgent::Random => random::key(rng),
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
