//! Rows that rise, counted by hand; and what is promised of their streams.

use std::sync::Arc;

use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::engine::{
    Attack, AttackTable, Attacking, ClearPoints, EpisodeEnd, Garbage, Holes, Incoming, Landed, PieceSequence,
    PieceSet, Playfield, Randomizer, Rules, Scoring, TopOut, WaitingLines,
};
use tetrion_core::env::{
    AutoresetMode, EnvBatch, EnvConfig, EnvState, EpisodePhase, Field, Restored, Seeding, SeedingError,
    SharedSequences, SnapshotError, StartPosition,
};

use super::model::sequence;
use super::{Dice, letters, numbers, random_actions, running, see};

fn with(lines_per_piece: f64, hole_move_chance: f64, delay_pieces: u8, rules: Rules) -> Rules {
    Rules {
        garbage: Some(Garbage { lines_per_piece, hole_move_chance, delay_pieces, ..Garbage::DEFAULT }),
        ..rules
    }
}

fn batch(rules: Rules, seeding: &Seeding) -> EnvBatch {
    running(EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() }, seeding)
}

/// An environment that deals these pieces, with the first of them over a drawing.
fn over(rules: Rules, drawing: &str, pieces: &str) -> EnvBatch {
    let mut batch = batch(rules, &Seeding::from_pieces(vec![sequence(pieces)]));
    let playfield = Playfield::from_drawing(rules.width, rules.height, drawing).unwrap();
    let position = StartPosition { playfield, piece: sequence(pieces)[0], queue: vec![], held: None };
    batch.restore(None, Restored::Positions(&[position]), None).unwrap();
    batch
}

/// The drawing of the lowest rows, the top one first.
fn drawn(batch: &EnvBatch, rows: usize) -> String {
    let drawing = batch.playfield(0).to_string();
    let all: Vec<&str> = drawing.lines().collect();
    all[all.len() - rows..].join("/")
}

/// Every row of the episodes here: explicit pieces have the garbage of seed 0, whose first hole on 6 columns is in column 2 (its
/// word is 0.37 of 2^64), and it does not move.
const ROW: &str = "##.###";

/// A row of garbage for each piece, and the columns of its holes.
fn written(pieces: &str, holes: &[u8]) -> (Rules, Seeding) {
    let written = PieceSequence { pieces: sequence(pieces), holes: holes.to_vec() };
    (with(1.0, 0.0, 0, Rules::simplified(6, 20)), Seeding::PieceSequences(vec![Arc::new(written)]))
}

#[test]
fn holes_that_are_written_down_lie_in_their_columns() {
    let (rules, seeding) = written("OOOOOO", &[5, 0, 3]);
    let mut batch = batch(rules, &seeding);
    (0..3).for_each(|_| drop(batch.step(&[0], None).unwrap()));
    let snapshot = batch.state(0).to_bytes();
    let mut shared = SharedSequences::default();
    let sharing = batch.state(0).to_bytes_sharing(&mut shared);
    // The first line waits until the second piece has landed.
    assert_eq!(drawn(&batch, 2), "#####./.#####");
    let states =
        [EnvState::from_bytes(&snapshot).unwrap(), EnvState::from_bytes_sharing(&sharing, &shared).unwrap()];
    let mut seen = Vec::new();
    for restored in [None, Some(&states[0]), Some(&states[1])] {
        if let Some(state) = restored {
            batch.restore(None, Restored::States(std::slice::from_ref(state)), None).unwrap();
        }
        (0..2).for_each(|_| drop(batch.step(&[0], None).unwrap()));
        seen.push(drawn(&batch, 4));
    }
    // After the third row the seed decides: the hole stays where it is.
    assert!(seen.iter().all(|drawing| drawing == "#####./.#####/###.##/###.##"), "{seen:?}");
    // The next episode begins with the first hole.
    batch.reset(None, None).unwrap();
    (0..2).for_each(|_| drop(batch.step(&[0], None).unwrap()));
    assert_eq!(drawn(&batch, 1), "#####.");
}

