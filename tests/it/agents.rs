//! The agents, each against a slow plain one: what they choose, what they draw, and what they are known to score.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use tetrion::agents::{
    AGENTS, Agent, AgentRng, Controller, Decision, Kernel, LinearAgent, LookaheadAgent, MonteCarlo, Sight,
    TerminalPolicy,
};
use tetrion::engine::rng::{Tag, word as engine_word};
use tetrion::engine::{
    Dealer, Odds, Placement, Playfield, Randomizer, Rules, Tetromino, TopOut, is_blocked, placements,
};
use tetrion::features::FeatureSet;
use tetrion::pool::{Party, Pool};
use tetrion::rollout::{Bounds, Counters, Deal, Episode, Evaluation, GameResult, Next, spawn};

use crate::twin::{self, Losing, TwinPlacement, TwinPlayfield, uniform_tetromino};

const ENDLESS: Bounds = Bounds { pieces: u64::MAX, steps: u64::MAX };

/// The whole choice of an agent.
fn choose(agent: &Agent, kernel: Kernel, sight: &Sight<'_>, rng: &mut AgentRng) -> Placement {
    match agent.decide(kernel, sight, rng) {
        Decision::Place(placement) => placement,
        Decision::Press(agent) => panic!("{agent:?} presses keys"),
    }
}

fn linear(set: &str, width: u8, weights: &[f64], terminal: TerminalPolicy) -> LinearAgent {
    LinearAgent::new(FeatureSet::named(set, width).unwrap(), weights.into(), terminal).unwrap()
}

fn flat_stacking(width: u8) -> LinearAgent {
    Controller::named("flat-stacking").unwrap().agent(width).unwrap()
}

/// The agent's words as the promise's text has them, counted by the test.
struct Words {
    seed: u64,
    drawn: u64,
}

impl Words {
    fn next(&mut self) -> u64 {
        self.drawn += 1;
        twin::word(self.seed, 4, self.drawn - 1)
    }
}

/// Stretches a word over a bound: the whole part, and what is left as a word.
fn stretched(word: u64, bound: usize) -> (usize, u64) {
    let product = u128::from(word) * bound as u128;
    ((product / (1 << 64)) as usize, (product % (1 << 64)) as u64)
}

/// Plays a game on cells, an agent being a function of what it sees: (lines, pieces), the last piece included.
fn plain_game(
    (width, height): (usize, usize),
    seed: u64,
    preview: usize,
    mut choose: impl FnMut(&TwinPlayfield, char, &[char]) -> TwinPlacement,
) -> (u64, u64) {
    let mut playfield = TwinPlayfield::empty(width, height);
    let (mut lines, mut pieces) = (0, 0);
    loop {
        let shown: Vec<char> = (0..=preview as u64).map(|n| uniform_tetromino(seed, pieces + n)).collect();
        let landing = twin::land(&playfield, &choose(&playfield, shown[0], &shown[1..]));
        pieces += 1;
        lines += landing.lines as u64;
        if landing.terminal {
            return (lines, pieces);
        }
        playfield = landing.afterstate;
    }
}

fn game(rules: &Rules, agent: &Agent, seed: u64) -> (u64, u64) {
    let mut episode = Episode::new(rules, Dealer::seeded(rules.randomizer, seed), AgentRng::new(seed));
    episode.play(rules, agent, Kernel::best(), ENDLESS);
    assert_eq!(episode.steps, episode.game.pieces, "a step is a piece");
    (episode.game.lines, episode.game.pieces)
}

