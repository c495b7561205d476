//! Every kernel gives the same bits as the features' own functions, on games of many sizes.

use tetrion_core::agents::{Agent, Kernel, LinearAgent, TerminalValue};
use tetrion_core::engine::rng::{Tag, below, word};
use tetrion_core::engine::{
    Dealer, OrientationTable, Placement, Playfield, Randomizer, Rules, Tetromino, TopOut, placements,
};
use tetrion_core::features::kernel::Extractor;
use tetrion_core::features::{FEATURES, FeatureSet, Measure};
use tetrion_core::placements::{Options, Position, enumerate_on, enumerate_plainly};
use tetrion_testing::choose_plainly;

/// Names of all features that sweeps support, before and after clearing; one per family that grows with the width.
fn all_known(width: u8) -> Vec<String> {
    let is_swept =
        |name: &String| Extractor::new(Some(&FeatureSet::custom(&[name], width).unwrap())).is_some();
    all_known_together(width).into_iter().filter(is_swept).collect()
}

/// Names of all features that the kernels support, including those for placements measured together.
pub fn all_known_together(width: u8) -> Vec<String> {
    let mut names = Vec::new();
    for feature in FEATURES.iter().filter(|feature| feature.is_on_kernels()) {
        let name = feature.name;
        let (first, last) = match feature.family_size(width) {
            None => Default::default(),
            Some(size) => ("[0]".to_owned(), format!("[{}]", size - 1)),
        };
        if matches!(feature.measure, Measure::Seven(_) | Measure::LandingSeven(_)) {
            names.extend((0..6).map(|index| format!("{name}[{index}]")));
        }
        names.push(format!("{name}{last}"));
        if !feature.is_of_landing() {
            names.push(format!("{name}_preclear{first}"));
        }
    }
    names
}

/// A number in -1..1 that is a function of where it is used.
fn weight(seed: u64, n: u64) -> f64 {
    word(seed, Tag::Agent, n) as f64 / 2f64.powi(63) - 1.0
}

/// Compares all kernels with the plain choice along a game that plays the best placement now and a random one then.
#[track_caller]
fn check_game(rules: &Rules, agent: &LinearAgent, seed: u64, max_pieces: u64) -> u64 {
    let mut dealer = Dealer::seeded(rules.randomizer, seed);
    let mut playfield = Playfield::empty(rules.width, rules.height);
    for n in 0..max_pieces {
        let piece = dealer.deal().unwrap();
        let plain = choose_plainly(agent, rules, &playfield, piece);
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
            let fast = agent.choose(kernel, rules, &playfield, piece);
            assert_eq!(
                (fast.placement, fast.score.to_bits()),
                (plain.placement, plain.score.to_bits()),
                "{} kernel, seed {seed}, piece {n} ({piece}), {} x {}, {:?}, {:?} on\n{playfield}",
                kernel.name(),
                rules.width,
                rules.height,
                agent.set().names(),
                Agent::Linear(agent.clone()).terminal_value(),
            );
        }
        let mut chosen = plain.placement;
        if below(word(seed, Tag::Agent, 1 << 32 | n), 4) == 0 {
            let all = placements(rules, &playfield, piece);
            let pick = below(word(seed, Tag::Agent, 2 << 32 | n), all.len().into());
            chosen = all.nth(pick as u32).unwrap();
        }
        let shape = chosen.shape(rules, piece).unwrap();
        if playfield.drop(shape, chosen.column, rules.top_out).terminal {
            return n + 1;
        }
    }
    max_pieces
}

fn agent(names: &[String], width: u8, seed: u64, terminal_value: TerminalValue) -> LinearAgent {
    let set = FeatureSet::custom(names, width).unwrap();
    let weights = (0..set.len() as u64).map(|n| weight(seed, n)).collect();
    LinearAgent::new(set, weights, terminal_value).unwrap()
}

