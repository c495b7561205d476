//! A game in progress with everything that its player sees and does: playfield, pieces, hold, keys, garbage, counters.
//!
//! ```
//! use tetrion_core::engine::{EpisodeEnd, Live, Rules};
//!
//! let mut game = Live::new(&Rules::simplified(6, 8), 7)?;
//! while let Some(&(_, placement)) = game.placements().first() {
//!     game.place(placement)?;
//! }
//! assert_eq!(game.end(), Some(EpisodeEnd::ToppedOut));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Live`] game is a value of about a kilobyte: a copy is another game that goes on from here with the same pieces. It
//! knows no colours, no rewards over time and no agents. Loops that place millions of pieces a second keep a
//! [`Game`] instead, which has no preview, and environments keep arrays of the parts; tests hold all three
//! equal.

use super::clears::{Attack, Chain};
use super::episode_end::EpisodeEnd;
use super::exchange::{exchange, exchange_points};
use super::game::{Counted, Game, comes_to_rest, land_at};
use super::garbage::Holes;
use super::hand::Hand;
use super::incoming::Incoming;
use super::key::Key;
use super::moving::{KeyEffect, MovingPiece, RestedPiece};
use super::piece::Piece;
use super::placement::Placement;
use super::playfield::Playfield;
use super::randomizer::{Dealer, Odds};
use super::rules::{ActionModel, Rules, RulesError};
use super::shape::PieceCells;
use super::visible::Visible;

/// A game with all that its player sees, played one action at a time.
#[derive(Clone, Debug)]
pub struct Live {
    rules: Rules,
    dealer: Dealer,
    game: Game<u64, 32>,
    visible: Visible,
    held: Option<Piece>,
    /// The current piece on its way down, in games with keys.
    moving: Option<MovingPiece>,
    incoming: Incoming,
    steps: u64,
    sent: u64,
}

/// The counters of a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GameStatistics {
    /// Actions so far: placements or keys.
    pub steps: u64,
    pub pieces: u64,
    pub lines: u64,
    /// Points, under the rules' scoring.
    pub score: f64,
    /// Lines sent, by the rules' table of attack.
    pub sent: u64,
}

/// The effects of an action on a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Happened {
    /// The piece that landed; `None` for a key after which the piece is still in play.
    pub landed: Option<LandedPiece>,
    pub lines: u8,
    pub points: f64,
    pub sent: u32,
    /// The lines that the landing sends, as events, before they cancel waiting garbage.
    pub attack: Attack,
    /// What of the attack leaves for the opponent of a match.
    pub left: Attack,
    /// Rows of garbage that rose.
    pub risen: u8,
}

/// A piece at rest, and the rows that it completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LandedPiece {
    pub piece: Piece,
    /// Row and column of its cells before rows cleared, ordered by row, then by column. Rows may be above the
    /// playfield.
    pub cells: PieceCells,
    /// The rows that cleared, by their numbers before clearing; bit r is row r.
    pub cleared_rows: u64,
}

/// The reason why an action was refused. A refused action changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionRefused {
    #[error("the game is over: {0}")]
    Ended(EpisodeEnd),
    /// The rules have no such action.
    #[error("action {action} is out of range, expected 0..{num_actions}")]
    OutOfRange {
        action: u32,
        /// Number of actions under the rules.
        num_actions: u32,
    },
    /// The current piece, or the piece that hold brings into play, has no such placement here.
    #[error("action {action} is no placement of {letter} here")]
    NoPlacement {
        action: u32,
        /// The letter of the current piece.
        letter: char,
    },
    /// The key cannot be pressed now.
    #[error("action {action}, {}, cannot be done with {letter} here", .key.name())]
    NoKey {
        action: u32,
        key: Key,
        /// The letter of the current piece.
        letter: char,
    },
}

impl Happened {
    const NOTHING: Happened = Happened {
        landed: None,
        lines: 0,
        points: 0.0,
        sent: 0,
        attack: Attack::NOTHING,
        left: Attack::NOTHING,
        risen: 0,
    };
}

impl Live {
    /// The episode with this seed, before its first action.
    ///
    /// # Errors
    /// [`RulesError`] for rules that cannot be played, and for those of two players.
    pub fn new(rules: &Rules, seed: u64) -> Result<Live, RulesError> {
        rules.check()?;
        rules.check_alone()?;
        Ok(Live::starting(rules, rules.dealer(seed)))
    }

