//! Networks and tables beside a weighted sum: every score, choice and game against the twin's plain loops.

mod messages;

use tetrion_core::agents::{
    Activation, Agent, AgentRng, Controller, Expectation, Kernel, LinearAgent, Mlp, ModelShape, NTuple,
    Search, TerminalValue, Terms, TupleKind, TuplePattern,
};
use tetrion_core::engine::{Dealer, Placement, Playfield, Reach, Rules, Tetromino, placements};
use tetrion_core::features::FeatureSet;
use tetrion_core::rollout::{Bounds, Episode, SLICE};
use tetrion_protocol::limits::MAX_HIDDEN_UNITS;
use tetrion_protocol::{features, models, pb, search, seeding, tensor};

use tetrion_service_testing::evaluations::{Answer, ask, named, start, weighing};
use tetrion_testing::{Plain, choose_plainly};
use tetrion_twins::{
    self as twin, TwinLanding, TwinModel, TwinPlacement, TwinPlayfield, TwinTuple, random_playfield, word,
};

/// Features of each kind: of landings and of playfields, whole numbers and halves.
const FEATURES: [&str; 6] =
    ["landing_height", "eroded_piece_cells", "row_transitions", "holes", "cumulative_wells", "max_height"];
/// One that the kernels do not know.
const UNKNOWN: &str = "open_shafts";

/// Numbers from -scale to scale, of 24 bits.
fn numbers(count: usize, seed: u64, scale: f32) -> Vec<f32> {
    let number = |n| (word(seed, 77, n) >> 40) as f32 / (1 << 23) as f32 - 1.0;
    (0..count as u64).map(|n| number(n) * scale).collect()
}

/// Halves from -4 to 4.
fn weights(count: usize, seed: u64) -> Vec<f64> {
    (0..count as u64).map(|n| (word(seed, 78, n) % 17) as f64 / 2.0 - 4.0).collect()
}

fn mlp(hidden: &[usize], activation: &'static str) -> TwinModel {
    TwinModel::Mlp(hidden.to_vec(), activation, Vec::new())
}

/// A network whose first hidden layer reads the tables of a model.
fn both(hidden: &[usize], activation: &'static str, tables: TwinModel) -> TwinModel {
    let TwinModel::NTuple(tuples) = tables else { panic!("tables alone") };
    TwinModel::Mlp(hidden.to_vec(), activation, tuples)
}

fn tuple(kind: &'static str, positions: &[usize], clip: i64) -> TwinTuple {
    TwinTuple { kind, positions: positions.to_vec(), clip, shares: None }
}

/// Tables of every kind; some are shared.
fn tuples(width: usize, height: usize) -> TwinModel {
    let shares = |tuple: TwinTuple, shares| TwinTuple { shares: Some(shares), ..tuple };
    TwinModel::NTuple(vec![
        tuple("steps", &[0, 1, 2], 2),
        tuple("heights", &[width - 1, 0], height as i64),
        shares(tuple("steps", &[width - 2, 1, 0], 2), 0),
        tuple("cells", &[0, 1, width, width + 1, 2 * width, width * height - 1], 0),
        shares(tuple("heights", &[1, 2], height as i64), 1),
        tuple("steps", &[width - 2], height as i64),
        shares(tuple("cells", &[5, 4, 3, 2, 1, 0], 0), 3),
        tuple("heights", &[0, 1, 2, 3], 1),
    ])
}

