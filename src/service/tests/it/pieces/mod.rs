//! Sets of other pieces than the tetrominoes: whole games against a slow twin.

/// Sets over a real connection.
mod over_the_wire;
/// Names, drawings and letters of sets.
mod sets;
/// The ground into which a stack sinks.
mod sinking;

use tetrion_core::agents::{Agent, Kernel, LinearAgent, Search, TerminalValue};
use tetrion_core::engine::{
    NamedChoice, Odds, Perft, Piece, PieceSet, Placement, Playfield, Randomizer, Reach, Rules, Scoring,
    TopOut, perft,
};
use tetrion_core::env::{AutoresetMode, EnvBatch, EnvConfig, EnvState, Field, Restored, Seeding};
use tetrion_core::features::FeatureSet;
use tetrion_core::placements::{Options, Position, enumerate};
use tetrion_toolkit::picture::{Canvas, Layout, draw, moment, text};
use tetrion_toolkit::recording::{Pieces, Recorder, Replay, Setup};

use tetrion_testing::no_changed_byte_is_unsafe;
use tetrion_twins::{TwinCells, TwinPlayfield, piece_numbers, turned_pictures, width_of, word};

/// Numbers for a test, the same on every run.
struct Dice {
    seed: u64,
    thrown: u64,
}

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.thrown += 1;
        (word(self.seed, 1000, self.thrown) % bound as u64) as usize
    }

    /// One to five cells that touch, somewhere in a drawing with empty rows and columns around them.
    fn drawing(&mut self) -> String {
        let mut cells = vec![(4i32, 4i32)];
        let size = 1 + self.below(5);
        while cells.len() < size {
            let (row, column) = cells[self.below(cells.len())];
            let next = (row + self.below(3) as i32 - 1, column + self.below(3) as i32 - 1);
            if !cells.contains(&next) {
                cells.push(next);
            }
        }
        let row = |row| (0..9).map(|column| if cells.contains(&(row, column)) { 'X' } else { '.' }).collect();
        (0..9).rev().map(row).collect::<Vec<String>>().join("/")
    }

    fn set(&mut self) -> PieceSet {
        let drawings: Vec<String> = (0..1 + self.below(9)).map(|_| self.drawing()).collect();
        PieceSet::parse(&drawings.join(" ")).unwrap_or_else(|error| panic!("{drawings:?}: {error}"))
    }
}

fn others(pieces: PieceSet, width: u8, height: u8) -> Rules {
    Rules { pieces, ..Rules::simplified(width, height) }
}

/// The drawings of a set's pieces, from its text.
fn drawings(set: &PieceSet) -> Vec<String> {
    let text = set.drawings();
    text.split(' ').map(|piece| piece.split_once('=').unwrap().1.to_owned()).collect()
}

/// The shapes of a piece as drawings, in order.
fn shapes(set: PieceSet, letter: char) -> Vec<String> {
    let rules = others(set, 10, 20);
    let piece = set.from_letter(letter).unwrap();
    rules.shapes(piece).iter().map(|shape| shape.to_string()).collect()
}

fn see(batch: &EnvBatch, field: Field) -> Vec<u8> {
    let mut bytes = Vec::new();
    batch.observe(field, None, &mut bytes);
    bytes
}

