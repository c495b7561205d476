//! Recorded matches are those of the engine, side by side, and a falsified one is found where it differs.

use tetrion_core::engine::{EpisodeEnd, Live, Match, Placement, Playfield, Rules, Tetromino};
use tetrion_core::env::StartPosition;
use tetrion_toolkit::picture::{Canvas, Layout, draw, moment, text};
use tetrion_toolkit::recording::{
    Cell, Difference, Pieces, RecordedOpponent, Recorder, Recording, Replay, Scene, Setup,
};

use tetrion_toolkit_testing::Dice;

/// A match of at most this many turns, with the match of the engine after each of them.
fn played(preset: &str, seed: u64, most: usize, dice: &mut Dice) -> (Recording, Vec<Match>) {
    let rules = Rules { players: 2, ..Rules::preset(preset).unwrap() };
    let mut versus = Match::new(&rules, seed).unwrap();
    let mut recorder = Recorder::new(Setup::new(rules, Pieces::Seed(seed))).unwrap();
    let mut seen = vec![versus.clone()];
    while versus.result().is_none() && seen.len() <= most {
        let chosen: [Placement; 2] = [0, 1].map(|side| {
            let side = &versus.sides()[side];
            let placements = side.placements();
            let depth = |placement| -> u32 {
                side.resting_cells(placement).unwrap().iter().map(|&(row, _)| u32::from(row)).sum()
            };
            // Mostly low, which clears lines.
            let lowest = placements.iter().min_by_key(|(_, placement)| depth(*placement)).unwrap().1;
            if dice.below(5) == 0 { placements[dice.below(placements.len())].1 } else { lowest }
        });
        versus.place(chosen).unwrap();
        recorder.play_turn(chosen.map(|placement| placement.action(&rules) as u16)).unwrap();
        seen.push(versus.clone());
        // Rarely enough that the match goes on all the same: back by some turns.
        if dice.below(40) == 0 {
            seen.truncate(seen.len().saturating_sub(dice.below(12)).max(1));
            versus = seen.last().unwrap().clone();
            recorder.undo_to(seen.len() - 1);
        }
    }
    let recording = recorder.recording("Ada", "");
    let ends = [&recording.outcome, &recording.opponent.as_ref().unwrap().outcome].map(|outcome| outcome.end);
    assert_eq!(ends, versus.sides().each_ref().map(Live::end));
    (recording, seen)
}

#[track_caller]
fn check_scene(scene: &Scene, side: &Live) {
    for row in 0..side.rules().height {
        for column in 0..side.rules().width {
            let is_full = scene.cells.get(row, column) != Cell::Empty;
            assert_eq!(is_full, side.playfield().is_full(row, column), "row {row}, column {column}");
        }
    }
    let totals = side.statistics();
    assert_eq!((scene.pieces, scene.lines, scene.score), (totals.pieces, totals.lines, totals.score));
    assert_eq!((scene.end, scene.held), (side.end(), side.held()));
    assert_eq!(scene.garbage, side.incoming().seen(side.rules()).collect::<Vec<_>>());
}

#[test]
fn a_replay_shows_both_sides_of_the_engines_match() {
    let dice = &mut Dice(31, 0);
    let (mut ends, mut risen) = (Vec::new(), 0);
    for game in 0..24 {
        let preset = ["tetrio", "tetrio_season_1", "botris", "versus_simple"][game % 4];
        let (recording, seen) = played(preset, dice.below(1000) as u64, 200, dice);
        ends.push(recording.outcome.end);
        let mut replay = Replay::new(recording).unwrap();
        assert_eq!(replay.difference(), None);
        assert_eq!(replay.num_steps(), seen.len() - 1);
        for step in (0..seen.len()).chain((0..20).map(|_| dice.below(seen.len()))) {
            replay.seek(step);
            check_scene(&replay.scene(), &seen[step].sides()[0]);
            check_scene(&replay.opponent_scene().unwrap(), &seen[step].sides()[1]);
        }
        risen +=
            seen.last().unwrap().sides().iter().map(|side| side.incoming().exchanged.received).sum::<u64>();
    }
    assert!(ends.contains(&Some(EpisodeEnd::Won)) && ends.contains(&Some(EpisodeEnd::ToppedOut)), "{ends:?}");
    assert!(risen > 0, "no line was ever sent");
}