/// Runs of cells along rows and columns, both ways, whole and in part, and cells that are no run.
fn lines(width: usize, height: usize) -> TwinModel {
    let shares = |tuple: TwinTuple, shares| TwinTuple { shares: Some(shares), ..tuple };
    let cells = |first: usize, stride: isize, count: usize| {
        let positions: Vec<usize> =
            (0..count).map(|n| (first as isize + n as isize * stride) as usize).collect();
        tuple("cells", &positions, 0)
    };
    let (tall, wide, up) = (height.min(12), width.min(12), width as isize);
    let top = width * (tall - 1);
    TwinModel::NTuple(vec![
        cells(top, -up, tall),
        shares(cells(top + width - 1, -up, tall), 0),
        shares(cells(1, up, tall), 0),
        cells(width, 1, wide),
        shares(cells(2 * width + wide - 1, -1, wide), 3),
        // The upper part of a column, some of a row, and what crosses from one row into the next.
        cells(width * (height - 3) + 2, up, 3),
        cells(width * (height - 1) + 1, 1, 3),
        cells(width - 2, 1, 4),
        cells(2 * width + 1, -1, 4),
        // As evenly spread, but askew; two cells, and one.
        cells(0, up + 1, 4),
        cells(3, up - 1, 3),
        cells(5, 2, 2),
        cells(width * height - 1, 1, 1),
        tuple("cells", &[2, 0, 3, 1, width + 1], 0),
    ])
}

/// More tuples than are looked up at once, some of them twice over.
fn many(width: usize, height: usize) -> TwinModel {
    let cell = |n: usize| tuple("cells", &[7 * n % (width * height)], 0);
    TwinModel::NTuple((0..150).map(cell).collect())
}

/// Tuples drawn at random: of every kind and length, cells now and then as runs, some with the tables of others.
fn drawn_tuples(width: usize, height: usize, seed: u64) -> TwinModel {
    let mut draws = (0..).map(|n| word(seed, 79, n));
    let mut draw = move |below: usize| (draws.next().unwrap() % below as u64) as usize;
    let mut tuples: Vec<TwinTuple> = Vec::new();
    for number in 0..1 + draw(12) {
        let kind = ["steps", "heights", "cells", "cells"][draw(4)];
        let places = match kind {
            "steps" => width - 1,
            "heights" => width,
            _ => width * height,
        };
        let clip = if kind == "cells" { 0 } else { 1 + draw(3) as i64 };
        let most = if kind == "cells" { 10 } else { 4 };
        // Stops at the edge, or where the next one was there before.
        let (first, stride) = (draw(places), [1, width, places - 1, places - width.min(places - 1)][draw(4)]);
        let (count, scattered) = (1 + draw(most), draw(2) == 0);
        let mut positions = vec![first];
        for n in 1..count {
            let next = if scattered { draw(places) } else { (first + n * stride) % places };
            if !positions.contains(&next) {
                positions.push(next);
            }
        }
        let mut drawn = tuple(kind, &positions, clip);
        let like = |other: &TwinTuple| {
            other.shares.is_none()
                && (other.kind, other.clip, other.positions.len()) == (kind, clip, positions.len())
        };
        if draw(2) == 0 && number > 0 {
            drawn.shares = tuples.iter().position(like);
        }
        tuples.push(drawn);
    }
    TwinModel::NTuple(tuples)
}

fn n_tuple(tuples: &[TwinTuple]) -> NTuple {
    let pattern = |tuple: &TwinTuple| TuplePattern {
        kind: match tuple.kind {
            "steps" => TupleKind::Steps,
            "heights" => TupleKind::Heights,
            _ => TupleKind::Cells,
        },
        positions: tuple.positions.iter().map(|&position| position as u32).collect(),
        clip: tuple.clip as u32,
        shares: tuple.shares.map(|earlier| earlier as u32),
    };
    NTuple::new(tuples.iter().map(pattern).collect())
}

fn shape(model: &TwinModel) -> ModelShape {
    match model {
        TwinModel::Mlp(hidden, activation, tuples) => {
            let activation = match *activation {
                "relu" => Activation::Relu,
                "leaky_relu" => Activation::LeakyRelu,
                "hard_tanh" => Activation::HardTanh,
                "softsign" => Activation::Softsign,
                "hard_swish" => Activation::HardSwish,
                _ => Activation::Tanh,
            };
            let tables = (!tuples.is_empty()).then(|| n_tuple(tuples));
            let hidden = hidden.iter().map(|&units| units as u32).collect();
            ModelShape::Mlp(Mlp { hidden, activation, tables })
        }
        TwinModel::NTuple(tuples) => ModelShape::NTuple(n_tuple(tuples)),
    }
}

