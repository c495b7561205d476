//! Records a game while it is played.

use tetrion_core::engine::ActionRefused;

use super::course::Course;
use super::record::{RecordedOpponent, Recording, RecordingError, Setup};
use super::timeline::Timeline;

/// A game in progress, or a match, with undo.
#[derive(Clone, Debug)]
pub struct Recorder {
    setup: Setup,
    /// The actions of each side; of a game of one player, side 1 has none.
    actions: [Vec<u16>; 2],
    landing_lines: [Vec<u8>; 2],
    timeline: Timeline,
}

impl Recorder {
    /// A game before its first action.
    ///
    /// # Errors
    /// [`RecordingError`] for a game that cannot be played.
    pub fn new(setup: Setup) -> Result<Recorder, RecordingError> {
        let timeline = Timeline::new(Course::new(&setup)?);
        Ok(Recorder { setup, actions: Default::default(), landing_lines: Default::default(), timeline })
    }

    /// The current state of the game.
    pub fn course(&self) -> &Course {
        self.timeline.course()
    }

    /// The actions so far, of side 0 in a match, without actions that were undone.
    pub fn actions(&self) -> &[u16] {
        &self.actions[0]
    }

    /// Plays an action in a game of one player. Returns the lines of the landing, if a piece landed.
    ///
    /// # Errors
    /// [`ActionRefused`] for an action that cannot be played. A refused action changes nothing.
    ///
    /// # Panics
    /// In a match.
    pub fn play(&mut self, action: u16) -> Result<Option<u8>, ActionRefused> {
        assert!(!self.setup.rules.is_match(), "a turn of a match has two actions");
        let [lines, _] = self.play_turn([action, 0]).map_err(|(_, refused)| refused)?;
        Ok(lines)
    }

    /// Plays [a turn](Course::play_turn).
    ///
    /// # Errors
    /// The refused side, and [`ActionRefused`] for an action that cannot be played. A refused turn changes nothing.
    pub fn play_turn(&mut self, turn: [u16; 2]) -> Result<[Option<u8>; 2], (usize, ActionRefused)> {
        let landed = self.timeline.play(turn)?;
        let sides = if self.setup.rules.is_match() { 2 } else { 1 };
        for side in 0..sides {
            self.actions[side].push(turn[side]);
            self.landing_lines[side].extend(landed[side]);
        }
        Ok(landed)
    }

    /// Takes back the last action and returns it. Returns `None` at the beginning of the game.
    pub fn undo(&mut self) -> Option<u16> {
        let action = *self.actions().last()?;
        self.undo_to(self.actions().len() - 1);
        Some(action)
    }

    /// Takes back all actions after the first `step`.
    pub fn undo_to(&mut self, step: usize) {
        self.actions.iter_mut().for_each(|actions| actions.truncate(step));
        let [first, second] = &self.actions;
        self.timeline.seek(first.len(), |step| [first[step], second.get(step).copied().unwrap_or(0)]);
        self.timeline.forget_future();
        for (lines, side) in self.landing_lines.iter_mut().zip(self.timeline.course().sides()) {
            lines.truncate(side.statistics().pieces as usize);
        }
    }

    /// The recording so far. `player` and `origin` are texts for people; the opponent in a match has no name.
    pub fn recording(&self, player: &str, origin: &str) -> Recording {
        let ([actions, theirs], [landing_lines, their_lines]) =
            (self.actions.clone(), self.landing_lines.clone());
        Recording {
            setup: self.setup.clone(),
            player: player.to_owned(),
            origin: origin.to_owned(),
            actions,
            landing_lines,
            outcome: self.course().outcome(),
            opponent: self.course().opponent().map(|side| RecordedOpponent {
                player: String::new(),
                actions: theirs,
                landing_lines: their_lines,
                outcome: side.outcome(),
            }),
        }
    }
}
