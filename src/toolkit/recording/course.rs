//! A game with its colours, action by action: the engine's [`Live`] game, and the origins of its cells.

use std::ops::Deref;

use tetrion_core::engine::{
    ActionModel, ActionRefused, GameStatistics, LandedPiece, Live, Placement, Playfield,
};
use tetrion_core::env::InvalidActionPolicy;

use super::cells::{Cells, SceneCells, remaining, risen};
use super::record::{Outcome, RecordingError, Setup};
use super::scene::{CurrentPiece, Scene};

/// A game up to some step.
#[derive(Clone, Debug)]
pub struct Course {
    game: Live,
    invalid_actions: InvalidActionPolicy,
    cells: Cells,
    last: Vec<(u8, u8)>,
    landing: Option<LandedPiece>,
    /// Side 1 of a match, of which this is side 0.
    opponent: Option<Box<Course>>,
}

impl Deref for Course {
    type Target = Live;

    fn deref(&self) -> &Live {
        &self.game
    }
}

impl Course {
    /// A game before its first action.
    ///
    /// # Errors
    /// [`RecordingError`] for a game that cannot be played.
    pub fn new(setup: &Setup) -> Result<Course, RecordingError> {
        setup.check()?;
        let Setup { rules, invalid_actions, ref start, .. } = *setup;
        let empty = Playfield::empty(rules.width, rules.height);
        let playfield = start.as_ref().map_or(empty, |start| start.playfield);
        let held = start.as_ref().and_then(|start| start.held);
        let cells = Cells::given(&playfield);
        let course = |side| {
            let given = start.iter().flat_map(|start| start.pieces());
            let game = Live::starting_from(&rules, setup.dealer(side), playfield, given, held);
            let game = if rules.is_match() { game.on_side(side as u8) } else { game };
            let cells = cells.clone();
            Course { game, invalid_actions, cells, last: Vec::new(), landing: None, opponent: None }
        };
        let opponent = rules.is_match().then(|| Box::new(course(1)));
        Ok(Course { opponent, ..course(0) })
    }

    /// Side 1, if the game is a match.
    pub fn opponent(&self) -> Option<&Course> {
        self.opponent.as_deref()
    }

    /// Both sides of a match, or the only one.
    pub fn sides(&self) -> impl Iterator<Item = &Course> {
        [Some(self), self.opponent()].into_iter().flatten()
    }

    /// A side.
    ///
    /// # Panics
    /// When there is no such side.
    pub fn side(&self, side: usize) -> &Course {
        self.sides().nth(side).expect("a side of the game")
    }

    /// Number of actions so far: placements or keys.
    pub fn steps(&self) -> u64 {
        self.statistics().steps
    }

    /// The outcome if the game stopped here.
    pub fn outcome(&self) -> Outcome {
        let GameStatistics { pieces, lines, score, .. } = self.statistics();
        Outcome { pieces, lines, score, end: self.end(), playfield: *self.playfield() }
    }

    /// The scene for viewers. The ghost is the dropped piece in games with keys; placement games have no ghost here.
    pub fn scene(&self) -> Scene {
        let GameStatistics { steps, pieces, lines, score, .. } = self.statistics();
        Scene {
            cells: self.cells.clone(),
            last: self.last.clone(),
            cleared: self.cleared(),
            current: self.current(),
            ghost: self.dropped(),
            next: self.preview().collect(),
            held: self.held(),
            garbage: self.incoming().seen(self.rules()).collect(),
            steps,
            pieces,
            lines,
            score,
            end: self.end(),
        }
    }

    /// The last landing, if a piece has landed.
    pub fn landing(&self) -> Option<LandedPiece> {
        self.landing
    }

    fn cleared(&self) -> Vec<u8> {
        let vanished = self.landing.map_or(0, |landing| landing.cleared_rows);
        (0..self.rules().height).filter(|row| vanished >> row & 1 == 1).collect()
    }

    fn current(&self) -> Option<CurrentPiece> {
        let piece = self.piece()?;
        Some(match self.moving() {
            Some(moving) => CurrentPiece { piece, cells: moving.cells() },
            None => CurrentPiece::appearing(piece, self.rules()),
        })
    }

    /// The resting cells for an action: of the placement, or, in games with keys, of the current piece if it were
    /// dropped now.
    pub fn led_to(&self, action: u16) -> Option<SceneCells> {
        match self.rules().action_model {
            ActionModel::Placement => self.resting_cells(Placement::from_action(action.into(), self.rules())),
            ActionModel::Keypress => self.dropped(),
        }
    }

    /// Plays an action of each side of a match, or only the first one in a game of one player. Returns the lines of
    /// each landing, if a piece landed.
    ///
    /// # Errors
    /// The refused side, and [`ActionRefused`] for an action that cannot be played. A refused turn changes nothing.
    pub fn play_turn(&mut self, turn: [u16; 2]) -> Result<[Option<u8>; 2], (usize, ActionRefused)> {
        let Some(mut opponent) = self.opponent.clone() else {
            return Ok([self.play(turn[0]).map_err(|refused| (0, refused))?, None]);
        };
        let theirs = opponent.play(turn[1]).map_err(|refused| (1, refused))?;
        let ours = self.play(turn[0]).map_err(|refused| (0, refused))?;
        self.game.exchange(&mut opponent.game);
        self.opponent = Some(opponent);
        Ok([ours, theirs])
    }

    /// Plays an action of this side. Returns the lines of the landing, if a piece landed.
    ///
    /// # Errors
    /// [`ActionRefused`] for an action that cannot be played.
    pub fn play(&mut self, action: u16) -> Result<Option<u8>, ActionRefused> {
        let happened = match self.game.play(action.into()) {
            Ok(happened) => happened,
            Err(ActionRefused::NoPlacement { .. } | ActionRefused::NoKey { .. })
                if self.invalid_actions != InvalidActionPolicy::Reject =>
            {
                let (points, end) = self.invalid_actions.consequence(self.game.rules());
                self.game.pass(points, end);
                return Ok(None);
            }
            Err(refused) => return Err(refused),
        };
        let Some(landed) = happened.landed else { return Ok(None) };
        let LandedPiece { piece, cells, cleared_rows } = landed;
        let height = self.game.rules().height;
        self.cells.land(piece, &cells, cleared_rows);
        self.cells.rise(self.game.playfield(), happened.risen);
        self.last = risen(&remaining(&cells, cleared_rows, height), happened.risen, height);
        self.landing = Some(landed);
        Ok(Some(happened.lines))
    }
}
