//! What the tests of several packages share. It knows the core and the twins, no messages, no server and no program.

mod dice;
mod plain;
mod playfields;
mod snapshots;
mod sums;

pub use dice::Dice;
pub use plain::{Plain, choose_plainly};
pub use playfields::playfield;
pub use snapshots::{no_changed_byte_is_unsafe, random_actions, with_checksum};
pub use sums::weighted_sum;
