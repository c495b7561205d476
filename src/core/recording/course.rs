//! A game with its colours, action by action.
//!
//! A course plays like an environment with one episode, with the engine's functions; `src/core/tests/it/recording/mod.rs`
//! compares the two.

use crate::engine::{
    ActionModel, Chain, Counted, Dealer, EpisodeEnd, FallingPiece, Hand, Incoming, Key, MovingPiece, Odds,
    Piece, Placement, Playfield, Resting, Rules, Shape, Spin, SteeredPiece, Visible, comes_to_rest, land_at,
};
use crate::env::{InvalidActionPolicy, LandedPiece};

use super::cells::{Cells, SceneCells, remaining, risen};
use super::record::{Outcome, RecordingError, Setup};
use super::scene::{CurrentPiece, Scene};

/// The reason why an action was refused. A refused action changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionRefused {
    /// The game is over.
    #[error("the game is over: {0}")]
    Ended(EpisodeEnd),
    /// The rules have no such action.
    #[error("action {action} is out of range, expected 0..{num_actions}")]
    OutOfRange {
        /// The action.
        action: u16,
        /// Number of actions under the rules.
        num_actions: u32,
    },
    /// The current piece, or the piece that hold brings into play, has no such placement here.
    #[error("action {action} is no placement of {letter} here")]
    NoPlacement {
        /// The action.
        action: u16,
        /// The letter of the current piece.
        letter: char,
    },
    /// The key cannot be pressed now.
    #[error("action {action}, {}, cannot be done with {letter} here", .key.name())]
    NoKey {
        /// The action.
        action: u16,
        /// The key.
        key: Key,
        /// The letter of the current piece.
        letter: char,
    },
}

/// A game up to some step.
#[derive(Clone, Debug)]
pub struct Course {
    rules: Rules,
    invalid_actions: InvalidActionPolicy,
    dealer: Dealer,
    visible: Visible,
    /// The current piece on its way down, in games with keys.
    falling: Option<MovingPiece>,
    held: Option<Piece>,
    playfield: Playfield,
    cells: Cells,
    last: Vec<(u8, u8)>,
    landing: Option<LandedPiece>,
    steps: u64,
    pieces: u64,
    lines: u64,
    score: f64,
    attack: u64,
    chain: Chain,
    incoming: Incoming,
    end: Option<EpisodeEnd>,
}

impl Course {
    /// A game before its first action.
    ///
    /// # Errors
    /// [`RecordingError`] for a game that cannot be played.
    pub fn new(setup: &Setup) -> Result<Course, RecordingError> {
        setup.check()?;
        let rules = setup.rules;
        let mut dealer = setup.dealer();
        let mut visible = Visible::dealt(&mut dealer, rules.preview);
        let mut playfield = Playfield::empty(rules.width, rules.height);
        let held = setup.start.as_ref().and_then(|start| start.held);
        if let Some(start) = &setup.start {
            playfield = start.playfield;
            visible = visible.starting_with(start.pieces());
        }
        let mut course = Course {
            rules,
            invalid_actions: setup.invalid_actions,
            dealer,
            visible,
            falling: None,
            held,
            playfield,
            cells: Cells::given(&playfield),
            last: Vec::new(),
            landing: None,
            steps: 0,
            pieces: 0,
            lines: 0,
            score: 0.0,
            attack: 0,
            chain: Chain::default(),
            incoming: Incoming::default(),
            end: None,
        };
        course.appear();
        Ok(course)
    }

    /// The rules.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Actions so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The playfield, without the current piece.
    pub fn playfield(&self) -> &Playfield {
        &self.playfield
    }

    /// The piece in play; `None` after the end of the game.
    pub fn piece(&self) -> Option<Piece> {
        if self.end.is_none() { self.visible.current() } else { None }
    }

    /// The next pieces, as many as the rules show.
    pub fn next(&self) -> impl Iterator<Item = Piece> {
        self.visible.pieces().skip(1)
    }

    /// The held piece, if any.
    pub fn held(&self) -> Option<Piece> {
        self.held
    }

    /// The pieces that can be placed; `None` after the end of the game.
    pub fn hand(&self) -> Option<Hand> {
        self.visible.hand(&self.player_rules(), self.held).filter(|_| self.end.is_none())
    }

    /// The rules for the player's choice of a placement. They do not allow hold if the current piece came from hold.
    pub fn player_rules(&self) -> Rules {
        self.rules.while_moving(self.falling)
    }

    /// The odds of the piece after the preview.
    pub fn odds(&self) -> Odds {
        self.dealer.odds()
    }

