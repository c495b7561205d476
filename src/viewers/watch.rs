//! The screen of `tetrion watch`: games of controllers, agents and training runs.

use std::ops::ControlFlow;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;

use super::pace::Pace;
use super::{Palette, ScreenPlayer, Show, TerminalProgram};
use crate::input::UsageError;
use crate::players::{Contender, GameSeries, Player, Reasons, result};
use crate::text::numbers::{count, grouped};
use tetrion_core::agents::PlayChoice;
use tetrion_toolkit::recording::Recording;

/// Most players: more than fit on a large screen.
const MAX_PLAYERS: usize = 16;
/// Interval at which training runs are checked for newer weights.
const LOOK: Duration = Duration::from_secs(1);
/// Number of steps that a page key skips.
const PAGE: u64 = 100;
/// Work of all players between two frames, in pieces that a linear controller places with a kernel.
const WORK: u64 = 1 << 16;

const KEYS: [&str; 9] = [
    "space pause",
    "left/right step",
    "up/down speed",
    "n next game",
    "q quit",
    "home/end first/last",
    "pgup/pgdn 100 steps",
    "tab whose reasons",
    "e to the end",
];

/// Games that are watched side by side, all at one step.
#[derive(Debug)]
pub struct WatchScreen {
    series: GameSeries,
    contenders: Vec<Contender>,
    choice: PlayChoice,
    game: u64,
    players: Vec<Player>,
    /// The step to which all players move.
    step: u64,
    pace: Pace,
    is_paused: bool,
    /// Whether the players play to the end of the game at full speed.
    is_hurried: bool,
    /// Index of the player whose reasons are shown.
    focus: usize,
    reasons: Option<Reasons>,
    /// Key of the cached reasons: game, player, step, and number of chosen actions.
    reasons_of: Option<(u64, usize, u64, usize)>,
    /// Time since the last check for newer weights.
    since_look: Duration,
    /// The reason why newer weights cannot be used.
    problem: Option<String>,
    palette: Palette,
}

/// Settings of the watched games.
#[derive(Clone, Debug)]
pub struct WatchSetup {
    pub series: GameSeries,
    /// Number of the first game.
    pub game: u64,
    /// The players, at most 16, on the same pieces.
    pub contenders: Vec<Contender>,
    /// Search of the players, and their value of lost games.
    pub choice: PlayChoice,
    /// Steps per second; `None` for the usual speed of the rules.
    pub speed: Option<u32>,
    /// Whether the first game starts paused.
    pub paused: bool,
    pub palette: Palette,
}

impl WatchScreen {
    /// Creates the players before their first step.
    ///
    /// # Errors
    /// [`UsageError`] for too many players, an unknown player, or one that cannot play under these rules.
    pub fn new(setup: WatchSetup) -> Result<WatchScreen, UsageError> {
        let WatchSetup { series, game, contenders, choice, speed, paused, palette } = setup;
        let players = contenders.len();
        if series.rules.is_match() && players != 2 {
            return Err(UsageError(format!(
                "{}, expected 2 under rules with players 2",
                count(players as u64, "player")
            )));
        }
        if players > MAX_PLAYERS {
            return Err(UsageError(format!("{players} players, expected at most {MAX_PLAYERS}")));
        }
        let mut watch = WatchScreen {
            pace: Pace::new(speed, &series.rules),
            series,
            contenders,
            choice,
            game,
            players: Vec::new(),
            step: 0,
            is_paused: paused,
            is_hurried: false,
            focus: 0,
            reasons: None,
            reasons_of: None,
            since_look: Duration::ZERO,
            problem: None,
            palette,
        };
        watch.begin(game)?;
        Ok(watch)
    }

