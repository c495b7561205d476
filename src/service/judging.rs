//! The values that a policy gives the listed placements of positions.
//!
//! The policy thinks as it does in a game, one placement at a time if it searches, so a slow search shares its thread.

use tetrion_core::agents::{Agent, Judgement, Sight, TerminalValue, Thought};
use tetrion_core::engine::{Incoming, MAX_PREVIEW, Odds, Piece, Rules};
use tetrion_core::env::{EnvState, StartPosition};
use tetrion_core::features::kernel::Kernel;
use tetrion_core::placements::{Placements, Position};

use super::reserved::List;

/// What a policy sees of a game in addition to a [`Position`].
#[derive(Clone, Copy, Debug)]
pub(super) struct GameView {
    /// The shown pieces after the current one.
    pub next: ShownPieces,
    pub held: Option<Piece>,
    /// Odds of the piece after the shown ones.
    pub odds: Odds,
    pub lines: u64,
    pub pieces: u64,
    pub incoming: Incoming,
}

/// The shown pieces after the current one, at most as many as any rules show.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownPieces([Option<Piece>; MAX_PREVIEW as usize]);

/// A policy, and its values so far.
#[derive(Debug)]
pub(super) struct Judging {
    agent: Agent,
    /// One per position.
    views: List<GameView>,
    thought: Thought,
    /// The value of each row of the judged positions.
    pub values: Vec<f64>,
    /// The chosen row of each judged position; -1 for a position without rows.
    pub choices: Vec<i32>,
}

impl FromIterator<Piece> for ShownPieces {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> ShownPieces {
        let mut shown = [None; MAX_PREVIEW as usize];
        shown.iter_mut().zip(pieces).for_each(|(place, piece)| *place = Some(piece));
        ShownPieces(shown)
    }
}

impl GameView {
    /// The view of a game, which may have ended.
    pub fn of_state(state: &EnvState) -> GameView {
        GameView {
            next: state.pieces().into_iter().skip(1).collect(),
            held: state.held(),
            odds: state.odds(),
            lines: state.statistics().lines,
            pieces: state.statistics().pieces,
            incoming: state.incoming(),
        }
    }

    /// The view of a game that begins with a position. Nothing is known of its hidden pieces.
    pub fn of_drawing(drawn: &StartPosition) -> GameView {
        GameView {
            next: drawn.queue.iter().copied().collect(),
            held: drawn.held,
            odds: Odds::EVEN,
            lines: 0,
            pieces: 0,
            incoming: Incoming::default(),
        }
    }
}

impl Judging {
    /// The policy before its first position.
    pub fn new(agent: Agent, views: List<GameView>) -> Judging {
        let choices = Vec::with_capacity(views.len());
        Judging { agent, views, thought: Thought::default(), values: Vec::new(), choices }
    }

    /// The agent that judges the placements.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Thinks this many times, or until all positions are judged. Returns whether they are.
    pub fn advance(
        &mut self,
        kernel: Kernel,
        rules: &Rules,
        positions: &[Position],
        columns: &Placements,
        mut thoughts: u64,
    ) -> bool {
        while let Some(position) = positions.get(self.choices.len()) {
            if thoughts == 0 {
                return false;
            }
            thoughts -= 1;
            self.think(kernel, rules, position, columns);
        }
        true
    }

    /// Thinks once about the next position.
    fn think(&mut self, kernel: Kernel, rules: &Rules, position: &Position, columns: &Placements) {
        let at = self.choices.len();
        let first = columns.row_offsets[at] as usize;
        let rows = &columns.placements[first..columns.row_offsets[at + 1] as usize];
        let (Some(hand), false) = (position.hand, rows.is_empty()) else {
            self.choices.push(-1);
            return;
        };
        let GameView { next, held, odds, lines, pieces, incoming } = &self.views[at];
        let next: Vec<Piece> = next.0.iter().copied().flatten().collect();
        let sight = Sight {
            rules: &rules.after(position.chain).while_moving(position.falling),
            playfield: &position.playfield,
            piece: hand.current,
            next: &next,
            held: *held,
            odds: *odds,
            lines: *lines,
            pieces: *pieces,
            chain: position.chain,
            incoming: Some(incoming),
        };
        let Some(Judgement { values, choice }) = self.agent.judge(kernel, &sight, &mut self.thought) else {
            return;
        };
        self.thought = Thought::default();
        let avoids_ends = self.agent.terminal_value() == Some(TerminalValue::Avoid);
        // Both lists are in ascending action order.
        let mut values = values.into_iter().peekable();
        let of_row = |(&row, &ends): (&i32, &bool)| {
            let value = values.next_if(|value| value.placement.action(rules) as i32 == row);
            // A search that finds only ends gives the one that it takes the value of a lost game.
            value.filter(|_| !(ends && avoids_ends)).map_or(f64::NEG_INFINITY, |value| value.score)
        };
        self.values.reserve_exact(columns.placements.len() - self.values.len());
        self.values.extend(rows.iter().zip(&columns.terminated[first..]).map(of_row));
        let chosen = rows.iter().position(|&row| row == choice.action(rules) as i32);
        self.choices.push((first + chosen.expect("a listed placement")) as i32);
    }
}