#[test]
fn holes_that_no_garbage_has_are_refused() {
    let refused = |rules, seeding: &Seeding| {
        EnvBatch::new(EnvConfig { rules, ..EnvConfig::default() }, seeding).unwrap_err()
    };
    let (rules, seeding) = written("OO", &[5, 6]);
    assert_eq!(refused(rules, &seeding), SeedingError::Hole { sequence: 0, column: 6 }.into());
    let (rules, seeding) = written("OO", &[5]);
    let alone = Rules { garbage: None, ..rules };
    assert_eq!(refused(alone, &seeding), SeedingError::Hole { sequence: 0, column: 5 }.into());
    // Nor are they taken from a snapshot under other rules.
    let sequences =
        SharedSequences::new(vec![Arc::new(PieceSequence { pieces: sequence("OO"), holes: vec![6] })]);
    let mut shared = SharedSequences::default();
    let state = batch(rules, &seeding).state(0).to_bytes_sharing(&mut shared);
    assert!(EnvState::from_bytes_sharing(&state, &shared).is_ok());
    let error = EnvState::from_bytes_sharing(&state, &sequences).unwrap_err();
    assert_eq!(error, SnapshotError::Corrupt("holes are written that no garbage has"));
}

#[test]
fn rows_rise_as_they_were_announced() {
    // A line a piece, which may rise when the piece after the next one lands.
    let rules = with(1.0, 0.0, 1, Rules::simplified(6, 6));
    let mut batch = over(rules, "", "OOOOOO");
    let seen = |batch: &EnvBatch| (see(batch, Field::Garbage, None), numbers(batch, Field::GarbageRows)[0]);
    assert_eq!(seen(&batch), (vec![0, 0], 0));
    // Orientation 0 of O, in column 0, then 2, then 0 again.
    batch.step(&[0], None).unwrap();
    assert_eq!((seen(&batch), drawn(&batch, 3)), ((vec![0, 1], 0), "....../##..../##....".to_owned()));
    batch.step(&[2], None).unwrap();
    assert_eq!((seen(&batch), drawn(&batch, 3)), ((vec![1, 1], 0), "....../####../####..".to_owned()));
    // The first line rises after the third piece, with all above it.
    batch.step(&[0], None).unwrap();
    assert_eq!(seen(&batch), (vec![1, 1], 1));
    assert_eq!(drawn(&batch, 6), format!("....../##..../##..../####../####../{ROW}"));
    // A clear holds the next one back: two may rise after the piece that follows.
    let outcome = batch.step(&[4], None).unwrap();
    assert_eq!((outcome.rewards[0], outcome.terminated[0]), (2.0, false));
    assert_eq!(seen(&batch), (vec![2, 1], 1));
    assert_eq!(drawn(&batch, 6), format!("....../....../....../##..../##..../{ROW}"));
    // Both rise at once.
    let outcome = batch.step(&[2], None).unwrap();
    assert_eq!((seen(&batch), outcome.terminated[0]), ((vec![1, 1], 3), false));
    assert_eq!(drawn(&batch, 6), format!("....../####../####../{ROW}/{ROW}/{ROW}"));
    assert_eq!(see(&batch, Field::Heights, None)[0], 5);
    assert_eq!(batch.phase(0), EpisodePhase::Running);
    let outcome = batch.step(&[4], None).unwrap();
    assert_eq!((outcome.rewards[0], outcome.terminated[0]), (2.0, false));
    assert_eq!(seen(&batch), (vec![2, 1], 3));
}

