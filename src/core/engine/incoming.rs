//! Garbage in a game: lines queue up, attack cancels them, and they rise from below.
//!
//! The state lies next to the playfield. This file knows no pieces and does not ask who sends what: lines are dealt, or
//! come from the [opponent](super::versus).

use super::clears::Attack;
use super::column::Column;
use super::garbage::{Garbage, Holes};
use super::playfield::{Landed, PlayfieldOf};
use super::rules::Rules;

/// Number of groups that can wait. Lines beyond them join the newest group.
const MAX_GROUPS: usize = 64;

/// The limit of counters. No game reaches it.
const MAX_COUNT: u64 = 1 << 53;

/// Lines that arrived together and wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitingLines {
    /// Number of lines, at least 1.
    pub lines: u8,
    /// Number of pieces that land before they may rise.
    pub delay: u8,
    /// The column of their hole, where lines get it [when they are sent](Garbage::holes_when_sent); otherwise 0.
    pub hole: u8,
}

/// The queued garbage of a game, and the rows that have risen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Incoming {
    /// The waiting lines, those that arrived first at the front, then slots without lines.
    groups: [WaitingLines; MAX_GROUPS],
    /// Rows that have risen so far.
    pub risen: u64,
    /// Number of rows that rose after the last landing.
    pub just_risen: u8,
    /// The column of the last hole that was chosen, if any.
    pub hole: Option<u8>,
    /// Whether the hole has changed since the last row rose.
    pub is_hole_new: bool,
    /// How often lines that arrived together were used up.
    pub used_up: u64,
    /// Bit r for each row of the playfield that has cells of garbage.
    pub garbage_rows: u64,
    /// Lines that were sent while this mattered for the protection of an opening.
    pub passed: u64,
    /// Factor of the lines that the next piece sends.
    pub multiplier: f64,
    /// The side of a match, 0 or 1; `None` in a game alone.
    pub side: Option<u8>,
    /// The lines that left in this turn of a match, until they are exchanged.
    pub outgoing: Attack,
    /// What has been exchanged so far.
    pub exchanged: Exchanged,
}

/// Totals of the lines that a game has exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Lines that left for the opponent.
    pub sent: u64,
    /// Lines that arrived to wait, from the opponent or dealt.
    pub received: u64,
    /// Waiting lines that were cancelled.
    pub cancelled: u64,
    /// Lines of surges, cancelled or sent.
    pub surged: u64,
}

/// What landed, for garbage: the landing after the rules have judged and cleared it, and its attack.
#[derive(Clone, Copy, Debug)]
pub struct Attacking {
    pub landed: Landed,
    pub attack: Attack,
    /// Lines of the attack that come from a surge.
    pub surge: u32,
}

impl Default for Incoming {
    fn default() -> Incoming {
        Incoming {
            groups: [WaitingLines::default(); MAX_GROUPS],
            risen: 0,
            just_risen: 0,
            hole: None,
            is_hole_new: false,
            used_up: 0,
            garbage_rows: 0,
            passed: 0,
            multiplier: 1.0,
            side: None,
            outgoing: Attack::NOTHING,
            exchanged: Exchanged::default(),
        }
    }
}

impl Incoming {
    /// No garbage yet, at the start of a game.
    pub fn new(rules: &Rules) -> Incoming {
        let multiplier = rules.garbage.map_or(1.0, |garbage| garbage.multiplier);
        Incoming { multiplier, ..Incoming::default() }
    }

    /// Garbage like this on a side of a match, 0 or 1, or in a game alone.
    #[must_use]
    pub fn on_side(self, side: Option<u8>) -> Incoming {
        Incoming { side, ..self }
    }

    /// Garbage of which only these lines wait; `None` if there is no room for so many groups.
    pub fn waiting_for(groups: impl IntoIterator<Item = WaitingLines>) -> Option<Incoming> {
        let mut incoming = Incoming::default();
        let mut slots = incoming.groups.iter_mut();
        for group in groups {
            *slots.next()? = group;
        }
        Some(incoming)
    }