/// Which features are measured decides which parts of the work are done; each alone must have all it needs.
#[test]
fn every_feature_comes_out_the_same_when_it_is_the_only_one() {
    for (width, height) in [(4, 12), (10, 10), (10, 20), (17, 30)] {
        let rules = Rules::simplified(width, height);
        for (name, seed) in all_known(width).into_iter().zip(1..) {
            let alone = agent(&[name], width, seed, TerminalValue::Score);
            check_game(&rules, &alone, seed, 40);
        }
    }
}

/// What a person reads at the end of a run, so that a kernel that no test has run is not taken for one that passed.
fn report(tested: &[Kernel], missing: &[Kernel]) -> String {
    let names =
        |kernels: &[Kernel]| kernels.iter().map(|kernel| kernel.name()).collect::<Vec<_>>().join(", ");
    let missing = match missing {
        [] => String::new(),
        missing => format!("; NOT TESTED, because this machine cannot run them: {}", names(missing)),
    };
    format!("kernels tested: {}{missing}", names(tested))
}

/// `make kernels` prints this at the end of a run.
#[test]
fn the_kernels_that_were_not_tested_are_named() {
    let (tested, missing): (Vec<Kernel>, Vec<Kernel>) =
        Kernel::ALL.into_iter().partition(|kernel| kernel.is_available());
    println!("{}", report(&tested, &missing));
    assert_eq!(tested[0], Kernel::Portable);
    assert_eq!(Kernel::best(), *tested.last().unwrap());

    assert_eq!(report(&Kernel::ALL, &[]), "kernels tested: portable, avx2, avx512");
    assert_eq!(
        report(&Kernel::ALL[..1], &Kernel::ALL[1..]),
        "kernels tested: portable; NOT TESTED, because this machine cannot run them: avx2, avx512"
    );
}

#[test]
fn all_kernels_choose_as_the_plain_functions_do_on_random_games_of_every_width() {
    let mut pieces = 0;
    for width in 4..=32 {
        for (height, seed) in [(4, 1), (5, 2), (8, 3), (13, 4), (20, 5), (24, 6), (28, 7), (29, 8), (40, 9)] {
            let seed = seed + 100 * u64::from(width);
            let rules = Rules::simplified(width, height);
            for terminal_value in [TerminalValue::Avoid, TerminalValue::Score] {
                let everything = agent(&all_known(width), width, seed, terminal_value);
                assert!(everything.is_fast());
                pieces += check_game(&rules, &everything, seed, 60);
            }
        }
    }
    assert!(pieces > 10_000, "only {pieces} pieces compared");
}

#[test]
fn all_kernels_choose_as_the_plain_functions_do_with_good_weights_and_long_games() {
    let bcts = [-12.62900, 6.601974, -9.215815, -19.77356, -13.08335, -10.48747, -1.611863, -24.04087];
    for (width, height) in [(10, 10), (10, 20), (16, 12), (17, 12), (6, 28), (6, 30), (4, 10)] {
        let set = FeatureSet::named("bcts8", width).unwrap();
        let agent = LinearAgent::new(set, bcts.into(), TerminalValue::Avoid).unwrap();
        for seed in 0..4 {
            check_game(&Rules::simplified(width, height), &agent, seed, 400);
        }
    }
}

#[test]
fn all_kernels_follow_the_other_top_outs_tables_and_randomizers() {
    for top_out in [TopOut::Overflow, TopOut::TopRow, TopOut::AboveField] {
        for orientations in [OrientationTable::Literature, OrientationTable::Survey, OrientationTable::Leiden]
        {
            for seed in 0..6 {
                let (width, height) = (5 + seed as u8, 7 + 3 * seed as u8);
                let rules = Rules {
                    top_out,
                    orientations,
                    randomizer: Randomizer::Bag7,
                    ..Rules::simplified(width, height)
                };
                for terminal_value in [TerminalValue::Avoid, TerminalValue::Score] {
                    let everything = agent(&all_known(width), width, seed, terminal_value);
                    check_game(&rules, &everything, seed, 100);
                }
            }
        }
    }
}