    /// Starts the game with this number for all players.
    fn begin(&mut self, game: u64) -> Result<(), UsageError> {
        let (series, setup) = (&self.series, self.series.setup(game));
        let mut pilots = Vec::new();
        for (side, contender) in (0..).zip(&self.contenders) {
            pilots.push(contender.pilot(&series.rules, self.choice, series.choices_seed(game, side))?);
        }
        self.players = if series.rules.is_match() {
            vec![Player::new(pilots, &setup)?]
        } else {
            pilots.into_iter().map(|pilot| Player::new(vec![pilot], &setup)).collect::<Result<_, _>>()?
        };
        (self.game, self.step, self.is_hurried) = (game, 0, false);
        self.pace.restart();
        self.work();
        Ok(())
    }

    /// Starts the next game, with the newest weights of the training runs.
    fn begin_next(&mut self) {
        self.look();
        self.contenders.iter_mut().for_each(Contender::take_up);
        self.begin(self.game + 1).expect("they have played by these rules");
    }

    /// Checks whether the training runs have newer weights.
    fn look(&mut self) {
        self.since_look = Duration::ZERO;
        let (rules, choice) = (self.series.rules, self.choice);
        let looks = self.contenders.iter_mut().map(|contender| contender.look(&rules, choice));
        self.problem = looks.filter_map(Result::err).last().map(|error| error.to_string());
    }

    /// The players, in the order in which the user named them. Both players of a match are one.
    pub fn players(&self) -> &[Player] {
        &self.players
    }

    /// The side of each contender, and the player that has it.
    fn sides(&self) -> impl Iterator<Item = (&Player, usize)> {
        self.players.iter().flat_map(|player| (0..player.num_sides()).map(move |side| (player, side)))
    }

    /// The step to which all players move. A game that ended earlier stays at its end.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The recording of the first player's game, or of the match.
    pub fn recording(&self) -> Recording {
        self.players[0].recording(&self.titles(), &self.series.origin(self.game))
    }

    /// Full names of the contenders.
    fn titles(&self) -> Vec<String> {
        let names = self.sides().map(|(player, side)| player.side(side).name());
        self.contenders.iter().zip(names).map(|(contender, name)| contender.title(name)).collect()
    }

    /// The results so far, one per line.
    pub fn report(&self) -> String {
        let titles = self.titles();
        let games = self.sides().zip(&titles);
        let games = games.map(|((player, side), title)| result(title, &player.course_of(side).outcome()));
        format!("{}\n{}", self.series.game_in_words(self.game), games.collect::<String>())
    }

    /// Moves the players to the target step and lets them think about the next action, within the work of one frame.
    fn work(&mut self) {
        let mut work = WORK;
        for player in &mut self.players {
            player.back_to(self.step);
            while player.course().steps() < self.step && work > 0 && player.forward(&mut work) {}
        }
        // The next actions are considered only once all players have arrived.
        for player in &mut self.players {
            player.choose(&mut work);
        }
        if self.are_over() {
            self.step = self.step.min(self.last_step());
        }
        let (player, side) = self.sides().nth(self.focus).expect("a contender has a side");
        let (steps, known) = (player.course().steps(), player.side(side).known().len());
        let reasons_of = (self.game, self.focus, steps, known);
        if self.reasons_of != Some(reasons_of) {
            self.reasons = player.reasons_of(side);
            self.reasons_of = Some(reasons_of);
        }
    }

    /// The step of the most advanced player.
    fn reached(&self) -> u64 {
        self.players.iter().map(|player| player.course().steps()).max().unwrap_or(0)
    }

    /// Stops at the step of the most advanced player.
    fn stop(&mut self) {
        self.is_hurried = false;
        self.step = self.reached();
    }

    /// Whether all players are at the target step.
    fn have_arrived(&self) -> bool {
        let has_arrived =
            |player: &Player| player.course().steps() == self.step || player.course().end().is_some();
        self.players.iter().all(has_arrived)
    }

    /// Whether all games are over at this step.
    fn are_over(&self) -> bool {
        self.players.iter().all(|player| player.course().end().is_some())
    }

    /// Moves the target step forward, at most to the end.
    fn forward(&mut self, steps: u64) {
        if self.have_arrived() && !self.are_over() {
            self.step += steps;
            self.work();
        }
    }

