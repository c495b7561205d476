//! Recorded games are those of environments, with the colours of a plain model.

/// Recordings that no game has.
mod falsified;
/// Both sides of a match.
mod matches;

use tetrion_core::engine::{EpisodeEnd, Rules, Tetromino};
use tetrion_toolkit::recording::{Pieces, Recorder, Replay, Scene, Setup};

use tetrion_toolkit_testing::{Dice, Painting, play, random_setup, sequence};

#[test]
fn recorded_games_are_those_of_environments_in_the_colours_of_a_plain_model() {
    let dice = &mut Dice(16, 0);
    let (mut ends, mut lines, mut given) = (Vec::new(), 0, 0);
    for _ in 0..600 {
        let setup = random_setup(dice);
        let max_steps = dice.one(&[15, 400]);
        let (recording, scenes) = play(&setup, dice, max_steps);
        ends.push(recording.outcome.end);
        lines += recording.outcome.lines;
        given += u64::from(setup.start.is_some());
        let mut replay = Replay::new(recording).unwrap();
        assert_eq!(replay.difference(), None);
        assert_eq!((replay.step(), replay.num_steps()), (0, scenes.len() - 1));
        let unghosted = |scene: Scene| Scene { ghost: None, ..scene };
        for scene in &scenes {
            assert_eq!(unghosted(replay.scene()), unghosted(scene.clone()));
            replay.forward();
        }
        assert!(!replay.forward());
        for _ in 0..20 {
            let step = dice.below(scenes.len());
            replay.seek(step);
            assert_eq!(unghosted(replay.scene()), unghosted(scenes[step].clone()));
            assert_eq!(replay.back(), step > 0);
            assert_eq!(replay.scene().steps, step.saturating_sub(1) as u64);
        }
    }
    for end in
        [None, Some(EpisodeEnd::ToppedOut), Some(EpisodeEnd::OutOfPieces), Some(EpisodeEnd::InvalidAction)]
    {
        let count = ends.iter().filter(|other| **other == end).count();
        assert!(count > 10, "{count} games end with {end:?}");
    }
    assert!(lines > 100 && given > 100, "{lines} lines, {given} positions");
}

/// Drawn and counted by hand.
#[test]
fn a_line_goes_and_the_last_piece_is_cut() {
    let setup = Setup::new(Rules::simplified(4, 6), Pieces::Sequence(sequence("OILT")));
    let mut recorder = Recorder::new(setup).unwrap();
    let drawing = |recorder: &Recorder| {
        let rows = Painting::of(&recorder.course().scene()).0;
        let rows = rows.iter().rev().map(String::from_iter).skip_while(|row| row == "....");
        rows.collect::<Vec<String>>().join("/")
    };
    recorder.play(0).unwrap(); // O in the left corner
    assert_eq!(drawing(&recorder), "oo../oo..");
    recorder.play(3).unwrap(); // I upright at the right wall
    assert_eq!(drawing(&recorder), "...i/...i/OO.i/OO.i");
    // L upright with its foot on top, over the O, and its leg beside it.
    let upright = (0..16).find(|&action| {
        let cells = recorder.course().led_to(action);
        cells.is_some_and(|cells| cells == [(0, 2), (1, 2), (2, 1), (2, 2)])
    });
    let before = recorder.course().scene();
    assert_eq!(recorder.play(upright.unwrap()).unwrap(), Some(2));
    let scene = recorder.course().scene();
    assert_eq!((&scene.cleared[..], &scene.last[..]), (&[0, 1][..], &[(0, 1), (0, 2)][..]));
    assert_eq!(drawing(&recorder), "...I/.llI");
    // And back again.
    assert_eq!(recorder.undo(), upright);
    assert_eq!(recorder.course().scene(), before);
    assert_eq!(recorder.recording("", "").landing_lines, [0, 0]);
}

#[test]
fn what_is_taken_back_leaves_no_trace() {
    let dice = &mut Dice(17, 0);
    for _ in 0..40 {
        let setup = random_setup(dice);
        let (recording, _) = play(&setup, dice, 200);
        let mut recorder = Recorder::new(setup.clone()).unwrap();
        while recorder.actions().len() < recording.actions.len() {
            let next = recorder.actions().len();
            recorder.play(recording.actions[next]).unwrap();
            // Rarely enough that the game goes on all the same.
            if dice.below(100) == 0 {
                // Back by some actions, other ones, and back again.
                let back = 1 + dice.below(60);
                recorder.undo_to(next.saturating_sub(back));
                let before = recorder.actions().len();
                for _ in 0..dice.below(40) {
                    let _ = recorder.play(dice.below(6) as u16); // it may not exist
                }
                while recorder.actions().len() > before {
                    recorder.undo();
                }
                assert_eq!(recorder.actions(), &recording.actions[..before]);
            }
        }
        assert_eq!(recorder.recording("dice", "a test"), recording);
    }
}

/// More steps than there are places to go back to.
#[test]
fn a_long_game_is_walked_through_in_any_order() {
    let pieces = Pieces::Sequence(vec![Tetromino::O; 40_000].into());
    let mut recorder = Recorder::new(Setup::new(Rules::simplified(4, 4), pieces)).unwrap();
    for step in 0..30_001 {
        let lines = recorder.play([0, 2][step % 2]).unwrap();
        assert_eq!(lines, Some([0, 2][step % 2]));
    }
    let mut replay = Replay::new(recorder.recording("", "")).unwrap();
    let dice = &mut Dice(3, 0);
    for step in [30_001, 0, 8_191, 8_192, 8_193, 16_384, 16_383]
        .into_iter()
        .chain((0..50).map(|_| dice.below(30_001)))
    {
        replay.seek(step);
        let scene = replay.scene();
        assert_eq!((scene.steps, scene.pieces, scene.lines), (step as u64, step as u64, step as u64 / 2 * 2));
        assert_eq!(scene.last.len(), [0, 4][step % 2]);
    }
    replay.seek(usize::MAX);
    assert_eq!((replay.step(), replay.scene().end), (30_001, None));
}
