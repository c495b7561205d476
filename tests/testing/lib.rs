//! What the tests of several packages share. It knows the core and the twins, no messages, no server and no program.

mod plain;
mod played;
mod playfields;
mod snapshots;
mod toy;

pub use plain::Plain;
pub use played::{Dice, Painting, play, random_setup, sequence};
pub use playfields::playfield;
pub use snapshots::{no_changed_byte_is_unsafe, random_actions, with_checksum};
pub use toy::{advance, toy};
