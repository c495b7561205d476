//! The playfield of a state and its origin: the last landing, the garbage that rose after it, and the waiting garbage.

use crate::engine::steered::can_rest;
use crate::engine::{
    ActionModel, Garbage, Hand, Incoming, Landed, Placement, Playfield, Resting, Rules, Spin, lock, place,
    settle,
};
use crate::env::columns::{LastLanding, Rest};

use super::reader::{Reader, SnapshotError, SnapshotError::Corrupt};

impl Reader<'_> {
    /// The current playfield, the landing that led to it, and the garbage that rose then: its number of rows, and the
    /// column of the last hole.
    #[allow(clippy::type_complexity)] // the type occurs only once
    pub(super) fn playfields(
        &mut self,
        rules: &Rules,
    ) -> Result<(Playfield, Option<LastLanding<u64, 32>>, Option<(u8, u8)>), SnapshotError> {
        let has_landed = self.flag()?;
        let playfield = self.playfield(rules)?;
        if !has_landed {
            return Ok((playfield, None, None));
        }
        let piece = self.piece(rules)?;
        let (mut afterstate, nowhere) = (playfield, Corrupt("the last landing is not possible"));
        let (rest, landed) = match rules.action_model {
            ActionModel::Placement => {
                let action = self.u16()?;
                if u32::from(action) >= rules.num_placements() {
                    return Err(nowhere);
                }
                let placement = Placement::from_action(action.into(), rules);
                if rules.names_spots() {
                    Hand::only(piece).can_place(rules, &playfield, placement).ok_or(nowhere)?;
                } else {
                    // Rows that are gone now may have blocked the path.
                    placement.shape(rules, piece).ok_or(nowhere)?;
                }
                let landed = place(rules, &mut afterstate, piece, placement);
                (Rest::Placed { piece, action }, landed)
            }
            ActionModel::Keypress if rules.steers() => {
                let [orientation, column, row, spin] = self.array()?;
                let Some(&spin) = Spin::ALL.get(usize::from(spin)) else { return Err(nowhere) };
                let resting = Resting { orientation, column, row, spin };
                if !can_rest(rules, &playfield, piece, resting) {
                    return Err(nowhere);
                }
                let landed = lock(rules, &mut afterstate, resting.shape(piece), row, column);
                (Rest::Steered { piece, resting }, landed)
            }
            ActionModel::Keypress => {
                let fallen = self.pose(piece)?;
                if !fallen.is_free(&playfield) || !fallen.rests_on(&playfield) {
                    return Err(nowhere);
                }
                let landed = settle(rules, &mut afterstate, fallen);
                (Rest::Fallen(fallen), landed)
            }
        };
        let risen = if rules.garbage.is_some() { self.risen(rules, &mut afterstate, landed)? } else { None };
        Ok((afterstate, Some(LastLanding { before: playfield, rest }), risen))
    }

    fn playfield(&mut self, rules: &Rules) -> Result<Playfield, SnapshotError> {
        let mut columns = [0; 32];
        for column in &mut columns[..rules.width.into()] {
            *column = self.u64()?;
            if *column >> rules.height != 0 {
                return Err(Corrupt("a cell is full above the playfield"));
            }
        }
        Ok(Playfield::from_columns(rules.width, rules.height, &columns))
    }

    /// Adds the rows that rose after a landing to the playfield that it led to.
    fn risen(
        &mut self,
        rules: &Rules,
        playfield: &mut Playfield,
        landed: Landed,
    ) -> Result<Option<(u8, u8)>, SnapshotError> {
        let count = self.byte()?;
        if count > rules.height {
            return Err(Corrupt("more garbage rose than the playfield has rows"));
        }
        if count > 0 && (landed.lines > 0 || landed.terminal) {
            return Err(Corrupt("garbage rose after a landing that stops garbage"));
        }
        let holes = self.take(count.into())?;
        for &hole in holes {
            if hole >= rules.width {
                return Err(Corrupt("the hole of a garbage row is outside the playfield"));
            }
            playfield.raise(hole);
        }
        Ok(holes.last().map(|&hole| (count, hole)))
    }

    pub(super) fn incoming(
        &mut self,
        rules: &Rules,
        risen: Option<(u8, u8)>,
    ) -> Result<Incoming, SnapshotError> {
        let Some(Garbage { delay_pieces, .. }) = rules.garbage else { return Ok(Incoming::default()) };
        let mut incoming = Incoming::default();
        incoming.lines[..=usize::from(delay_pieces)]
            .copy_from_slice(self.take(usize::from(delay_pieces) + 1)?);
        (incoming.risen, incoming.hole) = (self.count()?, self.byte()?);
        if incoming.waiting() > rules.height.into() {
            return Err(Corrupt("more garbage is waiting than the playfield has rows"));
        }
        if incoming.hole >= rules.width || incoming.risen == 0 && incoming.hole > 0 {
            return Err(Corrupt("the hole of the last garbage row is outside the playfield"));
        }
        if let Some((count, hole)) = risen {
            if incoming.risen < count.into() || incoming.hole != hole {
                return Err(Corrupt("the garbage rows do not fit the garbage of the episode"));
            }
            incoming.just_risen = count;
        }
        Ok(incoming)
    }
}
