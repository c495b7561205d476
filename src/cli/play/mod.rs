//! `tetrion play`: a person plays in the terminal. It needs no server.
//!
//! Under every preset: where a step is a placement, the person moves and turns the piece at leisure and drops it; where a step
//! is a key, the piece falls in time. A controller can play beside, on the same pieces, one for one; another one says what it
//! would do, and why.

mod aim;
mod args;
mod state;

pub use args::PlayArgs;
pub use state::Play;

use std::process::ExitCode;

/// Shows the game until the person leaves, and prints how it stands then.
///
/// # Errors
/// A name or rules that cannot be played, a terminal that is none, or a file that cannot be written.
pub fn run(args: PlayArgs) -> anyhow::Result<ExitCode> {
    let seed = match args.shown.seed {
        Some(seed) => seed,
        // Short enough to be read out.
        None => getrandom::u32()?.into(),
    };
    let mut play = Play::new(&args, seed)?;
    args.shown.show(&mut play, Play::recording, Play::report)
}
