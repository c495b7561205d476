//! Snapshots: the state of an environment as bytes, which a caller stores and may restore here or on another server.
//!
//! All numbers are little-endian.
//!
//! ```text
//! magic          4 bytes, "TTRN"
//! format         u16, 2
//! rules version  u8 length, then that many bytes
//! rules          u8 number of fields that differ from the preset simplified; for each, in the order of the table of
//!                fields: u8 index in that table, then the value: u8 for a whole number, a flag (0 or 1) or a choice
//!                (its number in messages), f64 for a number, 4 x f64 for numbers, u16 length and the text for a set of
//!                pieces
//! end            u8, 0 while the episode runs, else the reason of its end: 2 topped out, 3 an action that did not
//!                exist, 4 a limit on steps, 5 a limit on pieces, 6 out of pieces
//! landed         u8, 1 if a piece has landed
//! playfield      u64 per column: before the last landing if a piece has landed, else the current one
//! landing        if a piece has landed: u8 piece, then its way. By placement: u16 action, without the part that holds
//!                a piece. By keys: u8 quarter turns to the right, u8 column and u8 row of the anchor; under reach
//!                moves u8 orientation, column of the leftmost and row of the lowest cell, and spin
//! risen          with garbage, if a piece has landed: u8 number of rows of garbage that rose after it, and for each of
//!                them, from the highest down, u8 the column of its hole
//! visible        u8 per piece, preview + 1 of them, 255 past the end of a sequence
//! held           with hold: u8, 255 for none
//! chain          if the rules need it: u16 clears, u16 back to back, u64 lines sent, at most 2^53
//! falling        with key presses, if there is a current piece, its pose: u8 quarter turns to the right, column and
//!                row of its anchor; under reach moves also u8 how it came there (0 moved, 1 turned, 2 turned by a kick
//!                that makes a T-spin full), whether it entered by a hold (0 or 1), steps in the air, steps on the
//!                ground, lock resets, lifts, lowest row
//! garbage        with garbage: u8 number of groups of lines that wait, and for each of them u8 lines, delay in pieces
//!                and column of the hole (0 unless lines have it when they are sent); u64 rows that have risen in the
//!                episode; u8 column of the last hole, 255 for none, whether it is new (0 or 1), and side of a match, 1 or
//!                2, 0 in a game alone; u64 groups used up;
//!                u64 bit r for each row r with garbage; u64 lines that passed while this mattered for an opening; f64
//!                factor of the lines sent; u64 lines sent, received, cancelled and of surges. Counts are at most 2^53
//! episode        u64 environment seed, u64 number of the episode
//! statistics     u64 lines, pieces, steps, each at most 2^53; f64 return
//! invalid        u64 number of the episode's actions that did not exist, u64 steps up to the last of them, 0 if none
//! dealer         u64 pieces dealt, then u8 their source. 0, a seed: u64 seed, the open bag, u8 per piece of the set
//!                (under randomizer nes the piece dealt last, then the others), and for tetrominoes 7 x u16, by how
//!                much each came less often than the most frequent one. 1, a sequence: u32 length, u8 per piece, u32
//!                number of holes in garbage whose columns belong to it, u8 per hole. 2, a sequence stored separately
//!                ([`SharedSequences`]): its number, a u32
//! checksum       u64, XXH3 of everything before it
//! ```
//!
//! Snapshots are outside input. The checksum detects accidents, but anyone can write a snapshot by hand. So the reader
//! checks everything as if there were no checksum, and a state that passes is safe to play, whatever its origin.

mod dealt;
mod in_play;
mod landed;
mod read;
mod reader;
mod rules;
mod sequences;
mod write;

pub use reader::SnapshotError;
pub use sequences::SharedSequences;

const MAGIC: [u8; 4] = *b"TTRN";
const FORMAT: u16 = 2;
const NO_PIECE: u8 = 255;
const NO_HOLE: u8 = 255;