/// Networks of every depth, width and activation, tables, and networks that read tables, with parameters of several sizes:
/// those of 1e37 overflow.
fn all_models(width: usize, height: usize) -> Vec<(TwinModel, f32)> {
    vec![
        (mlp(&[1], "relu"), 1.0),
        (mlp(&[7], "leaky_relu"), 1.0),
        (mlp(&[8], "hard_tanh"), 0.125),
        (mlp(&[16, 9], "softsign"), 1.0),
        (mlp(&[3, 17, 8], "hard_swish"), 0.5),
        (mlp(&[4, 4, 4, 5], "relu"), 2.0),
        (mlp(&[9], "relu"), 1e37),
        (mlp(&[2, 3], "hard_swish"), 1e19),
        (mlp(&[13, 6], "tanh"), 0.25),
        (mlp(&[5], "tanh"), 1e37),
        (tuples(width, height), 1.0),
        (tuples(width, height), 2e38),
        (lines(width, height), 1.0),
        (many(width, height), 1.0),
        (both(&[21, 2], "hard_tanh", many(width, height)), 0.125),
        (both(&[16], "leaky_relu", lines(width, height)), 1.0),
        (both(&[1], "relu", tuples(width, height)), 1.0),
        (both(&[23, 4, 3], "softsign", tuples(width, height)), 0.5),
        (both(&[6, 8], "hard_swish", lines(width, height)), 0.25),
        (both(&[7, 3], "tanh", lines(width, height)), 0.25),
        (both(&[5], "relu", tuples(width, height)), 5e37),
    ]
}

/// A value function, in the library's form and in the twin's.
struct Case {
    features: Vec<&'static str>,
    weights: Vec<f64>,
    model: TwinModel,
    parameters: Vec<f32>,
}

impl Case {
    fn new(features: &[&'static str], model: TwinModel, scale: f32, seed: u64) -> Case {
        let count = features.len();
        let parameters = numbers(model.num_parameters(count), seed, scale);
        // Now and then the model alone.
        let weights = if seed.is_multiple_of(3) { vec![0.0; count] } else { weights(count, seed) };
        Case { features: features.to_vec(), weights, model, parameters }
    }

    fn row(&self) -> Vec<f64> {
        let parameters = self.parameters.iter().map(|number| f64::from(*number));
        self.weights.iter().copied().chain(parameters).collect()
    }

    fn agent(&self, width: u8, terminal_value: TerminalValue) -> LinearAgent {
        let set = FeatureSet::custom(&self.features, width).unwrap();
        LinearAgent::with_model(set, Some(shape(&self.model).into()), self.row(), terminal_value).unwrap()
    }

    fn plain(&self, terminal_value: TerminalValue, expectation: Expectation) -> Plain<'_> {
        Plain {
            features: &self.features,
            weights: &self.weights,
            model: Some((&self.model, &self.parameters)),
            avoids_the_end: terminal_value == TerminalValue::Avoid,
            expectation,
        }
    }

    /// The message of many policies.
    fn matrix(&self, rows: &[Vec<f64>]) -> pb::Weights {
        let dims = vec![rows.len() as u32, rows[0].len() as u32];
        self.of_tensor(tensor::encode(dims, &rows.concat()))
    }

    /// The message of one policy.
    fn message(&self) -> pb::Weights {
        let row = self.row();
        self.of_tensor(tensor::encode(vec![row.len() as u32], &row))
    }

    fn of_tensor(&self, weights: pb::Tensor) -> pb::Weights {
        let (mlp, n_tuple) = models::encode(&shape(&self.model));
        pb::Weights { features: self.selection(), weights: Some(weights), mlp, n_tuple }
    }