    /// The episode of a dealer's pieces, before its first action. The rules have been checked.
    pub(super) fn starting(rules: &Rules, dealer: Dealer) -> Live {
        Live::starting_from(rules, dealer, Playfield::empty(rules.width, rules.height), [], None)
    }

    /// This game with the garbage of a side of a match, 0 or 1.
    #[must_use]
    pub fn on_side(mut self, side: u8) -> Live {
        self.incoming.side = Some(side);
        self
    }

    /// A game of a dealer's pieces that starts from a playfield. The given pieces replace the first ones that are seen.
    /// Without any piece it has ended.
    ///
    /// # Panics
    /// When the playfield has another size than the rules say, or it is too large for [`Playfield`].
    pub fn starting_from(
        rules: &Rules,
        mut dealer: Dealer,
        playfield: Playfield,
        pieces: impl IntoIterator<Item = Piece>,
        held: Option<Piece>,
    ) -> Live {
        let visible = Visible::dealt(&mut dealer, rules.preview).starting_with(pieces);
        let sizes = [(playfield.width(), playfield.height()), (rules.width, rules.height)];
        assert_eq!(sizes[0], sizes[1], "a playfield of the size of the rules");
        let end = if visible.current().is_none() { Some(EpisodeEnd::OutOfPieces) } else { None };
        let game = Game { playfield, end, ..Game::new(rules) };
        let (incoming, moving) = (Incoming::new(rules), None);
        let mut live =
            Live { rules: *rules, dealer, game, visible, held, moving, incoming, steps: 0, sent: 0 };
        live.appear();
        live
    }

    /// This game after these clears, with garbage in some rows of its playfield: bit r for row r.
    #[must_use]
    pub fn continuing(mut self, chain: Chain, garbage_rows: u64) -> Live {
        self.game.chain = chain;
        self.incoming.garbage_rows = garbage_rows;
        self.appear();
        self
    }

    /// Ends a turn of a match between this side and another: lines arrive, and both games end if one has. Returns what
    /// arrived at each side.
    pub fn exchange(&mut self, other: &mut Live) -> [Attack; 2] {
        let rules = self.rules;
        let arrived = exchange(&rules, [self.garbage(), other.garbage()]);
        let ends = EpisodeEnd::of_match([self.game.end, other.game.end]);
        let points = exchange_points(&rules, arrived, ends);
        for (side, (end, points)) in [self, other].into_iter().zip(ends.into_iter().zip(points)) {
            side.game.end = end;
            side.game.score += points;
        }
        arrived
    }

    /// The garbage of the game and the choice of its holes.
    fn garbage(&mut self) -> (&mut Incoming, Holes<'_>) {
        let holes = self.dealer.holes(self.incoming.side);
        (&mut self.incoming, holes)
    }

    /// The recent clears, if the rules keep them.
    pub fn chain(&self) -> Chain {
        self.game.chain
    }

    /// The rules with which the game was started.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The playfield, without the current piece.
    pub fn playfield(&self) -> &Playfield {
        &self.game.playfield
    }

    /// The piece in play; `None` after the end of the game.
    pub fn piece(&self) -> Option<Piece> {
        if self.game.end.is_none() { self.visible.current() } else { None }
    }

    /// The pieces that can be placed; `None` after the end of the game.
    pub fn hand(&self) -> Option<Hand> {
        self.visible.hand(&self.player_rules(), self.held).filter(|_| self.game.end.is_none())
    }

    /// The held piece, if any.
    pub fn held(&self) -> Option<Piece> {
        self.held
    }