#[test]
fn a_cell_that_is_pushed_out_ends_the_game() {
    let scoring = Scoring { piece: 0.25, lines: [1.0; 4], game_end: -8.0 };
    let rules = with(1.0, 0.0, 0, Rules { scoring, ..Rules::simplified(6, 4) });
    let mut batch = over(rules, "#...../#...../#.....", "OOOO");
    let ending = |outcome: &tetrion_core::env::StepOutcome| (outcome.rewards[0], outcome.terminated[0]);
    assert_eq!(ending(&batch.step(&[2], None).unwrap()), (0.25, false));
    // The tower of three comes to the top row with the row that rises now.
    assert_eq!(ending(&batch.step(&[4], None).unwrap()), (0.25, false));
    assert_eq!(drawn(&batch, 4), format!("#...../#.####/#.####/{ROW}"));
    // This O lies in rows 3 and 4, and so ends the game by itself: nothing rises any more.
    let state = batch.state(0);
    assert_eq!(ending(&batch.step(&[2], None).unwrap()), (0.25 - 8.0, true));
    assert_eq!(numbers(&batch, Field::GarbageRows), [1]);
    assert_eq!(batch.phase(0), EpisodePhase::Ended(EpisodeEnd::ToppedOut));
    // A tower of four is pushed out.
    let rules = *state.rules();
    let mut batch = over(rules, "#...../#...../#...../#.....", "OOOO");
    assert_eq!(ending(&batch.step(&[2], None).unwrap()), (0.25, false));
    let outcome = batch.step(&[4], None).unwrap();
    assert_eq!(ending(&outcome), (0.25 - 8.0, true), "the points of the end are in that step");
    assert_eq!(drawn(&batch, 4), format!("#...../#.####/#.####/{ROW}"));
    assert_eq!(
        (batch.phase(0), numbers(&batch, Field::Pieces)),
        (EpisodePhase::Ended(EpisodeEnd::ToppedOut), vec![2])
    );
    assert_eq!(EnvState::from_bytes(&batch.state(0).to_bytes()), Ok(batch.state(0)));
}

/// Rules that look at rows do so again when rows have risen.
#[test]
fn a_row_that_comes_where_the_rules_look_ends_the_game() {
    let plain = Rules { randomizer: Randomizer::Uniform, ..Rules::simplified(6, 8) };
    for (top_out, cells) in [(TopOut::TopRow, 7), (TopOut::AboveField, 5)] {
        let rules = with(1.0, 0.0, 0, Rules { top_out, ..plain });
        for (height, expected) in [(cells, true), (cells - 1, false)] {
            let mut batch = over(rules, &["#....."].repeat(height).join("/"), "OOOO");
            assert!(!batch.step(&[2], None).unwrap().terminated[0]);
            let outcome = batch.step(&[4], None).unwrap();
            assert_eq!(outcome.terminated[0], expected, "{top_out:?}, a tower of {height}");
        }
    }
}

const SEED_0: Holes<'_> = Holes { seed: 0, written: &[] };

/// What is sent takes away what waits, the oldest first; what it counts as does not change.
#[test]
fn sent_lines_cancel_those_that_wait() {
    let rules = with(1.0, 0.0, 0, Rules { attack_table: AttackTable::Jstris, ..Rules::simplified(6, 12) });
    let waiting = |lines: [u8; 8]| {
        let groups = (0..).zip(lines).map(|(delay, lines)| WaitingLines { lines, delay, hole: 0 });
        Incoming::waiting_for(groups.filter(|group| group.lines > 0)).unwrap()
    };
    let mut playfield = Playfield::empty(6, 12);
    for (lines, sent, expected) in [
        // Held back by a clear, and one more is dealt.
        ([3, 2, 0, 1, 0, 0, 0, 0], 0, [6, 0, 1, 0, 0, 0, 0, 0]),
        ([3, 2, 0, 1, 0, 0, 0, 0], 2, [4, 0, 1, 0, 0, 0, 0, 0]),
        ([3, 2, 0, 1, 0, 0, 0, 0], 4, [2, 0, 1, 0, 0, 0, 0, 0]),
        ([3, 2, 0, 1, 0, 0, 0, 0], 99, [1, 0, 0, 0, 0, 0, 0, 0]),
        // Twelve at a time are the most that wait.
        ([9, 0, 0, 3, 0, 0, 0, 0], 0, [9, 0, 3, 0, 0, 0, 0, 0]),
    ] {
        let mut incoming = waiting(lines);
        let landed = Landed { lines: 1, sunk: 0, terminal: false };
        let attacking = Attacking { landed, attack: Attack::new([sent]), surge: 0 };
        let (after, _) = incoming.follow(&rules, (SEED_0, 0), attacking, &mut playfield);
        let mut left = [0; 8];
        incoming.groups().for_each(|group| left[usize::from(group.delay)] += group.lines);
        assert_eq!((left, after), (expected, landed), "{lines:?}, {sent} sent");
        assert_eq!((incoming.risen, playfield), (0, Playfield::empty(6, 12)));
    }
    // In a game: four lines are cleared, which sends four, and the info counts all of them.
    let rules = Rules { clear_points: ClearPoints::Attack, ..rules };
    let mut batch = over(rules, ".#####/.#####/.#####/.#####/#.####", "IIII");
    batch.step(&[0], None).unwrap();
    assert_eq!((numbers(&batch, Field::Attack)[0], see(&batch, Field::Garbage, None)[0]), (4, 1));
    assert_eq!(drawn(&batch, 2), "....../#.####");
}

