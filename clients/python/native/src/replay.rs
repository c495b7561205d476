//! Games that are played again, step by step.

use std::sync::{Mutex, MutexGuard, PoisonError};

use prost::Message;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use tetrion::engine::{ActionModel, ActionRefused, Piece, Rules};
use tetrion::picture::{Canvas, ColourScheme, Ink, Layout, draw, moment, points};
use tetrion::protocol::{pb, recording, watching};
use tetrion::recording::{Cell, Course, Difference, Scene};

use super::pictures::{Picture, scheme};
use super::recorded::{RecordingError, wrong};

/// A recording and its replay.
#[pyclass(frozen, name = "Replay", module = "tetrion._native")]
pub(crate) struct PyReplay(Mutex<tetrion::recording::Replay>);

impl PyReplay {
    fn replay(&self) -> MutexGuard<'_, tetrion::recording::Replay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a job with the game at a step, without the GIL.
    fn at<T: Send>(
        &self,
        py: Python<'_>,
        step: usize,
        job: impl FnOnce(&mut tetrion::recording::Replay) -> T + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut replay = self.replay();
            if step > replay.num_steps() {
                return Err(replay.num_steps());
            }
            replay.seek(step);
            Ok(job(&mut replay))
        });
        done.map_err(|most| PyIndexError::new_err(format!("step is {step}, expected at most {most}")))
    }
}

#[pymethods]
impl PyReplay {
    /// Plays a recording, a message, or its first steps.
    #[new]
    fn new(py: Python<'_>, message: &[u8], max_steps: Option<usize>) -> PyResult<PyReplay> {
        let failed =
            |error: &dyn std::error::Error| RecordingError::new_err((String::new(), error.to_string()));
        let mut message = pb::Recording::decode(message).map_err(|error| failed(&error))?;
        let max_steps = max_steps.unwrap_or(usize::MAX);
        message.actions.truncate(max_steps);
        if let Some(opponent) = &mut message.opponent {
            opponent.actions.truncate(max_steps);
        }
        let recording = recording::decode(&message).map_err(wrong)?;
        let replay =
            py.detach(|| tetrion::recording::Replay::new(recording)).map_err(|error| failed(&error))?;
        Ok(PyReplay(Mutex::new(replay)))
    }

    fn __len__(&self) -> usize {
        self.replay().num_steps()
    }

    /// The first difference between the recording and its replay, if any.
    fn difference(&self) -> Option<String> {
        self.replay().difference().map(Difference::to_string)
    }

    /// The action that cannot be played, if any: what is wrong, and whether the game was over before.
    fn refusal(&self) -> Option<(String, bool)> {
        match self.replay().difference() {
            Some(difference @ Difference::Action { refused, .. }) => {
                Some((difference.to_string(), matches!(refused, ActionRefused::Ended(_))))
            }
            _ => None,
        }
    }

    /// The scene after a number of steps, as a message `WatchedEnv`; of side 1 of a match, if there is one.
    fn scene<'py>(&self, py: Python<'py>, step: usize, side: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let scene = self.at(py, step, |replay| {
            let course = replay.course().sides().nth(side);
            course
                .map(|course| watching::encode_scene(&course.scene(), &course.rules().pieces).encode_to_vec())
        });
        Ok(scene?.map(|scene| PyBytes::new(py, &scene)))
    }

    /// The picture of a step, as `tetrion export` makes it.
    fn picture<'py>(&self, py: Python<'py>, step: usize, cell: u32, palette: i32) -> PyResult<Picture<'py>> {
        let (pixels, layout) = self.at(py, step, |replay| {
            let recording = replay.recording();
            let layout = Layout::new(&recording.setup.rules, cell, recording.has_words());
            let moment = moment(replay, step);
            let mut pixels = Vec::with_capacity(3 * layout.width as usize * layout.height as usize);
            let marks = draw(&layout, &moment);
            Canvas::painted(&layout, &marks).write_rgb(scheme(palette), &mut pixels);
            (pixels, layout)
        })?;
        Ok((PyBytes::new(py, &pixels), layout.height, layout.width))
    }

    /// The game as data for the script of a page, in JSON: its steps, and the colours of both palettes. A cell is a number, row *
    /// width + column.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        self.at(py, 0, |replay| page(replay).to_string())
    }
}