/// Games of random sets under random rules, step by step: boards, masks, rewards, ends and pieces are those of the twin; and a
/// snapshot at any step goes on as the game does.
#[test]
fn random_games_are_those_of_the_twin() {
    let tops = [TopOut::Overflow, TopOut::SpawnBlocked, TopOut::TopRow, TopOut::AboveField, TopOut::Sink];
    let (mut steps, mut lines, mut sunk, mut hidden, mut restored) = (0, 0, 0, 0, 0);
    for seed in 0..200 {
        let mut dice = Dice { seed, thrown: 0 };
        let set = match seed % 8 {
            0 => PieceSet::named("pentominoes").unwrap(),
            1 => PieceSet::MELAX,
            2 => PieceSet::named("trominoes").unwrap(),
            3 => PieceSet::parse("I=XXXXX d=X./.X o=X").unwrap(),
            _ => dice.set(),
        };
        let (width, height) = match seed % 8 {
            3 => (5, 8),
            _ => (5 + dice.below(if seed % 5 == 0 { 28 } else { 5 }) as u8, 4 + dice.below(20) as u8),
        };
        let (bags, walks) = (dice.below(2) == 1, dice.below(2) == 1);
        let rules = Rules {
            randomizer: if bags { Randomizer::Bag7 } else { Randomizer::Uniform },
            reach: if walks { Reach::SidewaysWalk } else { Reach::StraightDrop },
            top_out: tops[dice.below(if height > 5 { 5 } else { 4 })],
            scoring: Scoring { game_end: -0.25, ..Scoring::LINES },
            preview: dice.below(4) as u8,
            ..others(set, width, height)
        };
        let pictures: Vec<Vec<TwinCells>> = drawings(&set).iter().map(|d| turned_pictures(d)).collect();
        let config = EnvConfig { rules, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() };
        let mut batch = EnvBatch::new(config.clone(), &Seeding::Seeds(vec![seed])).unwrap();
        batch.reset(None, Some(&Seeding::Seeds(vec![seed]))).unwrap();
        let dealt = piece_numbers(seed, set.len() as u64, bags, 400);
        let mut twin = TwinPlayfield { rows: vec![vec![false; width.into()]; height.into()] };
        let columns_of = |twin: &TwinPlayfield, cells: &TwinCells| match walks {
            true => twin.walk(cells),
            false => (0..=i32::from(width) - width_of(cells)).collect(),
        };
        for n in 0..300 {
            let said = format!("seed {seed}, step {n}, {set}, {rules:?}");
            let visible: Vec<usize> = batch.pieces(0).iter().map(|piece| piece.index()).collect();
            assert_eq!(visible, dealt[n..][..=usize::from(rules.preview)], "{said}");
            assert_eq!(see(&batch, Field::Current), [dealt[n] as u8], "{said}");
            let piece = &pictures[dealt[n]];
            let mut mask = vec![0; 4 * usize::from(width)];
            for (orientation, cells) in piece.iter().enumerate() {
                let columns = columns_of(&twin, cells);
                hidden += i32::from(width) + 1 - width_of(cells) - columns.len() as i32;
                columns
                    .iter()
                    .for_each(|&column| mask[orientation * usize::from(width) + column as usize] = 1);
            }
            assert_eq!(see(&batch, Field::ActionMask), mask, "{said}");
            // An action with holes beneath now and then, else the lowest of a few, so that lines clear.
            let all: Vec<usize> = (0..mask.len()).filter(|&action| mask[action] == 1).collect();
            let lowest = |action: &usize| {
                let mut after = TwinPlayfield { rows: twin.rows.clone() };
                let cells = &piece[action / usize::from(width)];
                let landed = after.fall(cells, (action % usize::from(width)) as i32, "top_row");
                let full: usize = after
                    .rows
                    .iter()
                    .enumerate()
                    .map(|(r, row)| r * row.iter().filter(|f| **f).count())
                    .sum();
                (full as i64) - 1_000 * i64::from(landed.lines)
            };
            let action = if dice.below(5) == 0 {
                all[dice.below(all.len())]
            } else {
                *all.iter().min_by_key(|a| lowest(a)).unwrap()
            };
            if dice.below(7) == 0 {
                let bytes = batch.state(0).to_bytes();
                let state = EnvState::from_bytes(&bytes).unwrap();
                assert_eq!(state.to_bytes(), bytes, "{said}");
                batch = EnvBatch::new(config.clone(), &Seeding::Seed(99)).unwrap();
                batch.restore(None, Restored::States(&[state]), None).unwrap();
                restored += 1;
            }
            let outcome = batch.step(&[action as i32], None).unwrap();
            let landed = twin.fall(
                &piece[action / usize::from(width)],
                (action % usize::from(width)) as i32,
                rules.top_out.name(),
            );
            let next = &pictures[dealt[n + 1]];
            let blocked = match (rules.top_out, walks) {
                (TopOut::SpawnBlocked, _) => twin.blocks(next),
                (_, true) => next.iter().all(|cells| twin.walk(cells).is_empty()),
                (_, false) => false,
            };
            assert_eq!(batch.playfield(0).to_string(), twin.drawn_rows(), "{said}");
            assert_eq!(outcome.terminated[0], landed.over || blocked, "{said}");
            let losses = landed.sunk + u32::from(landed.over || blocked);
            let reward = landed.lines as f32 - 0.25 * losses as f32;
            assert_eq!(outcome.rewards[0], reward, "{said}: a point a line, five lines too");
            (steps, lines, sunk) = (steps + 1, lines + landed.lines, sunk + landed.sunk);
            if outcome.terminated[0] {
                break;
            }
        }
    }
    assert!(steps > 5_000 && lines > 1_000 && sunk > 1_000, "{steps} steps, {lines} lines, {sunk} rows sank");
    assert!(hidden > 100 && restored > 300, "{hidden} hidden, {restored} restored");
}