#[test]
fn no_piece_of_a_seed_depends_on_garbage() {
    for name in ["simplified", "survey", "guideline", "nes", "lab"] {
        let plain = Rules::preset(name).unwrap();
        for seed in [0, 42, u64::MAX] {
            let dealt = |rules: Rules| {
                let mut batch = batch(Rules { preview: 6, ..rules }, &Seeding::Seeds(vec![seed]));
                let mut dice = Dice::new(seed);
                let mut dealt = String::new();
                for _ in 0..40 {
                    dealt += &letters(&batch, 0)[..1];
                    if batch.has_ended(0) || dealt.len() == 14 {
                        break;
                    }
                    let actions = random_actions(&batch, &mut dice);
                    let before = numbers(&batch, Field::Pieces);
                    batch.step(&actions, None).unwrap();
                    if numbers(&batch, Field::Pieces) == before {
                        dealt.pop();
                    }
                }
                (dealt, letters(&batch, 0))
            };
            let hold = Rules { hold: false, ..plain };
            let (without, with) = (dealt(hold), dealt(with(2.0, 0.5, 0, hold)));
            let shorter = without.0.len().min(with.0.len());
            assert!(shorter > 2, "{name}, seed {seed}: {without:?}, {with:?}");
            assert_eq!(without.0[..shorter], with.0[..shorter], "{name}, seed {seed}");
        }
    }
}

/// Lines a piece and holes of whole episodes, as a caller sees them.
fn streams(garbage: Garbage, width: u8, seed: u64, pieces: u64) -> (Vec<u8>, Vec<u8>) {
    let rules = Rules { garbage: Some(garbage), ..Rules::simplified(width, 40) };
    let mut incoming = Incoming::default();
    let (mut lines, mut holes) = (vec![], vec![]);
    let landed = Landed { lines: 0, sunk: 0, terminal: false };
    let no_clear = Attacking { landed, attack: Attack::NOTHING, surge: 0 };
    let seed = Holes { seed, written: &[] };
    for piece in 0..pieces {
        let mut playfield = Playfield::empty(width, 40);
        incoming.follow(&rules, (seed, piece), no_clear, &mut playfield);
        lines.push(incoming.seen(&rules).last().unwrap());
        let risen = (0..incoming.just_risen).rev();
        holes.extend(risen.map(|row| (0..width).find(|&column| !playfield.is_full(row, column)).unwrap()));
    }
    (lines, holes)
}

