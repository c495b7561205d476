//! Garbage in a game: lines wait, are taken away by what is sent, and rise from below.
//!
//! It is a state of a few bytes beside the playfield. This file knows no pieces, and does not ask who sends what.

use super::column::Column;
use super::garbage::Garbage;
use super::playfield::{Landed, PlayfieldOf};
use super::rules::Rules;

/// Places for lines that wait: those that may rise with the current piece, with the one after it, and so on.
pub const WAITING: usize = Garbage::MAX_DELAY as usize + 1;

/// Where the counter of rows that have risen stops. No game gets there.
const MAX_RISEN: u64 = 1 << 53;

/// The garbage that waits in a game, and what has risen of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Incoming {
    /// Lines that wait: `lines[k]` of them may rise when the k-th piece from now lands, the current one being the 0th. In all
    /// at most as many as the playfield has rows.
    pub lines: [u8; WAITING],
    /// Rows that have risen so far.
    pub risen: u64,
    /// The column of the hole of the last one; 0 where none has risen.
    pub hole: u8,
    /// How many of them rose after the last landing.
    pub just_risen: u8,
}

impl Incoming {
    /// How many lines wait.
    pub fn waiting(&self) -> u32 {
        self.lines.iter().map(|&lines| u32::from(lines)).sum()
    }

    /// What a player sees of it: the lines that wait, in one place more than the rules' delay; in none where there is no garbage.
    pub fn seen(&self, rules: &Rules) -> &[u8] {
        &self.lines[..rules.garbage.map_or(0, |garbage| usize::from(garbage.delay_pieces) + 1)]
    }

    /// What follows the landing of piece `piece` of an episode, counted from 0, that the rules have judged and cleared: it has
    /// sent so many lines.
    ///
    /// A landing that ended the game is the end of it. Otherwise sent lines take those away that have waited longest; then
    /// those rise that may, if the piece has cleared none; and then the piece's own lines begin to wait. Returns the same with
    /// what garbage has done: a game ends if a cell is pushed over the top, or lies where the rules end the game.
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
        // Lines that were held back may rise with the next piece, as those may that wait for it.
        let held_back = self.lines[0];
        self.lines.copy_within(1.., 0);
        self.lines[WAITING - 1] = 0;
        self.lines[0] += held_back;
        let room = u32::from(rules.height) - self.waiting();
        self.lines[usize::from(garbage.delay_pieces)] +=
            u32::from(garbage.lines(seed, piece)).min(room) as u8;
        Landed { terminal, ..landed }
    }

    /// Takes waiting lines away, those first that have waited longest.
    fn cancel(&mut self, sent: u32) {
        let mut left = sent;
        for lines in &mut self.lines {
            let gone = u32::from(*lines).min(left);
            *lines -= gone as u8;
            left -= gone;
        }
    }

    /// One row rises. Returns whether it pushes a cell over the top.
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