    /// The piece in play on its way down, in games with keys.
    pub fn falling(&self) -> Option<MovingPiece> {
        if self.end.is_none() { self.falling } else { None }
    }

    /// The keys that can be pressed; empty in placement games.
    pub fn keys(&self) -> Vec<Key> {
        let next = self.visible.next();
        let has_key = |key: &Key| match self.falling() {
            None => false,
            Some(MovingPiece::Falling(_)) => true,
            Some(MovingPiece::Steered(piece)) => {
                piece.has_key(&self.rules, &self.playfield, *key, self.held, next)
            }
        };
        self.rules.keys().iter().copied().filter(has_key).collect()
    }

    /// The way the game ended; `None` while it goes on.
    pub fn end(&self) -> Option<EpisodeEnd> {
        self.end
    }

    /// The outcome so far.
    pub fn outcome(&self) -> Outcome {
        let Course { pieces, lines, score, end, playfield, .. } = *self;
        Outcome { pieces, lines, score, end, playfield }
    }

    /// Lines sent so far, by the rules' table of attack.
    pub fn attack(&self) -> u64 {
        self.attack
    }

    /// Queued garbage, if the rules have garbage.
    pub fn incoming(&self) -> Incoming {
        self.incoming
    }

    /// The scene for viewers. The ghost is the dropped piece in games with keys; placement games have no ghost here.
    pub fn scene(&self) -> Scene {
        Scene {
            cells: self.cells.clone(),
            last: self.last.clone(),
            cleared: self.cleared(),
            current: self.current(),
            ghost: self.dropped(),
            next: self.next().collect(),
            held: self.held,
            garbage: self.incoming.seen(&self.rules).to_vec(),
            steps: self.steps,
            pieces: self.pieces,
            lines: self.lines,
            score: self.score,
            end: self.end,
        }
    }

    /// The last landing, if a piece has landed.
    pub fn landing(&self) -> Option<LandedPiece> {
        self.landing
    }

    fn cleared(&self) -> Vec<u8> {
        let vanished = self.landing.map_or(0, |landing| landing.cleared_rows);
        (0..self.rules.height).filter(|row| vanished >> row & 1 == 1).collect()
    }

    fn current(&self) -> Option<CurrentPiece> {
        let piece = self.piece()?;
        Some(match self.falling {
            Some(falling) => CurrentPiece { piece, cells: falling.cells() },
            None => CurrentPiece::appearing(piece, &self.rules),
        })
    }

    /// The resting cells of a placement, before rows are cleared; `None` if the placement does not exist.
    pub fn placed(&self, placement: Placement) -> Option<SceneCells> {
        let piece = self.hand()?.can_place(&self.rules, &self.playfield, placement)?;
        let (shape, row) = comes_to_rest(&self.rules, &self.playfield, piece, placement);
        Some(shape.cells_at(row, placement.column))
    }

    /// The resting cells of the current piece if it were dropped now; `None` in placement games.
    pub fn dropped(&self) -> Option<SceneCells> {
        Some(self.falling()?.dropped(&self.rules, &self.playfield))
    }

    /// The resting cells for an action: of the placement, or, in games with keys, of the current piece if it were
    /// dropped now.
    pub fn led_to(&self, action: u16) -> Option<SceneCells> {
        match self.rules.action_model {
            ActionModel::Placement => self.placed(Placement::from_action(action.into(), &self.rules)),
            ActionModel::Keypress => self.dropped(),
        }
    }

    /// Plays an action. Returns the lines of the landing, if a piece landed.
    ///
    /// # Errors
    /// [`ActionRefused`] for an action that cannot be played.
    pub fn play(&mut self, action: u16) -> Result<Option<u8>, ActionRefused> {
        if let Some(end) = self.end {
            return Err(ActionRefused::Ended(end));
        }
        let num_actions = self.rules.num_actions();
        if u32::from(action) >= num_actions {
            return Err(ActionRefused::OutOfRange { action, num_actions });
        }
        let lines = match self.rules.action_model {
            ActionModel::Placement => {
                let placement = Placement::from_action(action.into(), &self.rules);
                let hand = self.hand().expect("a game that goes on");
                if let Some(piece) = hand.can_place(&self.rules, &self.playfield, placement) {
                    if placement.hold {
                        self.hold();
                    }
                    let (shape, row) = comes_to_rest(&self.rules, &self.playfield, piece, placement);
                    Some(self.land((piece, placement.spin()), shape, row, placement.column))
                } else {
                    self.play_invalid(action)?;
                    None
                }
            }
            ActionModel::Keypress => match self.falling.expect("a piece that is in play falls") {
                MovingPiece::Falling(falling) => {
                    let fall = falling.step(Key::ALL[usize::from(action)], &self.playfield);
                    self.falling = Some(fall.piece.into());
                    let (row, column) = fall.piece.corner();
                    let landed = (fall.piece.tetromino, Spin::None);
                    fall.rests.then(|| self.land(landed, fall.piece.shape(), row, column))
                }
                MovingPiece::Steered(piece) => self.steer(piece, action)?,
            },
        };
        self.steps += 1;
        Ok(lines)
    }