/// The tables of rules.proto, which a program of a few lines in another language printed.
#[test]
fn streams_are_those_of_the_proto_file() {
    let proto = include_str!("../../../../../proto/tetrion/v1/rules.proto");
    let (_, table) = proto.split_once("holes, p = 0.05 ").unwrap();
    let rows: Vec<Vec<&str>> =
        table.lines().skip(1).take(3).map(|row| row[2..].split_whitespace().collect()).collect();
    let digits = |numbers: &[u8]| numbers.iter().take(20).map(u8::to_string).collect::<String>();
    for row in rows {
        let seed = row[0].parse().unwrap();
        let garbage = |lines_per_piece, hole_move_chance| Garbage {
            lines_per_piece,
            hole_move_chance,
            delay_pieces: 0,
            ..Garbage::DEFAULT
        };
        assert_eq!(digits(&streams(garbage(0.5, 0.05), 10, seed, 20).0), row[1]);
        let (lines, holes) = streams(garbage(2.25, 0.05), 10, seed, 20);
        assert_eq!([digits(&lines), digits(&holes)], [row[2], row[3]]);
        assert_eq!(digits(&streams(garbage(2.25, 0.5), 10, seed, 20).1), row[4]);
    }
}

/// Means over 60,000 pieces, with room for five standard deviations.
#[test]
fn streams_keep_their_chances() {
    for (n, (mean, moves, width)) in
        [(0.05, 0.0, 4), (0.5, 0.05, 10), (1.0, 0.3, 32), (1.75, 1.0, 10), (4.0, 0.05, 7)]
            .into_iter()
            .enumerate()
    {
        let (mut lines, mut changed, mut follow) = (0.0, 0.0, 0.0);
        let mut columns = vec![0.0; width];
        let mut first = vec![0.0; width];
        for seed in 0..60 {
            let garbage = Garbage {
                lines_per_piece: mean,
                hole_move_chance: moves,
                delay_pieces: 0,
                ..Garbage::DEFAULT
            };
            let (dealt, holes) = streams(garbage, width as u8, word(n as u64, Tag::Agent, seed), 1000);
            let (low, high) = (mean.floor(), mean.ceil());
            assert!(dealt.iter().all(|&lines| [low, high].contains(&f64::from(lines))));
            lines += dealt.iter().map(|&lines| f64::from(lines)).sum::<f64>();
            first[usize::from(holes[0])] += 1.0;
            for pair in holes.windows(2) {
                follow += 1.0;
                if pair[0] != pair[1] {
                    changed += 1.0;
                    // How far to the right it went, in a ring.
                    columns[(usize::from(pair[1]) + width - usize::from(pair[0])) % width] += 1.0;
                }
            }
        }
        let fraction = mean.fract();
        let spread = (60_000.0 * fraction * (1.0 - fraction)).sqrt();
        assert!((lines - 60_000.0 * mean).abs() <= 5.0 * spread, "{mean} lines a piece: {lines}");
        let spread = (follow * moves * (1.0 - moves)).sqrt();
        assert!((changed - follow * moves).abs() <= 5.0 * spread, "chance {moves}: {changed} of {follow}");
        assert_eq!(columns[0], 0.0);
        let each = changed / (width as f64 - 1.0);
        assert!(
            columns[1..].iter().all(|&count| (count - each).abs() <= 5.0 * each.sqrt() + 1.0),
            "{columns:?}"
        );
        let each = 60.0 / width as f64;
        assert!(first.iter().all(|&count| (count - each).abs() <= 5.0 * each.sqrt() + 1.0), "{first:?}");
    }
}

