//! The screen of `tetrion play`: a person's game.

use std::ops::ControlFlow;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;

use super::aim::Aim;
use super::{Palette, ScreenPlayer, Show, TerminalProgram};
use crate::input::UsageError;
use crate::players::{ChosenActions, Contender, GameSeries, Player, Reasons, controller, result};
use tetrion_core::agents::{LinearAgent, PlayChoice};
use tetrion_core::engine::{ActionModel, ActionRefused, HalfTurns, Key, Rules};
use tetrion_toolkit::recording::{
    Course, CurrentPiece, Recorder, Recording, RecordingError, Scene, SceneCells,
};

/// Work of the opponent between two frames, in pieces that a linear controller places with a kernel.
const WORK: u64 = 1 << 16;
/// Most rows that a piece falls between two frames, so that a suspended terminal does not end the game.
const MAX_ROWS: f64 = 4.0;

const HOLD: &str = "c hold";
const HALF_TURN: &str = "r half turn";
/// Keys for placements, the most important first.
const KEYS_OF_PLACEMENTS: [&str; 7] =
    ["left/right move", "up turn", "space drop", "h hint", "u undo", "n new", "q quit"];
/// Keys for placements under rules with moves on the way down, or with hold.
const MODERN_KEYS: [&str; 9] = [
    "left/right move",
    "up/z turn",
    "space drop",
    HOLD,
    "h hint",
    "q quit",
    "down deeper",
    "u undo",
    "n new",
];
const KEYS_OF_KEYS: [&str; 9] = [
    "left/right move",
    "up/z turn",
    "space drop",
    "p pause",
    "h hint",
    "q quit",
    "u undo",
    "n new",
    "+/- speed",
];
/// Keys for rules in which keys steer the piece.
const KEYS_OF_STEERING: [&str; 13] = [
    "left/right move",
    "up/z turn",
    "space drop",
    HOLD,
    "p pause",
    "h hint",
    "q quit",
    "down soft drop",
    "f sonic drop",
    HALF_TURN,
    "u undo",
    "n new",
    "+/- speed",
];

/// A person's game, with an optional opponent on the same pieces, or in a match.
#[derive(Clone, Debug)]
pub struct PlayScreen {
    series: GameSeries,
    game: u64,
    recorder: Recorder,
    /// Number of the step after each of the player's landings.
    landings: Vec<u64>,
    /// The placement that the player aims at, if a step is a placement.
    aim: Option<Aim>,
    against: Option<Contender>,
    choice: PlayChoice,
    /// The opponent in a separate game.
    rival: Option<Player>,
    /// The opponent in a match.
    opponent: Option<ChosenActions>,
    /// The person's action in a match, until the opponent has chosen its own.
    pending: Option<u16>,
    adviser: LinearAgent,
    adviser_name: String,
    hint: Option<Reasons>,
    /// Speed in rows per second.
    speed: f64,
    /// Steps that have become due and are not played yet, with a fraction.
    due: f64,
    is_paused: bool,
    message: String,
    palette: Palette,
}

/// Highest speed of a falling piece, in rows per second.
pub const MAX_FALL_SPEED: f64 = 100.0;

/// Settings of a person's game.
#[derive(Clone, Debug)]
pub struct PlaySetup {
    pub series: GameSeries,
    /// Number of the first game.
    pub game: u64,
    /// Opponent on the same pieces.
    pub against: Option<Contender>,
    /// Search of the opponent, and its value of lost games.
    pub choice: PlayChoice,
    /// Name of the controller that gives hints.
    pub hint: String,
    /// Rows per second that a piece falls, 0 to [`MAX_FALL_SPEED`]; `None` for the usual speed of the rules.
    pub speed: Option<f64>,
    pub palette: Palette,
}

impl PlayScreen {
    /// Creates the game before its first key.
    ///
    /// # Errors
    /// [`UsageError`] for an unknown controller, or one that cannot play under these rules.
    pub fn new(setup: PlaySetup) -> Result<PlayScreen, UsageError> {
        let PlaySetup { series, game, against, choice, hint, speed, palette } = setup;
        let mut play = PlayScreen {
            series,
            game,
            recorder: recorder(&series, game)?,
            landings: Vec::new(),
            aim: None,
            against,
            choice,
            rival: None,
            opponent: None,
            pending: None,
            adviser: controller(&hint, &series.rules)?,
            adviser_name: hint,
            hint: None,
            // One row per second is level 1, which leaves time to move a piece on the ground.
            speed: speed.unwrap_or(if series.rules.steers() { 1.0 } else { 2.0 }),
            due: 0.0,
            is_paused: false,
            message: String::new(),
            palette,
        };
        play.begin(game)?;
        Ok(play)
    }

