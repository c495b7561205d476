//! Content of a picture.

use crate::recording::{CurrentPiece, Replay, Scene};
use tetrion_core::engine::{ActionModel, Piece, Rules};

/// Everything that a picture shows: a scene, and what is about to happen in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    pub scene: Scene,
    /// Rows that are full and about to go.
    pub full_rows: Vec<u8>,
    /// The current piece of a game that waits for a placement. It is not in the playfield.
    pub waiting: Option<Piece>,
}

impl Moment {
    /// The moment of a game that waits for its next action.
    pub fn standing(scene: Scene, rules: &Rules) -> Moment {
        match rules.action_model {
            ActionModel::Keypress => Moment { scene, full_rows: Vec::new(), waiting: None },
            ActionModel::Placement => {
                let waiting = scene.current.map(|current| current.piece);
                let scene = Scene { current: None, ghost: None, ..scene };
                Moment { scene, full_rows: Vec::new(), waiting }
            }
        }
    }
}

/// The line below a picture: the player, and how the game ended.
pub fn caption(player: &str, moment: &Moment) -> String {
    let end = moment.scene.end.map(|end| end.to_string());
    match (player, end) {
        ("", end) => end.unwrap_or_default(),
        (player, None) => player.to_owned(),
        (player, Some(end)) => format!("{player}: {end}"),
    }
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
        return Moment { scene, full_rows: Vec::new(), waiting: None };
    }
    let placed = scene.ghost.take().zip(scene.current);
    replay.forward();
    let after = replay.scene();
    let Some((cells, CurrentPiece { piece, .. })) = placed else {
        // The action did not exist.
        let scene = Scene { current: None, ghost: None, ..after };
        return Moment { scene, full_rows: Vec::new(), waiting: None };
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
    Moment { scene, full_rows: after.cleared, waiting: None }
}
