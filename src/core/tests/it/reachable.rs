//! Reachable placements: counts from other programs, a slow twin on random playfields, and keys that are pressed again.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

use tetrion_core::engine::reachable::perft::{perft, perft_with};
use tetrion_core::engine::{
    HalfTurns, Kernel, Movement, NamedChoice, Paths, Playfield, Resting, RotationSystem, Rules, Spin,
    SpinRule, Tetromino, TopOut, parse_sequence,
};

use tetrion_twins::{TwinGround, TwinMovement, TwinPlayfield, TwinResting, random_playfield, word};

/// Placements that differ by their cells alone, and one place to spawn in.
const PLAIN: Movement = Movement {
    rotation_system: RotationSystem::Srs,
    half_turns: HalfTurns::None,
    spin_rule: SpinRule::None,
    spawn_row: 19,
    spawn_lift: 0,
};

fn leaves(movement: &Movement, sequence: &str) -> u64 {
    let pieces = parse_sequence(sequence).unwrap();
    perft(movement, &Playfield::empty(10, 40), &pieces, &mut |_| ControlFlow::Continue(())).leaves
}

#[test]
fn leaves_are_those_that_other_engines_count() {
    let table = include_str!("../data/guideline.perft");
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let (sequence, counts) = row.split_once(' ').unwrap();
        for (n, count) in counts.split(' ').take(5).enumerate() {
            assert_eq!(leaves(&PLAIN, &sequence[..=n]).to_string(), count, "{}", &sequence[..=n]);
        }
    }
}

#[test]
fn every_kernel_counts_the_same_leaves() {
    // From a stack that clears lines, is left by longer lanes and ends games.
    let drawing = "#.########/#.########/#.########/##.#######/#..#######/##.#######";
    for (rows, sequence, spin_rule) in [(8, "ITLI", SpinRule::TSpins), (24, "ITSZ", SpinRule::AllSpins)] {
        for (movement, width) in
            [(Movement { spin_rule, ..PLAIN }, 10), (Movement { spawn_row: 9, ..PLAIN }, 20)]
        {
            let drawing =
                drawing.replace('/', &format!("{}/", ".".repeat(width - 10))) + &".".repeat(width - 10);
            let start = Playfield::from_drawing(width as u8, rows, &drawing).unwrap();
            let pieces = parse_sequence(&sequence[..if width > 10 { 3 } else { 4 }]).unwrap();
            let count = |kernel| {
                perft_with(kernel, &movement, &start, &pieces, &mut |_| ControlFlow::Continue(())).leaves
            };
            let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available());
            let plain = plain_leaves(&movement, &start, &pieces);
            assert!(plain > 0);
            for kernel in kernels {
                assert_eq!(count(kernel), plain, "{} kernel, {movement:?}, {sequence}", kernel.name());
            }
        }
    }
}

/// Leaves by placing the listed placements one by one.
fn plain_leaves(movement: &Movement, playfield: &Playfield, pieces: &[Tetromino]) -> u64 {
    let Some((&piece, rest)) = pieces.split_first() else { return 1 };
    let all = movement.list(playfield, piece).into_iter();
    all.map(|Resting { orientation, column, row, spin }| {
        let mut after = *playfield;
        let shape = Resting { orientation, column, row, spin }.shape(piece);
        let landed = after.lock(shape, row, column, TopOut::Overflow);
        // The last piece is not placed.
        if landed.terminal && !rest.is_empty() { 0 } else { plain_leaves(movement, &after, rest) }
    })
    .sum()
}

#[test]
fn leaves_with_half_turns_and_spins_are_those_of_cobra() {
    let movement = Movement {
        rotation_system: RotationSystem::SrsPlus,
        half_turns: HalfTurns::Cobra,
        spin_rule: SpinRule::TSpins,
        spawn_row: 5,
        spawn_lift: 0,
    };
    // The same as a choice of the rules.
    let rules = Rules {
        rotation_system: RotationSystem::SrsPlus,
        half_turns: HalfTurns::Cobra,
        spawn_row: Some(5),
        ..Rules::preset("guideline").unwrap()
    };
    assert_eq!(Movement::of(&rules), movement);
    for (n, count) in [17, 153, 4922, 162_035, 2_528_679].into_iter().enumerate() {
        assert_eq!(leaves(&movement, &"IOLJSZT"[..=n]), count, "{} pieces", n + 1);
    }
}

