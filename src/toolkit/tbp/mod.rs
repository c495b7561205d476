//! The Tetris Bot Protocol: modern Tetris between a program that runs the game and a bot that plays it, as lines of
//! JSON.
//!
//! Both sides are here. A [`Bot`] answers a front end with the placements of one of our agents. [`play`] runs our own
//! games for any program that speaks the protocol, each with a separate process.
//!
//! [`messages`] has the protocol as specified, and [`moves`] translates its positions into placements and back. This
//! module knows neither flags nor files nor output, and no message of our own protocol.
//!
//! The surprising decision: a clock decides games here, and only here. A bot that times out loses; but what our own
//! bot answers depends on no clock.

pub mod lines;
pub mod messages;
pub mod moves;

mod bot;
mod faults;
mod hosted;
mod in_parallel;
mod position;
mod process;
mod tournament;

pub use bot::{Bot, BotSetup, Reply};
pub use faults::{BotFault, End};
pub use hosted::{BotLimits, BotSeat, HostedGame, num_new};
pub use in_parallel::in_parallel;
pub use process::{BotCommand, Broken};
pub use tournament::{CannotStart, Hosting, HostingProgress, play};

use tetrion_core::engine::{ActionModel, NamedChoice, Rules, SpinRule};

/// Columns of every board of the protocol.
pub const WIDTH: u8 = 10;
/// Rows of every board of the protocol.
pub const HEIGHT: u8 = 40;
/// Visible rows, counted from below. Pieces appear in the highest of them, as every bot assumes.
pub const VISIBLE_ROWS: u8 = 20;

/// Rules that the protocol cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsuitedRules {
    /// Pieces do not turn on their way down.
    #[error(
        "the protocol is for pieces that turn on their way down: expected --rules guideline, or reach moves"
    )]
    Reach,
    /// A step is a key.
    #[error("the protocol has placements, and no keys: expected action_model placement")]
    Keys,
    /// The size is not the protocol's.
    #[error(
        "the protocol has boards of {WIDTH} columns and {HEIGHT} rows; the rules have {width} and {height}"
    )]
    Board { width: u8, height: u8 },
    /// Other rows are visible than in the protocol.
    #[error("the protocol has boards of {VISIBLE_ROWS} visible rows; the rules have {0}")]
    Visible(u8),
    /// Pieces appear in another row.
    #[error(
        "the protocol leaves the row in which pieces appear to the rules that everyone plays: expected no spawn_row"
    )]
    SpawnRow,
    #[error("the protocol cannot express garbage; remove the garbage from the rules")]
    Garbage,
    /// The spin rule is not the protocol's.
    #[error("the protocol tells T-spins apart, expected spin_rule t_spins or t_spins_strict; the rules have {}", .0.name())]
    Spins(SpinRule),
}

/// Checks that bots can play matches under these rules. The protocol has no words for waiting garbage, and bots know neither
/// half turns, nor spins of other pieces than T, nor that pieces appear in another row.
///
/// # Errors
/// [`UnsuitedRules`] for the first property under which bots could not play at all.
pub fn check_match_rules(rules: &Rules) -> Result<(), UnsuitedRules> {
    if rules.action_model != ActionModel::Placement {
        return Err(UnsuitedRules::Keys);
    }
    if !rules.names_spots() {
        return Err(UnsuitedRules::Reach);
    }
    if rules.width != WIDTH || rules.height > HEIGHT {
        return Err(UnsuitedRules::Board { width: rules.width, height: rules.height });
    }
    Ok(())
}

/// Checks that the protocol can express games under these rules.
///
/// # Errors
/// [`UnsuitedRules`] for the first property that bots could not know.
pub fn check_rules(rules: &Rules) -> Result<(), UnsuitedRules> {
    check_match_rules(rules)?;
    let visible = rules.visible_rows();
    if visible != VISIBLE_ROWS {
        return Err(UnsuitedRules::Visible(visible));
    }
    if rules.spawn_row.is_some() {
        return Err(UnsuitedRules::SpawnRow);
    }
    if rules.garbage.is_some() {
        return Err(UnsuitedRules::Garbage);
    }
    if moves::has_known_spins(rules) { Ok(()) } else { Err(UnsuitedRules::Spins(rules.spin_rule)) }
}
