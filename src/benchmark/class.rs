//! The classes of the benchmark: the rules, the games and the players of each.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::input::UsageError;
use tetrion_client::{RulesChoice, Seeds};
use tetrion_core::agents::Search;
use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::engine::{RULES_VERSION, Rules};
use tetrion_core::env::InvalidActionPolicy;
use tetrion_core::names::unknown;

/// Name of the benchmark. Any change to a class or to the file of a result gives it another name.
pub const NAME: &str = "tetrion-benchmark-2";

/// Seed from which the seeds of all games are drawn. Players that trained on it are refused.
pub const SEED: u64 = 61_803_398;

/// Columns of the playfield in every class.
const WIDTH: u8 = 10;
/// Pieces after which a game is cut, unless a class says otherwise: the longest game that a recording can hold, rounded.
const CUT: u64 = 1_000_000;
/// Recorded games of a player that can be played again.
const RECORDINGS: u32 = 10;

/// The protocol of one class of players.
#[derive(Debug, PartialEq)]
pub struct Class {
    /// Name on the command line and in results.
    pub name: &'static str,
    /// Description of the players, in one sentence.
    pub about: &'static str,
    pub players: Players,
    /// Rows of the playfield; every class has 10 columns.
    pub height: u8,
    /// Number of next pieces shown.
    pub preview: u8,
    /// Effect of an action that does not exist.
    pub invalid_actions: InvalidActionPolicy,
    pub games: u32,
    /// Pieces after which a game is cut.
    pub max_pieces: u64,
    /// Number of games, from the first, whose recordings a result contains. A player that brings recordings records all.
    pub recordings: u32,
}

/// The players of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Players {
    /// Players that score each placement of the current piece.
    Greedy,
    /// Players that see the current piece and may average over hidden pieces.
    Mean,
    /// Players that see the next piece too.
    Shown,
    /// Formulas that score each placement of the current piece.
    Formulas,
    /// Players outside this program that read text.
    Readers,
}

const GREEDY: Class = Class {
    name: "greedy",
    about: "sees the current piece and scores each of its placements, without search",
    players: Players::Greedy,
    height: 10,
    preview: 0,
    invalid_actions: InvalidActionPolicy::Reject,
    games: 10_000,
    max_pieces: CUT,
    recordings: RECORDINGS,
};

/// All classes. A class that plays more slowly has fewer games or a lower playfield, so that a fast player takes minutes.
pub static CLASSES: [Class; 6] = [
    GREEDY,
    Class { name: "greedy-10x20", height: 20, games: 1_000, ..GREEDY },
    Class {
        name: "mean",
        about: "sees the current piece and may average over hidden pieces",
        players: Players::Mean,
        games: 400,
        ..GREEDY
    },
    Class {
        name: "shown",
        about: "sees the current and the next piece, and may average over hidden pieces",
        players: Players::Shown,
        height: 6,
        preview: 1,
        games: 1_000,
        ..GREEDY
    },
    Class {
        name: "formula",
        about: "a formula that scores each placement of the current piece, without search",
        players: Players::Formulas,
        ..GREEDY
    },
    Class {
        name: "text",
        about: "reads the game as text, such as a language model; sees the current and the next piece",
        players: Players::Readers,
        preview: 1,
        invalid_actions: InvalidActionPolicy::Terminate,
        games: 20,
        max_pieces: 200,
        recordings: 20,
        ..GREEDY
    },
];

impl Class {
    /// The class with this name.
    ///
    /// # Errors
    /// [`UsageError`] for an unknown name.
    pub fn named(name: &str) -> Result<&'static Class, UsageError> {
        let found = CLASSES.iter().find(|class| class.name == name);
        found.ok_or_else(|| UsageError(unknown("class", name, CLASSES.iter().map(|class| class.name))))
    }

    /// The preset `simplified` with the class's height and preview.
    pub fn rules(&self) -> Rules {
        Rules { preview: self.preview, ..Rules::simplified(WIDTH, self.height) }
    }

    /// The rules as a request contains them.
    pub fn rules_choice(&self) -> RulesChoice {
        RulesChoice { preset: "simplified".to_owned(), changes: self.rules().fields() }
    }

    /// The seeds of the games, as a request contains them.
    pub fn seeds(&self) -> Seeds {
        Seeds::Common { seed: SEED, count: self.games }
    }

    /// Seed of the game with this number, from 0: the seed that a server draws for it from [`Class::seeds`].
    pub fn seed(&self, game: u32) -> u64 {
        word(SEED, Tag::Game, game.into())
    }

    /// The games by their seeds.
    pub fn games_by_seed(&self) -> HashMap<u64, u32> {
        (0..self.games).map(|game| (self.seed(game), game)).collect()
    }

    /// Size of the playfield, such as `10 x 10`.
    pub fn size(&self) -> String {
        format!("{WIDTH} x {}", self.height)
    }

    /// The protocol as results state it.
    pub fn protocol(&self) -> Value {
        json!({
            "rules": self.rules_choice(),
            "rules_version": RULES_VERSION,
            "invalid_actions": self.invalid_actions_name(),
            "seed": SEED.to_string(),
            "num_games": self.games,
            "max_pieces": self.max_pieces,
        })
    }

    /// Name of the policy for actions that do not exist.
    pub fn invalid_actions_name(&self) -> &'static str {
        invalid_actions_name(self.invalid_actions)
    }

    /// Checks that a player with this search belongs to the class.
    ///
    /// # Errors
    /// The reason, if it does not.
    pub fn check_search(&self, search: Search) -> Result<(), String> {
        let (found, shown) = (in_words(search), search.pieces_shown());
        match self.players {
            Players::Greedy | Players::Formulas if search != Search::Greedy => {
                Err(format!("search is {found}, expected greedy in class {}", self.name))
            }
            _ if shown > self.preview.into() => Err(format!(
                "search is {found}, which needs {shown} of the next pieces, expected at most {} in class {}",
                self.preview, self.name
            )),
            _ => Ok(()),
        }
    }
}

/// Name of a policy for actions that do not exist.
pub(super) fn invalid_actions_name(policy: InvalidActionPolicy) -> &'static str {
    match policy {
        InvalidActionPolicy::Reject => "reject",
        InvalidActionPolicy::Terminate => "terminate",
        InvalidActionPolicy::Ignore { .. } => "ignore",
    }
}

/// Name and depth of a search, for errors.
fn in_words(search: Search) -> String {
    match search {
        Search::Greedy => "greedy".to_owned(),
        Search::Lookahead { pieces } => format!("lookahead {pieces}"),
        Search::Expectation(expectation) => format!("expectation {}", expectation.pieces),
        Search::Beam(beam) => format!("beam {}", beam.width),
    }
}
