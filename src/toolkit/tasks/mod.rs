//! The suite `tetrion-tasks-1`: small tasks whose best possible score is known and reached.
//!
//! Task i of a split is a pure function of the suite, the split and i; nothing is stored. A task has rules, a start
//! position, a [goal](Goal), and an oracle: placements that score exactly 1. A [`TaskCourse`] plays a task and scores
//! it. Scores are from 0 to 1, and never fall while a task is played, so a player can stop at any time. The only task that
//! is not played piece by piece asks for a [formula](FormulaTask).
//!
//! | group | start | goal | oracle |
//! | --- | --- | --- | --- |
//! | `best_placement` | a solved playfield | the placement with the largest exact value | the table of values |
//! | `play` | a solved playfield | the best of several placements in a row, next pieces unknown | the table of values |
//! | `clear_lines` | after some pieces on 6 x 10 | lines within n known pieces | a search |
//! | `survive` | after some pieces on 5 x 6 | n known pieces | a search |
//! | `dig` | garbage on 6 x 10 | no garbage after n known pieces | a search |
//! | `perfect_clear` | after some pieces on 4 x 6 | an empty playfield after n known pieces | a search |
//! | `formula` | 10 x 10 | a formula that plays well on hidden seeds | our controller |
//!
//! This room knows no requests and no sessions. The surprising decision: a start position decides to which split it may
//! belong, by a bit of the fingerprint of what it shows. So no start of one split appears in the other, even on playfields
//! with few positions. Where these would repeat within a split, all tasks are drawn at once.

mod course;
mod distinct;
mod formula;
mod generate;
mod oracle;
mod play;
mod prompt;
mod start;
mod suite;
mod task;

pub use course::{PlayError, TaskCourse};
pub use distinct::is_drawn;
pub use formula::{FormulaScore, FormulaTask, GAMES};
pub use play::{Goal, PlayTask};
pub use start::Start;
pub use suite::{Group, NUM_KINDS, NUM_TASKS, SUITE, Split};
pub use task::{Content, Task, TaskError};
