//! Games as text for language models: the observation format `text-1`, and actions written as text.
//!
//! Equal states give equal bytes on every machine, and `text-1` never changes: other bytes get another name. All
//! characters are ASCII, a cell is one character, nothing is padded, and newlines join the lines. The module knows one
//! position at a time; it does not know sessions, episodes or what an answer is worth.
//!
//! # The format
//!
//! ```text
//! text-1: # full, . empty, top row first; row 0 is the floor, column 0 is at the left
//! 5 ......
//! 4 ......
//! 3 ......
//! 2 ......
//! 1 #.....
//! 0 ##.###
//! columns 012345
//! current T, next O, held none
//! lines 3, pieces 11
//! shapes of T: 0 #./##/#. 1 .#./### 2 .#/##/.# 3 ###/.#.
//! actions: letter orientation@leftmost-rightmost column
//! a 0@0-1: lines 0, holes 0, height 5, bumpiness 8
//! ```
//!
//! [`Detail`] says which of these lines a caller gets. The parts `next` and `held` are there if the rules have them; a
//! line `garbage 0 2` lists queued garbage, the soonest first. The shapes are drawn from the top row to the lowest; with
//! hold, another line has the shapes of the other piece. In games with keys the cells of the falling piece are
//! `@`, and the actions are the names of the keys that can be pressed.
//!
//! An action can be written as its letter (`a` to `z`, then `aa` and so on), as `orientation@column` with the leftmost
//! column, or as its whole line in the list, with or without its consequences. A placement in a single column, such as an
//! upright I, has no rightmost one: `0@0`. Where pieces move under overhangs, `^row` names the row of the lowest cell and
//! `/mini` or `/full` the spin. `hold` before the orientation places the other piece.
//!
//! After the end of an episode the current piece is `none`, because no piece can be placed. The observation `current`
//! keeps the piece that did not fit.

mod action;
mod observation;

pub use action::{Choices, MAX_ACTION_BYTES, UnknownAction};
pub use observation::{Detail, ObservedState, observation};