    /// Presses a key for a steered piece. Returns the lines of the landing, if the piece landed.
    fn steer(&mut self, piece: SteeredPiece, action: u16) -> Result<Option<u8>, ActionRefused> {
        let key = Key::ALL[usize::from(action)];
        let next = self.visible.next();
        if !piece.has_key(&self.rules, &self.playfield, key, self.held, next) {
            self.play_invalid(action)?;
            return Ok(None);
        }
        if key == Key::Hold {
            let swapped = piece.swapped(&self.rules, &self.playfield, self.held, next);
            let swapped = swapped.expect("a key that can be pressed");
            self.hold();
            self.falling = Some(swapped.into());
            return Ok(None);
        }
        let steered = piece.step(&self.rules, &self.playfield, key);
        self.falling = Some(steered.piece.into());
        let land = |resting: Resting| {
            let Resting { row, column, spin, .. } = resting;
            self.land((piece.tetromino, spin), resting.shape(piece.tetromino), row, column)
        };
        Ok(steered.resting.map(land))
    }

    /// Handles an action that does not exist.
    fn play_invalid(&mut self, action: u16) -> Result<(), ActionRefused> {
        if self.invalid_actions == InvalidActionPolicy::Reject {
            let letter = self.rules.pieces.letter(self.visible.current().expect("a game that goes on"));
            return Err(match self.rules.action_model {
                ActionModel::Placement => ActionRefused::NoPlacement { action, letter },
                ActionModel::Keypress => {
                    ActionRefused::NoKey { action, key: Key::ALL[usize::from(action)], letter }
                }
            });
        }
        let (points, end) = self.invalid_actions.consequence(&self.rules);
        self.score += points;
        self.end = end;
        Ok(())
    }

    /// Holds the current piece. The previously held piece comes into play, or the next piece if none was held.
    fn hold(&mut self) {
        self.visible.hold(&mut self.held, &mut self.dealer, self.rules.preview);
    }

    /// Lets a piece come to rest and the next one appear.
    fn land(&mut self, (piece, spin): (Piece, Spin), shape: &Shape, row: u8, column: u8) -> u8 {
        let rules = self.rules;
        let landing = land_at(&rules, &self.playfield, shape, row, column);
        self.visible.advance(&mut self.dealer, rules.preview);
        let landed = shape.cells_at(row, column);
        let vanished = landing.vanished_rows();
        self.cells.land(piece, &landed, vanished);
        self.landing = Some(LandedPiece { piece, cells: landed, cleared_rows: vanished });
        self.last = remaining(&landed, vanished, rules.height);
        self.playfield = landing.afterstate;
        let next = self.visible.current();
        let landed = landing.landed();
        let number = (self.dealer.garbage_seed(), self.pieces);
        let chained = (spin, &mut self.chain);
        let Counted { landed, points, sent } =
            landed.counted(&rules, &mut self.playfield, chained, &mut self.incoming, number, next);
        let rows = self.incoming.just_risen;
        self.cells.rise(&self.playfield, rows);
        self.last = risen(&self.last, rows, rules.height);
        self.pieces += 1;
        self.lines += u64::from(landed.lines);
        self.score += points;
        self.attack += u64::from(sent);
        if landed.terminal {
            self.end = Some(EpisodeEnd::ToppedOut);
        } else if next.is_none() {
            self.end = Some(EpisodeEnd::OutOfPieces);
        }
        self.appear();
        landed.lines
    }

    /// Puts the current piece where pieces start to fall, in games with keys.
    fn appear(&mut self) {
        let Rules { width, height, .. } = self.rules;
        let spawn = |piece| match self.rules.steers() {
            true => SteeredPiece::spawn(&self.rules, &self.playfield, piece).into(),
            false => FallingPiece::spawn(piece, width, height).into(),
        };
        if self.rules.action_model == ActionModel::Keypress {
            self.falling = self.visible.current().map(spawn);
        }
    }
}