    fn selection(&self) -> Option<pb::FeatureSelection> {
        let features = self.features.iter().map(|name| (*name).to_owned()).collect();
        Some(features::from_names(features))
    }
}

/// The first placement with the largest score, and that score.
fn greedy(plain: &Plain<'_>, playfield: &TwinPlayfield, piece: char) -> (TwinPlacement, f64) {
    let all = twin::placements(playfield, piece);
    let mut best = (all[0], f64::NEG_INFINITY);
    for placement in all {
        let landing = twin::land(playfield, &placement);
        let score = plain.score(playfield, &landing);
        if !(landing.terminal && plain.avoids_the_end) && score > best.1 {
            best = (placement, score);
        }
    }
    best
}

fn placement(placement: TwinPlacement) -> Placement {
    Placement::straight(placement.orientation as u8, placement.column as u8)
}

#[test]
fn scores_and_choices_are_those_of_the_definition_on_every_kernel() {
    let (mut overflowed, mut compared) = (0, 0);
    for (size, (width, height)) in
        [(4, 5), (10, 10), (16, 12), (10, 20), (7, 40), (20, 9)].into_iter().enumerate()
    {
        let rules = Rules::simplified(width, height);
        for (number, (model, scale)) in all_models(width.into(), height.into()).into_iter().enumerate() {
            let seed = (10 * size + number) as u64;
            let mut features = FEATURES.to_vec();
            if number % 4 == 1 {
                features.push(UNKNOWN);
            }
            let case = Case::new(&features, model, scale, seed);
            let policy = [TerminalValue::Avoid, TerminalValue::Score][number % 2];
            let agent = case.agent(width, policy);
            assert_eq!(agent.is_fast(), features.len() == FEATURES.len());
            let plain = case.plain(policy, Expectation::default());
            for n in 0..4 {
                let cells = random_playfield(width.into(), height.into(), word(seed, 1, n));
                let playfield = Playfield::from_drawing(width, height, &cells.to_string()).unwrap();
                let letter = twin::uniform_tetromino(seed, n);
                let piece = Tetromino::from_letter(letter).unwrap();
                let expected = greedy(&plain, &cells, letter);
                for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                    let choice = agent.choose(kernel, &rules, &playfield, piece);
                    let got = (choice.placement, choice.score.to_bits());
                    let expected = (placement(expected.0), expected.1.to_bits());
                    assert_eq!(got, expected, "{kernel:?}, {:?}, {letter} on\n{cells}", case.model);
                }
                assert_eq!(
                    choose_plainly(&agent, &rules, &playfield, piece),
                    agent.choose(Kernel::best(), &rules, &playfield, piece)
                );
                let scores: Vec<f64> = twin::placements(&cells, letter)
                    .iter()
                    .map(|placement| twin::land(&cells, placement))
                    .filter(|landing| !(landing.terminal && plain.avoids_the_end))
                    .map(|landing| plain.score(&cells, &landing))
                    .collect();
                let ours: Vec<f64> =
                    agent.scores(&rules, &playfield, piece).iter().map(|choice| choice.score).collect();
                assert_eq!(ours, scores, "{:?}, {letter} on\n{cells}", case.model);
                let lowest = scores.iter().filter(|score| **score == f64::from(f32::MIN)).count();
                overflowed += usize::from(0 < lowest && lowest < scores.len());
                compared += scores.len();
            }
        }
    }
    assert!(compared > 3_000, "{compared} scores");
    assert!(overflowed > 3, "{overflowed} positions in which some outputs overflow and others do not");
}

