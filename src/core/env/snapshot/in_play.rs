//! The pieces of a state: the visible ones, the held one, and the current one on its way down.

use crate::engine::steered::{MAX_HEIGHT_ABOVE, MAX_LIFTS};
use crate::engine::{
    ActionModel, Arrival, FallingPiece, MAX_PREVIEW, Piece, Playfield, Rules, SteeredPiece, Tetromino,
    Timing, Visible,
};

use super::NO_PIECE;
use super::reader::{Reader, SnapshotError, SnapshotError::Corrupt};

impl Reader<'_> {
    pub(super) fn held(&mut self, rules: &Rules) -> Result<Option<Piece>, SnapshotError> {
        match self.byte()? {
            NO_PIECE => Ok(None),
            number => rules.pieces.piece(number).map(Some).ok_or(Corrupt("a piece has an unknown number")),
        }
    }

    pub(super) fn visible(&mut self, rules: &Rules) -> Result<Visible, SnapshotError> {
        let mut pieces = [None; MAX_PREVIEW as usize + 1];
        let mut past_end = false;
        for slot in &mut pieces[..=usize::from(rules.preview)] {
            match self.byte()? {
                NO_PIECE => past_end = true,
                _ if past_end => {
                    return Err(Corrupt("the preview has a piece after the end of its sequence"));
                }
                number => {
                    *slot = Some(rules.pieces.piece(number).ok_or(Corrupt("a piece has an unknown number"))?)
                }
            }
        }
        Ok(Visible(pieces))
    }

    /// The falling piece, on its way down or where it has just appeared.
    pub(super) fn falling(
        &mut self,
        rules: &Rules,
        playfield: &Playfield,
        visible: &Visible,
        ended: bool,
    ) -> Result<Option<FallingPiece>, SnapshotError> {
        let (ActionModel::Keypress, Some(piece)) = (rules.action_model, visible.current()) else {
            return Ok(None);
        };
        if rules.steers() {
            return Ok(None);
        }
        let falling = self.pose(piece)?;
        let has_appeared = falling == FallingPiece::spawn(piece, rules.width, rules.height);
        let falls = falling.is_free(playfield) && !falling.rests_on(playfield);
        // Whether the piece may overlap the playfield where it has just appeared depends on whether the game continues.
        if falls || has_appeared && (ended || falling.is_free(playfield)) {
            Ok(Some(falling))
        } else {
            Err(Corrupt("the position of the falling piece is not possible"))
        }
    }

    /// The steered piece, on its way down or where it has just appeared.
    pub(super) fn steered(
        &mut self,
        rules: &Rules,
        playfield: &Playfield,
        visible: &Visible,
        held: Option<Piece>,
        ended: bool,
    ) -> Result<Option<SteeredPiece>, SnapshotError> {
        let (Some(timing), Some(tetromino)) = (rules.timing, visible.current()) else { return Ok(None) };
        let [turns, column, row, arrival] = self.array()?;
        let arrival = *Arrival::ALL
            .get(usize::from(arrival))
            .ok_or(Corrupt("how the falling piece came into play has an unknown number"))?;
        let is_swapped = self.flag()?;
        let [steps_in_air, steps_on_ground, lock_resets, lifts, lowest_row] = self.array()?;
        let piece = SteeredPiece {
            tetromino,
            turns,
            column,
            row,
            arrival,
            is_swapped,
            steps_in_air,
            steps_on_ground,
            lock_resets,
            lifts,
            lowest_row,
        };
        let is_turned = turns <= if tetromino == Tetromino::O { 0 } else { 3 };
        if !is_turned || !arrival.is_of(rules.spin_rule, tetromino) || is_swapped && held.is_none() {
            return Err(Corrupt("the state of the falling piece is not possible"));
        }
        if ended && piece == SteeredPiece::spawn(rules, playfield, tetromino) {
            return Ok(Some(piece));
        }
        let highest = rules.height + MAX_HEIGHT_ABOVE;
        if row > highest || !piece.is_free(rules, playfield) {
            return Err(Corrupt("the position of the falling piece is not possible"));
        }
        let low = piece.cells()[0].0;
        let Timing { fall_delay, lock_delay, lock_resets: most } = timing;
        let has_time = steps_in_air < fall_delay && steps_on_ground < lock_delay;
        if !has_time || lock_resets > most || lifts > MAX_LIFTS || lowest_row > low {
            return Err(Corrupt("the falling piece has been in play for too long"));
        }
        Ok(Some(piece))
    }
}
