//! The passing of time in games whose keys steer a piece: in steps, of which each key is one. No code reads a clock.

/// The time that a piece has in games whose keys [steer](super::Rules::steers) it, in steps, of which each key is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Steps in the air after which a piece falls by a row, at least 1.
    pub fall_delay: u8,
    /// Steps on the ground after which a piece locks, at least 1. The step in which the piece comes down counts.
    pub lock_delay: u8,
    /// Number of moves and turns on the ground that restart the lock delay, until the piece is lower than ever before.
    /// After the last restart the delay runs out normally; the piece does not lock at once.
    pub lock_resets: u8,
}

impl Timing {
    /// The expected value of all three delays in games without time, in words.
    pub(crate) const NONE: &str = "none: time passes only where a step is a key under reach moves";

    /// Timing of level 1 at 60 steps per second.
    pub const LEVEL_1: Timing = Timing { fall_delay: 60, lock_delay: 30, lock_resets: 15 };

    /// Checks that the rules have a timing if and only if keys steer pieces.
    pub(super) fn check(timing: Option<Timing>, is_steered: bool) -> Result<(), &'static str> {
        match timing {
            Some(_) if !is_steered => {
                Err("fall_delay, lock_delay and lock_resets need the keypress action model and reach moves")
            }
            None if is_steered => {
                Err("the keypress action model and reach moves need fall_delay, lock_delay and lock_resets")
            }
            _ => Ok(()),
        }
    }
}