#[test]
fn positions_from_outside_may_hold_full_rows_and_reach_the_top() {
    for seed in 0..3_000 {
        let width = 4 + below(word(seed, Tag::Game, 0), 14) as u8;
        let height = 4 + below(word(seed, Tag::Game, 1), 26) as u8;
        let rows = (0..height).map(|row| {
            let random = word(seed, Tag::Game, 2 + u64::from(row)) as u32;
            if random.is_multiple_of(5) {
                u32::MAX
            } else {
                random | word(seed, Tag::Game, 99 + u64::from(row)) as u32
            }
        });
        let playfield = Playfield::from_rows(width, height, rows);
        let piece = Tetromino::ALL[(seed % 7) as usize];
        for top_out in [TopOut::Overflow, TopOut::TopRow] {
            let rules = Rules { top_out, ..Rules::simplified(width, height) };
            for terminal_value in [TerminalValue::Avoid, TerminalValue::Score] {
                let agent = agent(&all_known(width), width, seed, terminal_value);
                let plain = choose_plainly(&agent, &rules, &playfield, piece);
                for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                    assert_eq!(
                        agent.choose(kernel, &rules, &playfield, piece),
                        plain,
                        "{}, seed {seed}, {piece}, {top_out:?}, {terminal_value:?} on\n{playfield}",
                        kernel.name()
                    );
                }
            }
        }
    }
}

#[test]
fn if_every_placement_ends_the_game_the_first_is_chosen() {
    let rules = Rules::simplified(4, 4);
    let full = Playfield::from_drawing(4, 4, ".##./.##./.##./.##.").unwrap();
    let agent = agent(&["holes".to_owned()], 4, 1, TerminalValue::Avoid);
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        let choice = agent.choose(kernel, &rules, &full, Tetromino::O);
        assert_eq!(choice.placement, Placement::straight(0, 0));
        assert_eq!(choice.score, f64::NEG_INFINITY);
    }
}

#[test]
fn of_equal_scores_the_first_in_action_order_is_chosen() {
    let rules = Rules::default();
    let empty = Playfield::empty(10, 20);
    let zero = LinearAgent::new(FeatureSet::named("bcts8", 10).unwrap(), vec![0.0; 8], TerminalValue::Avoid)
        .unwrap();
    // One line to clear by an upright I in column 9 only, which counts as much as everything else: nothing.
    let almost = Playfield::from_drawing(10, 20, "#########.").unwrap();
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        for playfield in [&empty, &almost] {
            for piece in Tetromino::ALL {
                let choice = zero.choose(kernel, &rules, playfield, piece);
                assert_eq!(choice.placement, Placement::straight(0, 0), "{piece}");
            }
        }
    }
}

#[test]
fn scores_that_floats_cannot_tell_apart_are_compared_in_doubles() {
    for (seed, scale) in [(1, 1.0), (2, 1e-290), (3, 1e290), (4, 3e7)] {
        let names =
            ["total_height", "row_transitions", "holes", "bumpiness", "cumulative_wells"].map(String::from);
        let set = FeatureSet::custom(&names, 10).unwrap();
        // Many placements are worth nearly the same: what differs is beyond the precision of a float.
        let nearly_one = |n| scale * (-1.0 + 1e-11 * weight(seed, n));
        let agent = LinearAgent::new(set, (0..5).map(nearly_one).collect(), TerminalValue::Avoid).unwrap();
        assert!(agent.is_fast());
        for height in [10, 20, 30] {
            check_game(&Rules::simplified(10, height), &agent, seed, 200);
        }
    }
}

#[test]
fn weights_that_the_kernels_cannot_add_up_exactly_are_played_plainly() {
    let set = FeatureSet::named("height4", 10).unwrap();
    let tiny = LinearAgent::new(set, vec![-5e-324, 1e-310, -1.0, 0.0], TerminalValue::Avoid).unwrap();
    assert!(!tiny.is_fast());
    let rules = Rules::default();
    let choice = tiny.choose(Kernel::best(), &rules, &Playfield::empty(10, 20), Tetromino::T);
    assert_eq!(choice, choose_plainly(&tiny, &rules, &Playfield::empty(10, 20), Tetromino::T));
}