    /// The waiting lines, those that arrived first at the front.
    pub fn groups(&self) -> impl Iterator<Item = WaitingLines> + use<> {
        self.groups.into_iter().take_while(|group| group.lines > 0)
    }

    /// Number of waiting lines, including lines that may not rise yet.
    pub fn waiting(&self) -> u32 {
        self.groups.iter().map(|group| u32::from(group.lines)).sum()
    }

    /// The waiting lines as players see them: element k has those that may rise when the k-th piece from now lands, up to
    /// the rules' delay; empty without garbage.
    pub fn seen(&self, rules: &Rules) -> impl Iterator<Item = u8> + use<> {
        let mut seen = [0u8; Garbage::MAX_DELAY as usize + 1];
        for group in self.groups() {
            let place = &mut seen[usize::from(group.delay.min(Garbage::MAX_DELAY))];
            *place = place.saturating_add(group.lines);
        }
        seen.into_iter().take(rules.garbage.map_or(0, |garbage| usize::from(garbage.delay_pieces) + 1))
    }

    /// Takes cleared rows out of the rows of garbage. Bit r of `cleared` is row r before clearing. Returns the number of
    /// these rows that had garbage.
    pub(super) fn clear_rows(&mut self, cleared: u64) -> u32 {
        let had_garbage = (self.garbage_rows & cleared).count_ones();
        let mut left = cleared;
        while left != 0 {
            // From the top down, so that no row moves before it is taken out.
            let row = left.ilog2();
            let below = (1u64 << row) - 1;
            self.garbage_rows = self.garbage_rows & below | self.garbage_rows >> 1 & !below;
            left &= below;
        }
        had_garbage
    }

