//! Checks that rules can be played: each field is in its range, and the choices fit together.
//!
//! Callers name rules by messages, flags and bytes. All of them pass through here; no other code checks rules.

use super::error::{RulesError, expected};
use super::fields::{FieldValue, POINTS, RULES_FIELDS};
use super::{ActionModel, HEIGHTS, OrientationTable, Reach, Rules, TopOut};
use crate::engine::clears::{AttackTable, ClearPoints};
use crate::engine::randomizer::Randomizer;
use crate::engine::rotation::{HalfTurns, RotationSystem};
use crate::engine::spin::SpinRule;
use crate::engine::timing::Timing;

/// Checks that a number can be used as points.
///
/// # Errors
/// [`RulesError::Field`] with the name of the field if it cannot.
pub fn check_points(field: &'static str, value: f64) -> Result<(), RulesError> {
    if POINTS.contain(value) {
        Ok(())
    } else {
        Err(expected(field, FieldValue::Number(value), POINTS.in_words))
    }
}

impl Rules {
    /// Checks that these rules can be played.
    ///
    /// # Errors
    /// The first field that is out of range, or two choices that contradict each other.
    pub fn check(&self) -> Result<(), RulesError> {
        for field in &RULES_FIELDS {
            field.value(self).map_or(Ok(()), |value| field.check(value))?;
        }
        let most = self.height - HEIGHTS.start();
        if self.rows_above > most {
            let (height, least) = (self.height, HEIGHTS.start());
            let expects = format!("at most {most}: height {height} less {least} visible rows");
            return Err(expected("rows_above", FieldValue::Count(self.rows_above.into()), expects));
        }
        // A piece that spawns in this row and drops must come to rest in a row that placements can name.
        let (most, visible) = (self.spot_rows() - 1, self.visible_rows());
        if let Some(spawn_row) = self.spawn_row.filter(|&row| row > most) {
            let expects =
                format!("0 to {most}: at most 3 rows above the {visible} visible ones, and 1 above all");
            return Err(expected("spawn_row", FieldValue::Count(spawn_row.into()), expects));
        }
        if let Some(piece) = self.pieces.too_wide(self.width) {
            return Err(RulesError::TooWide { letter: self.pieces.letter(piece), width: self.width });
        }
        if let Some(garbage) = self.garbage.filter(|garbage| garbage.lines_per_piece == 0.0) {
            let lines = FieldValue::Number(garbage.lines_per_piece);
            return Err(expected("garbage.lines_per_piece", lines, "more than 0 where there is garbage"));
        }
        if let Some(garbage) = self.garbage.filter(|garbage| garbage.columns(self.width).is_empty()) {
            let (margin, most) = (FieldValue::Count(garbage.hole_margin.into()), (self.width - 1) / 2);
            let expects = format!("at most {most}: {} columns must leave one for holes", self.width);
            return Err(expected("garbage.hole_margin", margin, expects));
        }
        self.check_together().map_err(RulesError::Contradiction)
    }

    /// Checks that a game can be played without an opponent.
    ///
    /// # Errors
    /// [`RulesError::Contradiction`] for rules of two players.
    pub fn check_alone(&self) -> Result<(), RulesError> {
        if self.is_match() {
            return Err(RulesError::Contradiction("a game without an opponent needs players 1"));
        }
        Ok(())
    }

    /// Checks the choices that need the seven tetrominoes.
    fn check_pieces(&self) -> Result<(), &'static str> {
        if self.pieces.is_tetrominoes() {
            if self.top_out == TopOut::Sink {
                return Err(
                    "top-out sink needs pieces other than the tetrominoes: the kernels do not know it",
                );
            }
            return Ok(());
        }
        if self.action_model == ActionModel::Keypress {
            return Err(
                "pieces other than the tetrominoes need the placement action model: they do not turn on their way",
            );
        }
        if self.reach == Reach::Moves {
            return Err(
                "pieces other than the tetrominoes need reach straight_drop or sideways_walk: they do not turn on their way",
            );
        }
        if self.orientations != OrientationTable::Literature {
            return Err("pieces other than the tetrominoes need the literature's orientation table");
        }
        if !matches!(self.randomizer, Randomizer::Uniform | Randomizer::Bag7) {
            return Err("pieces other than the tetrominoes need randomizer uniform or bag7");
        }
        if self.clear_points != ClearPoints::Lines || self.attack_table != AttackTable::None {
            return Err("pieces other than the tetrominoes need clear_points lines and attack_table none");
        }
        Ok(())
    }

    /// Checks the choices that need one another.
    fn check_together(&self) -> Result<(), &'static str> {
        self.check_pieces()?;
        if self.top_out == TopOut::Sink {
            if self.height <= TopOut::ROWS_ABOVE_SINKING {
                return Err(
                    "top-out sink needs a height of at least 6: the five top rows lie above the field",
                );
            }
            if self.garbage.is_some() {
                return Err("top-out sink needs no garbage: no row that rises can end the game");
            }
        }
        if self.action_model == ActionModel::Keypress && !self.steers() {
            if self.reach != Reach::SidewaysWalk {
                return Err("the keypress action model needs reach by walking sideways, or reach moves");
            }
            if self.orientations != OrientationTable::Lab {
                return Err("the keypress action model needs the lab's orientation table, or reach moves");
            }
            if self.hold {
                return Err("the keypress action model has a key to hold a piece under reach moves only");
            }
        }
        Timing::check(self.timing, self.steers())?;
        if self.lifts {
            return Err("lifts is for a single piece, not for the rules of a game");
        }
        if self.is_match() {
            if self.garbage.is_none() {
                return Err(
                    "players 2 needs garbage: set garbage.lines_per_piece, or take a preset such as tetrio",
                );
            }
            if self.attack_table == AttackTable::None {
                return Err("players 2 needs an attack_table");
            }
            if self.action_model == ActionModel::Keypress {
                return Err("players 2 needs the placement action model: a turn is a piece of each player");
            }
        }
        if !self.is_match() && matches!(self.clear_points, ClearPoints::Exchange | ClearPoints::Result) {
            return Err("clear_points exchange and result need players 2");
        }
        if self.clutch && self.reach != Reach::Moves {
            return Err("clutch needs reach moves");
        }
        if self.hold && self.preview == 0 {
            return Err("hold needs a preview of at least 1: while no piece is held, the next one is placed");
        }
        if self.clear_points == ClearPoints::Attack && self.attack_table == AttackTable::None {
            return Err("clear_points attack needs an attack_table");
        }
        if self.reach == Reach::Moves {
            if self.orientations != OrientationTable::Guideline {
                return Err("reach moves needs the guideline's orientation table");
            }
            if self.top_out == TopOut::LockOut && self.rows_above < 3 {
                return Err(
                    "top-out lock_out needs rows_above of at least 3: a piece may rest partly above the field",
                );
            }
            return Ok(());
        }
        let turns = (self.rotation_system, self.half_turns, self.spin_rule);
        if turns != (RotationSystem::NoKicks, HalfTurns::None, SpinRule::None) {
            return Err("rotation_system, half_turns and spin_rule need reach moves");
        }
        if self.rows_above != 0 {
            return Err("rows_above needs reach moves");
        }
        if self.spawn_row.is_some() {
            return Err("spawn_row needs reach moves");
        }
        if self.top_out == TopOut::LockOut {
            return Err("top-out lock_out needs reach moves");
        }
        Ok(())
    }
}
