//! A task while it is played, and its score.

use super::play::{Goal, PlayTask};
use crate::prompts::{Choices, UnknownAction};
use tetrion_core::engine::{LowPlayfield, Piece, Placement, Rules, land, placements};
use tetrion_core::values::{self, Stakes};

/// A position of a task: what decides whether the goal can still be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TaskPosition {
    pub playfield: LowPlayfield,
    pub lines: u32,
    /// Rows of garbage that are left, the lowest ones.
    pub garbage: u32,
    /// Whether the game is lost.
    pub is_lost: bool,
}

/// A task that is being played.
#[derive(Clone, Debug)]
pub struct TaskCourse<'a> {
    task: &'a PlayTask,
    position: TaskPosition,
    num_placed: usize,
    is_reached: bool,
    stakes: Vec<Stakes>,
}

/// The reason why an action cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    #[error("follows the end of the task")]
    Over,
    /// The piece has no such placement.
    #[error("is {0}, which is no placement of the piece")]
    Illegal(i32),
    /// A text that is no legal action.
    #[error(transparent)]
    Unknown(#[from] UnknownAction),
}

impl TaskPosition {
    /// The position before the first placement. Garbage counts only if the goal is to dig.
    pub fn of_start(task: &PlayTask) -> TaskPosition {
        let garbage = if let Goal::Dig(rows) = task.goal { rows } else { 0 };
        TaskPosition { playfield: task.start.playfield, lines: 0, garbage, is_lost: false }
    }

    /// The position after a placement.
    pub fn after(&self, rules: &Rules, piece: Piece, placement: Placement) -> TaskPosition {
        let (_, landing) = land(rules, &self.playfield, piece, placement);
        if landing.terminal {
            return TaskPosition { is_lost: true, ..*self };
        }
        let garbage_rows = (1u32 << self.garbage) - 1;
        let dug = (u32::from(landing.vanished_rows()) & garbage_rows).count_ones();
        TaskPosition {
            playfield: landing.afterstate,
            lines: self.lines + u32::from(landing.lines),
            garbage: self.garbage - dug,
            is_lost: false,
        }
    }

    /// Whether the goal is reached, with `num_left` pieces still to come.
    pub fn reaches(&self, goal: Goal, num_left: usize) -> bool {
        !self.is_lost
            && match goal {
                Goal::Value => false,
                Goal::Lines(lines) => self.lines >= lines,
                Goal::Survive => num_left == 0,
                Goal::Dig(_) => self.garbage == 0,
                Goal::PerfectClear => self.playfield.occupied_rows() == 0,
            }
    }
}

impl TaskCourse<'_> {
    /// Starts a task before its first placement.
    pub fn new(task: &PlayTask) -> TaskCourse<'_> {
        let position = TaskPosition::of_start(task);
        TaskCourse { task, position, num_placed: 0, is_reached: false, stakes: Vec::new() }
    }

    /// The piece to place; `None` when the task is over.
    pub fn piece(&self) -> Option<Piece> {
        let is_over = self.position.is_lost || self.is_reached;
        self.task.start.pieces.get(self.num_placed).copied().filter(|_| !is_over)
    }

    /// Places the piece.
    ///
    /// # Errors
    /// [`PlayError`]. Then nothing has changed.
    ///
    /// # Panics
    /// If the goal needs exact values that are not known.
    pub fn place(&mut self, placement: Placement) -> Result<(), PlayError> {
        let PlayTask { rules, goal, start, .. } = self.task;
        let piece = self.piece().ok_or(PlayError::Over)?;
        if !placements(rules, &self.position.playfield, piece).contains(placement) {
            return Err(PlayError::Illegal(placement.action(rules) as i32));
        }
        if *goal == Goal::Value {
            let values =
                values::known(rules.width, rules.height).expect("a playfield whose values are known");
            let stakes = values.stakes(rules, &self.position.playfield, piece, placement);
            self.stakes.push(stakes.expect("a start that games reach"));
        }
        self.position = self.position.after(rules, piece, placement);
        self.num_placed += 1;
        self.is_reached = self.position.reaches(*goal, start.pieces.len() - self.num_placed);
        Ok(())
    }

    /// Places the piece by its action.
    ///
    /// # Errors
    /// [`PlayError`]. Then nothing has changed.
    pub fn act(&mut self, action: i32) -> Result<(), PlayError> {
        let rules = &self.task.rules;
        let number = u32::try_from(action).ok().filter(|action| *action < rules.num_actions());
        match number {
            Some(number) => self.place(Placement::from_action(number, rules)),
            None if self.piece().is_none() => Err(PlayError::Over),
            None => Err(PlayError::Illegal(action)),
        }
    }

    /// Places the piece by the text of an action, as [`prompts`](crate::prompts) read it.
    ///
    /// # Errors
    /// [`PlayError`], also for a text that is no legal action. Then nothing has changed.
    pub fn act_by_text(&mut self, text: &str) -> Result<(), PlayError> {
        let piece = self.piece().ok_or(PlayError::Over)?;
        let choices =
            Choices::Placements(self.placements().into_iter().map(|placement| (piece, placement)).collect());
        self.act(choices.read(&self.task.rules, text)?)
    }

    /// The legal placements; none when the task is over.
    pub fn placements(&self) -> Vec<Placement> {
        let PlayTask { rules, .. } = self.task;
        let of_piece = |piece| placements(rules, &self.position.playfield, piece).iter().collect();
        self.piece().map_or_else(Vec::new, of_piece)
    }

    /// The score if the player stops here.
    pub fn score(&self) -> f64 {
        match self.task.goal {
            Goal::Value => {
                let sum: f64 = self.stakes.iter().map(Stakes::quality).sum();
                sum / self.task.start.pieces.len() as f64
            }
            _ => f64::from(u8::from(self.is_reached)),
        }
    }

    /// Whether the task is over.
    pub fn is_over(&self) -> bool {
        self.piece().is_none()
    }

    /// Whether the game is lost.
    pub fn is_lost(&self) -> bool {
        self.position.is_lost
    }

    /// Lines cleared so far in the task.
    pub fn lines(&self) -> u32 {
        self.position.lines
    }

    /// Pieces placed so far, which is also the index of the next piece.
    pub fn num_placed(&self) -> usize {
        self.num_placed
    }

    /// What depended on each placement, if the goal is about values.
    pub fn stakes(&self) -> &[Stakes] {
        &self.stakes
    }

    /// Cells of the playfield after the last placement.
    pub fn playfield(&self) -> &LowPlayfield {
        &self.position.playfield
    }
}