    /// Starts the game with this number: the person's and the opponent's.
    fn begin(&mut self, game: u64) -> Result<(), UsageError> {
        let rules = &self.series.rules;
        if rules.is_match() && self.against.is_none() {
            let problem = "rules with players 2 need an opponent: name one with --against, such as dt-10";
            return Err(UsageError(problem.to_owned()));
        }
        let seed = self.series.choices_seed(game, 1);
        let pilot = self.against.as_ref().map(|contender| contender.pilot(rules, self.choice, seed));
        (self.rival, self.opponent) = match pilot.transpose()? {
            Some(pilot) if rules.is_match() => (None, Some(ChosenActions::new(pilot))),
            Some(pilot) => (Some(Player::new(vec![pilot], &self.series.setup(game))?), None),
            None => (None, None),
        };
        self.recorder = recorder(&self.series, game)?;
        self.game = game;
        self.landings.clear();
        self.appear();
        Ok(())
    }

    /// Starts the next game, against the newest weights of a training run.
    fn begin_next(&mut self) {
        let rules = self.series.rules;
        let looked = self.against.as_mut().map_or(Ok(()), |contender| contender.look(&rules, self.choice));
        self.against.iter_mut().for_each(Contender::take_up);
        self.begin(self.game + 1).expect("a game by the same rules");
        if let Err(error) = looked {
            self.message = error.to_string();
        }
    }

    /// The player's game so far.
    pub fn course(&self) -> &Course {
        self.recorder.course()
    }

    /// The opponent's game; `None` without an opponent.
    pub fn rival(&self) -> Option<&Player> {
        self.rival.as_ref()
    }

    /// The reasons of the hint on the screen, if the person asked for one.
    pub fn hint(&self) -> Option<&Reasons> {
        self.hint.as_ref()
    }

    /// The recording of the player's game.
    pub fn recording(&self) -> Recording {
        let mut recording = self.recorder.recording("a person", &self.series.origin(self.game));
        if let (Some(side), Some(opponent)) = (&mut recording.opponent, &self.opponent) {
            side.player = opponent.name().to_owned();
        }
        recording
    }

    /// The name of the opponent and its game, on the same pieces or in the match.
    fn other_game(&self) -> Option<(&str, &Course)> {
        let rival = self.rival.as_ref().map(|rival| (rival.name(), rival.course()));
        rival.or_else(|| self.opponent.as_ref().map(ChosenActions::name).zip(self.course().opponent()))
    }

    /// The results so far, one per line.
    pub fn report(&self) -> String {
        let rival = self.against.as_ref().zip(self.other_game());
        let rival = rival.map(|(who, (name, course))| result(&who.title(name), &course.outcome()));
        let you = result("you", &self.course().outcome());
        format!("{}\n{you}{}", self.series.game_in_words(self.game), rival.unwrap_or_default())
    }

    /// Whether keys move a falling piece.
    fn is_by_keys(&self) -> bool {
        self.series.rules.action_model == ActionModel::Keypress
    }

    /// Prepares the screen for the next piece, or for the end of the game.
    fn appear(&mut self) {
        self.aim = if self.is_by_keys() { None } else { Aim::new(self.course()) };
        self.hint = None;
        self.due = 0.0;
        self.is_paused = false;
        self.pending = None;
        self.message = self.course().end().map_or(String::new(), |end| end.to_string());
    }

    /// Lets the opponent of a match think for a while, and plays the turn once both have chosen.
    fn think(&mut self) {
        let (Some(opponent), Some(course)) = (&mut self.opponent, self.recorder.course().opponent()) else {
            return;
        };
        let theirs = opponent.choose(course, &mut { WORK });
        if let (Some(theirs), Some(ours)) = (theirs, self.pending) {
            self.recorder.play_turn([ours, theirs]).expect("both actions exist");
            opponent.landed();
            self.landings.push(self.course().steps());
            self.appear();
        }
    }