#[test]
fn a_count_can_be_stopped() {
    let pieces = parse_sequence("LJSZT").unwrap();
    let mut shares = Vec::new();
    let stopped = perft(&PLAIN, &Playfield::empty(10, 40), &pieces, &mut |progress| {
        shares.push(progress.share);
        if shares.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(shares.is_sorted() && shares[0] > 0.0 && shares[2] < 1.0, "{shares:?}");
    assert!((1..14_907_945).contains(&stopped.leaves), "{stopped:?}");
}

/// From bitris' benchmark, in the order I O T L J S Z, where pieces appear in row 20.
const BOARDS: [(&str, [u32; 7]); 4] = [
    ("..........", [17, 9, 34, 34, 34, 17, 17]),
    ("##.....###/##....####/##...#####/##....####", [18, 9, 35, 35, 35, 17, 18]),
    (
        "##......../##....####/##..######/#.....####/###....###/####..####/###.....##/#........#/#.......##/##.....###/####..####/##....####/###..#####/.##.#.###.",
        [30, 9, 72, 65, 65, 34, 33],
    ),
    (
        ".....#..../..##.##.../...####..#/##.#######/#..#######/#...######/##.#######/##.#######",
        [17, 9, 39, 35, 37, 17, 20],
    ),
];

#[test]
fn drawn_boards_have_as_many_placements_as_bitris_counts() {
    let movement = Movement { spawn_row: 20, ..PLAIN };
    for (drawing, counts) in BOARDS {
        let playfield = Playfield::from_drawing(10, 24, drawing).unwrap();
        for (piece, count) in parse_sequence("IOTLJSZ").unwrap().into_iter().zip(counts) {
            assert_eq!(movement.count(&playfield, piece), count, "{piece} on {drawing}");
        }
    }
}

#[test]
fn t_spins_have_labels_of_their_own() {
    let columns = [63, 63, 31, 7, 1, 0, 13, 31, 63, 255];
    let playfield = Playfield::from_columns(10, 20, &columns);
    for (piece, count) in parse_sequence("IOTLJSZ").unwrap().into_iter().zip([17, 9, 37, 35, 35, 17, 18]) {
        assert_eq!(PLAIN.count(&playfield, piece), count, "{piece}");
    }
    let labelled = Movement { spin_rule: SpinRule::TSpins, ..PLAIN }.list(&playfield, Tetromino::T);
    let count = |spin| labelled.iter().filter(|resting| resting.spin == spin).count();
    assert_eq!([Spin::None, Spin::Mini, Spin::Full].map(count), [34, 2, 2]);
}

/// The playfield seen in a mirror.
fn mirrored(playfield: &Playfield) -> Playfield {
    let columns: Vec<u64> = playfield.columns().iter().rev().copied().collect();
    Playfield::from_columns(playfield.width(), playfield.height(), &columns)
}

#[test]
fn a_mirror_changes_the_letters_and_nothing_else_but_for_i_under_srs() {
    let plus = Movement { rotation_system: RotationSystem::SrsPlus, ..PLAIN };
    let mut i_differs = 0;
    for seed in 0..2000 {
        let drawn = random_playfield(10, 14, seed).to_string();
        let playfield = Playfield::from_drawing(10, 14, &drawn).unwrap();
        let mirror = mirrored(&playfield);
        for (letter, other) in "OTLJSZ".chars().zip("OTJLZS".chars()) {
            let count = |playfield, letter| PLAIN.count(playfield, Tetromino::from_letter(letter).unwrap());
            assert_eq!(count(&playfield, letter), count(&mirror, other), "{letter}, seed {seed}\n{drawn}");
        }
        assert_eq!(plus.count(&playfield, Tetromino::I), plus.count(&mirror, Tetromino::I), "seed {seed}");
        let both = [&playfield, &mirror].map(|playfield| PLAIN.count(playfield, Tetromino::I));
        i_differs += u32::from(both[0] != both[1]);
    }
    assert!(i_differs > 0, "two kicks of I are not mirrored under SRS");
}

/// A playfield of some size, rules, and a piece, all drawn from a seed.
struct Case {
    seed: u64,
    playfield: Playfield,
    ground: TwinPlayfield,
    movement: Movement,
    twin: TwinMovement,
    piece: Tetromino,
}

impl Case {
    fn drawn(seed: u64) -> Case {
        let draw = |n: u64, bound: u64| word(seed, 2000, n) % bound;
        let (width, height) = match draw(0, 16) {
            0 => (4 + draw(1, 29), 4 + draw(2, 37)),
            1..=7 => (10, 4 + draw(2, 23)),
            _ => (4 + draw(1, 9), 4 + draw(2, 15)),
        };
        let ground = random_playfield(width as usize, height as usize, seed);
        let columns: Vec<u64> = (0..ground.width())
            .map(|column| (0..ground.height()).map(|row| u64::from(ground.rows[row][column]) << row).sum())
            .collect();
        let rotation_system = RotationSystem::ALL[draw(3, 3) as usize];
        let half_turns = HalfTurns::ALL[draw(4, 3) as usize];
        let spin_rule = SpinRule::ALL[draw(5, 7) as usize];
        // Above the stack, among it, or as far up as it goes.
        let spawn_row = match draw(6, 4) {
            0 => draw(7, height),
            1 => height - 1,
            2 => height + draw(7, 4),
            _ => {
                (0..height).rev().find(|row| ground.rows[*row as usize].contains(&true)).unwrap_or(0)
                    + draw(7, 7)
            }
        };
        let movement = Movement {
            rotation_system,
            half_turns,
            spin_rule,
            spawn_row: spawn_row.min(42) as u8,
            spawn_lift: draw(8, 3) as u8,
        };
        let twin = TwinMovement {
            rotation_system: rotation_system.name(),
            half_turns: half_turns.name(),
            spin_rule: spin_rule.name(),
            spawn_row: movement.spawn_row.into(),
            spawn_lift: movement.spawn_lift.into(),
        };
        let playfield = Playfield::from_columns(width as u8, height as u8, &columns);
        Case { seed, playfield, ground, movement, twin, piece: Tetromino::ALL[draw(9, 7) as usize] }
    }

    fn ground(&self) -> TwinGround<'_> {
        TwinGround::new(&self.ground, self.twin, self.piece.letter())
    }

    /// A placement as the twin writes it.
    fn resting(&self, resting: &Resting) -> TwinResting {
        let cells = resting.cells(self.piece).four().map(|(row, column)| (row.into(), column.into()));
        (cells.to_vec(), ["none", "mini", "full"][resting.spin as usize])
    }

    fn words(&self) -> String {
        let Case { seed, movement, piece, ground, .. } = self;
        format!("seed {seed}: {piece} under {movement:?} on\n{ground}")
    }
}

fn same_as_the_twin(seeds: std::ops::Range<u64>) {
    for case in seeds.map(Case::drawn) {
        let list = case.movement.list(&case.playfield, case.piece);
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
            let of_kernel = case.movement.list_with(kernel, &case.playfield, case.piece);
            assert_eq!(of_kernel, list, "{} kernel, {}", kernel.name(), case.words());
        }
        assert!(list.is_sorted() && list.windows(2).all(|two| two[0] != two[1]), "{}", case.words());
        assert_eq!(case.movement.count(&case.playfield, case.piece), list.len() as u32, "{}", case.words());
        let found: BTreeSet<TwinResting> = list.iter().map(|resting| case.resting(resting)).collect();
        assert_eq!(found.len(), list.len(), "no cells twice: {}", case.words());
        assert_eq!(found, case.ground().all_resting(), "{}", case.words());
    }
}

