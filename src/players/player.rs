//! A controller or an agent and its game, which can be walked back and forth.
//!
//! What it has done once is kept: after a step back the same game goes on, and nothing is thought about twice.

use super::pilot::Pilot;
use super::reasons::Reasons;
use crate::engine::Placement;
use crate::input::UsageError;
use crate::recording::{Course, Recorder, RecordingError, Scene, Setup};

/// What a step takes beside the choice of it, in pieces that a linear controller places with a kernel.
const STEP_WORK: u64 = 8;

/// A player and its game.
#[derive(Clone, Debug)]
pub struct Player {
    recorder: Recorder,
    pilot: Pilot,
    /// Everything it has done, beyond the step where the game stands too.
    known: Vec<u16>,
    /// The step after each landing that is known.
    landings: Vec<u64>,
    /// The last step that it has come to.
    furthest: u64,
    /// Where it wanted each piece, as far as it has decided; nowhere if it just presses keys.
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

    /// What it is called.
    pub fn name(&self) -> &str {
        self.pilot.name()
    }

    /// Its game as it stands.
    pub fn course(&self) -> &Course {
        self.recorder.course()
    }

    /// The game, to be written down.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Everything that it has done so far, and what it does next as soon as it knows.
    pub fn known(&self) -> &[u16] {
        &self.known
    }

    /// The last step that it has come to; it may stand at an earlier one.
    pub fn furthest(&self) -> u64 {
        self.furthest
    }

    /// The next action, if it has been chosen: it is kept when the game is walked back.
    fn next_known(&self) -> Option<u16> {
        self.known.get(self.recorder.actions().len()).copied()
    }

    /// Goes a step further, or thinks about it: for about `work`, from which it subtracts what it took. Returns whether it went:
    /// not if it is still thinking, or the game is over.
    pub fn forward(&mut self, work: &mut u64) -> bool {
        let Some(action) = self.choose(work) else { return false };
        let is_new = self.recorder.actions().len() + 1 == self.known.len();
        let landed = self.recorder.play(action).expect("an agent does what the rules have");
        if landed.is_some() && is_new {
            self.pilot.landed();
            self.landings.push(self.course().steps());
        }
        self.furthest = self.furthest.max(self.course().steps());
        *work = work.saturating_sub(STEP_WORK);
        true
    }

    /// Thinks until the next action is known, or `work` is used up. Returns the action if it is known.
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

    /// Goes back to a step; nothing happens if the game stands at it or before it.
    pub fn back_to(&mut self, step: u64) {
        if step < self.course().steps() {
            self.recorder.undo_to(step as usize);
        }
    }

    /// Plays on until this many pieces have landed, or the game is over, or `work` is used up.
    pub fn forward_to_piece(&mut self, pieces: u64, mut work: u64) {
        while self.course().outcome().pieces < pieces && self.forward(&mut work) {}
    }

    /// Goes back to where this many pieces had landed; nothing happens if there are no more.
    pub fn back_to_piece(&mut self, pieces: u64) {
        if pieces < self.course().outcome().pieces {
            let last = pieces.checked_sub(1).map(|last| self.landings[last as usize]);
            self.back_to(last.unwrap_or(0));
        }
    }

    /// What a viewer draws: the ghost is where the next action leads, once it is known.
    pub fn scene(&self) -> Scene {
        let course = self.course();
        let ghost = self.next_known().and_then(|action| course.led_to(action));
        Scene { ghost: ghost.or(course.dropped()), ..course.scene() }
    }

    /// Why it places the piece in play where it does, if weights decide, and as soon as they have.
    pub fn reasons(&self) -> Option<Reasons> {
        let controller = self.pilot.controller()?;
        let course = self.course();
        let target = (*self.targets.get(course.outcome().pieces as usize)?)?;
        // Once keys have held a piece for it, it is a placement of the piece in play.
        let is_held = course.falling().is_some_and(|piece| piece.is_swapped());
        let target = if is_held { target.holding(false) } else { target };
        Reasons::of(self.name(), controller, course, target)
    }
}
