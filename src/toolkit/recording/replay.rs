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
    /// A difference of side 1 of a match.
    #[error("opponent: {0}")]
    Opponent(Box<Difference>),
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
        let their_lines = recording.opponent.as_ref().map_or(&[][..], |side| &side.landing_lines);
        let mut lines = [&recording.landing_lines[..], their_lines].map(|lines| lines.iter().copied());
        for step in 0..recording.actions.len() {
            let landed = match timeline.play(recording.turn(step)) {
                Ok(landed) => landed,
                Err((side, refused)) => {
                    let step = step as u64 + 1;
                    difference = difference.or(Some(Difference::Action { step, refused }.of_side(side)));
                    break;
                }
            };
            let course = timeline.course();
            for (side, (course, played)) in course.sides().zip(landed).enumerate() {
                let Some(played) = played else { continue };
                let recorded = lines[side].next();
                if difference.is_none() && recorded != Some(played) {
                    let (step, piece) = (course.steps(), course.statistics().pieces);
                    difference = Some(Difference::Lines { step, piece, recorded, played }.of_side(side));
                }
            }
        }
        let difference = difference.or_else(|| last_difference(&recording, timeline.course()));
        let len = timeline.course().steps() as usize;
        timeline.seek(0, |step| recording.turn(step));
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
        self.timeline.seek(step.min(self.len), |step| self.recording.turn(step));
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

    /// The scene of this step for viewers, of side 0 in a match. The ghost shows where the next action leads.
    pub fn scene(&self) -> Scene {
        self.scene_of(self.course(), 0)
    }

    /// The scene of side 1 of a match.
    pub fn opponent_scene(&self) -> Option<Scene> {
        Some(self.scene_of(self.course().opponent()?, 1))
    }

    fn scene_of(&self, course: &Course, side: usize) -> Scene {
        let next = (self.step() < self.len).then(|| self.recording.turn(self.step()));
        let ghost = next.and_then(|turn| course.led_to(turn[side]));
        Scene { ghost: ghost.or(course.dropped()), ..course.scene() }
    }
}

impl Difference {
    /// A difference of a side of a match, or of a game of one player.
    fn of_side(self, side: usize) -> Difference {
        if side == 0 { self } else { Difference::Opponent(Box::new(self)) }
    }
}

/// The first difference at the end of a game, of both sides of a match.
fn last_difference(recording: &Recording, course: &Course) -> Option<Difference> {
    let ours = first_difference(&recording.outcome, &recording.landing_lines, &course.outcome());
    let theirs = recording.opponent.as_ref().zip(course.opponent());
    ours.or_else(|| {
        let (side, course) = theirs?;
        let difference = first_difference(&side.outcome, &side.landing_lines, &course.outcome());
        difference.map(|difference| difference.of_side(1))
    })
}

/// The first difference at the end of a side.
fn first_difference(recorded: &Outcome, landing_lines: &[u8], played: &Outcome) -> Option<Difference> {
    // Environments add up points landing by landing; evaluations add the points for the end of a game separately. So
    // fractions may differ in their last bits.
    let is_rounding = (recorded.score - played.score).abs() <= 1e-9 * played.score.abs().max(1.0);
    let score = if is_rounding { recorded.score } else { played.score };
    let totals = [
        ("pieces", recorded.pieces as f64, played.pieces as f64),
        ("pieces with lines", landing_lines.len() as f64, played.pieces as f64),
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
