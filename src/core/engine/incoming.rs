//! Garbage in a game: lines queue up, attack cancels them, and they rise from below.
//!
//! The state is a few bytes next to the playfield. This file knows no pieces and does not ask who sends what.

use super::column::Column;
use super::garbage::Garbage;
use super::playfield::{Landed, PlayfieldOf};
use super::rules::Rules;

/// Number of queue slots: for lines that may rise with the current piece, with the one after it, and so on.
const WAITING: usize = Garbage::MAX_DELAY as usize + 1;

/// The limit of the counter of risen rows. No game reaches it.
const MAX_RISEN: u64 = 1 << 53;

/// The queued garbage of a game, and the rows that have risen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Incoming {
    /// Queued lines: `lines[k]` may rise when the k-th piece from now lands, the current piece being the 0th. The total
    /// is at most the number of rows of the playfield.
    pub lines: [u8; WAITING],
    /// Rows that have risen so far.
    pub risen: u64,
    /// The column of the last risen row's hole; 0 before any row has risen.
    pub hole: u8,
    /// Number of rows that rose after the last landing.
    pub just_risen: u8,
}

impl Incoming {
    /// Number of queued lines, including lines that may not rise yet.
    pub(crate) fn waiting(&self) -> u32 {
        self.lines.iter().map(|&lines| u32::from(lines)).sum()
    }

    /// The queue as players see it: one slot more than the rules' delay; empty without garbage.
    pub fn seen(&self, rules: &Rules) -> &[u8] {
        &self.lines[..rules.garbage.map_or(0, |garbage| usize::from(garbage.delay_pieces) + 1)]
    }

    /// Applies garbage after the landing of piece `piece` of an episode, counted from 0. The rules have already judged
    /// and cleared the landing, which has sent `sent` lines.
    ///
    /// A landing that ended the game changes nothing here. Otherwise the sent lines cancel queued lines, the oldest
    /// first. Then, if the piece cleared no lines, the lines that are due rise. Then the piece's own lines join the
    /// queue. Returns the landing with the effects of garbage: the game ends if a cell is pushed over the top, or lies
    /// where the rules end the game.
    pub fn follow<C: Column, const N: usize>(
        &mut self,
        rules: &Rules,
        (seed, piece): (u64, u64),
        (landed, sent): (Landed, u32),
        playfield: &mut PlayfieldOf<C, N>,
    ) -> Landed {
        let Some(garbage) = rules.garbage else { return landed };
        self.just_risen = 0;
        if landed.terminal {
            return landed;
        }
        self.cancel(sent);
        let mut terminal = false;
        if landed.lines == 0 {
            for _ in 0..std::mem::take(&mut self.lines[0]) {
                terminal |= self.rise(garbage, seed, playfield);
            }
            terminal |= self.just_risen > 0 && playfield.is_topped_out(rules.top_out);
        }
        // Lines that were held back may rise with the next piece, together with the lines due then.
        let held_back = self.lines[0];
        self.lines.copy_within(1.., 0);
        self.lines[WAITING - 1] = 0;
        self.lines[0] += held_back;
        let room = u32::from(rules.height) - self.waiting();
        self.lines[usize::from(garbage.delay_pieces)] +=
            u32::from(garbage.lines(seed, piece)).min(room) as u8;
        Landed { terminal, ..landed }
    }

    /// Cancels queued lines, the oldest first.
    fn cancel(&mut self, sent: u32) {
        let mut left = sent;
        for lines in &mut self.lines {
            let gone = u32::from(*lines).min(left);
            *lines -= gone as u8;
            left -= gone;
        }
    }

    /// Lets one row rise. Returns whether it pushes a cell over the top.
    fn rise<C: Column, const N: usize>(
        &mut self,
        garbage: Garbage,
        seed: u64,
        playfield: &mut PlayfieldOf<C, N>,
    ) -> bool {
        let before = (self.risen > 0).then_some(self.hole);
        self.hole = garbage.hole(seed, self.risen, before, playfield.width());
        self.risen = (self.risen + 1).min(MAX_RISEN);
        self.just_risen += 1;
        playfield.raise(self.hole)
    }
}