#[test]
fn every_part_has_its_bounds() {
    let check = |lines_per_piece, hole_move_chance, delay_pieces| {
        let rules = with(lines_per_piece, hole_move_chance, delay_pieces, Rules::default());
        match rules.check() {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    for (lines, moves, delay) in [(f64::MIN_POSITIVE, 0.0, 0), (4.0, 1.0, 7), (0.5, 0.05, 1)] {
        assert_eq!(check(lines, moves, delay), "");
    }
    let lines = |value: f64| format!("garbage.lines_per_piece is {value}, expected 0 to 4");
    for value in [-0.5, 4.000001, f64::INFINITY, f64::NAN] {
        assert_eq!(check(value, 0.05, 1), lines(value));
    }
    assert_eq!(
        check(0.0, 0.05, 1),
        "garbage.lines_per_piece is 0, expected more than 0 where there is garbage"
    );
    let chance = |value: f64| format!("garbage.hole_move_chance is {value}, expected 0 to 1");
    for value in [-0.001, 1.001, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(check(0.5, value, 1), chance(value));
    }
    assert_eq!(check(0.5, 0.05, 8), "garbage.delay_pieces is 8, expected 0 to 7");
}

/// Other futures of a state have other garbage; what waits stays.
#[test]
fn a_new_seed_deals_other_garbage() {
    let rules = with(0.5, 0.5, 7, Rules::simplified(10, 40));
    let mut batch = batch(rules, &Seeding::Seeds(vec![3]));
    let mut dice = Dice::new(1);
    for _ in 0..12 {
        let actions = random_actions(&batch, &mut dice);
        batch.step(&actions, None).unwrap();
    }
    let state = batch.state(0);
    assert!(batch.incoming(0).waiting() > 0, "something waits");
    let play = |reseed| {
        let mut batch = running(batch.config().clone(), &Seeding::Seed(0));
        batch.restore(None, Restored::States(std::slice::from_ref(&state)), reseed).unwrap();
        let start = see(&batch, Field::Garbage, None);
        let mut dice = Dice::new(2);
        let mut shown = vec![];
        for _ in 0..8 {
            let actions = random_actions(&batch, &mut dice);
            batch.step(&actions, None).unwrap();
            shown.push(see(&batch, Field::Garbage, None));
        }
        (start, shown)
    };
    let (again, other) = (play(None), play(Some(9)));
    assert_eq!((&again.0, again.0 == other.0), (&see(&batch, Field::Garbage, None), true));
    assert_eq!(play(None), again);
    assert_ne!(again.1, other.1);
}

#[test]
fn the_next_episode_begins_without_garbage() {
    let rules = with(4.0, 0.5, 0, Rules::simplified(6, 8));
    for autoreset_mode in [AutoresetMode::NextStep, AutoresetMode::SameStep] {
        let config = EnvConfig { rules, autoreset_mode, ..EnvConfig::default() };
        let mut batch = running(config, &Seeding::Seeds(vec![3]));
        let mut dice = Dice::new(1);
        let mut outcome = tetrion_core::env::StepOutcome::default();
        while !outcome.terminated.contains(&true) {
            let actions = random_actions(&batch, &mut dice);
            batch.step_into(&actions, None, &mut outcome).unwrap();
        }
        if autoreset_mode == AutoresetMode::SameStep {
            let mut last = vec![];
            batch.observe_finals(Field::GarbageRows, &outcome.finals, &mut last);
            assert!(last[0] > 0, "the end shows what rose: {last:?}");
        } else {
            assert!(numbers(&batch, Field::GarbageRows)[0] > 0);
            batch.step(&[0], None).unwrap();
        }
        let seen = (see(&batch, Field::Garbage, None), numbers(&batch, Field::GarbageRows));
        assert_eq!(seen, (vec![0], vec![0]), "{autoreset_mode:?}");
        batch.reset(None, None).unwrap();
    }
}

/// Snapshots with garbage are outside input like all others.
#[test]
fn no_byte_of_a_snapshot_makes_it_unsafe() {
    let modern = Rules { height: 14, rows_above: 4, ..Rules::preset("guideline").unwrap() };
    let keys = Rules::preset("lab").unwrap();
    let others = Rules { pieces: PieceSet::named("pentominoes").unwrap(), ..Rules::simplified(8, 20) };
    for (n, rules) in [modern, Rules::simplified(6, 12), keys, others].into_iter().enumerate() {
        let rules = with(1.5, 0.3, 1, rules);
        let config = EnvConfig { rules, ..EnvConfig::default() };
        let mut dice = Dice::new(n as u64);
        let mut batch = running(config, &Seeding::Seed(8));
        // Until rows have just risen, and some wait.
        for _ in 0..200 {
            let actions = random_actions(&batch, &mut dice);
            batch.step(&actions, None).unwrap();
            let incoming = batch.incoming(0);
            if !batch.has_ended(0) && incoming.just_risen > 0 && incoming.risen > 3 {
                break;
            }
        }
        assert!(batch.incoming(0).just_risen > 0, "{rules:?}");
        tetrion_testing::no_changed_byte_is_unsafe(&batch);
    }
}

/// A changed part of a snapshot is named. Where things stand on a 6 x 12 playfield after a landing.
#[test]
fn what_a_snapshot_must_not_hold_is_named() {
    use tetrion_core::engine::RULES_VERSION;
    use tetrion_core::env::SnapshotError::{self, Corrupt};
    let mut batch = batch(with(1.5, 0.3, 1, Rules::simplified(6, 12)), &Seeding::Seeds(vec![3]));
    for action in [0, 2, 0] {
        batch.step(&[action], None).unwrap();
    }
    const RISEN: u8 = 2;
    assert_eq!((batch.incoming(0).just_risen, batch.incoming(0).risen), (RISEN, RISEN.into()));
    // The rules are a count, the size (a byte each), and the parts of garbage, each value with the index of its field before
    // it: a number, a number, a byte, and four more numbers and eleven bytes.
    const RULES: usize = 7 + RULES_VERSION.len() + 1 + 2 + 2;
    const LANDED: usize = RULES + 9 + 9 + 2 + 4 * 9 + 11 * 2 + 2 + 6 * 8 + 1 + 2;
    const WAITING: usize = LANDED + 1 + RISEN as usize + 1;
    let snapshot = batch.state(0).to_bytes();
    let check = |at: usize, bytes: &[u8], expected: SnapshotError| {
        let mut content = snapshot[..snapshot.len() - 8].to_vec();
        content[at..at + bytes.len()].copy_from_slice(bytes);
        let changed = tetrion_testing::with_checksum(content);
        assert_eq!(EnvState::from_bytes(&changed).unwrap_err(), expected, "{bytes:?} at {at}");
    };
    check(4, &[7, 0], SnapshotError::UnknownFormat(7));
    check(RULES, &[99], Corrupt("its rules have an unknown field"));
    check(RULES + 1, &f64::NAN.to_le_bytes(), Corrupt("its rules are not playable"));
    check(RULES + 10, &1.5f64.to_le_bytes(), Corrupt("its rules are not playable"));
    check(RULES + 19, &[8], Corrupt("its rules are not playable"));
    check(LANDED, &[13], Corrupt("more garbage rose than the playfield has rows"));
    check(LANDED + 1, &[6], Corrupt("the hole of a garbage row is outside the playfield"));
    let hole = snapshot[LANDED + 2];
    check(LANDED + 2, &[(hole + 1) % 6], Corrupt("the garbage rows do not fit the garbage of the episode"));
    check(WAITING, &[65], Corrupt("waiting lines do not fit the rules"));
    check(WAITING + 1, &[13], Corrupt("more garbage is waiting than the rules allow"));
    check(WAITING + 1, &[0], Corrupt("waiting lines do not fit the rules"));
    check(WAITING + 2, &[2], Corrupt("waiting lines do not fit the rules"));
    check(WAITING + 3, &[1], Corrupt("waiting lines do not fit the rules"));
    let after = WAITING + 1 + 3 * usize::from(snapshot[WAITING]);
    check(after, &[1], Corrupt("the garbage rows do not fit the garbage of the episode"));
    check(after, &u64::MAX.to_le_bytes(), Corrupt("a counter is larger than any game can reach"));
    check(after + 8, &[6], Corrupt("the hole of the last garbage row is outside the playfield"));
    check(after + 10, &[1], Corrupt("its side does not fit the number of players"));
    check(after + 20, &[16], Corrupt("a row of garbage lies above the playfield"));
    check(
        after + 35,
        &f64::NAN.to_le_bytes(),
        Corrupt("the factor of the lines sent does not fit the rules"),
    );
}
