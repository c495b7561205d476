//! Content of the picture of a step.

use crate::engine::ActionModel;
use crate::recording::{CurrentPiece, Replay, Scene};

/// Content of the picture of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Drawn scene.
    pub scene: Scene,
    /// Rows that are full and about to go.
    pub full_rows: Vec<u8>,
}

/// The moment of a step: after the last action the game as it ended. Goes there.
///
/// Before that, where keys move the pieces, it is the game after `step` actions. Where a step is a placement, it is the moment
/// in which the piece of the next action has come to rest, and the rows that it completes are still there; the numbers count
/// it already.
pub fn moment(replay: &mut Replay, step: usize) -> Moment {
    replay.seek(step);
    let mut scene = replay.scene();
    let is_placed = replay.course().rules().action_model == ActionModel::Placement;
    if !is_placed || step >= replay.num_steps() {
        // A piece that waits above the wall says nothing.
        scene.current = scene.current.filter(|_| !is_placed);
        scene.ghost = scene.ghost.filter(|_| !is_placed);
        return Moment { scene, full_rows: Vec::new() };
    }
    let placed = scene.ghost.take().zip(scene.current);
    replay.forward();
    let after = replay.scene();
    let Some((cells, CurrentPiece { piece, .. })) = placed else {
        // The action did not exist.
        return Moment { scene: Scene { current: None, ghost: None, ..after }, full_rows: Vec::new() };
    };
    let scene = Scene {
        current: Some(CurrentPiece { piece, cells }),
        last: Vec::new(),
        cleared: Vec::new(),
        pieces: after.pieces,
        lines: after.lines,
        score: after.score,
        steps: after.steps,
        ..scene
    };
    Moment { scene, full_rows: after.cleared }
}
