//! Games that are played again, step by step.

use std::sync::{Mutex, MutexGuard, PoisonError};

use prost::Message;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use tetrion::engine::{ActionModel, ActionRefused, Piece};
use tetrion::picture::{Canvas, ColourScheme, Ink, Layout, caption, draw, moment, points};
use tetrion::protocol::{pb, recording, watching};
use tetrion::recording::{Cell, Difference, Scene};

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
        message.actions.truncate(max_steps.unwrap_or(usize::MAX));
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

    /// The scene after a number of steps, as a message `WatchedEnv`.
    fn scene<'py>(&self, py: Python<'py>, step: usize) -> PyResult<Bound<'py, PyBytes>> {
        let scene = self.at(py, step, |replay| {
            let course = replay.course();
            watching::encode_scene(&course.scene(), &course.rules().pieces).encode_to_vec()
        });
        Ok(PyBytes::new(py, &scene?))
    }

    /// The picture of a step, as `tetrion export` makes it.
    fn picture<'py>(&self, py: Python<'py>, step: usize, cell: u32, palette: i32) -> PyResult<Picture<'py>> {
        let (pixels, layout) = self.at(py, step, |replay| {
            let recording = replay.recording();
            let has_caption = !recording.player.is_empty() || recording.outcome.end.is_some();
            let layout = Layout::new(&recording.setup.rules, cell, has_caption);
            let player = recording.player.clone();
            let moment = moment(replay, step);
            let mut pixels = Vec::with_capacity(3 * layout.width as usize * layout.height as usize);
            let marks = draw(&layout, &moment, &caption(&player, &moment));
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
    let width = usize::from(rules.width);
    let place = |&(row, column): &(u8, u8)| usize::from(row) * width + usize::from(column);
    let places = |cells: &[(u8, u8)]| cells.iter().map(place).collect::<Vec<_>>();
    let has_keys = rules.action_model == ActionModel::Keypress;
    let number = |piece: &Piece| i16::from(piece.number());
    let first = replay.course().scene();
    let given: Vec<i16> = first.cells.rows().flatten().map(cell).collect();
    let mut pieces: Vec<i16> = first.current.iter().map(|current| number(&current.piece)).collect();
    let (mut shown, mut falling, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    let mut see = |scene: &Scene| {
        let held = scene.held.as_ref().map_or(-1, number);
        shown.push([held].into_iter().chain(scene.next.iter().map(number)).collect::<Vec<_>>());
        falling.push(scene.current.as_ref().map_or(Vec::new(), |current| places(&current.cells)));
        scores.push(points(scene.score));
    };
    see(&first);
    let mut steps = Vec::new();
    let mut before = first;
    while replay.forward() {
        let scene = replay.course().scene();
        steps.push(match replay.course().landing().filter(|_| scene.pieces > before.pieces) {
            Some(landing) => {
                pieces.extend(scene.current.iter().map(|current| number(&current.piece)));
                let lines = scene.lines - before.lines;
                json!([places(&landing.cells), scene.cleared, lines, number(&landing.piece)])
            }
            None => json!(0),
        });
        see(&scene);
        before = scene;
    }
    pieces.extend(replay.course().preview().map(|piece| number(&piece)));
    let colours = |scheme: ColourScheme| {
        let hues = Ink::all().filter(|ink| matches!(ink, Ink::Body(_)));
        hues.map(|ink| scheme.rgb(ink)).collect::<Vec<_>>()
    };
    json!({
        "w": rules.width,
        "h": rules.height,
        "visible": rules.visible_rows(),
        "preview": rules.preview,
        "keys": has_keys,
        "given": given,
        "pieces": pieces,
        // Where a piece can be held, what comes next does not follow from the pieces.
        "shown": rules.hold.then_some(shown),
        "steps": steps,
        "falling": if has_keys { falling } else { Vec::new() },
        "scores": (!rules.points_are_lines()).then_some(scores),
        "palettes": { "usual": colours(ColourScheme::Usual), "color-blind": colours(ColourScheme::ColourBlind) },
    })
}

fn cell(cell: &Cell) -> i16 {
    match cell {
        Cell::Empty => -1,
        Cell::Given => 7,
        Cell::Of(piece) => piece.number().into(),
    }
}