#[test]
fn dummies_and_random_agents_play_the_games_of_plain_ones() {
    for (width, height, seed) in [(10, 20, 1), (4, 4, 2), (7, 9, 3), (32, 6, 4), (17, 40, 5)] {
        let rules = Rules::simplified(width, height);
        let size = (width.into(), height.into());
        for seed in 100 * seed..100 * seed + 20 {
            let expected =
                plain_game(size, seed, 0, |playfield, piece, _| twin::placements(playfield, piece)[0]);
            assert_eq!(game(&rules, &Agent::Dummy, seed), expected, "dummy, seed {seed}");

            let mut words = Words { seed, drawn: 0 };
            let expected = plain_game(size, seed, 0, |playfield, piece, _| {
                let all = twin::placements(playfield, piece);
                all[stretched(words.next(), all.len()).0]
            });
            assert_eq!(game(&rules, &Agent::Random, seed), expected, "random, seed {seed}");

            let mut words = Words { seed, drawn: 0 };
            let expected = plain_game(size, seed, 0, |playfield, piece, _| {
                let turns = stretched(words.next(), 4).0;
                let all = twin::placements(playfield, piece);
                let distinct = all.iter().map(|placement| placement.orientation).max().unwrap() + 1;
                let of_turn: Vec<_> = all.iter().filter(|at| at.orientation == turns % distinct).collect();
                *of_turn[stretched(words.next(), of_turn.len()).0]
            });
            assert_eq!(game(&rules, &Agent::RandomSurvey, seed), expected, "random_survey, seed {seed}");
        }
    }
}

/// The result of a placement's playouts, one after the other: lines and pieces, those of the placement itself included.
fn plain_playouts(
    playfield: &TwinPlayfield,
    placement: &TwinPlacement,
    shown: &[char],
    playouts: u32,
    words: &mut Words,
) -> (usize, u64) {
    let (mut lines, mut pieces) = (0, 0);
    for _ in 0..playouts {
        let mut shown = shown.iter();
        let mut landing = twin::land(playfield, placement);
        lines += landing.lines;
        pieces += 1;
        while !landing.terminal {
            let (piece, word) = match shown.next() {
                Some(piece) => (*piece, words.next()),
                None => {
                    let (index, rest) = stretched(words.next(), 7);
                    (twin::TETROMINOES.chars().nth(index).unwrap(), rest)
                }
            };
            let all = twin::placements(&landing.afterstate, piece);
            landing = twin::land(&landing.afterstate, &all[stretched(word, all.len()).0]);
            lines += landing.lines;
            pieces += 1;
        }
    }
    (lines, pieces)
}

/// Monte-Carlo by brute force: more lines win, then more pieces, then the first.
fn plain_monte_carlo(
    playfield: &TwinPlayfield,
    piece: char,
    shown: &[char],
    playouts: u32,
    words: &mut Words,
) -> TwinPlacement {
    let mut best = None;
    for placement in twin::placements(playfield, piece) {
        let worth = plain_playouts(playfield, &placement, shown, playouts, words);
        if best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, placement));
        }
    }
    best.unwrap().1
}

/// The report's `doMCmove`, line by line; its game has cleared `lines` rows before.
fn monte_carlo_of_the_listing(
    playfield: &TwinPlayfield,
    piece: char,
    lines: usize,
    playouts: u32,
    words: &mut Words,
) -> TwinPlacement {
    let possibilities = twin::placements(playfield, piece);
    let (mut best_move, mut most_rows_cleared, mut most_moves) = (0, 0, 0);
    for (number, placement) in possibilities.iter().enumerate() {
        let (rows, total_moves) = plain_playouts(playfield, placement, &[], playouts, words);
        // Every playout is a copy of the game and counts on from its rows.
        let total_rows_cleared = rows + lines * playouts as usize;
        if total_rows_cleared > most_rows_cleared {
            most_rows_cleared = total_rows_cleared;
            best_move = number;
        } else if total_rows_cleared == most_rows_cleared && total_moves > most_moves {
            most_moves = total_moves;
            best_move = number;
        }
    }
    possibilities[best_move]
}

