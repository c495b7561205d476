//! Rows that rise, written from the text of rules.proto: every line that waits is an entry of a list with the number of the
//! piece that it waits for, and every hole so far is remembered.

use super::playfield::TwinPlayfield;
use super::seeds::word;

/// The streams of the two draws.
const TAG_LINES: u64 = 6;
const TAG_HOLES: u64 = 7;

/// The garbage of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct TwinGarbage {
    lines_per_piece: f64,
    hole_move_chance: f64,
    delay_pieces: u64,
    /// For each line that waits, the oldest first, the number of the piece that may let it rise.
    waits_for: Vec<u64>,
    /// The columns of all holes so far.
    pub holes: Vec<usize>,
    landed: u64,
}

impl TwinGarbage {
    pub fn new(lines_per_piece: f64, hole_move_chance: f64, delay_pieces: u8) -> TwinGarbage {
        let (waits_for, holes) = (vec![], vec![]);
        TwinGarbage {
            lines_per_piece,
            hole_move_chance,
            delay_pieces: delay_pieces.into(),
            waits_for,
            holes,
            landed: 0,
        }
    }

    /// A piece has landed, cleared so many lines and sent so many; the game goes on. Returns whether garbage ends it by pushing
    /// a cell out.
    pub fn follow(&mut self, playfield: &mut TwinPlayfield, seed: u64, cleared: usize, sent: u64) -> bool {
        let cancelled = self.waits_for.len().min(sent as usize);
        self.waits_for.drain(..cancelled);
        let mut is_over = false;
        while cleared == 0 && self.waits_for.first().is_some_and(|piece| *piece <= self.landed) {
            self.waits_for.remove(0);
            let hole = self.next_hole(seed, playfield.width());
            self.holes.push(hole);
            let row = (0..playfield.width()).map(|column| column != hole).collect();
            playfield.rows.insert(0, row);
            is_over |= playfield.rows.pop().unwrap().contains(&true);
        }
        let whole = self.lines_per_piece.trunc();
        let extra = chance(word(seed, TAG_LINES, self.landed), self.lines_per_piece - whole);
        for _ in 0..whole as usize + usize::from(extra) {
            if self.waits_for.len() < playfield.height() {
                self.waits_for.push(self.landed + 1 + self.delay_pieces);
            }
        }
        self.landed += 1;
        is_over
    }

    fn next_hole(&self, seed: u64, width: usize) -> usize {
        let row = self.holes.len() as u64;
        let place = |bound: usize| {
            (u128::from(word(seed, TAG_HOLES, 2 * row + 1)) * bound as u128 / (1 << 64)) as usize
        };
        match self.holes.last() {
            None => place(width),
            Some(&last) if chance(word(seed, TAG_HOLES, 2 * row), self.hole_move_chance) => {
                // The other columns from the next one to the right on, as if they were in a ring.
                let others: Vec<usize> = (last + 1..width).chain(0..last).collect();
                others[place(width - 1)]
            }
            Some(&last) => last,
        }
    }

    /// What the observation `garbage` shows.
    pub fn waiting(&self) -> Vec<u8> {
        let places = 0..=self.delay_pieces;
        let may_rise = |piece: &u64, place: u64| piece.saturating_sub(self.landed) == place;
        places
            .map(|place| self.waits_for.iter().filter(|piece| may_rise(piece, place)).count() as u8)
            .collect()
    }
}

/// Whether something happens that has this chance: the first 53 bits of a word are a number from 0 to 2^53 - 1.
fn chance(word: u64, chance: f64) -> bool {
    let number = (word / 2048) as f64;
    number < (chance * 2f64.powi(53)).floor()
}
