//! Tables of exact values: against Bellman's equation on the twin's playfields, as files, as the info `regret`, and as the
//! agent `optimal`, whose games have the mean that was computed.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use tetrion_core::agents::{Agent, AgentRng, Kernel};
use tetrion_core::engine::{Hand, Placement, Playfield, Randomizer, Rules, Tetromino, land, placements};
use tetrion_core::env::{EnvBatch, EnvConfig, Field, Seeding};
use tetrion_core::placements::{Options, Position, enumerate, enumerate_only};
use tetrion_core::rollout::{Deal, Evaluation};
use tetrion_core::values::{Values, pack};
use tetrion_toolkit::optimum;

use tetrion_twins::{self as twin, TETROMINOES, TwinPlayfield};

const SIZES: [(u8, u8); 3] = [(4, 4), (4, 5), (5, 4)];

fn table(width: u8, height: u8) -> &'static Values {
    optimum::values(&Rules::simplified(width, height)).unwrap()
}

fn file_of(values: &Values) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.write(&mut bytes).unwrap();
    bytes
}

/// The table's value of a twin's playfield.
pub fn value_of(values: &Values, playfield: &TwinPlayfield) -> f64 {
    let (width, height) = values.size();
    let playfield = Playfield::from_drawing(width, height, &playfield.to_string()).unwrap();
    values.of(&playfield).unwrap_or_else(|| panic!("no value of\n{playfield}"))
}