#[test]
fn so_are_those_of_networks_and_tables_drawn_at_random() {
    for seed in 0..150 {
        let draw = |n, below: u64| word(seed, 80, n) % below;
        let (width, height) = (4 + draw(0, 13) as u8, 5 + draw(1, 20) as u8);
        let tables = drawn_tuples(width.into(), height.into(), seed);
        let hidden: Vec<usize> = (0..1 + draw(2, 3)).map(|layer| 1 + draw(3 + layer, 40) as usize).collect();
        let activations = ["relu", "leaky_relu", "hard_tanh", "softsign", "hard_swish", "tanh"];
        let activation = activations[draw(9, 6) as usize];
        let model = if seed % 4 == 0 { tables } else { both(&hidden, activation, tables) };
        let case = Case::new(&FEATURES, model, 1.0, seed);
        let (agent, rules) = (case.agent(width, TerminalValue::Score), Rules::simplified(width, height));
        let plain = case.plain(TerminalValue::Score, Expectation::default());
        for n in 0..3 {
            let cells = random_playfield(width.into(), height.into(), word(seed, 1, n));
            let playfield = Playfield::from_drawing(width, height, &cells.to_string()).unwrap();
            let letter = twin::uniform_tetromino(seed, n);
            let piece = Tetromino::from_letter(letter).unwrap();
            let expected = greedy(&plain, &cells, letter);
            let expected = (placement(expected.0), expected.1.to_bits());
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                let choice = agent.choose(kernel, &rules, &playfield, piece);
                let got = (choice.placement, choice.score.to_bits());
                assert_eq!(got, expected, "seed {seed}, {kernel:?}, {:?}, {letter} on\n{cells}", case.model);
            }
            let all = twin::placements(&cells, letter);
            let scores = all.iter().map(|placement| plain.score(&cells, &twin::land(&cells, placement)));
            let ours = agent.scores(&rules, &playfield, piece);
            let ours: Vec<u64> = ours.iter().map(|choice| choice.score.to_bits()).collect();
            assert_eq!(ours, scores.map(f64::to_bits).collect::<Vec<_>>(), "seed {seed}");
        }
    }
}

#[test]
fn the_entries_of_an_afterstate_add_up_to_its_output() {
    for (n, (width, height)) in [(4, 4), (10, 20), (17, 9), (32, 40)].into_iter().enumerate() {
        for seed in 0..120 {
            let twin = [tuples, lines, many][seed as usize % 3](width, height);
            let ModelShape::NTuple(n_tuple) = shape(&twin) else { unreachable!() };
            let parameters = numbers(n_tuple.num_entries(), 5, 1.0);
            // From none to more than are read side by side.
            let playfields: Vec<_> = (0..seed % 20)
                .map(|number| random_playfield(width, height, 100_000 * n as u64 + 100 * seed + number))
                .collect();
            let row = |playfield: &TwinPlayfield, row| {
                (0..width).map(|column| u32::from(playfield.is_full(row, column)) << column).sum::<u32>()
            };
            let rows: Vec<u32> =
                playfields.iter().flat_map(|cells| (0..height).map(|at| row(cells, at))).collect();
            let count = n_tuple.tuples().len();
            let size = (width as u8, height as u8);
            let mut entries = vec![];
            n_tuple.append_entries(Kernel::Portable, size, &rows, &mut entries);
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                let mut others = vec![7];
                n_tuple.append_entries(kernel, size, &rows, &mut others);
                assert_eq!(others[1..], entries, "seed {seed}, {kernel:?}");
            }
            assert_eq!(entries.len(), playfields.len() * count);
            for (entries, playfield) in entries.chunks_exact(count).zip(&playfields) {
                let sum = entries.iter().fold(0.0, |sum, entry| sum + parameters[*entry as usize]);
                assert_eq!(sum.to_bits(), twin.output(&parameters, &[], playfield).to_bits(), "seed {seed}");
            }
        }
    }
}