#[test]
fn monte_carlo_plays_the_games_of_brute_force() {
    // Sizes of each kind of word that its playouts are played on.
    for (width, height, preview, playouts, games) in
        [(5, 5, 0, 7, 6), (4, 8, 1, 3, 3), (10, 6, 2, 2, 2), (18, 4, 0, 2, 2), (6, 30, 0, 1, 1)]
    {
        let rules = Rules { preview: preview as u8, ..Rules::simplified(width, height) };
        for seed in 0..games {
            let mut words = Words { seed, drawn: 0 };
            let size = (width.into(), height.into());
            let expected = plain_game(size, seed, preview, |playfield, piece, shown| {
                plain_monte_carlo(playfield, piece, shown, playouts, &mut words)
            });
            let agent = Agent::MonteCarlo(MonteCarlo::new(playouts));
            assert_eq!(game(&rules, &agent, seed), expected, "{width} x {height}, seed {seed}");
        }
    }
}

#[test]
fn monte_carlo_as_coded_plays_the_games_of_the_listing() {
    let mut games_that_differ = 0;
    for (width, height, playouts, games) in [(5, 5, 7, 12), (4, 8, 3, 6), (6, 6, 2, 12), (10, 7, 5, 3)] {
        let rules = Rules::simplified(width, height);
        for seed in 0..games {
            let mut words = Words { seed, drawn: 0 };
            let size = (usize::from(width), usize::from(height));
            let mut pieces = 0;
            let expected = plain_game(size, seed, 0, |playfield, piece, _| {
                // Four cells a piece, less those of the lines.
                let cells = (0..size.0).flat_map(|column| playfield.column(column)).filter(|full| *full);
                let lines = (4 * pieces - cells.count()) / size.0;
                pieces += 1;
                monte_carlo_of_the_listing(playfield, piece, lines, playouts, &mut words)
            });
            let as_coded = game(&rules, &Agent::MonteCarlo(MonteCarlo::as_coded(playouts)), seed);
            assert_eq!(as_coded, expected, "{width} x {height}, seed {seed}");
            let one_record = game(&rules, &Agent::MonteCarlo(MonteCarlo::new(playouts)), seed);
            games_that_differ += usize::from(one_record != as_coded);
        }
    }
    assert!(games_that_differ > 10, "the slip shows in {games_that_differ} games only");
}

#[test]
fn all_kernels_count_the_same_playouts_under_all_rules() {
    let sizes = [(10, 10), (20, 15), (10, 22), (24, 33)];
    for (preset, (width, height)) in ["leiden", "simplified", "genetic", "survey"].into_iter().zip(sizes) {
        for top_out in [TopOut::Overflow, TopOut::SpawnBlocked, TopOut::TopRow, TopOut::AboveField] {
            let rules = Rules { width, height, top_out, ..Rules::preset(preset).unwrap() };
            let playfield = Playfield::empty(width, height);
            let sight = Sight {
                rules: &rules,
                playfield: &playfield,
                piece: Tetromino::L,
                next: &[],
                held: None,
                odds: Odds::EVEN,
                lines: 0,
            };
            let agent = MonteCarlo::new(20);
            let tally = |kernel| {
                let mut rng = AgentRng::new(5);
                (agent.tally(kernel, &sight, Placement::straight(2, 3), &mut rng), rng)
            };
            let (portable, after) = tally(Kernel::Portable);
            assert!(portable.pieces > 100, "{portable:?}");
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                assert_eq!(tally(kernel), (portable, after.clone()), "{preset}, {top_out:?}, {kernel:?}");
            }
        }
    }
}

