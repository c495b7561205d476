//! The legal actions of a position, their names, and actions read from text.

use std::fmt::{self, Write};

use tetrion_core::engine::{ActionModel, Key, Piece, Placement, Rules, Spin};
use tetrion_core::placements::Position;

/// Most bytes of an action as text. The longest line of a list has about 90.
pub const MAX_ACTION_BYTES: usize = 128;
/// Legal actions that a refusal lists at most.
const MAX_LISTED: usize = 128;

/// The legal actions of a position, in ascending order. Empty after the end of an episode.
#[derive(Clone, Debug, PartialEq)]
pub enum Choices {
    /// Placements, each with its piece.
    Placements(Vec<(Piece, Placement)>),
    Keys(Vec<Key>),
}

/// A text that is no legal action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a legal action, expected one of: {legal}")]
pub struct UnknownAction {
    /// The beginning of the text.
    pub text: String,
    /// The legal actions, as an observation lists them.
    pub legal: String,
}

impl Choices {
    /// The legal actions of a position. `next` and `held` are the next piece, if it is shown, and the held piece.
    pub(super) fn new(
        rules: &Rules,
        position: &Position,
        held: Option<Piece>,
        next: Option<Piece>,
    ) -> Choices {
        let Position { playfield, hand, falling, .. } = position;
        if rules.action_model == ActionModel::Keypress {
            let moving = falling.filter(|_| hand.is_some());
            let has_key =
                |key: &Key| moving.is_some_and(|piece| piece.has_key(rules, playfield, *key, held, next));
            return Choices::Keys(rules.keys().iter().copied().filter(has_key).collect());
        }
        Choices::Placements(hand.map_or_else(Vec::new, |hand| hand.placements(rules, playfield)))
    }

    /// Number of legal actions; 0 after the end of an episode.
    pub fn len(&self) -> usize {
        match self {
            Choices::Placements(all) => all.len(),
            Choices::Keys(keys) => keys.len(),
        }
    }

    /// Whether no action is legal, because the episode has ended.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The n-th action, for a step.
    ///
    /// # Panics
    /// When there are fewer.
    pub fn action(&self, rules: &Rules, n: usize) -> i32 {
        match self {
            Choices::Placements(all) => all[n].1.action(rules) as i32,
            Choices::Keys(keys) => keys[n] as i32,
        }
    }

    /// The smallest action that is not legal, if any: a step with it follows the session's policy for invalid actions.
    pub fn illegal_action(&self, rules: &Rules) -> Option<i32> {
        let legal: Vec<i32> = (0..self.len()).map(|n| self.action(rules, n)).collect();
        (0..rules.num_actions() as i32).find(|action| legal.binary_search(action).is_err())
    }

    /// The n-th action's entry in a list, such as `a 0@3-5` or `b left`.
    ///
    /// # Panics
    /// When there are fewer actions.
    pub fn entry(&self, rules: &Rules, n: usize) -> String {
        format!("{} {}", letters(n), self.name(rules, n, true))
    }

    /// The n-th action's name, for a placement with the rightmost column or without.
    pub(super) fn name(&self, rules: &Rules, n: usize, with_right: bool) -> String {
        match self {
            Choices::Placements(all) => {
                let (piece, placement) = all[n];
                let shape = placement.shape(rules, piece).expect("a legal placement has a shape");
                let right = with_right.then(|| placement.column + shape.width - 1);
                placement_name(placement, right)
            }
            Choices::Keys(keys) => keys[n].name().to_owned(),
        }
    }

    /// Reads an action: its letter, its name, its entry in the list, or the line there with the consequences. Capital
    /// letters and blanks around the text make no difference.
    ///
    /// # Errors
    /// [`UnknownAction`] with all legal actions.
    pub fn read(&self, rules: &Rules, text: &str) -> Result<i32, UnknownAction> {
        let unknown =
            || UnknownAction { text: text.chars().take(MAX_ACTION_BYTES).collect(), legal: self.list(rules) };
        if text.len() > MAX_ACTION_BYTES {
            return Err(unknown());
        }
        let words = text.to_ascii_lowercase().split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let said = without_consequences(&words);
        let said = said.strip_suffix('.').filter(|said| !said.is_empty()).unwrap_or(said);
        let is_said = |n: &usize| {
            said == letters(*n)
                || said == self.name(rules, *n, false)
                || said == self.name(rules, *n, true)
                || said == self.entry(rules, *n)
        };
        (0..self.len()).find(is_said).map(|n| self.action(rules, n)).ok_or_else(unknown)
    }

    /// The legal actions, separated by commas.
    fn list(&self, rules: &Rules) -> String {
        let listed = self.len().min(MAX_LISTED);
        let mut list = (0..listed).map(|n| self.entry(rules, n)).collect::<Vec<_>>().join(", ");
        if listed < self.len() {
            let _ = write!(list, " and {} more", self.len() - listed);
        }
        list
    }
}

/// A line of a list up to its consequences, which are not compared. Other texts stay whole.
fn without_consequences(text: &str) -> &str {
    match text.split_once(':') {
        Some((entry, rest))
            if rest.is_empty() || rest.starts_with(" lines ") || rest.starts_with(" ends ") =>
        {
            entry
        }
        _ => text,
    }
}

/// A placement's name: `orientation@column`, with the rightmost column, the row and the spin if they are there.
fn placement_name(placement: Placement, right: Option<u8>) -> String {
    let Placement { orientation, column, spot, hold } = placement;
    let mut name = format!("{}{orientation}@{column}", if hold { "hold " } else { "" });
    if let Some(right) = right.filter(|right| *right != column) {
        let _ = write!(name, "-{right}");
    }
    if let Some(spot) = spot {
        let _ = write!(name, "^{}", spot.row);
        if spot.spin != Spin::None {
            let _ = write!(name, "/{}", SpinText(spot.spin));
        }
    }
    name
}

struct SpinText(Spin);

impl fmt::Display for SpinText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Spin::None => "none",
            Spin::Mini => "mini",
            Spin::Full => "full",
        })
    }
}

/// The letters of the n-th action: `a` to `z`, `aa` to `zz` and so on.
fn letters(n: usize) -> String {
    let mut letters = Vec::new();
    let mut left = n + 1;
    while left > 0 {
        left -= 1;
        letters.push(b'a' + (left % 26) as u8);
        left /= 26;
    }
    letters.iter().rev().map(|&letter| char::from(letter)).collect()
}