#[test]
fn what_stands_in_the_way_of_a_piece_is_seen() {
    // Where pieces walk along the top, the kernels are asked as long as nothing stands there.
    let rules = Rules { reach: Reach::SidewaysWalk, ..Rules::simplified(8, 8) };
    let case = Case::new(&FEATURES, mlp(&[6], "relu"), 1.0, 1);
    let agent = case.agent(8, TerminalValue::Avoid);
    let (mut clear, mut in_the_way) = (0, 0);
    for seed in 0..200 {
        let cells = random_playfield(8, 8, seed);
        let playfield = Playfield::from_drawing(8, 8, &cells.to_string()).unwrap();
        let piece = Tetromino::from_letter(twin::uniform_tetromino(seed, 0)).unwrap();
        let reachable = placements(&rules, &playfield, piece).len();
        if reachable == 0 {
            continue;
        }
        let all = placements(&Rules::simplified(8, 8), &playfield, piece).len();
        *if reachable == all { &mut clear } else { &mut in_the_way } += 1;
        let plain = choose_plainly(&agent, &rules, &playfield, piece);
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
            assert_eq!(agent.choose(kernel, &rules, &playfield, piece), plain, "{piece} on\n{cells}");
        }
    }
    assert!(clear > 10 && in_the_way > 10, "{clear} and {in_the_way} playfields");
}

/// The lines and the pieces of a game.
type Counts = (u64, u64, bool);

/// Plays a game of the `uniform` randomizer on the twin.
fn twin_game(
    (width, height): (u8, u8),
    seed: u64,
    max_pieces: u64,
    choose: impl Fn(&TwinPlayfield, char, &[char]) -> Placement,
) -> Counts {
    let mut playfield = TwinPlayfield::empty(width.into(), height.into());
    let mut lines = 0;
    for n in 0..max_pieces {
        let letter = |n| twin::uniform_tetromino(seed, n);
        let Placement { orientation, column, .. } = choose(&playfield, letter(n), &[letter(n + 1)]);
        let placement =
            TwinPlacement { tetromino: letter(n), orientation: orientation.into(), column: column.into() };
        let TwinLanding { afterstate, terminal, lines: cleared, .. } = twin::land(&playfield, &placement);
        (playfield, lines) = (afterstate, lines + cleared as u64);
        if terminal {
            return (lines, n + 1, false);
        }
    }
    (lines, max_pieces, true)
}

fn counts(answer: &Answer, policy: u32) -> Vec<Counts> {
    let games = answer.results.iter().filter(|game| game.policy == policy);
    games.map(|game| (game.lines, game.pieces, game.is_truncated())).collect()
}

fn request(
    (width, height): (u8, u8),
    policies: Vec<pb::Policy>,
    seeds: &[u64],
    max_pieces: u64,
) -> pb::EvaluatePoliciesRequest {
    pb::EvaluatePoliciesRequest {
        rules: Some(pb::Rules { width: width.into(), height: height.into(), ..Default::default() }),
        policies,
        seeding: Some(seeding::from_seeds(seeds.to_vec())),
        max_pieces,
        include_results: true,
        ..Default::default()
    }
}

#[tokio::test]
async fn the_servers_games_are_those_of_the_twin() {
    let (mut one, _guard) = start(1).await;
    let (mut two, _guard_of_two) = start(2).await;
    let seeds = [5, 2];
    let (mut ended, mut games) = (0, 0);
    for (turn, size) in [(10, 10), (5, 8), (12, 6)].into_iter().enumerate() {
        for (number, (model, scale)) in all_models(size.0.into(), size.1.into()).into_iter().enumerate() {
            let policy = [TerminalValue::Score, TerminalValue::Avoid][(turn + number) % 2];
            let terminal_value = 1 + i32::from(policy == TerminalValue::Score);
            let case = Case::new(&FEATURES, model.clone(), scale, 3 * number as u64);
            let other = Case::new(&FEATURES, model, scale, 3 * number as u64 + 1);
            let policies = [case.matrix(&[case.row(), other.row()]), other.message()]
                .map(|weights| pb::Policy { terminal_value, ..weighing(weights) });
            let asked = request(size, policies.into(), &seeds, 60);
            let answer = ask(&mut one, asked.clone()).await.unwrap();
            assert_eq!(ask(&mut two, asked).await.unwrap().results, answer.results);
            for (row, case) in [&case, &other, &other].into_iter().enumerate() {
                let plain = case.plain(policy, Expectation::default());
                let game = |seed: &u64| {
                    twin_game(size, *seed, 60, |playfield, piece, _| {
                        placement(greedy(&plain, playfield, piece).0)
                    })
                };
                let expected: Vec<_> = seeds.iter().map(game).collect();
                assert_eq!(counts(&answer, row as u32), expected, "{size:?}, {:?}", case.model);
                ended += expected.iter().filter(|(.., truncated)| !truncated).count();
                games += expected.len();
            }
        }
    }
    assert!(0 < ended && ended < games, "{ended} of {games} games ended");
}

