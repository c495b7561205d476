//! Snapshots: the state of an environment as bytes that a caller keeps and may give back, here or to another server.
//!
//! All numbers are little-endian.
//!
//! ```text
//! magic          4 bytes, "TTRN"
//! format         u16, 1 to 6: the lowest that can hold the state
//! rules version  u8 length, then that many bytes
//! rules          u8 width, height, randomizer, action model, top-out, orientation table, reach, preview (of a choice its
//!                number in messages less 1); f64 points a piece, for 1 to 4 lines, for the end of a game
//! modern         from format 3 on, for rules with hold, reach srs, or other points for clears: u8 rows above, rotation, half turns,
//!                spins, hold (0 or 1), clear points, attack
//! pieces         in format 6, for other pieces than the tetrominoes: u16 length, then the set as requests name it
//! timing         from format 4 on, for key presses under reach srs: u8 gravity, lock delay, lock resets
//! risen          from format 5 on, for garbage or a spawn row, and in format 6: u8 spawn row, 255 where rules name none; u8 garbage
//!                (0 or 1), and if 1 f64 lines a piece, f64 chance that a hole moves, u8 delay
//! ended          u8, 1 while a reset is pending
//! landed         u8, 1 if a piece has landed: then come the playfield before the last landing, the piece (u8) and how it
//!                landed on it: by which action (u8; from format 3 on u16, less that of holding a piece), or with key presses
//!                in which pose; from format 4 on under reach srs u8 orientation, column of the leftmost and row of the lowest
//!                cell, and spin; if 0, the present playfield
//! playfield      u64 a column (this stands before piece and action)
//! risen          with garbage, if a piece has landed: u8 how many rows of garbage rose after it, and for each of them, the highest
//!                first, u8 the column of its hole
//! visible        u8 a piece, preview + 1 of them, 255 past the end of a sequence
//! held           from format 3 on, where a piece can be held: u8, 255 for none
//! chain          from format 3 on, where the rules ask for it: u16 clears, u8 back to back (0 or 1), u64 lines sent, at most 2^53
//! falling        with key presses, if there is a current piece, its pose: u8 quarter turns to the right, column and row of
//!                its anchor; under reach srs also u8 how it came there (0 moved, 1 turned, 2 turned by a kick that makes a T-spin
//!                full), whether the piece before it was held for it (0 or 1), steps in the air, steps on the ground, lock
//!                resets, lifts, lowest row
//! garbage        where rules have it: u8 lines that wait, delay + 1 of them; u64 rows that have risen in the episode, at most 2^53; u8
//!                column of the hole of the last one, 0 where none has risen
//! episode        u64 environment seed, u64 number of the episode
//! statistics     u64 lines, pieces, length, each at most 2^53; f64 return
//! invalid        in format 2, where actions of the episode did not exist, and always from format 3 on: u64 how many, u64 the
//!                length after the last one
//! dealer         u64 pieces dealt; u8 0, u64 seed, the open bag as 7 bytes (under randomizer nes the piece dealt last, then
//!                the others), and 7 x u16 how much less often each tetromino
//!                came than the most frequent one (in format 6 the open bag, as many bytes as the set has pieces, and no more); or u8 1, u32 length and a sequence, a byte a piece; or, where sequences
//!                are kept beside the snapshots ([`SharedSequences`]), u8 2 and the number of one, a u32
//! checksum       u64, XXH3 of everything before it
//! ```
//!
//! Snapshots are outside input. The checksum finds accidents, but anyone can write a snapshot by hand; so the reader checks
//! everything as if there were no checksum, and what passes can be played without harm, whatever its origin.

mod dealt;
mod in_play;
mod landed;
mod read;
mod reader;
mod sequences;
mod write;

pub use reader::SnapshotError;
pub use sequences::SharedSequences;

const MAGIC: [u8; 4] = *b"TTRN";
/// Without actions that did not exist: the only format at first.
const PLAIN_FORMAT: u16 = 1;
/// For the games of the literature.
const SHORT_FORMAT: u16 = 2;
/// For rules with hold, reach srs, or other points for clears.
const MODERN_FORMAT: u16 = 3;
/// For those in which keys steer pieces.
const STEERED_FORMAT: u16 = 4;
/// For those with garbage, or a spawn row of their own.
const GARBAGE_FORMAT: u16 = 5;
/// For those with other pieces than the tetrominoes; all that is from format 3 on is in it.
const PIECES_FORMAT: u16 = 6;
const NO_PIECE: u8 = 255;
const NO_ROW: u8 = 255;
