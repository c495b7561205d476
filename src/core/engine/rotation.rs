//! Turns in modern Tetris: the place of a turned piece, and the places it is kicked to if that place is not free.
//!
//! The tables are data, and this file knows nothing of playfields. Rows count upwards and columns to the right. Kicks
//! use "true rotation": a turn does not move the anchor cell, and a kick moves the anchor. The usual charts turn I and
//! O in a box, so their numbers for these two differ by the anchor's move in that box; for the other five pieces they
//! are the same.
//!
//! The surprising decision: all kicks are built from five offsets per orientation, as the system was designed. The n-th
//! kick from one orientation to another is the n-th offset of the first orientation minus the n-th offset of the other.

use super::choice::{NamedChoice, choice};
use super::tetromino::Tetromino;

choice! {
    /// The kicks of quarter turns.
    pub enum RotationSystem: "rotation_system" {
        /// No kicks: a piece turns on the spot or not at all.
        NoKicks = 1, "no_kicks";
        /// Super Rotation System: tries five kicks in order.
        Srs = 2, "srs";
        /// Super Rotation System with symmetric kicks for I.
        SrsPlus = 3, "srs_plus";
    }
}

choice! {
    /// The turns by 180 degrees in one step, and their kicks. No table is standard, so each value is named after its
    /// source.
    pub enum HalfTurns: "half_turns" {
        /// No 180-degree turns.
        None = 1, "none";
        /// Kicks of TETR.IO: six, or two for I.
        Tetrio = 2, "tetrio";
        /// Kicks of cobra-movegen: six, for I too.
        Cobra = 3, "cobra";
    }
}

/// Columns to the right and rows up.
pub(crate) type Offset = (i8, i8);

/// The largest distance by which a kick moves an anchor up or down. `TABLES` is checked against it at compile time.
const MAX_KICK_ROWS: u32 = 3;
/// The largest distance by which a kick moves an anchor sideways.
const MAX_KICK_COLUMNS: u32 = 2;

/// The places that a turn tries, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kicks {
    list: [Offset; 6],
    len: u8,
}

/// All turns of a piece, by the quarter turns to the right before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turns {
    kicks: [[Kicks; 4]; 4],
    /// The largest distance up or down of any kick.
    pub rows: u8,
    /// Whether these are the turns of [`RotationSystem::Srs`] without half turns.
    pub(super) is_srs: bool,
}

impl Kicks {
    const NONE: Kicks = Kicks { list: [(0, 0); 6], len: 0 };

    /// The moves of the anchor, as columns to the right and rows up.
    #[inline]
    pub(crate) fn as_slice(&self) -> &[Offset] {
        &self.list[..usize::from(self.len)]
    }

    const fn between<const N: usize>(from: [Offset; N], to: [Offset; N], len: usize) -> Kicks {
        let mut kicks = Kicks { len: len as u8, ..Kicks::NONE };
        let mut n = 0;
        while n < len {
            kicks.list[n] = (from[n].0 - to[n].0, from[n].1 - to[n].1);
            n += 1;
        }
        kicks
    }
}

impl Turns {
    /// The turns of a piece.
    pub(crate) fn of(
        rotation_system: RotationSystem,
        half_turns: HalfTurns,
        tetromino: Tetromino,
    ) -> &'static Turns {
        let kind = match tetromino {
            Tetromino::I => 0,
            Tetromino::O => 1,
            _ => 2,
        };
        &TABLES[rotation_system.number() as usize - 1][half_turns.number() as usize - 1][kind]
    }

    /// The five kicks of a quarter turn under [`RotationSystem::Srs`], for code in which the compiler must know them.
    pub(super) const fn srs(tetromino: usize, from: usize, to: usize) -> [Offset; 5] {
        let offsets = match tetromino {
            0 => &I_OFFSETS,
            1 => &O_OFFSETS,
            _ => &OTHER_OFFSETS,
        };
        let [a, b, c, d, e, _] = Kicks::between(offsets[from], offsets[to], 5).list;
        [a, b, c, d, e]
    }

    /// The kicks from one orientation to another; empty if the turn does not exist.
    #[inline]
    pub(crate) fn kicks(&self, from: usize, to: usize) -> &[Offset] {
        self.kicks[from][to].as_slice()
    }

    /// Quarter turns from five offsets per orientation.
    const fn by_offsets(offsets: &[[Offset; 5]; 4], len: usize) -> Turns {
        let mut kicks = [[Kicks::NONE; 4]; 4];
        let mut from = 0;
        while from < 4 {
            let (right, left) = ((from + 1) % 4, (from + 3) % 4);
            kicks[from][right] = Kicks::between(offsets[from], offsets[right], len);
            kicks[from][left] = Kicks::between(offsets[from], offsets[left], len);
            from += 1;
        }
        Turns { kicks, rows: 0, is_srs: false }
    }

    /// Adds half turns, whose kicks are moves within the box of the first offsets.
    const fn with_half(mut self, offsets: &[[Offset; 5]; 4], kicks: &[[Offset; 6]; 4], len: usize) -> Turns {
        let mut from = 0;
        while from < 4 {
            let to = (from + 2) % 4;
            let box_move = Kicks::between(offsets[from], offsets[to], 1).list[0];
            let mut half = Kicks { list: kicks[from], len: len as u8 };
            let mut n = 0;
            while n < len {
                half.list[n].0 += box_move.0;
                half.list[n].1 += box_move.1;
                n += 1;
            }
            self.kicks[from][to] = half;
            from += 1;
        }
        self
    }

    const fn measured(mut self) -> Turns {
        let mut i = 0;
        while i < 16 * 6 {
            let (columns, rows) = self.kicks[i / 24][i / 6 % 4].list[i % 6];
            assert!(columns.unsigned_abs() as u32 <= MAX_KICK_COLUMNS);
            assert!(rows.unsigned_abs() as u32 <= MAX_KICK_ROWS);
            if rows.unsigned_abs() > self.rows {
                self.rows = rows.unsigned_abs();
            }
            i += 1;
        }
        self
    }
}

