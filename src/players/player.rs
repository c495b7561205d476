//! An agent with its game, or two agents with their match, which can go back and forth.

use super::chosen_actions::ChosenActions;
use super::pilot::Pilot;
use super::reasons::Reasons;
use crate::input::UsageError;
use tetrion_toolkit::recording::{Course, Recorder, Recording, RecordingError, Scene, Setup};

/// Work of a step without its choice, in pieces that a linear controller places with a kernel.
const STEP_WORK: u64 = 8;

/// A player with its game, or both players of a match.
#[derive(Clone, Debug)]
pub struct Player {
    recorder: Recorder,
    sides: Vec<ChosenActions>,
    /// The step after each known landing.
    landings: Vec<u64>,
    /// The last step that the game has reached.
    furthest: u64,
}

impl Player {
    /// A pilot at the beginning of its game; of a match, the pilots of both sides.
    ///
    /// # Errors
    /// [`UsageError`] for a game that cannot be played.
    ///
    /// # Panics
    /// When the number of pilots is not that of the players under the rules.
    pub fn new(pilots: Vec<Pilot>, setup: &Setup) -> Result<Player, UsageError> {
        assert_eq!(pilots.len(), usize::from(setup.rules.players), "a pilot for each side");
        let recorder = Recorder::new(setup.clone());
        let recorder = recorder.map_err(|error: RecordingError| UsageError(error.to_string()))?;
        let sides = pilots.into_iter().map(ChosenActions::new).collect();
        Ok(Player { recorder, sides, landings: Vec::new(), furthest: 0 })
    }

    /// Number of sides: 2 in a match, else 1.
    pub fn num_sides(&self) -> usize {
        self.sides.len()
    }

    /// The choices on a side.
    pub fn side(&self, side: usize) -> &ChosenActions {
        &self.sides[side]
    }

    /// The game of a side at the current step.
    ///
    /// # Panics
    /// When there is no such side.
    pub fn course_of(&self, side: usize) -> &Course {
        self.recorder.course().side(side)
    }

    /// Name of the player, of side 0 in a match.
    pub fn name(&self) -> &str {
        self.sides[0].name()
    }

    /// The game at the current step, of side 0 in a match.
    pub fn course(&self) -> &Course {
        self.course_of(0)
    }

    /// All chosen actions, including the next one as soon as it is chosen; of side 0 in a match.
    pub fn known(&self) -> &[u16] {
        self.sides[0].known()
    }

    /// The recording so far. `names` are those of the sides.
    pub fn recording(&self, names: &[String], origin: &str) -> Recording {
        let mut recording = self.recorder.recording(&names[0], origin);
        if let Some(opponent) = &mut recording.opponent {
            opponent.player.clone_from(&names[1]);
        }
        recording
    }

    /// The last step that the game has reached; the current step may be earlier.
    pub fn furthest(&self) -> u64 {
        self.furthest
    }

    /// Plays a step, or thinks about it, for about `work`, and subtracts the work done. Returns whether a step was played;
    /// false while thinking and after the end of the game.
    pub fn forward(&mut self, work: &mut u64) -> bool {
        let Some(turn) = self.choose(work) else { return false };
        let landed = self.recorder.play_turn(turn).expect("an agent plays actions that exist");
        let steps = self.course().steps();
        if landed[0].is_some() && self.landings.last() < Some(&steps) {
            self.sides.iter_mut().for_each(ChosenActions::landed);
            self.landings.push(steps);
        }
        self.furthest = self.furthest.max(steps);
        *work = work.saturating_sub(STEP_WORK);
        true
    }

    /// Thinks until the next actions are chosen or `work` is used up. Returns the actions if all are chosen; in a game of one
    /// player, the second one means nothing.
    pub fn choose(&mut self, work: &mut u64) -> Option<[u16; 2]> {
        let course = self.recorder.course();
        let courses = course.sides();
        let mut turn = [Some(0); 2];
        for ((side, course), action) in self.sides.iter_mut().zip(courses).zip(&mut turn) {
            *action = side.choose(course, work);
        }
        turn[0].zip(turn[1]).map(|(first, second)| [first, second])
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

    /// The scene of a side to draw; the ghost shows the next action once it is chosen.
    pub fn scene_of(&self, side: usize) -> Scene {
        let course = self.course_of(side);
        let ghost = self.sides[side].next_known(course).and_then(|action| course.led_to(action));
        Scene { ghost: ghost.or(course.dropped()), ..course.scene() }
    }

    /// Reasons for the chosen placement of a side's current piece, if weights or a formula chose it.
    pub fn reasons_of(&self, side: usize) -> Option<Reasons> {
        self.sides[side].reasons(self.course_of(side))
    }
}