#[tokio::test]
async fn so_are_those_that_weigh_the_next_piece() {
    let (mut client, _guard) = start(2).await;
    let (size, seeds) = ((6, 8), [8, 9]);
    let default = Expectation::default();
    let odds: Vec<(char, f64)> = twin::TETROMINOES.chars().map(|piece| (piece, 1.0)).collect();
    for (number, (model, scale)) in all_models(6, 8).into_iter().enumerate() {
        let terms = [Terms::Landing, Terms::All, Terms::None][number % 3];
        let expectation = Expectation { placements: 3, terms, ..default };
        let case = Case::new(&FEATURES, model, scale, number as u64);
        let search = Some(search::encode(Search::Expectation(expectation)));
        let policies = [case.matrix(&[case.row()]), case.message()]
            .map(|weights| pb::Policy { search, ..weighing(weights) });
        let asked = request(size, policies.into(), &seeds, 20);
        let answer = ask(&mut client, asked).await.unwrap();
        let plain = case.plain(TerminalValue::Avoid, expectation);
        let game = |seed: &u64| {
            twin_game(size, *seed, 20, |playfield, piece, _| plain.choose(playfield, piece, &[], &odds))
        };
        let expected: Vec<_> = seeds.iter().map(game).collect();
        assert_eq!([counts(&answer, 0), counts(&answer, 1)], [&expected[..]; 2], "{:?}", case.model);
    }
}

#[tokio::test]
async fn so_are_those_that_look_ahead() {
    let (mut client, _guard) = start(1).await;
    let (size, seeds) = ((7, 9), [8, 9]);
    let both = both(&[9, 5], "relu", lines(7, 9));
    for (number, model) in [mlp(&[6, 5], "softsign"), tuples(7, 9), both].into_iter().enumerate() {
        let case = Case::new(&FEATURES, model, 1.0, number as u64);
        let search = Some(search::encode(Search::Lookahead { pieces: 1 }));
        let policies = [case.matrix(&[case.row()]), case.message()]
            .map(|weights| pb::Policy { search, ..weighing(weights) });
        let mut asked = request(size, policies.into(), &seeds, 25);
        asked.rules.as_mut().unwrap().preview = Some(1);
        let answer = ask(&mut client, asked).await.unwrap();
        let plain = case.plain(TerminalValue::Avoid, Expectation::default());
        let choose = |playfield: &TwinPlayfield, piece: char, next: &[char]| {
            let value = |candidate: &TwinPlacement| {
                let landing = twin::land(playfield, candidate);
                if landing.terminal {
                    return f64::NEG_INFINITY;
                }
                plain.score(playfield, &landing) + greedy(&plain, &landing.afterstate, next[0]).1
            };
            let all = twin::placements(playfield, piece);
            let values: Vec<f64> = all.iter().map(value).collect();
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            match values.iter().position(|value| *value == largest) {
                Some(best) if largest > f64::NEG_INFINITY => placement(all[best]),
                // Where every way ends, the scores of now decide.
                _ => placement(greedy(&plain, playfield, piece).0),
            }
        };
        let expected: Vec<_> = seeds.iter().map(|seed| twin_game(size, *seed, 25, choose)).collect();
        assert_eq!([counts(&answer, 0), counts(&answer, 1)], [&expected[..]; 2], "{:?}", case.model);
    }
}

