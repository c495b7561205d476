//! An agent that plays a game on a screen: chooses the next action, a bit of thinking at a time.
//!
//! The choices equal those of the agent in an evaluation of the game: `tests/it/watch.rs` compares the two.

use tetrion_core::agents::{Agent, AgentRng, Decision, FormulaAgent, Kernel, LinearAgent, Sight, Thought};
use tetrion_core::engine::{Piece, Placement, Rules};
use tetrion_toolkit::recording::Course;

/// An agent that plays one game.
#[derive(Clone, Debug)]
pub struct Pilot {
    name: String,
    agent: Agent,
    kernel: Kernel,
    rng: AgentRng,
    turn: Turn,
}

/// State of the choice for the current piece.
#[derive(Clone, Debug)]
enum Turn {
    Thinking(Thought),
    Decided(Decision),
}

/// The part of an agent that scores placements, for explanations of a choice.
#[derive(Clone, Copy, Debug)]
pub enum PlacementValues<'a> {
    /// Weights, and a model if there is one.
    Weights(&'a LinearAgent),
    /// A formula that is no weighted sum.
    Formula(&'a FormulaAgent),
}

impl Pilot {
    /// An agent with this name, for the game with this seed.
    pub fn new(name: String, agent: Agent, seed: u64) -> Pilot {
        let turn = Turn::Thinking(Thought::default());
        Pilot { name, agent, kernel: Kernel::best(), rng: AgentRng::new(seed), turn }
    }

    /// Name of the player, as screens and recordings show it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What scores the placements, if weights or a formula do.
    pub fn values(&self) -> Option<PlacementValues<'_>> {
        let weights = self.agent.controller().map(PlacementValues::Weights);
        weights.or_else(|| self.agent.formula().map(PlacementValues::Formula))
    }

    /// Thinks for about this much work, in pieces that a linear controller places with a kernel, and subtracts the work done.
    /// Returns the next action, a placement or a key, once it is chosen.
    ///
    /// # Panics
    /// If the game is over.
    pub fn next_action(&mut self, course: &Course, work: &mut u64) -> Option<u16> {
        let rules = course.rules();
        let cost = self.agent.cost(rules);
        let (player_rules, next) = seen_by_a_player(course);
        let decision = loop {
            match &mut self.turn {
                Turn::Decided(decision) => break *decision,
                Turn::Thinking(_) if *work == 0 => return None,
                Turn::Thinking(thought) => {
                    let sight = sight_of(course, &player_rules, &next);
                    *work = work.saturating_sub(cost);
                    if let Some(decision) = self.agent.think(self.kernel, &sight, thought, &mut self.rng) {
                        self.turn = Turn::Decided(decision);
                    }
                }
            }
        };
        Some(match (decision, course.moving()) {
            (Decision::Place(placement), None) => placement.action(rules) as u16,
            (Decision::Place(placement), Some(piece)) => {
                piece.key_towards(rules, course.playfield(), placement) as u16
            }
            (Decision::Press(agent), _) => agent.press(&course.keys(), &mut self.rng) as u16,
        })
    }

    /// The chosen placement of the current piece, if the agent has chosen one.
    pub fn decided(&self) -> Option<Placement> {
        match self.turn {
            Turn::Decided(Decision::Place(placement)) => Some(placement),
            Turn::Decided(Decision::Press(_)) | Turn::Thinking(_) => None,
        }
    }

    /// Starts thinking about the next piece, after one has landed.
    pub fn landed(&mut self) {
        self.turn = Turn::Thinking(Thought::default());
    }
}

/// The rules and the shown pieces of a game, for its [`sight_of`].
pub fn seen_by_a_player(course: &Course) -> (Rules, Vec<Piece>) {
    (course.player_rules(), course.preview().collect())
}

/// What a player sees of a game.
///
/// # Panics
/// If the game is over.
pub fn sight_of<'a>(course: &'a Course, rules: &'a Rules, next: &'a [Piece]) -> Sight<'a> {
    Sight {
        rules,
        playfield: course.playfield(),
        piece: course.piece().expect("a game that goes on"),
        next,
        held: course.held(),
        odds: course.odds(),
        lines: course.outcome().lines,
        pieces: course.outcome().pieces,
        chain: course.chain(),
        incoming: Some(course.incoming()),
    }
}
