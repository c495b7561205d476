//! A recording that is played again, checked and walked through.

use crate::engine::{EpisodeEnd, Playfield};

use super::course::{ActionRefused, Course};
use super::record::{Outcome, Recording, RecordingError};
use super::scene::Scene;
use super::timeline::Timeline;

/// Where a recording first differs from its replay. Steps and pieces are counted from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Difference {
    /// An action cannot be done.
    #[error("step {step}: {refused}")]
    Action {
        /// Which step.
        step: u64,
        /// Why.
        refused: ActionRefused,
    },
    /// A landing cleared another number of lines.
    #[error("step {step}, piece {piece}: {played} lines, recorded {}", recorded.map_or("none".to_owned(), |lines| lines.to_string()))]
    Lines {
        /// Which step.
        step: u64,
        /// Which piece.
        piece: u64,
        /// Lines on record; `None` where the record has fewer pieces.
        recorded: Option<u8>,
        /// Lines of the replay.
        played: u8,
    },
    /// A total differs at the end.
    #[error("at the end: {played} {what}, recorded {recorded}")]
    Total {
        /// Of what: `pieces`, `lines`, `points`, or the pieces whose lines are on record.
        what: &'static str,
        /// On record.
        recorded: f64,
        /// By the replay.
        played: f64,
    },
    /// It ended in another way.
    #[error("at the end: {}, recorded {}", ending(*played), ending(*recorded))]
    Ending {
        /// On record.
        recorded: Option<EpisodeEnd>,
        /// By the replay.
        played: Option<EpisodeEnd>,
    },
    /// The final playfield is another one.
    #[error("at the end: row {row} of the playfield is {played}, recorded {recorded}")]
    Row {
        /// The lowest row that differs; row 0 is the lowest of all.
        row: u8,
        /// On record, `#` full and `.` empty.
        recorded: String,
        /// By the replay.
        played: String,
    },
}

fn ending(end: Option<EpisodeEnd>) -> String {
    end.map_or_else(|| "not ended".to_owned(), |end| end.to_string())
}

/// A recording, and a step of it.
#[derive(Clone, Debug)]
pub struct Replay {
    recording: Recording,
    timeline: Timeline,
    /// The steps that could be played.
    len: usize,
    difference: Option<Difference>,
}

impl Replay {
    /// Plays a recording to its end, or as far as its actions can be done, and goes back to its beginning.
    ///
    /// A recording that [differs](Replay::difference) from its replay can be walked through all the same.
    ///
    /// # Errors
    /// [`RecordingError`] for a game that cannot be played.
    pub fn new(recording: Recording) -> Result<Replay, RecordingError> {
        recording.check()?;
        let mut timeline = Timeline::new(Course::new(&recording.setup)?);
        let mut difference = None;
        let mut lines = recording.landing_lines.iter().copied();
        for &action in &recording.actions {
            let landed = match timeline.play(action) {
                Ok(landed) => landed,
                Err(refused) => {
                    let step = timeline.course().steps() + 1;
                    difference = difference.or(Some(Difference::Action { step, refused }));
                    break;
                }
            };
            if let Some(played) = landed {
                let recorded = lines.next();
                if difference.is_none() && recorded != Some(played) {
                    let step = timeline.course().steps();
                    let piece = timeline.course().outcome().pieces;
                    difference = Some(Difference::Lines { step, piece, recorded, played });
                }
            }
        }
        let difference = difference.or_else(|| first_difference(&recording, &timeline.course().outcome()));
        let len = timeline.course().steps() as usize;
        timeline.seek(0, &recording.actions);
        Ok(Replay { recording, timeline, len, difference })
    }

    /// The recording.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Where the recording first differs from its replay, if it does.
    pub fn difference(&self) -> Option<&Difference> {
        self.difference.as_ref()
    }

    /// How many steps there are to walk: all of the recording's, or those before an action that cannot be done.
    pub fn num_steps(&self) -> usize {
        self.len
    }

    /// Where it is: how many actions have been done, 0..=[`Replay::num_steps`].
    pub fn step(&self) -> usize {
        self.timeline.course().steps() as usize
    }

    /// Goes to a step; to the last one if there are fewer.
    pub fn seek(&mut self, step: usize) {
        self.timeline.seek(step.min(self.len), &self.recording.actions);
    }

    /// Does the next action. Returns whether there was one.
    pub fn forward(&mut self) -> bool {
        let step = self.step();
        self.seek(step + 1);
        self.step() > step
    }

    /// Takes the last action back. Returns whether there was one.
    pub fn back(&mut self) -> bool {
        let step = self.step();
        self.seek(step.saturating_sub(1));
        self.step() < step
    }

    /// The game at this step.
    pub fn course(&self) -> &Course {
        self.timeline.course()
    }

    /// What a viewer draws of this step: the ghost is where the next action leads.
    pub fn scene(&self) -> Scene {
        let course = self.course();
        let next = self.recording.actions[..self.len].get(self.step());
        let ghost = next.and_then(|&action| course.led_to(action));
        Scene { ghost: ghost.or(course.dropped()), ..course.scene() }
    }
}

/// The first thing at the end that is not as it was recorded.
fn first_difference(recording: &Recording, played: &Outcome) -> Option<Difference> {
    let recorded = &recording.outcome;
    // Points are added up landing by landing in environments, and apart from those for the end of a game in evaluations:
    // fractions may differ in their last bits.
    let is_rounding = (recorded.score - played.score).abs() <= 1e-9 * played.score.abs().max(1.0);
    let score = if is_rounding { recorded.score } else { played.score };
    let totals = [
        ("pieces", recorded.pieces as f64, played.pieces as f64),
        ("pieces with lines", recording.landing_lines.len() as f64, played.pieces as f64),
        ("lines", recorded.lines as f64, played.lines as f64),
        ("points", recorded.score, score),
    ];
    let total = totals.into_iter().find(|(_, recorded, played)| recorded != played);
    if let Some((what, recorded, played)) = total {
        return Some(Difference::Total { what, recorded, played });
    }
    if recorded.end != played.end {
        return Some(Difference::Ending { recorded: recorded.end, played: played.end });
    }
    let row = |playfield: &Playfield, row: u8| {
        let cell = |column| if playfield.is_full(row, column) { '#' } else { '.' };
        (0..playfield.width()).map(cell).collect::<String>()
    };
    let rows = |n| (row(&recorded.playfield, n), row(&played.playfield, n));
    let differs = (0..played.playfield.height()).find(|&n| rows(n).0 != rows(n).1)?;
    let (recorded, played) = rows(differs);
    Some(Difference::Row { row: differs, recorded, played })
}
