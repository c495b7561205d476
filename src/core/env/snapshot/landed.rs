//! The playfield of a state and its origin: the last landing, the garbage that rose after it, and the waiting garbage.

use crate::engine::steered::can_rest;
use crate::engine::{
    ActionModel, Chain, Exchanged, Hand, Incoming, Landed, Placement, Playfield, Resting, Rules, Spin,
    WaitingLines, lock, place, settle,
};
use crate::env::columns::{LastLanding, Rest};

use super::NO_HOLE;
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
                    // The clears before this landing are unknown, so the piece may have appeared higher.
                    let lifted = rules.after(Chain { clears: 1, ..Chain::default() });
                    Hand::only(piece).can_place(&lifted, &playfield, placement).ok_or(nowhere)?;
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
        let stops = landed.lines > 0 && !rules.garbage.is_some_and(|garbage| garbage.rises_after_clears);
        if count > 0 && (stops || landed.terminal) {
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
        let Some(garbage) = rules.garbage else { return Ok(Incoming::default()) };
        let mut groups = Vec::new();
        for _ in 0..self.byte()? {
            let [lines, delay, hole] = self.array()?;
            let is_hole = if garbage.holes_when_sent { hole < rules.width } else { hole == 0 };
            if lines == 0 || delay > garbage.delay_pieces || !is_hole {
                return Err(Corrupt("waiting lines do not fit the rules"));
            }
            groups.push(WaitingLines { lines, delay, hole });
        }
        let mut incoming = Incoming::waiting_for(groups).ok_or(Corrupt("too many groups of lines wait"))?;
        if incoming.waiting() > garbage.most_waiting(rules.height).into() {
            return Err(Corrupt("more garbage is waiting than the rules allow"));
        }
        incoming.risen = self.count()?;
        incoming.hole = Some(self.byte()?).filter(|&hole| hole != NO_HOLE);
        (incoming.is_hole_new, incoming.side) = (self.flag()?, self.byte()?.checked_sub(1));
        if incoming.side.is_some() != rules.is_match() || incoming.side > Some(1) {
            return Err(Corrupt("its side does not fit the number of players"));
        }
        incoming.used_up = self.count()?;
        (incoming.garbage_rows, incoming.passed) = (self.u64()?, self.count()?);
        incoming.multiplier = self.f64()?;
        let [sent, received, cancelled, surged] =
            [self.count()?, self.count()?, self.count()?, self.count()?];
        incoming.exchanged = Exchanged { sent, received, cancelled, surged };
        incoming.just_risen = risen.map_or(0, |(count, _)| count);
        let Incoming { risen: all, hole, is_hole_new, multiplier, .. } = incoming;
        if hole.is_some_and(|hole| hole >= rules.width) || hole.is_none() && (all > 0 || is_hole_new) {
            return Err(Corrupt("the hole of the last garbage row is outside the playfield"));
        }
        if incoming.garbage_rows >> rules.height != 0 {
            return Err(Corrupt("a row of garbage lies above the playfield"));
        }
        if !(0.0..=garbage.multiplier.max(garbage.multiplier_most)).contains(&multiplier) {
            return Err(Corrupt("the factor of the lines sent does not fit the rules"));
        }
        if let Some((count, last)) = risen {
            let is_last = is_hole_new || garbage.holes_when_sent || hole == Some(last);
            if all < count.into() || !is_last {
                return Err(Corrupt("the garbage rows do not fit the garbage of the episode"));
            }
        }
        Ok(incoming)
    }
}