#[test]
fn five_lines_at_once_are_five_lines_and_points_for_five() {
    let mut rules = others(PieceSet::parse("I=X/X/X/X/X").unwrap(), 4, 8);
    rules.scoring.lines = [1.0, 3.0, 5.0, 8.0];
    let playfield = Playfield::from_drawing(4, 8, "###./###./###./###./###.").unwrap();
    let hand = Some(tetrion_core::engine::Hand::only(Piece::new(0)));
    let position = Position::of(playfield, hand);
    let all = enumerate(
        &rules,
        &[position],
        None,
        Options { cells: true, afterstates: true, ..Options::default() },
    );
    assert_eq!(all.actions, [0, 1, 2, 3], "lying, it is wider than the playfield");
    assert_eq!((all.lines[3], all.rewards[3]), (5, 8.0 + 3.0), "the fifth counts what the fourth adds");
    assert_eq!(all.cells[30..], [0, 3, 1, 3, 2, 3, 3, 3, 4, 3]);
    assert!(all.afterstates[3 * 16..].iter().all(|byte| *byte == 0));
    // Tetrominoes: five rows count as four, as ever.
    assert_eq!(Rules { pieces: PieceSet::TETROMINOES, ..rules }.reward(5, 0), 8.0);
}

/// Leaves of short sequences, counted by the twin with a walk through all placements.
#[test]
fn perft_counts_what_the_twin_counts() {
    fn count(twin: &TwinPlayfield, pictures: &[Vec<TwinCells>], lines: u64, total: &mut (u64, u64)) {
        let Some((piece, rest)) = pictures.split_first() else {
            *total = (total.0 + 1, total.1 + lines);
            return;
        };
        for cells in piece {
            for column in 0..=twin.rows[0].len() as i32 - width_of(cells) {
                let mut after = TwinPlayfield { rows: twin.rows.clone() };
                let landed = after.fall(cells, column, "overflow");
                if !landed.over {
                    count(&after, rest, lines + u64::from(landed.lines), total);
                }
            }
        }
    }
    for (set, width, height, sequence) in [
        ("melax", 6, 4, "LOXDM"),
        ("trominoes", 4, 4, "LILIL"),
        ("pentominoes", 5, 6, "IUPWf"),
        ("sz", 5, 6, "SZSZS"),
        ("pentominoes", 20, 7, "Xy"),
    ] {
        let set = PieceSet::named(set).unwrap();
        let rules = others(set, width, height);
        let pieces = set.parse_sequence(sequence).unwrap();
        let drawn = drawings(&set);
        let pictures: Vec<_> = pieces.iter().map(|piece| turned_pictures(&drawn[piece.index()])).collect();
        let mut total = (0, 0);
        let empty = TwinPlayfield { rows: vec![vec![false; width.into()]; height.into()] };
        count(&empty, &pictures, 0, &mut total);
        let Perft { leaves, lines, .. } =
            perft(&rules, &pieces, None, &mut |_| std::ops::ControlFlow::Continue(()));
        assert_eq!((leaves, lines), total, "{set} {sequence} on {width} x {height}");
        assert!(lines > 0 || width > 10);
    }
}

#[test]
fn no_changed_byte_of_a_snapshot_is_unsafe() {
    for (set, randomizer, hold) in [
        (PieceSet::MELAX, Randomizer::Bag7, true),
        (PieceSet::parse("a=X/X/X b=XX/X. c=X./.X").unwrap(), Randomizer::Uniform, false),
    ] {
        let rules = Rules { randomizer, hold, preview: 1, ..others(set, 5, 6) };
        let config = EnvConfig { rules, autoreset_mode: AutoresetMode::SameStep, ..EnvConfig::default() };
        let mut batch = EnvBatch::new(config, &Seeding::Seed(3)).unwrap();
        batch.reset(None, None).unwrap();
        no_changed_byte_is_unsafe(&batch);
    }
}

#[test]
fn odds_are_those_of_the_set() {
    let set = PieceSet::MELAX;
    let dealer = |randomizer| Rules { pieces: set, randomizer, ..Rules::default() }.dealer(5);
    let uniform = dealer(Randomizer::Uniform);
    assert_eq!(uniform.odds(), Odds::EVEN);
    assert_eq!(uniform.odds().cautious_mean(&[1.0, 2.0, 3.0, 4.0, 10.0], 0.0), 4.0, "of five, not of seven");
    let mut bag = dealer(Randomizer::Bag7);
    let dealt: Vec<Piece> = (0..3).map(|_| bag.deal().unwrap()).collect();
    let left: Vec<u32> = set.iter().map(|piece| bag.odds().of(piece)).collect();
    let expected: Vec<u32> = set.iter().map(|piece| u32::from(!dealt.contains(&piece))).collect();
    assert_eq!(left, expected);
}