const I_OFFSETS: [[Offset; 5]; 4] = [
    [(0, 0), (-1, 0), (2, 0), (-1, 0), (2, 0)],
    [(-1, 0), (0, 0), (0, 0), (0, 1), (0, -2)],
    [(-1, 1), (1, 1), (-2, 1), (1, 0), (-2, 0)],
    [(0, 1), (0, 1), (0, 1), (0, -1), (0, 2)],
];

/// Only the first offset is used: an O that turns in its box stays where it is.
const O_OFFSETS: [[Offset; 5]; 4] = [[(0, 0); 5], [(0, -1); 5], [(-1, -1); 5], [(-1, 0); 5]];

const OTHER_OFFSETS: [[Offset; 5]; 4] = [
    [(0, 0); 5],
    [(0, 0), (1, 0), (1, -1), (0, 2), (1, 2)],
    [(0, 0); 5],
    [(0, 0), (-1, 0), (-1, -1), (0, 2), (-1, 2)],
];

/// The kicks of I under `srs_plus`, which no offsets produce: turns to the right, then to the left, by the orientation
/// before.
const I_PLUS: [[[Offset; 5]; 4]; 2] = [
    [
        [(1, 0), (2, 0), (-1, 0), (-1, -1), (2, 2)],
        [(0, -1), (-1, -1), (2, -1), (-1, 1), (2, -2)],
        [(-1, 0), (1, 0), (-2, 0), (1, 1), (-2, -2)],
        [(0, 1), (1, 1), (-2, 1), (1, -1), (-2, 2)],
    ],
    [
        [(0, -1), (-1, -1), (2, -1), (2, -2), (-1, 1)],
        [(-1, 0), (-2, 0), (1, 0), (-2, -2), (1, 1)],
        [(0, 1), (-2, 1), (1, 1), (-2, 2), (1, -1)],
        [(1, 0), (2, 0), (-1, 0), (2, 2), (-1, -1)],
    ],
];

/// The kicks of half turns, by the orientation before.
const HALF_TURNS: [[Offset; 6]; 4] = [
    [(0, 0), (0, 1), (1, 1), (-1, 1), (1, 0), (-1, 0)],
    [(0, 0), (1, 0), (1, 2), (1, 1), (0, 2), (0, 1)],
    [(0, 0), (0, -1), (-1, -1), (1, -1), (-1, 0), (1, 0)],
    [(0, 0), (-1, 0), (-1, 2), (-1, 1), (0, 2), (0, 1)],
];

/// The turns by rotation system, half turns and piece: I, O or another.
static TABLES: [[[Turns; 3]; 3]; 3] = {
    let srs = [
        Turns::by_offsets(&I_OFFSETS, 5),
        Turns::by_offsets(&O_OFFSETS, 1),
        Turns::by_offsets(&OTHER_OFFSETS, 5),
    ];
    let mut plus = srs;
    let mut from = 0;
    while from < 4 {
        let mut side = 0;
        while side < 2 {
            plus[0].kicks[from][(from + [1, 3][side]) % 4] =
                Kicks::between(I_PLUS[side][from], [(0, 0); 5], 5);
            side += 1;
        }
        from += 1;
    }
    let spot = [
        Turns::by_offsets(&I_OFFSETS, 1),
        Turns::by_offsets(&O_OFFSETS, 1),
        Turns::by_offsets(&OTHER_OFFSETS, 1),
    ];
    let mut tables = [[spot; 3], [srs; 3], [plus; 3]];
    let mut system = 0;
    while system < 3 {
        let mut half = 1;
        while half < 3 {
            let tables = &mut tables[system][half];
            let kicks = if system == 0 { 1 } else { 6 };
            let of_i = if system == 0 {
                1
            } else if half == 1 {
                2
            } else {
                6
            };
            tables[0] = tables[0].with_half(&I_OFFSETS, &HALF_TURNS, of_i);
            tables[1] = tables[1].with_half(&O_OFFSETS, &HALF_TURNS, 1);
            tables[2] = tables[2].with_half(&OTHER_OFFSETS, &HALF_TURNS, kicks);
            half += 1;
        }
        let mut i = 0;
        while i < 9 {
            tables[system][i / 3][i % 3] = tables[system][i / 3][i % 3].measured();
            i += 1;
        }
        system += 1;
    }
    let mut i = 0;
    while i < 3 {
        tables[1][0][i].is_srs = true;
        i += 1;
    }
    tables
};