// In parts, so that they run side by side.
#[test]
fn random_playfields_have_the_placements_of_the_twin_first_part() {
    same_as_the_twin(0..10_000);
}

#[test]
fn random_playfields_have_the_placements_of_the_twin_second_part() {
    same_as_the_twin(10_000..20_000);
}

#[test]
fn keys_lead_to_the_placements_that_they_promise() {
    for case in (20_000..24_000).map(Case::drawn) {
        let (all, ground) = (case.movement.list(&case.playfield, case.piece), case.ground());
        let paths = Paths::towards(&case.movement, &case.playfield, case.piece, &all);
        for placement in &all {
            let keys = paths.to(*placement).unwrap();
            let start = ground.appears().unwrap();
            let end = keys.iter().fold(start, |piece, key| ground.pressed(piece, key.name()));
            assert_eq!(ground.resting(end), case.resting(placement), "{keys:?}: {}", case.words());
            assert_eq!(keys.iter().filter(|key| key.name() == "hard_drop").count(), 1);
            assert_eq!(keys.last().unwrap().name(), "hard_drop");
        }
    }
}

#[test]
fn keys_are_the_fewest_by_a_search_of_the_twin() {
    // All lists of up to three keys before the hard drop, on playfields of all kinds.
    let keys = [
        "left",
        "right",
        "far_left",
        "far_right",
        "turn_right",
        "turn_left",
        "turn_half",
        "soft_drop",
        "sonic_drop",
    ];
    for case in (24_000..24_060).map(Case::drawn) {
        let ground = case.ground();
        let Some(start) = ground.appears() else { continue };
        let mut first: HashMap<TwinResting, Vec<&str>> = HashMap::new();
        let mut lists = vec![(start, vec![])];
        for _ in 0..=3 {
            let mut longer = Vec::new();
            for (piece, list) in lists {
                let end = ground.pressed(piece, "hard_drop");
                first.entry(ground.resting(end)).or_insert_with(|| list.clone());
                longer.extend(keys.map(|key| (ground.pressed(piece, key), [&list[..], &[key]].concat())));
            }
            lists = longer;
        }
        let all = case.movement.list(&case.playfield, case.piece);
        let paths = Paths::towards(&case.movement, &case.playfield, case.piece, &all);
        let mut short = 0;
        for placement in all {
            let found: Vec<&str> = paths.to(placement).unwrap().iter().map(|key| key.name()).collect();
            let expected = first.get(&case.resting(&placement));
            match expected {
                Some(list) => assert_eq!(found[..found.len() - 1], list[..], "{}", case.words()),
                None => assert!(found.len() > 4, "{found:?}: {}", case.words()),
            }
            short += usize::from(expected.is_some());
        }
        assert_eq!(short, first.len(), "{}", case.words());
    }
}