/// A look ahead by its definition, on cells: the value of a placement with these pieces to come.
fn plain_value(
    playfield: &TwinPlayfield,
    placement: &TwinPlacement,
    next: &[char],
    features: &[&str],
    weights: &[f64],
    losing: Losing,
) -> f64 {
    let landing = twin::land(playfield, placement);
    if landing.terminal && losing == Losing::Avoid {
        return f64::NEG_INFINITY;
    }
    let score = twin::score(features, weights, playfield, &landing);
    let Some((piece, rest)) = next.split_first() else { return score };
    let after = &landing.afterstate;
    let values = twin::placements(after, *piece);
    let values = values.iter().map(|next| plain_value(after, next, rest, features, weights, losing));
    score + values.fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn looks_ahead_find_what_their_definition_says() {
    let features = ["total_height", "lines_cleared", "holes", "bumpiness"];
    // Whole numbers, so that sums are exact in any order.
    let weights = [-2.0, 3.0, -5.0, -1.0];
    let unknown = ["total_height", "lines_cleared", "holes_enclosed", "bumpiness"];
    for (features, is_fast) in [(features, true), (unknown, false)] {
        for (terminal, losing) in
            [(TerminalPolicy::Avoid, Losing::Avoid), (TerminalPolicy::Score, Losing::Score)]
        {
            for (lookahead, preview, most_pieces) in [(1, 1, 40), (1, 3, 25), (2, 2, 5)] {
                let (width, height) = (5, 5);
                let rules = Rules { preview, ..Rules::simplified(width, height) };
                let set = FeatureSet::custom(&features, width).unwrap();
                let linear = LinearAgent::new(set, weights.to_vec(), terminal).unwrap();
                assert_eq!(linear.scorer().is_some(), is_fast);
                let agent = Agent::Lookahead(LookaheadAgent::new(linear, lookahead));
                for seed in 0..3 {
                    let mut playfield = Playfield::empty(width, height);
                    for n in 0..most_pieces {
                        let letters: Vec<char> =
                            (0..=u64::from(preview)).map(|k| uniform_tetromino(seed, n + k)).collect();
                        let pieces: Vec<Tetromino> =
                            letters.iter().map(|letter| Tetromino::from_letter(*letter).unwrap()).collect();
                        let sight = Sight {
                            rules: &rules,
                            playfield: &playfield,
                            piece: pieces[0],
                            next: &pieces[1..],
                            held: None,
                            odds: Odds::EVEN,
                            lines: 0,
                        };
                        let chosen = choose(&agent, Kernel::best(), &sight, &mut AgentRng::new(0));

                        let plain = TwinPlayfield::drawn(&playfield.to_string(), height.into());
                        let all = twin::placements(&plain, letters[0]);
                        let value = |placement, looked: usize| {
                            let next = &letters[1..=looked];
                            plain_value(&plain, placement, next, &features, &weights, losing)
                        };
                        let mut values: Vec<f64> =
                            all.iter().map(|placement| value(placement, lookahead as usize)).collect();
                        if values.iter().all(|value| *value == f64::NEG_INFINITY) {
                            values = all.iter().map(|placement| value(placement, 0)).collect();
                        }
                        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                        let first = all[values.iter().position(|value| *value == largest).unwrap()];
                        let expected = Placement::straight(first.orientation as u8, first.column as u8);
                        assert_eq!(chosen, expected, "{} for {letters:?} on\n{playfield}", lookahead);
                        let shape = chosen.shape(&rules, pieces[0]).unwrap();
                        if playfield.drop(shape, chosen.column, rules.top_out).terminal {
                            break;
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn to_see_the_next_piece_is_worth_lines() {
    let agent = |lookahead| {
        let lee = Controller::named("yiyuan-lee").unwrap().agent(10).unwrap();
        if lookahead == 0 {
            Agent::Linear(lee)
        } else {
            Agent::Lookahead(LookaheadAgent::new(lee, lookahead))
        }
    };
    let rules = Rules { preview: 1, ..Rules::simplified(10, 6) };
    let lines = |lookahead| (0..40).map(|seed| game(&rules, &agent(lookahead), seed).0).sum::<u64>();
    let (without, with) = (lines(0), lines(1));
    assert!(with > 2 * without, "{without} lines without, {with} with a look ahead");
}

/// The smart agent as its report has it: cells, and the sum written out. Row 0 is the lowest row.
fn plain_smart(rules: &Rules, cells: &[Vec<bool>], piece: Tetromino) -> Placement {
    let (width, height) = (usize::from(rules.width), usize::from(rules.height));
    let closed = |cells: &[Vec<bool>]| -> i64 {
        let covered = |r: usize, c: usize| !cells[r][c] && cells[r..].iter().any(|row| row[c]);
        (0..height).map(|r| (0..width).filter(|&c| covered(r, c)).count() as i64).sum()
    };
    let shaft = |cells: &[Vec<bool>]| -> i64 {
        let mut count = 0;
        for c in 0..width {
            let mut inside = false;
            for r in (0..height).rev() {
                if cells[r][c] {
                    break;
                }
                inside |= (c == 0 || cells[r][c - 1]) && (c + 1 == width || cells[r][c + 1]);
                count += i64::from(inside);
            }
        }
        count
    };
    let mut best: Option<(i64, Placement)> = None;
    for (orientation, shape) in rules.shapes(piece).iter().enumerate() {
        for column in 0..=width - usize::from(shape.width) {
            let offsets: Vec<(usize, usize)> = (0..shape.height)
                .flat_map(|r| (0..shape.width).map(move |c| (r, c)))
                .filter(|&(r, c)| shape.row_bits(r) >> c & 1 == 1)
                .map(|(r, c)| (usize::from(r), usize::from(c)))
                .collect();
            let is_free =
                |at: usize| offsets.iter().all(|&(r, c)| at + r >= height || !cells[at + r][column + c]);
            let mut at = height;
            while at > 0 && is_free(at - 1) {
                at -= 1;
            }
            let mut after = cells.to_vec();
            let mut highest = 0;
            for &(r, c) in &offsets {
                highest = highest.max(at + r);
                if at + r < height {
                    after[at + r][column + c] = true;
                }
            }
            after.retain(|row| row.iter().any(|full| !full));
            let cleared = height - after.len();
            after.resize(height, vec![false; width]);
            if after[height - 3].contains(&true) {
                continue; // ends the game
            }
            let value = cleared as i64 + (height as i64 - highest as i64) - 4 * closed(&after)
                + (shaft(cells) - shaft(&after));
            let placement = Placement::straight(orientation as u8, column as u8);
            if best.is_none_or(|(most, _)| value > most) {
                best = Some((value, placement));
            }
        }
    }
    best.map_or(Placement::straight(0, 0), |(_, placement)| placement)
}

#[test]
fn flat_stacking_chooses_by_the_reports_sum() {
    let mut choices = 0;
    for (width, height) in [(10, 10), (10, 15), (15, 12), (20, 8)] {
        let rules = Rules { width, height, ..Rules::preset("leiden").unwrap() };
        let agent = Agent::Linear(flat_stacking(width));
        for seed in 0..4 {
            let mut dealer = Dealer::seeded(Randomizer::Uniform, seed);
            let mut playfield = Playfield::empty(width, height);
            for _ in 0..80 {
                let piece = dealer.deal().unwrap();
                let cells: Vec<Vec<bool>> = (0..height)
                    .map(|row| (0..width).map(|column| playfield.is_full(row, column)).collect())
                    .collect();
                let sight = Sight {
                    rules: &rules,
                    playfield: &playfield,
                    piece,
                    next: &[],
                    held: None,
                    odds: Odds::EVEN,
                    lines: 0,
                };
                let chosen = choose(&agent, Kernel::best(), &sight, &mut AgentRng::new(0));
                assert_eq!(chosen, plain_smart(&rules, &cells, piece), "{piece} on\n{playfield}");
                choices += 1;
                let shape = chosen.shape(&rules, piece).unwrap();
                if playfield.drop(shape, chosen.column, rules.top_out).terminal {
                    break;
                }
            }
        }
    }
    assert!(choices > 500, "only {choices} choices compared");
}

#[test]
fn the_fast_way_to_stack_flatly_has_the_bits_of_the_plain_functions() {
    let mut choices = 0;
    for (n, top_out) in
        [TopOut::Overflow, TopOut::TopRow, TopOut::AboveField, TopOut::SpawnBlocked].into_iter().enumerate()
    {
        for (width, height) in [(4, 4), (5, 7), (10, 10), (16, 12), (17, 9), (20, 15), (7, 33), (32, 40)] {
            let rules = Rules { width, height, top_out, ..Rules::preset("leiden").unwrap() };
            for terminal in [TerminalPolicy::Avoid, TerminalPolicy::Score] {
                let seed = 1000 * n as u64 + 40 * u64::from(width) + u64::from(height);
                let draw = |k: u64| engine_word(seed, Tag::Reseed, k);
                // Odd weights, so that another order of summation shows.
                let weights: Vec<f64> = (0..4).map(|k| draw(k) as f64 / 1e19 - 0.9).collect();
                let agent = linear("flatstack", width, &weights, terminal);
                assert!(agent.is_fast() && agent.scorer().is_none());
                let mut playfield = Playfield::empty(width, height);
                for k in 10..130 {
                    let piece = Tetromino::ALL[(draw(k) % 7) as usize];
                    if is_blocked(&rules, &playfield, piece) {
                        break;
                    }
                    let plain = agent.choose_plainly(&rules, &playfield, piece);
                    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                        let fast = agent.choose(kernel, &rules, &playfield, piece);
                        assert_eq!(fast, plain, "{piece} under {top_out:?}, {terminal:?}\n{playfield}");
                        assert_eq!(fast.score.to_bits(), plain.score.to_bits());
                    }
                    choices += 1;
                    // Flat stacks by the report's own weights, and anything now and then.
                    let all = placements(&rules, &playfield, piece);
                    let flat = flat_stacking(width).choose_plainly(&rules, &playfield, piece);
                    let wild = all.nth((draw(1000 + k) % u64::from(all.len())) as u32).unwrap();
                    let chosen = if k % 5 == 0 { wild } else { flat.placement };
                    let shape = chosen.shape(&rules, piece).unwrap();
                    if playfield.drop(shape, chosen.column, top_out).terminal && k % 3 != 0 {
                        break; // else it goes on after the end, as from a drawing
                    }
                }
            }
        }
    }
    assert!(choices > 2_000, "only {choices} choices compared");
}

#[test]
fn where_pieces_walk_the_kernel_chooses_what_the_plain_functions_choose() {
    let rules = Rules { height: 9, ..Rules::preset("genetic").unwrap() };
    for name in ["genetic", "lab-uniform", "dellacherie"] {
        let agent = Controller::named(name).unwrap().agent(10).unwrap();
        assert!(agent.scorer().is_some(), "{name}");
        let (mut clear, mut in_the_way) = (0, 0);
        for seed in 0..60 {
            let mut dealer = Dealer::seeded(Randomizer::Uniform, seed);
            let mut playfield = Playfield::empty(10, 9);
            loop {
                let piece = dealer.deal().unwrap();
                if is_blocked(&rules, &playfield, piece) {
                    break;
                }
                let plain = agent.choose_plainly(&rules, &playfield, piece);
                for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                    assert_eq!(agent.choose(kernel, &rules, &playfield, piece), plain, "{name}\n{playfield}");
                }
                let all = placements(&rules, &playfield, piece);
                let straight = Rules { reach: Default::default(), ..rules };
                let exist = placements(&straight, &playfield, piece).len();
                if all.len() == exist {
                    clear += 1
                } else {
                    in_the_way += 1
                }
                // Now and then anywhere, so that stacks get high.
                let wild = engine_word(seed, Tag::Game, clear + in_the_way).is_multiple_of(4);
                let chosen = if wild { all.nth(all.len() / 2).unwrap() } else { plain.placement };
                let shape = chosen.shape(&rules, piece).unwrap();
                if playfield.drop(shape, chosen.column, rules.top_out).terminal {
                    break;
                }
            }
        }
        assert!(clear > 500 && in_the_way > 20, "{name}: {clear} and {in_the_way}");
    }
}

/// Plays an agent's games on this many threads.
fn run(threads: usize, evaluation: &Evaluation) -> Vec<GameResult> {
    let pool = Pool::new(threads).unwrap().lane(Party::Own);
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let sink = move |result, next: Next| {
        sender.lock().unwrap().send(result).unwrap();
        next();
    };
    let progress = Arc::new(Counters::default());
    spawn(&pool, Arc::new(evaluation.clone()), 0, Arc::default(), progress, sink);
    let mut results: Vec<GameResult> = receiver.iter().collect();
    results.sort_by_key(|result| result.game);
    results
}

fn everybody(width: u8) -> Vec<Agent> {
    let lee = linear("height4", width, &[-0.51, 0.76, -0.36, -0.18], TerminalPolicy::Avoid);
    vec![
        Agent::Dummy,
        Agent::Random,
        Agent::RandomSurvey,
        Agent::MonteCarlo(MonteCarlo::new(10)),
        Agent::Lookahead(LookaheadAgent::new(lee.clone(), 1)),
        Agent::Linear(lee),
        Agent::Linear(flat_stacking(width)),
    ]
}

#[test]
fn everybodys_games_are_the_same_on_one_thread_and_on_two_and_alone() {
    for rules in [
        Rules { width: 8, height: 9, preview: 2, ..Rules::preset("leiden").unwrap() },
        Rules { width: 8, height: 9, randomizer: Randomizer::Balanced, preview: 1, ..Rules::default() },
        Rules { width: 8, height: 9, preview: 1, ..Rules::preset("lab").unwrap() },
    ] {
        let evaluation = Evaluation {
            rules,
            policies: everybody(8),
            deal: Deal::Common((0..6).collect()),
            episodes_per_seed: 2,
            pairs: None,
            max_pieces: 60,
            max_steps: 200,
            kernel: Kernel::best(),
        };
        let one = run(1, &evaluation);
        assert_eq!(one.len(), 7 * 6 * 2);
        assert_eq!(run(2, &evaluation), one);
        let stop = AtomicBool::new(false);
        for result in &one {
            assert_eq!(evaluation.play(result.game, &stop).as_ref(), Some(result));
        }
        let portable = Evaluation { kernel: Kernel::Portable, ..evaluation };
        assert_eq!(run(2, &portable), one);
    }
}

#[test]
fn random_numbers_of_a_written_sequence_are_those_of_its_place_in_the_list() {
    let sequence: Arc<[Tetromino]> = vec![Tetromino::T; 30].into();
    let evaluation = Evaluation {
        rules: Rules::simplified(10, 20),
        policies: vec![Agent::Random],
        deal: Deal::Sequences(vec![sequence.clone(), sequence.clone()]),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: u64::MAX,
        max_steps: u64::MAX,
        kernel: Kernel::best(),
    };
    let results = run(1, &evaluation);
    for (j, result) in results.iter().enumerate() {
        let rng = AgentRng::new(engine_word(0, Tag::Game, j as u64));
        let mut episode = Episode::new(&evaluation.rules, Dealer::sequence(sequence.clone()), rng);
        episode.play(&evaluation.rules, &Agent::Random, Kernel::best(), ENDLESS);
        assert_eq!((result.lines, result.pieces, result.seed), (episode.game.lines, episode.game.pieces, 0));
    }
    assert_ne!(results[0].pieces, results[1].pieces, "they draw different rng");
}

#[test]
fn a_choice_that_takes_seconds_is_stopped_in_its_middle() {
    let rules = Rules::simplified(32, 40);
    let evaluation = Evaluation {
        rules,
        policies: vec![Agent::MonteCarlo(MonteCarlo::new(1000))],
        deal: Deal::Common(vec![1, 2]),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: u64::MAX,
        max_steps: u64::MAX,
        kernel: Kernel::best(),
    };
    let pool = Pool::new(1).unwrap().lane(Party::Own);
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel::<()>();
    let sender = Mutex::new(sender);
    let sink = move |_, _: Next| sender.lock().unwrap().send(()).unwrap();
    spawn(&pool, Arc::new(evaluation), 0, stop.clone(), Arc::default(), sink);
    // The thread takes other jobs while the games are at their first piece.
    let (other, done) = mpsc::channel();
    pool.spawn(move || other.send(()).unwrap());
    done.recv_timeout(Duration::from_secs(20)).expect("a job between two placements");
    let begin = Instant::now();
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Err(mpsc::RecvTimeoutError::Disconnected));
    println!("stopped within {:?}", begin.elapsed());
}

/// Mean of a number over this many games of an agent, and its standard error.
fn mean(rules: &Rules, agent: &Agent, games: u64, number: impl Fn((u64, u64)) -> u64) -> (f64, f64) {
    let numbers: Vec<f64> =
        (0..games).map(|j| number(game(rules, agent, engine_word(1, Tag::Game, j))) as f64).collect();
    let mean = numbers.iter().sum::<f64>() / games as f64;
    let variance = numbers.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / (games - 1) as f64;
    (mean, (variance / games as f64).sqrt())
}

#[test]
fn the_documents_means_come_out() {
    #[track_caller]
    fn check(what: &str, (mean, error): (f64, f64), known: f64, known_error: f64) {
        let off = (mean - known).abs();
        assert!(off <= 3.0 * (error * error + known_error * known_error).sqrt(), "{what}: {mean} +- {error}");
    }
    let survey = Rules::preset("survey").unwrap();
    // The notebook does not count the piece that no longer fits.
    let placed = |(_, pieces)| pieces - 1;
    check("dummy", mean(&survey, &Agent::Dummy, 4_000, placed), 11.2, 0.05);
    check("random_survey", mean(&survey, &Agent::RandomSurvey, 4_000, placed), 19.1, 0.1);
    let leiden = |width, height| Rules { width, height, ..Rules::preset("leiden").unwrap() };
    // Width and height, then the mean over 100,000 games of another program.
    for (width, height, known) in [(10, 10, 6.72), (15, 10, 8.51), (20, 10, 10.13), (15, 15, 15.72)] {
        let rules = leiden(width, height);
        check("random", mean(&rules, &Agent::Random, 4_000, |(_, pieces)| pieces), known, 0.02);
    }
    // With one record and with the two of the report's program, which cost it a sixth of the lines.
    let fifty = Agent::MonteCarlo(MonteCarlo::new(50));
    check("monte_carlo", mean(&leiden(10, 10), &fifty, 60, |(lines, _)| lines), 6.56, 0.07);
    check("monte_carlo", mean(&leiden(10, 10), &fifty, 60, |(_, pieces)| pieces), 29.3, 0.2);
    let as_coded = Agent::MonteCarlo(MonteCarlo::as_coded(50));
    check("monte_carlo_coded", mean(&leiden(10, 10), &as_coded, 60, |(lines, _)| lines), 5.51, 0.06);
    check("monte_carlo_coded", mean(&leiden(10, 10), &as_coded, 60, |(_, pieces)| pieces), 26.5, 0.2);
}

#[test]
fn every_agent_and_controller_has_a_name_of_its_own() {
    let mut names: Vec<&str> = AGENTS.iter().map(|row| row.name).collect();
    names.extend(tetrion::agents::CONTROLLERS.iter().map(|controller| controller.name));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a name is an agent's or a controller's");
}