    /// Plays an action. One that is impossible changes only the message.
    fn play(&mut self, action: u16) {
        if self.opponent.is_some() {
            self.pending = self.course().led_to(action).map(|_| action);
            return;
        }
        // An impossible action changes nothing.
        match self.recorder.play(action) {
            Ok(Some(_)) => {
                self.landings.push(self.course().steps());
                self.appear();
            }
            Ok(None) if action == Key::Hold as u16 => self.hint = None,
            Err(ActionRefused::NoKey { key: Key::Hold, .. }) => {
                self.message = "the piece cannot be held now".to_owned();
            }
            Err(ActionRefused::NoKey { .. }) => {
                self.message = "these rules do not allow half turns".to_owned()
            }
            Ok(None) | Err(_) => {}
        }
    }

    /// Takes back the moves of the current piece or, if there are none, the previous piece.
    fn undo(&mut self) {
        if self.pending.take().is_some() {
            return;
        }
        let steps = self.course().steps();
        if self.landings.last() == Some(&steps) {
            self.landings.pop();
        }
        self.recorder.undo_to(self.landings.last().map_or(0, |step| *step as usize));
        if let (Some(opponent), Some(course)) = (&mut self.opponent, self.recorder.course().opponent()) {
            opponent.forget_after(course);
        }
        self.appear();
        // A player who takes back a move wants time to think.
        self.is_paused = self.is_by_keys();
        if let Some(rival) = &mut self.rival {
            rival.back_to_piece(self.recorder.course().outcome().pieces);
        }
    }

    fn toggle_hint(&mut self) {
        if self.hint.take().is_some() {
            self.message.clear();
            return;
        }
        self.hint = Reasons::of_best(&self.adviser_name, &self.adviser, self.course());
        if self.hint.is_none() && self.course().piece().is_some() {
            self.message = format!("{}: every placement ends the game", self.adviser_name);
        }
    }

    /// Handles a key that moves the piece.
    fn steer(&mut self, code: KeyCode) {
        let is_steered = self.series.rules.steers();
        let key = match code {
            KeyCode::Left | KeyCode::Char('a') => Key::Left,
            KeyCode::Right | KeyCode::Char('d') => Key::Right,
            KeyCode::Up | KeyCode::Char('x' | 'w') => Key::TurnRight,
            KeyCode::Char('z' | 'y') => Key::TurnLeft,
            KeyCode::Char(' ') | KeyCode::Enter => Key::HardDrop,
            KeyCode::Down | KeyCode::Char('s') if is_steered => Key::SoftDrop,
            KeyCode::Down | KeyCode::Char('s') => Key::Idle,
            KeyCode::Char('f') if is_steered => Key::SonicDrop,
            KeyCode::Char('r') if is_steered => Key::TurnHalf,
            KeyCode::Char('c') if is_steered => Key::Hold,
            _ => return,
        };
        if self.course().piece().is_none() || self.pending.is_some() {
            return;
        }
        self.is_paused = false;
        let course = self.recorder.course();
        match (&mut self.aim, key) {
            (None, key) => self.play(key as u16),
            (Some(aim), Key::Left) => aim.shift(course, false),
            (Some(aim), Key::Right) => aim.shift(course, true),
            (Some(aim), Key::TurnRight) => aim.turn(course, true),
            (Some(aim), Key::TurnLeft) => aim.turn(course, false),
            (Some(aim), Key::HardDrop) => {
                let action = aim.placement(course).action(&self.series.rules);
                self.play(action as u16);
            }
            // Placements need no waiting, so this key selects the next placement below.
            (Some(aim), Key::Idle) => aim.deepen(course),
            (Some(_), _) => {}
        }
    }

    /// Cells where the current piece would land if dropped now.
    pub fn ghost(&self) -> Option<SceneCells> {
        let course = self.course();
        self.aim.map_or_else(|| course.dropped(), |aim| course.resting_cells(aim.placement(course)))
    }

    /// The scene of the player's game.
    fn scene(&self) -> Scene {
        let course = self.course();
        let scene = Scene { ghost: self.ghost(), ..course.scene() };
        let (Some(aim), Some(_)) = (&self.aim, course.piece()) else { return scene };
        let piece = aim.piece();
        Scene { current: Some(CurrentPiece { piece, cells: aim.cells(course) }), ..scene }
    }

    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.is_paused {
            words.push("paused".to_owned());
        }
        words.push(self.message.clone());
        if let Some(hint) = &self.hint {
            words.push(format!("{}: {:.2}", self.adviser_name, hint.score));
            let yours = self.aim.and_then(|aim| hint.score_of(aim.placement(self.course())));
            words.extend(yours.map(|score| format!("yours: {score:.2}")));
        }
        if self.course().end().is_some() {
            words.push("n starts a new game, u takes back the last piece".to_owned());
        }
        if self.is_by_keys() {
            words.push(format!("{} {}/s", self.speed, if self.speed == 1.0 { "row" } else { "rows" }));
        }
        if self.opponent.is_some() {
            let exchanged = self.course().incoming().exchanged;
            words.push(format!("sent {}, received {}", exchanged.sent, exchanged.received));
        }
        words.push(format!("game {}", self.game));
        words.push(format!("seed {}", self.series.seed));
        words
    }
}

