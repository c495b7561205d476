//! Recordings that no game has: a falsified one is found where it differs.

use tetrion_core::engine::{ActionRefused, EpisodeEnd, Garbage, Playfield, Rules, Tetromino};
use tetrion_core::env::StartPosition;
use tetrion_toolkit::recording::{Difference, Pieces, Recorder, Recording, RecordingError, Replay, Setup};

use tetrion_toolkit_testing::{Dice, play, sequence};

/// A game of 8 pieces on 5 x 12 that clears lines and could go on.
fn recorded() -> Recording {
    let dice = &mut Dice(5, 0);
    loop {
        let setup = Setup::new(Rules::simplified(5, 12), Pieces::Seed(dice.below(1000) as u64));
        let (recording, _) = play(&setup, dice, 8);
        if recording.outcome.lines > 0 && recording.outcome.end.is_none() {
            return recording;
        }
    }
}

#[test]
fn a_falsified_recording_is_found_where_it_differs() {
    #[track_caller]
    fn check(falsify: impl FnOnce(&mut Recording), expected: &str) {
        let mut recording = recorded();
        falsify(&mut recording);
        let replay = Replay::new(recording).unwrap();
        let difference = replay.difference().map_or("none".to_owned(), Difference::to_string);
        assert_eq!(difference, expected);
    }
    check(|_| {}, "none");
    check(
        |recording| recording.landing_lines[7] += 1,
        &format!(
            "step 8, piece 8: {} lines, recorded {}",
            recorded().landing_lines[7],
            recorded().landing_lines[7] + 1
        ),
    );
    check(
        |recording| recording.landing_lines.truncate(7),
        &format!("step 8, piece 8: {} lines, recorded none", recorded().landing_lines[7]),
    );
    check(|recording| recording.landing_lines.push(0), "at the end: 8 pieces with lines, recorded 9");
    check(|recording| recording.actions[3] = 20, "step 4: action 20 is out of range, expected 0..20");
    check(|recording| recording.actions.truncate(7), "at the end: 7 pieces, recorded 8");
    check(|recording| recording.outcome.pieces = 7, "at the end: 8 pieces, recorded 7");
    check(
        |recording| recording.outcome.lines = 70,
        &format!("at the end: {} lines, recorded 70", recorded().outcome.lines),
    );
    check(
        |recording| recording.outcome.score = 0.5,
        &format!("at the end: {} points, recorded 0.5", recorded().outcome.score),
    );
    check(
        |recording| recording.outcome.end = Some(EpisodeEnd::ToppedOut),
        "at the end: not ended, recorded topped out",
    );
    check(
        |recording| recording.outcome.playfield = Playfield::from_drawing(5, 12, "#####").unwrap(),
        &format!(
            "at the end: row 0 of the playfield is {}, recorded #####",
            recorded().outcome.playfield.to_string().lines().last().unwrap()
        ),
    );
    // Other pieces, other rules: the same actions make another game.
    for falsify in [
        (|recording| recording.setup.pieces = Pieces::Seed(12345)) as fn(&mut Recording),
        |recording| recording.setup.rules.orientations = Rules::preset("leiden").unwrap().orientations,
        |recording| recording.actions.swap(0, 1),
    ] {
        let mut recording = recorded();
        falsify(&mut recording);
        assert!(Replay::new(recording).unwrap().difference().is_some());
    }
}

#[test]
fn a_replay_stops_where_an_action_cannot_be_done() {
    let mut recording = recorded();
    recording.actions[3] = 20;
    let mut replay = Replay::new(recording).unwrap();
    assert_eq!(replay.num_steps(), 3);
    replay.seek(100);
    assert_eq!((replay.step(), replay.scene().ghost), (3, None));
    // What follows the end of a game is no game.
    let setup = Setup::new(Rules::simplified(6, 8), Pieces::Sequence(sequence("OT")));
    let mut recorder = Recorder::new(setup).unwrap();
    recorder.play(0).unwrap();
    assert_eq!(recorder.play(11), Err(ActionRefused::NoPlacement { action: 11, letter: 'T' }));
    recorder.play(2).unwrap();
    let over = ActionRefused::Ended(EpisodeEnd::OutOfPieces);
    assert_eq!(recorder.play(0), Err(over));
    let mut recording = recorder.recording("", "");
    recording.actions.push(0);
    let difference = Difference::Action { step: 3, refused: over };
    assert_eq!(Replay::new(recording).unwrap().difference(), Some(&difference));
}

#[test]
fn a_recording_of_no_game_is_refused() {
    #[track_caller]
    fn check(falsify: impl FnOnce(&mut Recording), expected: &str) {
        let mut recording = recorded();
        falsify(&mut recording);
        assert_eq!(
            Replay::new(recording).map(|_| ()).map_err(|error: RecordingError| error.to_string()),
            Err(expected.to_owned())
        );
    }
    check(|recording| recording.setup.rules.width = 33, "rules: width is 33, expected 4 to 32");
    check(
        |recording| recording.setup.pieces = Pieces::Sequence(sequence("")),
        "pieces: the sequence is empty, expected at least one piece",
    );
    let holes = |columns: [&[u8]; 2]| {
        let hole_columns = columns.map(<[u8]>::to_vec);
        move |recording: &mut Recording| {
            let rules = Rules { garbage: Some(Garbage::DEFAULT), ..recording.setup.rules };
            recording.setup = Setup { hole_columns, ..Setup::new(rules, Pieces::Sequence(sequence("OT"))) };
        }
    };
    check(holes([&[4, 5], &[]]), "hole_columns: has 5, expected 0 to 4");
    check(holes([&[], &[0]]), "hole_columns: is set, expected none: a game of one player has no side 1");
    check(
        |recording| {
            holes([&[0], &[]])(recording);
            recording.setup.rules.garbage = None;
        },
        "hole_columns: is set, expected none: the rules have no garbage",
    );
    check(
        |recording| {
            holes([&[0], &[]])(recording);
            recording.setup.pieces = Pieces::Seed(1);
        },
        "hole_columns: is set, expected none: a seed decides the holes",
    );
    check(|recording| recording.setup.rules.height = 9, "outcome.playfield is 5 x 12, expected 5 x 9");
    let start = |width| StartPosition {
        playfield: Playfield::empty(width, 8),
        piece: Tetromino::T,
        queue: vec![],
        held: None,
    };
    let wrong = start(7).check(&Rules::simplified(5, 12)).unwrap_err();
    check(|recording| recording.setup.start = Some(start(7)), &format!("start: {wrong}"));
}
