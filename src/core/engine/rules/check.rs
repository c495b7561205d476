//! Which rules can be played: every field in its range, and the choices that need or exclude one another.
//!
//! Callers name rules by messages, flags and bytes; all of them pass here, and nothing else asks whether rules fit together.

use super::{ActionModel, HEIGHTS, MAX_PREVIEW, OrientationTable, Reach, Rules, TopOut, WIDTHS};
use crate::engine::clears::{AttackTable, ClearPoints};
use crate::engine::garbage::Garbage;
use crate::engine::randomizer::Randomizer;
use crate::engine::rotation::{HalfTurns, RotationSystem};
use crate::engine::spin::SpinRule;
use crate::engine::timing::Timing;

/// Why rules cannot be played.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RulesError {
    /// A width outside [`WIDTHS`].
    #[error("width is {0}, expected {min}..={max}", min = WIDTHS.start(), max = WIDTHS.end())]
    Width(u32),
    /// A height outside [`HEIGHTS`].
    #[error("height is {0}, expected {min}..={max}", min = HEIGHTS.start(), max = HEIGHTS.end())]
    Height(u32),
    /// More rows above the visible field than leave it [`HEIGHTS`]' least.
    #[error("rows_above is {rows_above}, expected at most {most}: height {height} less {least} visible rows", most = .height - HEIGHTS.start(), least = HEIGHTS.start())]
    RowsAbove {
        /// What was given.
        rows_above: u32,
        /// All rows.
        height: u8,
    },
    /// A spawn row from which pieces could come to rest where no placement has a number.
    #[error(
        "spawn_row is {spawn_row}, expected 0..={most}: at most 3 rows above the {visible} visible ones, and 1 above all"
    )]
    SpawnRow {
        /// What was given.
        spawn_row: u32,
        /// The highest one.
        most: u8,
        /// Visible rows.
        visible: u8,
    },
    /// A preview over [`MAX_PREVIEW`].
    #[error("preview is {0}, expected 0..={MAX_PREVIEW}")]
    Preview(u32),
    /// A piece that is too wide for the playfield in all of its orientations.
    #[error("piece {letter:?} of the set has no orientation of at most {width} columns, expected one")]
    TooWide {
        /// The letter of the piece.
        letter: char,
        /// The columns of the playfield.
        width: u8,
    },
    /// Points that are not a finite number, or too large for a double to add up exactly enough.
    #[error("{field} is {value}, expected a finite number of at most 1e15 in size")]
    Points {
        /// Which points.
        field: &'static str,
        /// What they were.
        value: f64,
    },
    /// A part of [`Timing`] that is out of range, or missing, or where no time passes.
    #[error("{field} is {value}, expected {expected}")]
    Timing {
        /// Which part.
        field: &'static str,
        /// What was given.
        value: u32,
        /// What may be given.
        expected: &'static str,
    },
    /// A part of [`Garbage`] that is out of range.
    #[error("{field} is {value}, expected {expected}")]
    Garbage {
        /// Which part.
        field: &'static str,
        /// What was given.
        value: f64,
        /// What may be given.
        expected: &'static str,
    },
    /// Two choices that cannot go together.
    #[error("{0}")]
    Contradiction(&'static str),
}

/// Checks that a number can be points.
///
/// # Errors
/// [`RulesError::Points`] with the name of the field if not.
pub fn check_points(field: &'static str, value: f64) -> Result<(), RulesError> {
    if value.is_finite() && value.abs() <= 1e15 { Ok(()) } else { Err(RulesError::Points { field, value }) }
}

impl Rules {
    /// Checks that these rules can be played.
    ///
    /// # Errors
    /// The first field that is out of range, or two choices that contradict each other.
    pub fn check(&self) -> Result<(), RulesError> {
        if !WIDTHS.contains(&self.width) {
            return Err(RulesError::Width(self.width.into()));
        }
        if !HEIGHTS.contains(&self.height) {
            return Err(RulesError::Height(self.height.into()));
        }
        if self.rows_above > self.height - HEIGHTS.start() {
            return Err(RulesError::RowsAbove { rows_above: self.rows_above.into(), height: self.height });
        }
        if let Some(spawn_row) = self.spawn_row {
            self.check_spawn_row(spawn_row.into())?;
        }
        if self.preview > MAX_PREVIEW {
            return Err(RulesError::Preview(self.preview.into()));
        }
        if let Some(piece) = self.pieces.too_wide(self.width) {
            return Err(RulesError::TooWide { letter: self.pieces.letter(piece), width: self.width });
        }
        let points = [
            ("scoring.piece", self.scoring.piece),
            ("scoring.lines[0]", self.scoring.lines[0]),
            ("scoring.lines[1]", self.scoring.lines[1]),
            ("scoring.lines[2]", self.scoring.lines[2]),
            ("scoring.lines[3]", self.scoring.lines[3]),
            ("scoring.game_end", self.scoring.game_end),
        ];
        for (field, value) in points {
            check_points(field, value)?;
        }
        if let Some(field) = self.timing.and_then(Timing::zero) {
            return Err(RulesError::Timing { field, value: 0, expected: Timing::STEPS });
        }
        if let Some((field, value, expected)) = self.garbage.and_then(Garbage::out_of_range) {
            return Err(RulesError::Garbage { field, value, expected });
        }
        self.check_together().map_err(RulesError::Contradiction)
    }

    /// Checks that a piece that appears in this row and is dropped comes to rest where its placement has a number.
    ///
    /// # Errors
    /// [`RulesError::SpawnRow`] if it might not.
    pub fn check_spawn_row(&self, spawn_row: u32) -> Result<(), RulesError> {
        let (most, visible) = (self.spot_rows() - 1, self.visible_rows());
        if spawn_row <= most.into() { Ok(()) } else { Err(RulesError::SpawnRow { spawn_row, most, visible }) }
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
        if self.reach == Reach::Srs {
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
        if self.clear_points != ClearPoints::Lines || self.attack != AttackTable::Off {
            return Err("pieces other than the tetrominoes need clear_points lines and attack off");
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
                return Err("the keypress action model needs reach by walking sideways, or reach srs");
            }
            if self.orientations != OrientationTable::Lab {
                return Err("the keypress action model needs the lab's orientation table, or reach srs");
            }
            if self.hold {
                return Err("the keypress action model has a key to hold a piece under reach srs only");
            }
        }
        Timing::check(self.timing, self.steers())?;
        if self.hold && self.preview == 0 {
            return Err("hold needs a preview of at least 1: while no piece is held, the next one is placed");
        }
        if self.clear_points == ClearPoints::Attack && self.attack == AttackTable::Off {
            return Err("clear_points attack needs a table of attack");
        }
        if self.reach == Reach::Srs {
            if self.orientations != OrientationTable::Guideline {
                return Err("reach srs needs the guideline's orientation table");
            }
            if self.top_out == TopOut::LockOut && self.rows_above < 3 {
                return Err(
                    "top-out lock_out needs rows_above of at least 3: a piece may rest partly above the field",
                );
            }
            return Ok(());
        }
        let turns = (self.rotation, self.half_turns, self.spins);
        if turns != (RotationSystem::None, HalfTurns::Off, SpinRule::Off) {
            return Err("rotation, half_turns and spins need reach srs");
        }
        if self.rows_above != 0 {
            return Err("rows_above needs reach srs");
        }
        if self.spawn_row.is_some() {
            return Err("spawn_row needs reach srs");
        }
        if self.top_out == TopOut::LockOut {
            return Err("top-out lock_out needs reach srs");
        }
        Ok(())
    }
}