/// Help texts of the keys that work under these rules.
fn keys(rules: &Rules) -> Vec<&'static str> {
    let all: &[&str] = match rules.action_model {
        ActionModel::Keypress if rules.steers() => &KEYS_OF_STEERING,
        ActionModel::Keypress => &KEYS_OF_KEYS,
        ActionModel::Placement if rules.names_spots() || rules.hold => &MODERN_KEYS,
        ActionModel::Placement => &KEYS_OF_PLACEMENTS,
    };
    let exists = |key: &&str| match *key {
        HOLD => rules.hold,
        HALF_TURN => rules.half_turns != HalfTurns::None,
        _ => true,
    };
    all.iter().copied().filter(exists).collect()
}

fn recorder(series: &GameSeries, game: u64) -> Result<Recorder, UsageError> {
    Recorder::new(series.setup(game)).map_err(|error: RecordingError| UsageError(error.to_string()))
}

impl TerminalProgram for PlayScreen {
    fn draw(&self, buffer: &mut Buffer) {
        let hint = self.hint.as_ref().map(|hint| hint.cells);
        let mut seats = vec![ScreenPlayer { name: "you", scene: self.scene(), hint, note: "" }];
        let stage = self.against.as_ref().and_then(Contender::stage).unwrap_or_default();
        let end = self.other_game().and_then(|(_, course)| course.end()).map(|end| end.to_string());
        if let Some((name, course)) = self.other_game() {
            let is_behind = course.outcome().pieces < self.course().outcome().pieces;
            let note = match &end {
                Some(end) => end,
                None if is_behind || self.pending.is_some() => "thinking",
                None => &stage,
            };
            // Hide the opponent's choice, which would be a hint.
            seats.push(ScreenPlayer { name, scene: course.scene(), hint: None, note });
        }
        let yours = self.aim.as_ref().map(|aim| aim.placement(self.course()));
        Show {
            seats,
            rules: &self.series.rules,
            reasons: self.hint.as_ref().map(|hint| (hint, yours)),
            words: self.words(),
            keys: &keys(&self.series.rules),
            palette: self.palette,
        }
        .render(buffer);
    }

    fn press(&mut self, key: KeyCode) -> ControlFlow<()> {
        match key {
            // Not Escape, which also starts the codes of arrow keys and may arrive separately over a slow line.
            KeyCode::Char('q') => return ControlFlow::Break(()),
            KeyCode::Char('n') => self.begin_next(),
            KeyCode::Char('u') | KeyCode::Backspace => self.undo(),
            KeyCode::Char('h' | '?') => self.toggle_hint(),
            KeyCode::Char('c') if !self.series.rules.steers() => {
                let course = self.recorder.course();
                if self.aim.as_mut().is_some_and(|aim| !aim.swap(course)) && self.series.rules.hold {
                    self.message = "no piece to swap with".to_owned();
                }
            }
            KeyCode::Char('p') if self.is_by_keys() => self.is_paused = !self.is_paused,
            KeyCode::Char('+') => self.speed = (self.speed + 0.5).min(MAX_FALL_SPEED),
            KeyCode::Char('-') => self.speed = (self.speed - 0.5).max(0.0),
            key => self.steer(key),
        }
        ControlFlow::Continue(())
    }

    fn pass(&mut self, time: Duration) {
        self.think();
        if let Some(rival) = &mut self.rival {
            rival.forward_to_piece(self.recorder.course().outcome().pieces, WORK);
        }
        if !self.is_by_keys() || self.is_paused || self.course().piece().is_none() {
            return;
        }
        // One step per row, if every key lets a piece fall by one row.
        let steps_per_row = self.series.rules.timing.map_or(1.0, |timing| f64::from(timing.fall_delay));
        self.due = (self.due + time.as_secs_f64() * self.speed * steps_per_row).min(MAX_ROWS * steps_per_row);
        while self.due >= 1.0 && self.course().piece().is_some() {
            self.due -= 1.0;
            self.play(Key::Idle as u16);
        }
    }
}
