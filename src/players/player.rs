//! An agent with its game, which can go back and forth.
//!
//! Past choices are stored: after a step back the game continues unchanged, and no choice is computed twice.

use super::pilot::Pilot;
use super::reasons::Reasons;
use crate::input::UsageError;
use tetrion_core::engine::Placement;
use tetrion_toolkit::recording::{Course, Recorder, RecordingError, Scene, Setup};

/// Work of a step without its choice, in pieces that a linear controller places with a kernel.
const STEP_WORK: u64 = 8;

/// A player with its game.
#[derive(Clone, Debug)]
pub struct Player {
    recorder: Recorder,
    pilot: Pilot,
    /// All chosen actions, including actions after the current step.
    known: Vec<u16>,
    /// The step after each known landing.
    landings: Vec<u64>,
    /// The last step that the game has reached.
    furthest: u64,
    /// Chosen placement of each piece; `None` for an agent that just presses keys.
    targets: Vec<Option<Placement>>,
}

impl Player {
    /// A pilot at the beginning of its game.
    ///
    /// # Errors
    /// [`UsageError`] for a game that cannot be played.
    pub fn new(pilot: Pilot, setup: &Setup) -> Result<Player, UsageError> {
        let recorder = Recorder::new(setup.clone());
        let recorder = recorder.map_err(|error: RecordingError| UsageError(error.to_string()))?;
        Ok(Player {
            recorder,
            pilot,
            known: Vec::new(),
            landings: Vec::new(),
            furthest: 0,
            targets: Vec::new(),
        })
    }

    /// Name of the player, as screens and recordings show it.
    pub fn name(&self) -> &str {
        self.pilot.name()
    }

    /// The game at the current step.
    pub fn course(&self) -> &Course {
        self.recorder.course()
    }

    /// The recorder of the game.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// All chosen actions, including the next one as soon as it is chosen.
    pub fn known(&self) -> &[u16] {
        &self.known
    }

    /// The last step that the game has reached; the current step may be earlier.
    pub fn furthest(&self) -> u64 {
        self.furthest
    }

    /// The next action, if it is chosen already.
    fn next_known(&self) -> Option<u16> {
        self.known.get(self.recorder.actions().len()).copied()
    }

    /// Plays a step, or thinks about it, for about `work`, and subtracts the work done. Returns whether a step was played;
    /// false while thinking and after the end of the game.
    pub fn forward(&mut self, work: &mut u64) -> bool {
        let Some(action) = self.choose(work) else { return false };
        let is_new = self.recorder.actions().len() + 1 == self.known.len();
        let landed = self.recorder.play(action).expect("an agent plays actions that exist");
        if landed.is_some() && is_new {
            self.pilot.landed();
            self.landings.push(self.course().steps());
        }
        self.furthest = self.furthest.max(self.course().steps());
        *work = work.saturating_sub(STEP_WORK);
        true
    }

    /// Thinks until the next action is chosen or `work` is used up. Returns the action if it is chosen.
    pub fn choose(&mut self, work: &mut u64) -> Option<u16> {
        if self.course().end().is_some() {
            return None;
        }
        if self.next_known().is_none() {
            let action = self.pilot.next_action(self.recorder.course(), work);
            self.known.extend(action);
            if action.is_some() && self.targets.len() as u64 == self.course().outcome().pieces {
                self.targets.push(self.pilot.decided());
            }
        }
        self.next_known()
    }

    /// Goes back to a step; does nothing if the game is not beyond it.
    pub fn back_to(&mut self, step: u64) {
        if step < self.course().steps() {
            self.recorder.undo_to(step as usize);
        }
    }

    /// Plays until this many pieces have landed, the game is over, or `work` is used up.
    pub fn forward_to_piece(&mut self, pieces: u64, mut work: u64) {
        while self.course().outcome().pieces < pieces && self.forward(&mut work) {}
    }

    /// Goes back to the step at which this many pieces had landed; does nothing if no more have landed.
    pub fn back_to_piece(&mut self, pieces: u64) {
        if pieces < self.course().outcome().pieces {
            let last = pieces.checked_sub(1).map(|last| self.landings[last as usize]);
            self.back_to(last.unwrap_or(0));
        }
    }

    /// The scene to draw; the ghost shows the next action once it is chosen.
    pub fn scene(&self) -> Scene {
        let course = self.course();
        let ghost = self.next_known().and_then(|action| course.led_to(action));
        Scene { ghost: ghost.or(course.dropped()), ..course.scene() }
    }

    /// Reasons for the chosen placement of the current piece, if weights or a formula chose it.
    pub fn reasons(&self) -> Option<Reasons> {
        let values = self.pilot.values()?;
        let course = self.course();
        let target = (*self.targets.get(course.outcome().pieces as usize)?)?;
        // After keys have held a piece, the target is a placement of the current piece.
        let is_held = course.moving().is_some_and(|piece| piece.is_swapped());
        let target = if is_held { target.holding(false) } else { target };
        Reasons::of(self.name(), values, course, target)
    }
}
