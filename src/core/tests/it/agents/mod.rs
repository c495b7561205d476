//! The agents, each against a slow plain one: what they choose, what they draw, and what they are known to score.

mod evaluations;
/// Agents that score one placement.
mod linear;
mod monte_carlo;

use tetrion_core::agents::{
    AGENTS, Agent, AgentRng, Controller, Decision, Kernel, LinearAgent, LookaheadAgent, MonteCarlo, Sight,
    TerminalValue,
};
use tetrion_core::engine::rng::{Tag, word as engine_word};
use tetrion_core::engine::{Dealer, Placement, Playfield, Rules, Tetromino};
use tetrion_core::features::FeatureSet;
use tetrion_core::rollout::{Bounds, Episode};

use tetrion_twins::{self as twin, Losing, TwinPlacement, TwinPlayfield, uniform_tetromino};

const ENDLESS: Bounds = Bounds::of_game(u64::MAX, u64::MAX);

/// The whole choice of an agent.
fn choose(agent: &Agent, kernel: Kernel, sight: &Sight<'_>, rng: &mut AgentRng) -> Placement {
    match agent.decide(kernel, sight, rng) {
        Decision::Place(placement) => placement,
        Decision::Press(agent) => panic!("{agent:?} presses keys"),
    }
}

fn linear(set: &str, width: u8, weights: &[f64], terminal_value: TerminalValue) -> LinearAgent {
    LinearAgent::new(FeatureSet::named(set, width).unwrap(), weights.into(), terminal_value).unwrap()
}

fn flat_stacking(width: u8) -> LinearAgent {
    Controller::named("flat_stacking").unwrap().agent(width).unwrap()
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
        for (terminal_value, losing) in
            [(TerminalValue::Avoid, Losing::Avoid), (TerminalValue::Score, Losing::Score)]
        {
            for (lookahead, preview, most_pieces) in [(1, 1, 40), (1, 3, 25), (2, 2, 5)] {
                let (width, height) = (5, 5);
                let rules = Rules { preview, ..Rules::simplified(width, height) };
                let set = FeatureSet::custom(&features, width).unwrap();
                let linear = LinearAgent::new(set, weights.to_vec(), terminal_value).unwrap();
                assert_eq!(linear.is_fast(), is_fast);
                let agent = Agent::Lookahead(LookaheadAgent::new(linear, lookahead));
                for seed in 0..3 {
                    let mut playfield = Playfield::empty(width, height);
                    for n in 0..most_pieces {
                        let letters: Vec<char> =
                            (0..=u64::from(preview)).map(|k| uniform_tetromino(seed, n + k)).collect();
                        let pieces: Vec<Tetromino> =
                            letters.iter().map(|letter| Tetromino::from_letter(*letter).unwrap()).collect();
                        let next = &pieces[1..];
                        let sight = Sight { next, ..Sight::of(&rules, &playfield, pieces[0]) };
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
    names.extend(tetrion_core::agents::CONTROLLERS.iter().map(|controller| controller.name));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a name is an agent's or a controller's");
}