fn page(replay: &mut tetrion::recording::Replay) -> Value {
    let rules = *replay.course().rules();
    let mut sides: Vec<SidePage> = replay.course().sides().map(SidePage::new).collect();
    while replay.forward() {
        let course = replay.course();
        for (side, course) in sides.iter_mut().zip(course.sides()) {
            side.step(course);
        }
    }
    let colours = |scheme: ColourScheme| {
        let hues = Ink::all().filter(|ink| matches!(ink, Ink::Body(_)));
        hues.map(|ink| scheme.rgb(ink)).collect::<Vec<_>>()
    };
    json!({
        "w": rules.width,
        "h": rules.height,
        "visible": rules.visible_rows(),
        "preview": rules.preview,
        "keys": rules.action_model == ActionModel::Keypress,
        "sides": sides.into_iter().map(|side| side.finish(&rules)).collect::<Vec<_>>(),
        "palettes": { "usual": colours(ColourScheme::Usual), "color-blind": colours(ColourScheme::ColourBlind) },
    })
}

/// A game, or a side of a match, for the script.
struct SidePage {
    given: Vec<i16>,
    pieces: Vec<i16>,
    /// Per step, and before the first one: the held piece and the next ones; the cells of the falling piece; the points.
    shown: Vec<Vec<i16>>,
    falling: Vec<Vec<usize>>,
    scores: Vec<String>,
    steps: Vec<Value>,
    now: Scene,
    /// The pieces in play and after it, as far as they are seen.
    ahead: Vec<i16>,
}

impl SidePage {
    fn new(course: &Course) -> SidePage {
        let now = course.scene();
        let mut side = SidePage {
            given: now.cells.rows().flatten().map(cell).collect(),
            pieces: now.current.iter().map(|current| number(&current.piece)).collect(),
            shown: Vec::new(),
            falling: Vec::new(),
            scores: Vec::new(),
            steps: Vec::new(),
            ahead: Vec::new(),
            now,
        };
        side.see(course);
        side
    }

    fn step(&mut self, course: &Course) {
        let (before, scene) = (&self.now, course.scene());
        let width = usize::from(course.rules().width);
        let landing = course.landing().filter(|_| scene.pieces > before.pieces);
        self.steps.push(landing.map_or(json!(0), |landing| {
            self.pieces.extend(scene.current.iter().map(|current| number(&current.piece)));
            let lines = scene.lines - before.lines;
            // The holes of the rows that rose, the lowest row first.
            let risen = scene.cells.rows().take(course.incoming().just_risen.into());
            let holes = risen.map(|row| row.iter().position(|cell| *cell == Cell::Empty));
            let holes = holes.collect::<Vec<_>>();
            json!([places(&landing.cells, width), scene.cleared, lines, number(&landing.piece), holes])
        }));
        self.now = scene;
        self.see(course);
    }

    fn see(&mut self, course: &Course) {
        let (scene, width) = (&self.now, usize::from(course.rules().width));
        let held = scene.held.as_ref().map_or(-1, number);
        self.shown.push([held].into_iter().chain(scene.next.iter().map(number)).collect());
        let current = scene.current.as_ref();
        self.falling.push(current.map_or(Vec::new(), |current| places(&current.cells, width)));
        self.scores.push(points(scene.score));
        self.ahead = course.preview().map(|piece| number(&piece)).collect();
    }

    fn finish(mut self, rules: &Rules) -> Value {
        self.pieces.append(&mut self.ahead);
        let has_keys = rules.action_model == ActionModel::Keypress;
        json!({
            "given": self.given,
            "pieces": self.pieces,
            // Where a piece can be held, what comes next does not follow from the pieces.
            "shown": rules.hold.then_some(self.shown),
            "steps": self.steps,
            "falling": if has_keys { self.falling } else { Vec::new() },
            "scores": (!rules.points_are_lines()).then_some(self.scores),
        })
    }
}

fn number(piece: &Piece) -> i16 {
    piece.number().into()
}

/// Cells as numbers, row * width + column.
fn places(cells: &[(u8, u8)], width: usize) -> Vec<usize> {
    cells.iter().map(|&(row, column)| usize::from(row) * width + usize::from(column)).collect()
}

fn cell(cell: &Cell) -> i16 {
    match cell {
        Cell::Empty => -1,
        Cell::Given => 7,
        Cell::Of(piece) => piece.number().into(),
    }
}
