//! Content of a picture.

use crate::recording::{CurrentPiece, Replay, Scene};
use tetrion_core::engine::{ActionModel, Piece, Rules};

/// Everything that a picture shows: a scene, and what is about to happen in it; of a match, both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    pub scene: Scene,
    /// Rows that are full and about to go.
    pub full_rows: Vec<u8>,
    /// The current piece of a game that waits for a placement. It is not in the playfield.
    pub waiting: Option<Piece>,
    /// The line below the picture; may be empty.
    pub words: String,
    /// The other side of a match.
    pub opponent: Option<Box<Moment>>,
}

impl Moment {
    /// A scene in which nothing is about to happen.
    pub fn of(scene: Scene) -> Moment {
        Moment { scene, full_rows: Vec::new(), waiting: None, words: String::new(), opponent: None }
    }

    /// The moment in which the piece of a placement has come to rest, between two scenes.
    fn placed(before: Scene, after: Scene) -> Moment {
        let Some((cells, CurrentPiece { piece, .. })) = before.ghost.zip(before.current) else {
            // The action did not exist.
            return Moment::of(Scene { current: None, ghost: None, ..after });
        };
        let Scene { pieces, lines, score, steps, cleared, .. } = after;
        let current = Some(CurrentPiece { piece, cells });
        let (last, full_rows) = (Vec::new(), cleared);
        let cleared = Vec::new();
        let scene = Scene { current, ghost: None, last, cleared, pieces, lines, score, steps, ..before };
        Moment { full_rows, ..Moment::of(scene) }
    }

    /// The moment of a game that waits for its next action.
    pub fn standing(scene: Scene, rules: &Rules) -> Moment {
        match rules.action_model {
            ActionModel::Keypress => Moment::of(scene),
            ActionModel::Placement => {
                let waiting = scene.current.map(|current| current.piece);
                Moment { waiting, ..Moment::of(Scene { current: None, ghost: None, ..scene }) }
            }
        }
    }
}

/// The moment of a step: after the last action the game as it ended. Goes there.
///
/// Before that, where keys move the pieces, it is the game after `step` actions. Where a step is a placement, it is the moment
/// in which the piece of the next action has come to rest, and the rows that it completes are still there; the numbers count
/// it already. In a match this holds for each side.
pub fn moment(replay: &mut Replay, step: usize) -> Moment {
    replay.seek(step);
    let before = [Some(replay.scene()), replay.opponent_scene()];
    let is_placed = replay.course().rules().action_model == ActionModel::Placement;
    let after = (is_placed && step < replay.num_steps()).then(|| {
        replay.forward();
        [Some(replay.scene()), replay.opponent_scene()]
    });
    let recording = replay.recording();
    let players = [Some(&recording.player), recording.opponent.as_ref().map(|side| &side.player)];
    let [ours, theirs] = [0, 1].map(|side| {
        let scene = before[side].clone()?;
        let mut moment = match &after {
            Some(after) => Moment::placed(scene, after[side].clone()?),
            // A piece that waits above the wall says nothing.
            None if is_placed => Moment::of(Scene { current: None, ghost: None, ..scene }),
            None => Moment::of(scene),
        };
        moment.words = caption(players[side]?, &moment.scene);
        Some(moment)
    });
    Moment { opponent: theirs.map(Box::new), ..ours.expect("every game has side 0") }
}

/// The player, and how the game ended.
fn caption(player: &str, scene: &Scene) -> String {
    let end = scene.end.map(|end| end.to_string());
    match (player, end) {
        ("", end) => end.unwrap_or_default(),
        (player, None) => player.to_owned(),
        (player, Some(end)) => format!("{player}: {end}"),
    }
}
