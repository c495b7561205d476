//! Random recordings, and a function whose summit every search finds. It knows the toolkit and what is below it.

mod played;
mod toy;

pub use played::{Painting, play, random_setup, sequence};
pub use tetrion_testing::Dice;
pub use toy::{advance, toy};