    /// Applies garbage after the landing of piece `piece` of an episode, counted from 0.
    ///
    /// A landing that ended the game changes nothing here. Otherwise the attack cancels queued lines, the oldest first,
    /// and the rest leaves. Then lines that are due rise, unless the piece cleared lines and the rules hold them back for
    /// that. Then, without an opponent, the piece's own lines join the queue. Returns the landing with the effects of
    /// garbage, and what left: the game ends if a cell is pushed over the top, or lies where the rules end the game.
    pub fn follow<C: Column, const N: usize>(
        &mut self,
        rules: &Rules,
        (holes, piece): (Holes<'_>, u64),
        attacking: Attacking,
        playfield: &mut PlayfieldOf<C, N>,
    ) -> (Landed, Attack) {
        let Attacking { landed, attack, surge } = attacking;
        let Some(garbage) = &rules.garbage else { return (landed, attack) };
        self.just_risen = 0;
        if landed.terminal {
            return (landed, Attack::NOTHING);
        }
        let left = self.cancel(garbage, (holes, piece), attack, rules.width);
        count(&mut self.exchanged.sent, left.lines());
        count(&mut self.exchanged.surged, surge);
        self.multiplier = garbage.grown(self.multiplier, piece);
        let mut terminal = false;
        if landed.lines == 0 || garbage.rises_after_clears {
            let most = if garbage.rows_per_piece == 0 { u8::MAX } else { garbage.rows_per_piece };
            while self.just_risen < most && self.groups[0].lines > 0 && self.groups[0].delay == 0 {
                terminal |= self.rise(garbage, holes, playfield);
            }
            terminal |= self.just_risen > 0 && playfield.is_topped_out(rules.top_out);
        }
        if landed.lines == 0 || !garbage.delay_skips_clears {
            self.groups.iter_mut().for_each(|group| group.delay = group.delay.saturating_sub(1));
        }
        if rules.is_match() {
            self.outgoing = left;
        } else {
            self.receive(rules, holes, [garbage.lines(holes.seed, piece).into()]);
        }
        (Landed { terminal, ..landed }, left)
    }

    /// Cancels queued lines, the oldest first. Returns what is left of the attack.
    fn cancel(
        &mut self,
        garbage: &Garbage,
        (holes, piece): (Holes<'_>, u64),
        attack: Attack,
        width: u8,
    ) -> Attack {
        let mut has_left = false;
        Attack::new(attack.events().map(|lines| {
            // Once something leaves, all that follows does.
            if has_left {
                return lines;
            }
            let waiting = self.waiting();
            let is_opening = piece < garbage.opening_pieces.into() && u64::from(waiting) >= self.passed;
            let strength = u32::from(lines) * if is_opening { 2 } else { 1 };
            let gone = strength.min(waiting);
            (0..gone).for_each(|_| self.take(garbage, holes, width));
            count(&mut self.exchanged.cancelled, gone);
            let left = u32::from(lines).saturating_sub(gone);
            count(&mut self.passed, left);
            has_left = left > 0;
            left as u16
        }))
    }

    /// Removes one line from the front of the queue, which must not be empty.
    fn take(&mut self, garbage: &Garbage, holes: Holes<'_>, width: u8) {
        self.groups[0].lines -= 1;
        if self.groups[0].lines == 0 {
            self.groups.copy_within(1.., 0);
            self.groups[MAX_GROUPS - 1] = WaitingLines::default();
            if let Some(hole) = garbage.changed_hole(holes, self.used_up, self.hole, width) {
                (self.hole, self.is_hole_new) = (Some(hole), true);
            }
            count(&mut self.used_up, 1);
        }
    }

    /// Lets one row rise. Returns whether it pushes a cell over the top.
    fn rise<C: Column, const N: usize>(
        &mut self,
        garbage: &Garbage,
        holes: Holes<'_>,
        playfield: &mut PlayfieldOf<C, N>,
    ) -> bool {
        let width = playfield.width();
        let hole = if garbage.holes_when_sent {
            self.groups[0].hole
        } else {
            garbage.hole(holes, self.risen, (self.hole, self.is_hole_new), width)
        };
        (self.hole, self.is_hole_new) = (Some(hole), false);
        self.take(garbage, holes, width);
        count(&mut self.risen, 1);
        self.just_risen += 1;
        let inside = (1u64 << playfield.height()) - 1;
        self.garbage_rows = (self.garbage_rows << 1 | 1) & inside;
        playfield.raise(hole)
    }

    /// Lets the events of an attack wait, as far as there is room.
    pub(super) fn receive(&mut self, rules: &Rules, holes: Holes<'_>, events: impl IntoIterator<Item = u16>) {
        let Some(garbage) = &rules.garbage else { return };
        let most = garbage.most_waiting(rules.height);
        let mut is_first = true;
        for lines in events {
            let room = u32::from(most).saturating_sub(self.waiting());
            let lines = u32::from(lines).min(room) as u8;
            let group = WaitingLines { lines, delay: garbage.delay_pieces, hole: 0 };
            if !garbage.holes_when_sent {
                self.wait(group, false);
                count(&mut self.exchanged.received, lines.into());
                continue;
            }
            for _ in 0..lines {
                let before = self.hole.filter(|_| !is_first);
                let hole = garbage.hole(holes, self.exchanged.received, (before, false), rules.width);
                self.hole = Some(hole);
                self.wait(WaitingLines { lines: 1, hole, ..group }, true);
                count(&mut self.exchanged.received, 1);
                is_first = false;
            }
        }
    }

    /// Appends waiting lines; if `joins`, to the newest group if that differs in nothing else.
    fn wait(&mut self, group: WaitingLines, joins: bool) {
        let len = self.groups().count();
        let newest = len.checked_sub(1).map(|newest| &mut self.groups[newest]);
        let is_alike = |newest: &WaitingLines| WaitingLines { lines: group.lines, ..*newest } == group;
        match newest {
            _ if group.lines == 0 => {}
            Some(newest) if len == MAX_GROUPS || joins && is_alike(newest) => newest.lines += group.lines,
            _ => self.groups[len] = group,
        }
    }
}

fn count(total: &mut u64, more: u32) {
    *total = (*total + u64::from(more)).min(MAX_COUNT);
}
