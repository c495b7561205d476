//! Replays a recording, checks it and steps through it.

use tetrion_core::engine::{ActionRefused, EpisodeEnd, Playfield};

use super::course::Course;
use super::record::{Outcome, Recording, RecordingError};
use super::scene::Scene;
use super::timeline::Timeline;

/// The first difference between a recording and its replay. Steps and pieces are counted from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Difference {
    /// An action that cannot be played.
    #[error("step {step}: {refused}")]
    Action { step: u64, refused: ActionRefused },
    /// A landing with a different number of lines.
    #[error("step {step}, piece {piece}: {played} lines, recorded {}", recorded.map_or("none".to_owned(), |lines| lines.to_string()))]
    Lines {
        step: u64,
        piece: u64,
        /// Recorded lines; `None` if the recording has fewer pieces.
        recorded: Option<u8>,
        played: u8,
    },
    /// A different total at the end.
    #[error("at the end: {played} {what}, recorded {recorded}")]
    Total {
        /// The total: `pieces`, `lines`, `points`, or the pieces whose lines are recorded.
        what: &'static str,
        recorded: f64,
        played: f64,
    },
    #[error("at the end: {}, recorded {}", ending(*played), ending(*recorded))]
    Ending { recorded: Option<EpisodeEnd>, played: Option<EpisodeEnd> },
    #[error("at the end: row {row} of the playfield is {played}, recorded {recorded}")]
    Row {
        /// The lowest row that differs. Row 0 is the lowest of all.
        row: u8,
        /// The recorded row, `#` full and `.` empty.
        recorded: String,
        played: String,
    },
}

fn ending(end: Option<EpisodeEnd>) -> String {
    end.map_or_else(|| "not ended".to_owned(), |end| end.to_string())
}

/// A recording and the current step of its replay.
#[derive(Clone, Debug)]
pub struct Replay {
    recording: Recording,
    timeline: Timeline,
    /// Number of steps that can be played.
    len: usize,
    difference: Option<Difference>,
}

impl Replay {
    /// Plays a recording to its end, or up to an action that cannot be played, and returns to its beginning.
    ///
    /// A recording that [differs](Replay::difference) from its replay can still be stepped through.
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

    /// The recording that is replayed, unchanged.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The first difference between the recording and its replay, if any.
    pub fn difference(&self) -> Option<&Difference> {
        self.difference.as_ref()
    }

    /// Number of steps: all steps of the recording, or those before an action that cannot be played.
    pub fn num_steps(&self) -> usize {
        self.len
    }

    /// The current step: the number of actions played, 0..=[`Replay::num_steps`].
    pub fn step(&self) -> usize {
        self.timeline.course().steps() as usize
    }

    /// Goes to a step, at most to the last one.
    pub fn seek(&mut self, step: usize) {
        self.timeline.seek(step.min(self.len), &self.recording.actions);
    }

    /// Plays the next action. Returns false at the end.
    pub fn forward(&mut self) -> bool {
        let step = self.step();
        self.seek(step + 1);
        self.step() > step
    }

    /// Takes back the last action. Returns false at the beginning.
    pub fn back(&mut self) -> bool {
        let step = self.step();
        self.seek(step.saturating_sub(1));
        self.step() < step
    }

    /// The game at this step.
    pub fn course(&self) -> &Course {
        self.timeline.course()
    }

    /// The scene of this step for viewers. The ghost shows where the next action leads.
    pub fn scene(&self) -> Scene {
        let course = self.course();
        let next = self.recording.actions[..self.len].get(self.step());
        let ghost = next.and_then(|&action| course.led_to(action));
        Scene { ghost: ghost.or(course.dropped()), ..course.scene() }
    }
}

/// The first difference at the end of a game.
fn first_difference(recording: &Recording, played: &Outcome) -> Option<Difference> {
    let recorded = &recording.outcome;
    // Environments add up points landing by landing; evaluations add the points for the end of a game separately. So
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