/// Recorded games come back as they were, their files too, and are drawn with the letters of their set.
#[test]
fn games_are_recorded_replayed_and_drawn() {
    let set = PieceSet::parse("a=X B=X./.X c=X.X/XXX I=XXXXX").unwrap();
    let rules = Rules { preview: 1, hold: true, ..others(set, 5, 6) };
    let pieces: Vec<Piece> = set.parse_sequence("cIBacBIa").unwrap();
    let mut recorder = Recorder::new(Setup::new(rules, Pieces::Sequence(pieces.into()))).unwrap();
    // The U on the floor, the five in a row upright beside it; then the diagonal over the gap.
    for action in [0, 5 + 3, 3] {
        recorder.play(action).unwrap_or_else(|error| panic!("{action}: {error}"));
    }
    let refused = recorder.play(5).unwrap_err().to_string();
    assert_eq!(refused, "action 5 is no placement of a here", "it cannot be turned");
    let recording = recorder.recording("Ada", "");
    let json = tetrion_protocol::recording::to_json(&recording);
    assert!(json.contains("cIBacBIa") && json.contains("a=X B=X./.X c=X.X/XXX I=XXXXX"), "{json}");
    let read = tetrion_protocol::recording::read(json.as_bytes()).unwrap();
    assert_eq!(read, recording);
    let mut replay = Replay::new(read).unwrap();
    assert_eq!(replay.difference(), None);
    let drawn = text::text(&moment(&mut replay, 2), &rules, None);
    assert!(drawn.contains("ccc") && drawn.contains("next    a"), "{drawn}");
    let layout = Layout::new(&rules, 16, true);
    for step in 0..=replay.num_steps() {
        let marks = draw(&layout, &moment(&mut replay, step));
        let canvas = Canvas::painted(&layout, &marks);
        assert_eq!(canvas.pixels().len() as u32, canvas.width() * canvas.height());
    }
    // Eighteen pieces and seven colours: every one of them is lying in its place beside the playfield.
    let pentominoes = PieceSet::named("pentominoes").unwrap();
    assert_eq!(Layout::new(&others(pentominoes, 10, 20), 16, false).lying_rows, 3);
}

/// The controller's own games, one placement at a time from the list of all of them, are those that it plays by itself.
#[test]
fn a_controller_chooses_the_best_of_all_placements() {
    for name in ["melax", "pentominoes", "trominoes"] {
        let rules = Rules { preview: 1, ..others(PieceSet::named(name).unwrap(), 7, 12) };
        let set = FeatureSet::named("bcts8", 7).unwrap();
        let weights = vec![-12.6, 6.6, -9.2, -19.8, -13.1, -10.5, -1.6, -24.0];
        let agent = LinearAgent::new(set.clone(), weights.clone(), TerminalValue::Avoid).unwrap();
        let mut dealer = rules.dealer(11);
        let mut playfield = Playfield::empty(7, 12);
        for n in 0..60 {
            let piece = dealer.deal().unwrap();
            let hand = Some(tetrion_core::engine::Hand::only(piece));
            let position = Position::of(playfield, hand);
            let all = enumerate(&rules, &[position], Some(&set), Options::default());
            let score = |row: usize| -> f64 {
                let features = &all.features[row * 8..][..8];
                features
                    .iter()
                    .zip(&weights)
                    .fold(0.0, |sum, (feature, weight)| sum + weight * f64::from(*feature))
            };
            let safe = (0..all.actions.len()).filter(|row| !all.terminated[*row]);
            let best = safe.fold(None, |best: Option<usize>, row| match best {
                Some(other) if score(other) >= score(row) => best,
                _ => Some(row),
            });
            let Some(best) = best else { break };
            let chosen = agent.choose(Kernel::best(), &rules, &playfield, piece).placement;
            assert_eq!(chosen.action(&rules) as i32, all.actions[best], "{name}, piece {n}");
            tetrion_core::engine::place(
                &rules,
                &mut playfield,
                piece,
                Placement::from_action(all.actions[best] as u32, &rules),
            );
        }
        assert!(Agent::searching(agent, Search::Greedy).plays(&rules));
    }
}
