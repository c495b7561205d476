//! Records a game while it is played.

use tetrion_core::engine::ActionRefused;

use super::course::Course;
use super::record::{Recording, RecordingError, Setup};
use super::timeline::Timeline;

/// A game in progress with undo.
#[derive(Clone, Debug)]
pub struct Recorder {
    setup: Setup,
    actions: Vec<u16>,
    landing_lines: Vec<u8>,
    timeline: Timeline,
}

impl Recorder {
    /// A game before its first action.
    ///
    /// # Errors
    /// [`RecordingError`] for a game that cannot be played.
    pub fn new(setup: Setup) -> Result<Recorder, RecordingError> {
        let timeline = Timeline::new(Course::new(&setup)?);
        Ok(Recorder { setup, actions: Vec::new(), landing_lines: Vec::new(), timeline })
    }

    /// The current state of the game.
    pub fn course(&self) -> &Course {
        self.timeline.course()
    }

    /// The actions so far, without actions that were undone.
    pub fn actions(&self) -> &[u16] {
        &self.actions
    }

    /// Plays an action. Returns the lines of the landing, if a piece landed.
    ///
    /// # Errors
    /// [`ActionRefused`] for an action that cannot be played. A refused action changes nothing.
    pub fn play(&mut self, action: u16) -> Result<Option<u8>, ActionRefused> {
        let lines = self.timeline.play(action)?;
        self.actions.push(action);
        self.landing_lines.extend(lines);
        Ok(lines)
    }

    /// Takes back the last action and returns it. Returns `None` at the beginning of the game.
    pub fn undo(&mut self) -> Option<u16> {
        let action = *self.actions.last()?;
        self.undo_to(self.actions.len() - 1);
        Some(action)
    }

    /// Takes back all actions after the first `step`.
    pub fn undo_to(&mut self, step: usize) {
        self.actions.truncate(step);
        self.timeline.seek(self.actions.len(), &self.actions);
        self.timeline.forget_future();
        self.landing_lines.truncate(self.course().outcome().pieces as usize);
    }

    /// The recording so far. `player` and `origin` are texts for people.
    pub fn recording(&self, player: &str, origin: &str) -> Recording {
        Recording {
            setup: self.setup.clone(),
            player: player.to_owned(),
            origin: origin.to_owned(),
            actions: self.actions.clone(),
            landing_lines: self.landing_lines.clone(),
            outcome: self.course().outcome(),
        }
    }
}