/// The values of all placements of a piece on a twin's playfield, in ascending action order.
pub fn values_of_placements(values: &Values, before: &TwinPlayfield, piece: char) -> Vec<f64> {
    let value = |placement| {
        let landing = twin::land(before, &placement);
        if landing.terminal { 0.0 } else { landing.lines as f64 + value_of(values, &landing.afterstate) }
    };
    twin::placements(before, piece).into_iter().map(value).collect()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn values_solve_bellmans_equation() {
    for (width, height) in SIZES {
        let values = table(width, height);
        let mut rng = AgentRng::new(7);
        let mut playfield = TwinPlayfield::empty(width.into(), height.into());
        for _ in 0..3_000 {
            let best =
                TETROMINOES.chars().map(|piece| largest(&values_of_placements(values, &playfield, piece)));
            let (expected, value) = (best.sum::<f64>() / 7.0, value_of(values, &playfield));
            assert!((value - expected).abs() < 1e-9, "{value}, expected {expected} of\n{playfield}");
            let piece = TETROMINOES.chars().nth(rng.below(7) as usize).unwrap();
            let all = twin::placements(&playfield, piece);
            let landing = twin::land(&playfield, &all[rng.below(all.len() as u32) as usize]);
            playfield = match landing.terminal {
                true => TwinPlayfield::empty(width.into(), height.into()),
                false => landing.afterstate,
            };
        }
    }
}

#[test]
fn the_regret_of_a_session_is_what_the_placement_costs() {
    let rules = Rules { preview: 2, ..Rules::simplified(4, 5) };
    let values = table(4, 5);
    let config = EnvConfig { rules, values: Some(values), ..EnvConfig::default() };
    let regret = |batch: &EnvBatch| {
        let mut bytes = Vec::new();
        batch.observe(Field::Regret, None, &mut bytes);
        f64::from_le_bytes(bytes.try_into().unwrap())
    };
    let mut rng = AgentRng::new(3);
    for seed in 0..50 {
        let mut batch = EnvBatch::new(config.clone(), &Seeding::Seeds(vec![seed])).unwrap();
        batch.reset(None, None).unwrap();
        assert_eq!(regret(&batch), 0.0);
        while !batch.has_ended(0) {
            let before = TwinPlayfield::drawn(&batch.playfield(0).to_string(), 5);
            let piece = rules.pieces.letter(batch.pieces(0)[0]);
            let all = twin::placements(&before, piece);
            let chosen = rng.below(all.len() as u32) as usize;
            let expected = values_of_placements(values, &before, piece);
            batch.step(&[all[chosen].action(4) as i32], None).unwrap();
            let (regret, expected) = (regret(&batch), largest(&expected) - expected[chosen]);
            assert!(
                (regret - expected).abs() < 1e-9,
                "{regret}, expected {expected}, seed {seed}\n{before}\n{piece}"
            );
            assert!(regret == 0.0 || regret > 1e-9, "{regret} is rounding, seed {seed}\n{before}\n{piece}");
        }
    }
}

#[test]
fn rounding_does_not_decide_between_mirrored_placements() {
    // In a table of mirrored playfields, the values of all placements of an O differ by rounding only.
    let rules = Rules::simplified(4, 4);
    let empty = Playfield::empty(4, 4);
    let all: Vec<Placement> = placements(&rules, &empty, Tetromino::O).iter().collect();
    for error in [1e-12, -1e-12] {
        let value = |(number, placement): (usize, &Placement)| {
            let landing = land(&rules, &empty, Tetromino::O, *placement).1;
            (pack(&landing.afterstate), 2.0 + number as f64 * error)
        };
        let entries: BTreeMap<u32, f64> = all.iter().enumerate().map(value).collect();
        let values = Values::new(4, 4, entries.keys().copied().collect(), entries.into_values().collect());
        assert_eq!(values.best(&rules, &empty, Tetromino::O), all[0]);
        for placement in &all {
            let stakes = values.stakes(&rules, &empty, Tetromino::O, *placement).unwrap();
            assert_eq!((stakes.regret(), stakes.quality()), (0.0, 1.0));
        }
    }
}

#[test]
fn placements_are_listed_with_their_values() {
    let rules = Rules { preview: 2, ..Rules::simplified(4, 5) };
    let values = table(4, 5);
    let options = Options { optimal_values: Some(values), ..Options::default() };
    let config = EnvConfig { rules, ..EnvConfig::default() };
    for seed in 0..50 {
        let mut batch = EnvBatch::new(config.clone(), &Seeding::Seeds(vec![seed])).unwrap();
        batch.reset(None, None).unwrap();
        let mut rng = AgentRng::new(seed);
        while !batch.has_ended(0) {
            let playfield = batch.playfield(0);
            let before = TwinPlayfield::drawn(&playfield.to_string(), 5);
            let piece = batch.pieces(0)[0];
            let expected = values_of_placements(values, &before, rules.pieces.letter(piece));
            let hand = Some(Hand::new(&rules, piece, None, None));
            let position = Position::of(playfield, hand);
            // An ended game has no rows, so the rows of the next game follow at once.
            let ended = Position { hand: None, ..position };
            let listed = enumerate(&rules, &[ended, position, ended, position], None, options);
            assert_eq!(listed.optimal_values, [&expected[..], &expected].concat(), "seed {seed}\n{before}");
            let chosen = rng.below(expected.len() as u32) as usize;
            let only = Placement::from_action(listed.placements[chosen] as u32, &rules);
            let one = enumerate_only(Kernel::best(), &rules, &[position], &[only], None, options);
            assert_eq!(one.optimal_values, [expected[chosen]]);
            batch.step(&[listed.actions[chosen]], None).unwrap();
        }
    }
}

#[test]
fn without_a_table_the_regret_is_unknown() {
    let config = EnvConfig { rules: Rules::simplified(4, 5), ..EnvConfig::default() };
    let mut batch = EnvBatch::new(config, &Seeding::Seed(1)).unwrap();
    batch.reset(None, None).unwrap();
    batch.step(&[0], None).unwrap();
    let mut bytes = Vec::new();
    batch.observe(Field::Regret, None, &mut bytes);
    assert!(f64::from_le_bytes(bytes.try_into().unwrap()).is_nan());
}

#[test]
fn games_of_the_optimal_agent_have_the_mean_that_was_computed() {
    for (width, height) in SIZES {
        let rules = Rules::simplified(width, height);
        let values = table(width, height);
        let evaluation = Evaluation {
            rules,
            policies: vec![Agent::Optimal],
            deal: Deal::Common((0..4_000).collect()),
            episodes_per_seed: 1,
            pairs: None,
            max_pieces: 1 << 20,
            max_steps: u64::MAX,
            loss_trials: 0,
            opponent: None,
            kernel: Kernel::best(),
        };
        let never = AtomicBool::new(false);
        let lines: Vec<f64> =
            (0..4_000).map(|game| evaluation.play(game, &never).unwrap().lines as f64).collect();
        let mean = lines.iter().sum::<f64>() / 4_000.0;
        let variance = lines.iter().map(|lines| (lines - mean).powi(2)).sum::<f64>() / 3_999.0;
        let error = (variance / 4_000.0).sqrt();
        let exact = value_of(values, &TwinPlayfield::empty(width.into(), height.into()));
        assert!((mean - exact).abs() < 3.0 * error, "{mean} +- {error}, computed {exact}");
    }
}

#[test]
fn a_table_survives_its_file_and_nothing_else_does() {
    let values = table(4, 4);
    let bytes = file_of(values);
    assert_eq!(Values::read(&bytes[..]).as_ref().unwrap(), values);
    assert_eq!(bytes.len(), 8 + 2 + 4 + values.entries().0.len() * 12 + 8);
    let problem = |bytes: &[u8]| Values::read(bytes).unwrap_err().to_string();
    let name = "the file is no table of values, or is damaged";
    for length in [0, 7, 8, 13, 21, bytes.len() - 1] {
        assert_eq!(problem(&bytes[..length]), format!("{name}: it is too short"), "{length}");
    }
    assert_eq!(problem(&[&bytes[..], &[0]].concat()), format!("{name}: it goes on after its checksum"));
    let mut rng = AgentRng::new(1);
    for _ in 0..200 {
        let mut damaged = bytes.clone();
        damaged[rng.below(bytes.len() as u32) as usize] ^= 1 << rng.below(8);
        assert!(problem(&damaged).starts_with(name));
    }
    // With a checksum that fits, the content is checked.
    let sealed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut content = bytes[..bytes.len() - 8].to_vec();
        change(&mut content);
        let checksum = xxhash_rust::xxh3::xxh3_64(&content);
        content.extend(checksum.to_le_bytes());
        problem(&content)
    };
    let lines = 14 + values.entries().0.len() * 4;
    type Change<'a> = &'a dyn Fn(&mut Vec<u8>);
    let cases: [(Change<'_>, &str); 7] = [
        (&|content| content[0] = b'P', "it begins with other bytes"),
        (&|content| content[9] = 9, "no playfield of its size has a table"),
        (&|content| content[10] += 1, "it is too short"),
        (&|content| content[10] -= 1, "its checksum is wrong"),
        (&|content| content[14] = 1, "its afterstates do not ascend from the empty playfield"),
        (&|content| content[lines + 7] = 0xff, "one of its values is no number of lines"),
        // A file may promise more than memory has.
        (&|content| content[10..14].fill(0xff), "it is too short"),
    ];
    for (change, expected) in cases {
        assert_eq!(sealed(change), format!("{name}: {expected}"));
    }
}

#[test]
fn only_solvable_rules_have_values() {
    let problem = |rules: Rules| optimum::values(&rules).unwrap_err().to_string();
    let bags = Rules { randomizer: Randomizer::Bag7, ..Rules::simplified(4, 4) };
    assert!(problem(bags).starts_with("randomizer is bag7, expected uniform"));
    assert_eq!(
        problem(Rules::simplified(7, 4)),
        "the values of 7 x 4 are not loaded: write them with `tetrion optimum 7x4`, and load the file with --values"
    );
    assert!(problem(Rules::simplified(10, 20)).contains("expected at most 32"));
}

#[test]
fn cells_are_packed_column_by_column() {
    let playfield = Playfield::from_drawing(4, 4, "..../..../#.../#..#").unwrap();
    assert_eq!(pack(&playfield), 0b0001_0000_0000_0011);
    assert_eq!(table(4, 4).of(&playfield), None, "no game leads there");
}