#[test]
fn all_kernels_list_the_placements_the_plain_functions_list() {
    let random = |seed, n| word(seed, Tag::Game, n);
    let mut rows = 0;
    for seed in 0..400 {
        let width = 4 + below(random(seed, 0), 29) as u8;
        let height = 4 + below(random(seed, 1), 37) as u8;
        let top_out = [TopOut::Overflow, TopOut::TopRow, TopOut::AboveField][(seed % 3) as usize];
        let rules = Rules { top_out, ..Rules::simplified(width, height) };
        let positions: Vec<Position> = (0..20)
            .map(|i| {
                let sparse = |row| random(seed, i << 8 | row) as u32 | random(seed, i << 8 | 64 | row) as u32;
                let filled = below(random(seed, i << 8 | 255), u64::from(height) + 1);
                let full = |row: u64| below(random(seed, i << 8 | 128 | row), 4) == 0;
                let cells = (0..filled).map(|row| if full(row) { u32::MAX } else { sparse(row) });
                let piece = (i > 0).then(|| Tetromino::ALL[(i % 7) as usize]);
                Position::of(
                    Playfield::from_rows(width, height, cells),
                    piece.map(tetrion_core::engine::Hand::only),
                )
            })
            .collect();
        let set = FeatureSet::custom(&all_known(width), width).unwrap();
        for set in [Some(&set), None] {
            let options = Options {
                afterstates: seed % 2 == 0,
                anchors: seed % 3 == 0,
                cells: seed % 4 == 0,
                preclear_boards: seed % 5 == 0,
                position_features: set.is_some(),
                keys: false,
                optimal_values: None,
            };
            let plain = enumerate_plainly(&rules, &positions, set, options);
            let extractor = Extractor::new(set).unwrap();
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                let fast = enumerate_on(kernel, &rules, &positions, &extractor, options);
                assert_eq!(fast, plain, "{} kernel, seed {seed}, {width} x {height}", kernel.name());
            }
            rows += plain.actions.len();
        }
    }
    assert!(rows > 100_000, "only {rows} placements compared");
}

/// The lists of features that functions are compiled with, and those that the machine is asked for, stand in several places.
/// What is compiled for a machine must be what was found on it.
#[test]
fn functions_are_compiled_for_the_machine_that_was_found() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("engine/lanes");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let parent = read("mod.rs");
    let available = &parent[parent.find("fn is_supported").unwrap()..parent.find("pub fn best").unwrap()];
    let detected: Vec<&str> = available
        .split("is_x86_feature_detected!(\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let (of_avx2, of_avx512) = (&detected[..5], &detected[..]);
    assert_eq!((of_avx2[0], of_avx512[5]), ("avx2", "avx512f"));
    let mut whole = 0;
    for name in ["mod.rs", "x86_64.rs"] {
        let text = read(name);
        for rest in text.split("enable = \"").skip(1) {
            let (enabled, behind) = rest.split_once('"').unwrap();
            let function = behind.lines().find(|line| line.contains("fn ")).unwrap();
            let enabled: Vec<&str> = enabled.split(',').collect();
            let is_512 = enabled.iter().any(|feature| feature.starts_with("avx512"));
            let found = if is_512 { of_avx512 } else { of_avx2 };
            // Functions of the tables are compiled for what they use, those that run work for all that was found.
            if function.contains("(job") || function.contains("(work") {
                assert_eq!(
                    (enabled, function.contains("512")),
                    (found.to_vec(), is_512),
                    "{name}: {function}"
                );
                whole += 1;
            } else {
                assert!(enabled.iter().all(|feature| found.contains(feature)), "{name}: {function}");
            }
        }
    }
    assert_eq!(whole, 7, "five ways of running a job, two of running work apart");
}