/// Whether some order of placing the pieces clears all `rows`: at each step the first piece of the queue or, with hold, the
/// second.
fn clears(
    playfield: &Playfield,
    rows: u8,
    queue: &[Tetromino],
    has_hold: bool,
    known: &mut HashMap<(Vec<u64>, Vec<Tetromino>), bool>,
) -> bool {
    if rows == 0 {
        return true;
    }
    if queue.is_empty() {
        return false;
    }
    let key = (playfield.columns().to_vec(), queue.to_vec());
    if let Some(known) = known.get(&key) {
        return *known;
    }
    let choices = if has_hold { queue.len().min(2) } else { 1 };
    let is_cleared = (0..choices).any(|choice| {
        let mut rest = queue.to_vec();
        let piece = rest.remove(choice);
        PLAIN.list(playfield, piece).iter().any(|resting| {
            let shape = resting.shape(piece);
            if resting.row + shape.height > rows {
                return false;
            }
            let mut after = *playfield;
            let lines = after.lock(shape, resting.row, resting.column, TopOut::Overflow).lines;
            clears(&after, rows - lines, &rest, has_hold, known)
        })
    });
    known.insert(key, is_cleared);
    is_cleared
}

/// All ways of drawing `count` of the seven pieces, in order.
fn draws(count: usize) -> Vec<Vec<Tetromino>> {
    (0..count).fold(vec![vec![]], |drawn, _| {
        let more = |queue: Vec<Tetromino>| {
            let left = Tetromino::ALL.into_iter().filter(|piece| !queue.contains(piece)).collect::<Vec<_>>();
            left.into_iter().map(move |piece| [&queue[..], &[piece]].concat())
        };
        drawn.into_iter().flat_map(more).collect()
    })
}

#[test]
fn as_many_queues_clear_the_playfield_as_solution_finder_says() {
    for (drawing, held, solvable) in [
        ("#####...../######..../#######.../######....", "I", 711),
        ("#####....#/######...#/#######..#/######...#", "", 514),
        ("######..../######..../######..../######....", "T", 744),
    ] {
        let playfield = Playfield::from_drawing(10, 24, drawing).unwrap();
        let held = parse_sequence(held).unwrap();
        let mut known = HashMap::new();
        let queues = draws(4);
        assert_eq!(queues.len(), 840);
        let cleared = queues
            .iter()
            .filter(|queue| clears(&playfield, 4, &[&held[..], queue].concat(), true, &mut known))
            .count();
        assert_eq!(cleared, solvable, "{drawing}");
    }
}