    /// The next pieces, as many as the rules show.
    ///
    /// ```
    /// use tetrion_core::engine::{Live, Rules};
    ///
    /// let game = Live::new(&Rules::preset("guideline").unwrap(), 1)?;
    /// assert_eq!(game.preview().count(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn preview(&self) -> impl Iterator<Item = Piece> {
        self.visible.pieces().skip(1)
    }

    /// The odds of the piece after the preview.
    pub fn odds(&self) -> Odds {
        self.dealer.odds()
    }

    /// The piece in play on its way down, in games with keys.
    pub fn moving(&self) -> Option<MovingPiece> {
        if self.game.end.is_none() { self.moving } else { None }
    }

    /// Queued garbage, if the rules have garbage.
    pub fn incoming(&self) -> &Incoming {
        &self.incoming
    }

    /// Steps, pieces, lines, points and sent lines so far.
    ///
    /// ```
    /// use tetrion_core::engine::{Live, Placement, Rules};
    ///
    /// let mut game = Live::new(&Rules::simplified(10, 20), 1)?;
    /// game.place(Placement::straight(0, 0))?;
    /// assert_eq!((game.statistics().pieces, game.statistics().lines), (1, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn statistics(&self) -> GameStatistics {
        let Game { pieces, lines, score, .. } = self.game;
        GameStatistics { steps: self.steps, pieces, lines, score, sent: self.sent }
    }

    /// The way the game ended; `None` while it goes on.
    pub fn end(&self) -> Option<EpisodeEnd> {
        self.game.end
    }

    /// The rules for the player's choice of a placement. They do not allow hold if the current piece came from hold.
    pub fn player_rules(&self) -> Rules {
        self.rules.after(self.game.chain).while_moving(self.moving)
    }

    /// The placements of the hand, each with its piece, in ascending order of actions; empty after the end of the game.
    pub fn placements(&self) -> Vec<(Piece, Placement)> {
        let rules = self.player_rules();
        self.hand().map_or(Vec::new(), |hand| hand.placements(&rules, self.playfield()))
    }

    /// The keys that can be pressed; empty in placement games.
    ///
    /// ```
    /// use tetrion_core::engine::{Key, Live, Rules};
    ///
    /// let game = Live::new(&Rules::preset("lab").unwrap(), 1)?;
    /// assert!(game.keys().contains(&Key::Left) && game.placements().len() > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keys(&self) -> Vec<Key> {
        self.rules.keys().iter().copied().filter(|&key| self.has_key(key)).collect()
    }

    fn has_key(&self, key: Key) -> bool {
        self.moving().is_some_and(|piece| {
            let rules = self.rules.after(self.game.chain);
            piece.has_key(&rules, self.playfield(), key, self.held, self.visible.next())
        })
    }

    /// The resting cells of a placement, before rows are cleared; `None` if the placement does not exist.
    pub fn resting_cells(&self, placement: Placement) -> Option<PieceCells> {
        let rules = self.rules.after(self.game.chain);
        let piece = self.hand()?.can_place(&rules, self.playfield(), placement)?;
        let (shape, row) = comes_to_rest(&self.rules, self.playfield(), piece, placement);
        Some(shape.cells_at(row, placement.column))
    }

    /// The resting cells of the current piece if it were dropped now; `None` in placement games.
    pub fn dropped(&self) -> Option<PieceCells> {
        Some(self.moving()?.dropped(&self.rules, self.playfield()))
    }

    /// Plays an action by its number: a placement or a key.
    ///
    /// ```
    /// use tetrion_core::engine::{Key, Live, Rules};
    ///
    /// let mut game = Live::new(&Rules::preset("lab").unwrap(), 4)?;
    /// game.play(Key::Left as u32)?;
    /// let happened = game.play(Key::HardDrop as u32)?;
    /// assert_eq!(happened.landed.map(|landed| landed.cells.len()), Some(4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ActionRefused`] for an action that cannot be played.
    pub fn play(&mut self, action: u32) -> Result<Happened, ActionRefused> {
        let num_actions = self.rules.num_actions();
        if let Some(end) = self.game.end {
            return Err(ActionRefused::Ended(end));
        }
        if action >= num_actions {
            return Err(ActionRefused::OutOfRange { action, num_actions });
        }
        match self.rules.action_model {
            ActionModel::Placement => self.place(Placement::from_action(action, &self.rules)),
            ActionModel::Keypress => self.press(Key::ALL[action as usize]),
        }
    }

    /// Places the current piece, or the other one of the hand while holding the current one.
    ///
    /// ```
    /// use tetrion_core::engine::{Dealer, Live, Placement, Playfield, Rules, parse_sequence};
    ///
    /// let rules = Rules::simplified(6, 4);
    /// let start = Playfield::from_drawing(6, 4, "##.###\n##.###").unwrap();
    /// let pieces = Dealer::sequence(parse_sequence("IO")?.into());
    /// let mut game = Live::starting_from(&rules, pieces, start, [], None);
    /// let happened = game.place(Placement::straight(0, 2))?;
    /// assert_eq!(happened.lines, 2);
    /// assert_eq!(game.playfield().to_string(), "......\n......\n..#...\n..#...");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ActionRefused`] for a placement that does not exist.
    ///
    /// # Panics
    /// In games with keys.
    pub fn place(&mut self, placement: Placement) -> Result<Happened, ActionRefused> {
        assert_eq!(self.rules.action_model, ActionModel::Placement, "pieces are placed, not steered");
        let piece = self.check(placement)?;
        Ok(self.put(piece, placement))
    }

    /// Checks that a placement exists, and returns its piece.
    ///
    /// # Errors
    /// [`ActionRefused`] if it does not.
    pub(super) fn check(&self, placement: Placement) -> Result<Piece, ActionRefused> {
        let Some(hand) = self.hand() else { return Err(self.ended()) };
        let rules = self.rules.after(self.game.chain);
        hand.can_place(&rules, self.playfield(), placement).ok_or_else(|| {
            let action = placement.action(&self.rules);
            ActionRefused::NoPlacement { action, letter: self.letter() }
        })
    }

    /// Places a piece that [`Live::check`] returned.
    pub(super) fn put(&mut self, piece: Piece, placement: Placement) -> Happened {
        if placement.hold {
            self.visible.hold(&mut self.held, &mut self.dealer, self.rules.preview);
        }
        let (shape, row) = comes_to_rest(&self.rules, &self.game.playfield, piece, placement);
        self.steps += 1;
        self.land(piece, RestedPiece { shape, row, column: placement.column, spin: placement.spin() })
    }

    /// Presses a key.
    ///
    /// # Errors
    /// [`ActionRefused`] for a key that cannot be pressed.
    ///
    /// # Panics
    /// In placement games.
    pub fn press(&mut self, key: Key) -> Result<Happened, ActionRefused> {
        assert_eq!(self.rules.action_model, ActionModel::Keypress, "pieces are steered, not placed");
        let Some(moving) = self.moving() else { return Err(self.ended()) };
        if !self.has_key(key) {
            return Err(ActionRefused::NoKey { action: key as u32, key, letter: self.letter() });
        }
        self.steps += 1;
        let rules = self.rules.after(self.game.chain).into_owned();
        Ok(match moving.press(&rules, self.playfield(), key, self.held, self.visible.next()) {
            KeyEffect::Moves(piece) => {
                self.moving = Some(piece);
                Happened::NOTHING
            }
            KeyEffect::Holds(piece) => {
                self.visible.hold(&mut self.held, &mut self.dealer, self.rules.preview);
                self.moving = Some(piece);
                Happened::NOTHING
            }
            KeyEffect::Rests(rested) => self.land(moving.tetromino(), rested),
        })
    }

    /// Counts a step whose action did not exist, with its points and the end of the game if it ends it.
    pub fn pass(&mut self, points: f64, end: Option<EpisodeEnd>) {
        self.steps += 1;
        self.game.score += points;
        self.game.end = self.game.end.or(end);
    }

    fn ended(&self) -> ActionRefused {
        ActionRefused::Ended(self.game.end.expect("without a piece in play a game is over"))
    }

    /// The letter of the piece in play.
    fn letter(&self) -> char {
        self.rules.pieces.letter(self.visible.current().expect("a game that goes on"))
    }

    /// Lets a piece come to rest and the next one appear.
    fn land(&mut self, piece: Piece, rested: RestedPiece) -> Happened {
        let RestedPiece { shape, row, column, .. } = rested;
        let Live { rules, dealer, game, visible, incoming, .. } = self;
        let cleared_rows = land_at(rules, &game.playfield, shape, row, column).vanished_rows();
        visible.advance(dealer, rules.preview);
        let next = visible.current();
        let garbage = (dealer.holes(incoming.side), incoming);
        let Counted { landed, points, attack, left } = game.rest_in_garbage(rules, rested, garbage, next);
        if game.end.is_none() && next.is_none() {
            game.end = Some(EpisodeEnd::OutOfPieces);
        }
        let risen = self.incoming.just_risen;
        let sent = attack.lines();
        self.sent += u64::from(sent);
        self.appear();
        let landed_piece = LandedPiece { piece, cells: shape.cells_at(row, column), cleared_rows };
        Happened { landed: Some(landed_piece), lines: landed.lines, points, sent, attack, left, risen }
    }

    /// Puts the current piece where pieces start to fall, in games with keys.
    fn appear(&mut self) {
        if self.rules.action_model == ActionModel::Keypress {
            let rules = self.rules.after(self.game.chain);
            let spawn = |piece| MovingPiece::spawn(&rules, self.playfield(), piece);
            self.moving = self.visible.current().map(spawn);
        }
    }
}