    /// Goes to a step that was played already.
    fn seek(&mut self, step: u64) {
        self.is_hurried = false;
        self.step = step.min(self.last_step());
        self.work();
    }

    fn last_step(&self) -> u64 {
        self.players.iter().map(Player::furthest).max().unwrap_or(0)
    }

    /// A short note on a player's state.
    fn note(&self, (player, side): (&Player, usize), contender: &Contender) -> String {
        let course = player.course_of(side);
        if let Some(end) = course.end() {
            return end.to_string();
        }
        if self.series.rules.is_match() {
            return format!("sent {}", course.statistics().sent);
        }
        let first = &self.players[0];
        let (ours, theirs) = (player.known(), first.known());
        let same = ours.iter().zip(theirs).take_while(|(one, other)| one == other).count();
        if same < ours.len().min(theirs.len()) {
            return format!("differs at {}", same + 1);
        }
        contender.stage().unwrap_or_default()
    }
}

impl TerminalProgram for WatchScreen {
    fn draw(&self, buffer: &mut Buffer) {
        let pairs = self.sides().zip(&self.contenders);
        let notes: Vec<String> = pairs.map(|(side, contender)| self.note(side, contender)).collect();
        let seats = self.sides().zip(&notes).map(|((player, side), note)| ScreenPlayer {
            name: player.side(side).name(),
            scene: player.scene_of(side),
            hint: None,
            note,
        });
        let state = if self.are_over() {
            "over".to_owned()
        } else if self.is_hurried {
            "to the end".to_owned()
        } else if self.is_paused {
            "paused".to_owned()
        } else {
            self.pace.in_words()
        };
        let words = vec![
            format!("step {}", grouped(self.reached() as f64)),
            state,
            self.contenders[self.focus].stage_in_words().unwrap_or_default(),
            self.problem.clone().unwrap_or_default(),
            format!("game {}", self.game),
            format!("seed {}", self.series.seed),
        ];
        Show {
            seats: seats.collect(),
            rules: &self.series.rules,
            reasons: self.reasons.as_ref().map(|reasons| (reasons, None)),
            words,
            keys: &KEYS,
            palette: self.palette,
        }
        .render(buffer);
    }

    fn press(&mut self, key: KeyCode) -> ControlFlow<()> {
        match key {
            // Not Escape, which also starts the codes of arrow keys and may arrive separately over a slow line.
            KeyCode::Char('q') => return ControlFlow::Break(()),
            KeyCode::Char(' ' | 'p') => {
                self.is_paused = !self.is_paused || self.is_hurried;
                self.stop();
            }
            KeyCode::Right => {
                self.is_paused = true;
                self.stop();
                self.forward(1);
            }
            KeyCode::Left => {
                self.is_paused = true;
                self.seek(self.reached().saturating_sub(1));
            }
            KeyCode::PageDown => self.forward(PAGE),
            KeyCode::PageUp => {
                self.is_paused = true;
                self.seek(self.reached().saturating_sub(PAGE));
            }
            KeyCode::Home => {
                self.is_paused = true;
                self.seek(0);
            }
            KeyCode::End => self.seek(u64::MAX),
            KeyCode::Char('e') => self.is_hurried = true,
            KeyCode::Up | KeyCode::Char('+') => self.pace.change(true),
            KeyCode::Down | KeyCode::Char('-') => self.pace.change(false),
            KeyCode::Tab => {
                self.focus = (self.focus + 1) % self.contenders.len();
                self.work();
            }
            KeyCode::Char('n') => self.begin_next(),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pass(&mut self, time: Duration) {
        self.since_look += time;
        if self.since_look >= LOOK {
            self.look();
        }
        if !self.have_arrived() {
            // Continue only once all players have arrived.
            return self.work();
        }
        if self.is_hurried {
            return self.forward(WORK);
        }
        if self.is_paused || self.are_over() {
            return self.work();
        }
        let steps = self.pace.pass(time);
        if steps > 0 { self.forward(steps) } else { self.work() }
    }
}