#[tokio::test]
async fn a_model_of_zeros_changes_nothing() {
    let (mut client, _guard) = start(2).await;
    let dt_10 = Controller::named("dt-10").unwrap();
    let names = FeatureSet::named("thiery9", 10).unwrap().names();
    let features: Vec<&'static str> = names.into_iter().map(|name| &*name.leak()).collect();
    let default = Expectation::default();
    for (model, height, max_pieces, search) in [
        (mlp(&[32], "relu"), 10, 4_000, None),
        (tuples(10, 10), 10, 4_000, None),
        (both(&[16], "leaky_relu", lines(10, 10)), 10, 4_000, None),
        (mlp(&[5, 5], "hard_swish"), 6, 300, Some(search::encode(Search::Expectation(default)))),
        (tuples(10, 6), 6, 300, Some(search::encode(Search::Expectation(default)))),
    ] {
        let parameters = vec![0.0; model.num_parameters(9)];
        let case = Case { features: features.clone(), weights: dt_10.weights.to_vec(), model, parameters };
        let policies =
            [weighing(case.message()), named("dt-10")].map(|policy| pb::Policy { search, ..policy });
        let asked = request((10, height), policies.into(), &[1, 2, 3], max_pieces);
        let answer = ask(&mut client, asked).await.unwrap();
        assert_eq!(counts(&answer, 0), counts(&answer, 1), "{:?}", case.model);
        assert!(counts(&answer, 0).iter().any(|(lines, ..)| *lines > 20), "{:?}", counts(&answer, 0));
        let [mut ours, mut linear] = <[_; 2]>::try_from(answer.summary.policies).unwrap();
        (ours.policy_index, linear.policy_index) = (0, 0);
        assert_eq!(ours, linear, "the summaries, to the byte");
    }
}

#[test]
fn slices_are_played_alike_and_are_short_for_large_models() {
    let rules = Rules::simplified(10, 10);
    let bounds = |pieces| Bounds::of_game(pieces, u64::MAX);
    let begin = || Episode::new(&rules, Dealer::seeded(rules.randomizer, 7), AgentRng::new(7));
    for (model, scale) in [
        (mlp(&[20, 4], "hard_tanh"), 0.25),
        (tuples(10, 10), 1.0),
        (both(&[16], "leaky_relu", lines(10, 10)), 0.25),
    ] {
        let case = Case::new(&FEATURES, model, scale, 1);
        let expectation = Expectation { placements: 4, ..Expectation::default() };
        for search in [Search::Greedy, Search::Expectation(expectation)] {
            let agent = Agent::searching(case.agent(10, TerminalValue::Avoid), search);
            let mut whole = begin();
            whole.play(&rules, &agent, Kernel::Portable, bounds(40));
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                let (mut sliced, mut slice) = (begin(), 1);
                while !sliced.is_over(bounds(40)) {
                    sliced.advance(&rules, &agent, kernel, bounds(40), 13 * slice);
                    slice = slice % 5 + 1;
                }
                assert_eq!(sliced.game, whole.game, "{kernel:?}, {:?}, {search:?}", case.model);
            }
        }
    }
    // The largest network multiplies as often for a piece as the kernels do for thousands of pieces.
    let largest = Case::new(&FEATURES, mlp(&[MAX_HIDDEN_UNITS as usize; 4], "relu"), 0.01, 1);
    let agent = Agent::searching(largest.agent(10, TerminalValue::Avoid), Search::Greedy);
    let mut episode = begin();
    episode.advance(&rules, &agent, Kernel::best(), bounds(u64::MAX), SLICE);
    assert!(episode.game.pieces < 10, "{} pieces in a slice", episode.game.pieces);
}
