//! The Tetris Bot Protocol: modern Tetris between a program that runs the game and a bot that plays it, as lines of JSON.
//!
//! Both sides are here. A [`Bot`] answers a front end with the placements of one of our agents. [`play`] runs games of our own
//! for any program that speaks the protocol, each with a process of its own.
//!
//! [`messages`] has the protocol as it is written down, and [`moves`] translates its places into placements and back. This
//! module knows neither flags nor files nor what is printed, and no message of our own protocol.
//!
//! The surprising decision: a clock decides games here, and only here. A bot that says nothing in time has lost; but what our
//! own bot says depends on no clock.

pub mod lines;
pub mod messages;
pub mod moves;

mod bot;
mod faults;
mod hosted;
mod position;
mod process;
mod tournament;

pub use bot::{Bot, BotSetup, Heard};
pub use faults::{End, Fault};
pub use hosted::HostedGame;
pub use process::Program;
pub use tournament::{CannotStart, Hosting, HostingProgress, play};

use crate::engine::{ActionModel, NamedChoice, Rules, SpinRule};

/// Columns of every board of the protocol.
pub const WIDTH: u8 = 10;
/// Rows of every board of the protocol.
pub const HEIGHT: u8 = 40;
/// Rows in which pieces appear, from below: in the highest of them, which every bot takes for granted.
pub const VISIBLE_ROWS: u8 = 20;

/// Rules that the protocol has no words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsuitedRules {
    /// Pieces do not turn on their way down.
    #[error(
        "the protocol is for pieces that turn on their way down: expected --rules guideline, or reach srs"
    )]
    Reach,
    /// A step is a key.
    #[error("the protocol has placements, and no keys: expected action_model placement")]
    Keys,
    /// Another size.
    #[error(
        "the protocol has boards of {WIDTH} columns, {VISIBLE_ROWS} rows of them visible; the rules have {width} columns and {visible} visible rows"
    )]
    Size {
        /// Columns.
        width: u8,
        /// Visible rows.
        visible: u8,
    },
    /// Pieces appear in a row of their own.
    #[error(
        "the protocol leaves the row in which pieces appear to the rules that everyone plays: expected no spawn_row"
    )]
    SpawnRow,
    /// Rows rise from below.
    #[error("the protocol has no words for rows that rise: expected no garbage")]
    Garbage,
    /// Spins of another kind.
    #[error("the protocol tells T-spins apart, expected spins t_spins or t_spins_strict; the rules have {}", .0.name())]
    Spins(SpinRule),
}

/// Checks that games by these rules can be told in the protocol.
///
/// # Errors
/// [`UnsuitedRules`] for the first thing that bots could not know.
pub fn check_rules(rules: &Rules) -> Result<(), UnsuitedRules> {
    let visible = rules.visible_rows();
    if rules.action_model != ActionModel::Placement {
        return Err(UnsuitedRules::Keys);
    }
    if !rules.names_spots() {
        return Err(UnsuitedRules::Reach);
    }
    if rules.width != WIDTH || visible != VISIBLE_ROWS {
        return Err(UnsuitedRules::Size { width: rules.width, visible });
    }
    if rules.spawn_row.is_some() {
        return Err(UnsuitedRules::SpawnRow);
    }
    if rules.garbage.is_some() {
        return Err(UnsuitedRules::Garbage);
    }
    match rules.spins {
        SpinRule::TSpins | SpinRule::TSpinsStrict => Ok(()),
        spins => Err(UnsuitedRules::Spins(spins)),
    }
}
