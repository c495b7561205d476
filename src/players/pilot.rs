//! A controller or an agent at a game that is shown: what it does next, a bit of thinking at a time.
//!
//! It does what the same agent does in an evaluation of the same game: `tests/it/watch.rs` compares the two.

use crate::agents::{Agent, AgentRng, Decision, Kernel, LinearAgent, Sight, Thought};
use crate::engine::{MovingPiece, Piece, Placement};
use crate::recording::Course;

/// An agent that plays one game.
#[derive(Clone, Debug)]
pub struct Pilot {
    name: String,
    agent: Agent,
    kernel: Kernel,
    rng: AgentRng,
    turn: Turn,
}

/// What it is doing about the piece in play.
#[derive(Clone, Debug)]
enum Turn {
    Thinking(Thought),
    Decided(Decision),
}

impl Pilot {
    /// An agent that is called like this, at the game with this seed.
    pub fn new(name: String, agent: Agent, seed: u64) -> Pilot {
        let turn = Turn::Thinking(Thought::default());
        Pilot { name, agent, kernel: Kernel::best(), rng: AgentRng::new(seed), turn }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The controller that scores its placements, if it has one.
    pub fn controller(&self) -> Option<&LinearAgent> {
        self.agent.controller()
    }

    /// Thinks on for about this much work, in pieces that a linear controller places with a kernel, and subtracts what it
    /// took. Returns what it does next if it knows by then: a placement, or a key.
    ///
    /// # Panics
    /// When the game is over.
    pub fn next_action(&mut self, course: &Course, work: &mut u64) -> Option<u16> {
        let rules = course.rules();
        let cost = self.agent.cost(rules);
        let next: Vec<Piece> = course.next().collect();
        let player_rules = course.player_rules();
        let decision = loop {
            match &mut self.turn {
                Turn::Decided(decision) => break *decision,
                Turn::Thinking(_) if *work == 0 => return None,
                Turn::Thinking(thought) => {
                    let sight = Sight {
                        rules: &player_rules,
                        playfield: course.playfield(),
                        piece: course.piece().expect("a game that goes on"),
                        next: &next,
                        held: course.held(),
                        odds: course.odds(),
                        lines: course.outcome().lines,
                    };
                    *work = work.saturating_sub(cost);
                    if let Some(decision) = self.agent.think(self.kernel, &sight, thought, &mut self.rng) {
                        self.turn = Turn::Decided(decision);
                    }
                }
            }
        };
        Some(match (decision, course.falling()) {
            (Decision::Place(placement), None) => placement.action(rules) as u16,
            (Decision::Place(placement), Some(MovingPiece::Falling(piece))) => {
                piece.key_towards(placement, rules.width) as u16
            }
            (Decision::Place(placement), Some(MovingPiece::Steered(piece))) => {
                piece.key_towards(rules, course.playfield(), placement) as u16
            }
            (Decision::Press(agent), _) => agent.press(&course.keys(), &mut self.rng) as u16,
        })
    }

    /// Where it wants the piece in play, if it has decided on a placement.
    pub fn decided(&self) -> Option<Placement> {
        match self.turn {
            Turn::Decided(Decision::Place(placement)) => Some(placement),
            Turn::Decided(Decision::Press(_)) | Turn::Thinking(_) => None,
        }
    }

    /// A piece has landed: it thinks about the next one.
    pub fn landed(&mut self) {
        self.turn = Turn::Thinking(Thought::default());
    }
}
