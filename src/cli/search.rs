//! The flags for how controllers play: the depth of their search, and the value of a game-ending placement.
//!
//! Every subcommand that lets a controller play has these flags.

use clap::Args;
use clap::builder::TypedValueParser;

use super::options::one_of;
use tetrion_core::agents::{Expectation, PlayChoice, Search, TerminalValue, Terms};
use tetrion_core::engine::MAX_PREVIEW;

/// The way controllers play. For absent flags, the controller decides.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct SearchArgs {
    /// Number of next pieces to search, 0 to 6, or 0 to 2 in evaluate and train, for controllers and formulas; 0 turns
    /// off a controller's own search [default: the search of the controller or the weights]
    #[arg(long, value_name = "N", conflicts_with = "expectation",
        value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_PREVIEW)))]
    pub lookahead: Option<u32>,

    /// Search ahead (expectimax): use the next piece if it is shown, else the exact mean over all pieces. For
    /// controllers and formulas
    #[arg(long)]
    pub expectation: bool,

    /// Search depth in pieces; the first N - 1 must be shown [default: 1]
    #[arg(long, value_name = "N", requires = "expectation",
        value_parser = clap::value_parser!(u8).range(1..=i64::from(Expectation::MAX_PIECES)))]
    pub expectation_pieces: Option<u8>,

    /// Placements to expand per piece except the last, best first [default: 8]
    #[arg(long, value_name = "N", requires = "expectation",
        value_parser = clap::value_parser!(u8).range(1..=i64::from(Expectation::MAX_PLACEMENTS)))]
    pub expectation_placements: Option<u8>,

    /// Value of losing the game, in multiples of the largest weight, -1000000 to 0 [default: -100]
    #[arg(long, value_name = "MULTIPLE", requires = "expectation", hide_short_help = true)]
    pub lost_piece: Option<f64>,

    /// Discount per piece, 0 to 1 [default: 1]
    #[arg(long, value_name = "FACTOR", requires = "expectation", hide_short_help = true)]
    pub discount: Option<f64>,

    /// Terms of a placement's score that count if another piece follows [default: landing]
    #[arg(long, value_name = "WHICH", requires = "expectation", value_parser = terms(), hide_short_help = true)]
    pub expectation_terms: Option<Terms>,

    /// Standard deviations to subtract from the mean over hidden pieces, 0 to 10 [default: 0]
    #[arg(long, value_name = "DEVIATIONS", requires = "expectation", hide_short_help = true)]
    pub caution: Option<f64>,

    /// Value of a game-ending placement, for controllers and formulas [default: as in the weights or the controller;
    /// avoid for plain numbers and formulas]
    #[arg(long, value_name = "HOW", value_parser = terminal_value())]
    pub terminal_value: Option<TerminalValue>,
}

impl SearchArgs {
    /// The parts of [`Play`](tetrion_core::agents::Play) that the flags choose.
    pub fn choice(&self) -> PlayChoice {
        let default = Expectation::default();
        let search = match self.lookahead {
            Some(0) => Some(Search::Greedy),
            Some(pieces) => Some(Search::Lookahead { pieces }),
            None => self.expectation.then(|| {
                Search::Expectation(Expectation {
                    pieces: self.expectation_pieces.unwrap_or(default.pieces),
                    placements: self.expectation_placements.unwrap_or(default.placements),
                    lost_piece: self.lost_piece.unwrap_or(default.lost_piece),
                    discount: self.discount.unwrap_or(default.discount),
                    terms: self.expectation_terms.unwrap_or(default.terms),
                    caution: self.caution.unwrap_or(default.caution),
                })
            }),
        };
        PlayChoice { terminal_value: self.terminal_value, search }
    }
}

/// The parser of the terms that count if another piece follows.
fn terms() -> impl TypedValueParser<Value = Terms> {
    one_of(&[
        ("landing", "Terms of features of the landing, such as its height", Terms::Landing),
        ("all", "All terms", Terms::All),
        ("none", "No terms", Terms::None),
    ])
}

/// The parser of the value of a game-ending placement.
fn terminal_value() -> impl TypedValueParser<Value = TerminalValue> {
    one_of(&[
        ("score", "The score of its features, as for any other placement", TerminalValue::Score),
        ("avoid", "Lower than any other placement", TerminalValue::Avoid),
    ])
}