#[test]
fn a_falsified_side_is_found() {
    #[track_caller]
    fn check(falsify: impl FnOnce(&mut Recording, &mut RecordedOpponent), expected: &str) {
        let (mut recording, _) = played("versus_simple", 5, 200, &mut Dice(32, 0));
        let mut opponent = recording.opponent.take().unwrap();
        falsify(&mut recording, &mut opponent);
        let replay = Replay::new(Recording { opponent: Some(opponent), ..recording }).unwrap();
        let difference = replay.difference().map_or("none".to_owned(), Difference::to_string);
        assert_eq!(difference, expected);
    }
    check(|_, _| {}, "none");
    check(|_, other| other.landing_lines[3] = 4, "opponent: step 4, piece 4: 0 lines, recorded 4");
    check(
        |_, other| other.actions[2] = 40_000,
        "opponent: step 3: action 40000 is out of range, expected 0..5760",
    );
    let (recording, _) = played("versus_simple", 5, 200, &mut Dice(32, 0));
    let ends = [recording.outcome.end, recording.opponent.as_ref().unwrap().outcome.end];
    let [ours, theirs] = ends.map(|end| end.unwrap().to_string());
    check(|game, _| game.outcome.end = None, &format!("at the end: {ours}, recorded not ended"));
    check(
        |_, other| other.outcome.end = None,
        &format!("opponent: at the end: {theirs}, recorded not ended"),
    );
    // Sides that were exchanged have other holes, or other moves.
    check(
        |game, other| {
            std::mem::swap(&mut game.actions, &mut other.actions);
            std::mem::swap(&mut game.landing_lines, &mut other.landing_lines);
            std::mem::swap(&mut game.outcome, &mut other.outcome);
        },
        "at the end: row 0 of the playfield is .#########, recorded ####.#####",
    );
}

#[test]
fn what_is_no_match_is_refused() {
    #[track_caller]
    fn check(spoil: impl FnOnce(&mut Recording), expected: &str) {
        let (mut recording, _) = played("tetrio", 5, 3, &mut Dice(33, 0));
        spoil(&mut recording);
        assert_eq!(Replay::new(recording).unwrap_err().to_string(), expected);
    }
    check(|game| game.opponent = None, "opponent: is missing, and rules with players 2 have two sides");
    check(|game| game.setup.rules.players = 1, "opponent: is set, and the rules have players 1");
    check(
        |game| {
            let Rules { width, height, .. } = game.setup.rules;
            let playfield = Playfield::empty(width, height);
            let piece = Tetromino::T;
            game.setup.start = Some(StartPosition { playfield, piece, queue: Vec::new(), held: None });
        },
        "start: is set, expected none: a recorded match begins with empty playfields",
    );
    check(
        |game| game.opponent.as_mut().unwrap().actions.truncate(2),
        "opponent.actions: has 2, expected 3, one per turn",
    );
}

#[test]
fn pictures_have_both_sides() {
    let (recording, _) = played("tetrio", 8, 30, &mut Dice(34, 0));
    let rules = recording.setup.rules;
    let alone = Layout::new(&Rules { players: 1, ..rules }, 12, true);
    let layout = Layout::new(&rules, 12, true);
    assert_eq!((layout.width, layout.height), (2 * alone.width, alone.height));
    let mut replay = Replay::new(recording).unwrap();
    for step in [0, 12, 30] {
        let both = moment(&mut replay, step);
        let canvas = Canvas::painted(&layout, &draw(&layout, &both));
        let mut ours = both.clone();
        let theirs = *ours.opponent.take().unwrap();
        for (side, moment) in [ours, theirs].iter().enumerate() {
            let expected = Canvas::painted(&alone, &draw(&alone, moment));
            let rows = canvas.pixels().chunks(layout.width as usize);
            let half: Vec<u8> =
                rows.flat_map(|row| row.chunks(alone.width as usize).nth(side).unwrap().to_vec()).collect();
            assert_eq!(half, expected.pixels(), "step {step}, side {side}");
        }
        let shown = text::text(&both, &rules, None);
        let first = shown.lines().next().unwrap();
        assert_eq!(first.matches("+----------+").count(), 2, "{shown}");
    }
}
