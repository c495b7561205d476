//! Exact values on small playfields: against a slow plain solver, against what can be reasoned, and against played games.

use std::collections::HashMap;

use tetrion_core::agents::{Agent, AgentRow, CONTROLLERS, Controller, Kernel, MonteCarlo, TerminalValue};
use tetrion_core::engine::{Garbage, Playfield, Randomizer, Reach, Rules, TopOut};
use tetrion_core::pool::Pool;
use tetrion_toolkit::optimum::{ExpectedLines, MAX_AFTERSTATES, OptimumError, Pick, Process, Solution};

use tetrion_twins::{self as twin, Losing, TETROMINOES, TwinPlacement, TwinPlayfield};

fn every_placement(width: u8, height: u8) -> Process {
    Process::of_every_placement(&Rules::simplified(width, height), MAX_AFTERSTATES, |_| {}).unwrap()
}

fn of_agent(width: u8, height: u8, agent: &Agent) -> Process {
    Process::of_agent(&Rules::simplified(width, height), agent, Kernel::best(), |_| {}).unwrap()
}

fn controller(name: &str) -> Agent {
    Agent::Linear(Controller::named(name).unwrap().agent(4).unwrap())
}

fn solve(process: &Process, pick: Pick) -> Solution<'_> {
    process.solve(pick, &Pool::new(2).unwrap(), |_| {})
}

fn drawn(drawing: &str) -> Playfield {
    Playfield::from_drawing(4, 4, drawing).unwrap()
}

/// For every placement of a piece, the lines and the next afterstate; none where the game ends.
type Moves = Vec<Option<(f64, usize)>>;

/// The moves from every afterstate of the twin's playfields, by piece.
struct Plain {
    numbers: HashMap<String, usize>,
    pieces: Vec<Vec<Moves>>,
}

impl Plain {
    fn new(
        width: usize,
        height: usize,
        choose: impl Fn(&TwinPlayfield, char) -> Vec<TwinPlacement>,
    ) -> Plain {
        let mut open = vec![TwinPlayfield::empty(width, height)];
        let mut plain = Plain { numbers: HashMap::from([(open[0].to_string(), 0)]), pieces: Vec::new() };
        while plain.pieces.len() < open.len() {
            let before = open[plain.pieces.len()].clone();
            let mut outcome = |placement: &TwinPlacement| {
                let landing = twin::land(&before, placement);
                if landing.terminal {
                    return None;
                }
                let new = plain.numbers.len();
                let number = *plain.numbers.entry(landing.afterstate.to_string()).or_insert(new);
                if number == new {
                    open.push(landing.afterstate);
                }
                Some((landing.lines as f64, number))
            };
            let outcomes =
                TETROMINOES.chars().map(|piece| choose(&before, piece).iter().map(&mut outcome).collect());
            let outcomes = outcomes.collect();
            plain.pieces.push(outcomes);
        }
        plain
    }

    /// Sweeps in place until nothing changes any more.
    fn values(&self, pick: fn(&[f64]) -> f64) -> Vec<f64> {
        let mut values = vec![0.0; self.pieces.len()];
        loop {
            let mut change: f64 = 0.0;
            for state in 0..values.len() {
                let worth =
                    |outcome: &Option<(f64, usize)>| outcome.map_or(0.0, |(lines, to)| lines + values[to]);
                let of_piece = |outcomes: &Vec<_>| pick(&outcomes.iter().map(worth).collect::<Vec<f64>>());
                let value = self.pieces[state].iter().map(of_piece).sum::<f64>() / 7.0;
                change = change.max((value - values[state]).abs());
                values[state] = value;
            }
            if change < 1e-14 {
                return values;
            }
        }
    }
}

#[track_caller]
fn check_against(plain: &Plain, pick: fn(&[f64]) -> f64, solution: &Solution<'_>, process: &Process) {
    let expected = plain.values(pick);
    assert_eq!(process.num_afterstates(), expected.len());
    for (afterstate, lines) in process.afterstates().zip(solution.lines()) {
        let expected = expected[plain.numbers[&afterstate.to_string()]];
        let value = solution.of(&afterstate).unwrap();
        assert_eq!(value.lines, *lines);
        assert!((lines - expected).abs() < 1e-9, "{lines}, expected {expected} of\n{afterstate}");
        let rounding = 1e-12 * expected;
        assert!(
            value.low - rounding <= expected && expected <= value.high + rounding,
            "{value:?}, {expected}"
        );
    }
}

fn largest(worths: &[f64]) -> f64 {
    worths.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn mean(worths: &[f64]) -> f64 {
    worths.iter().sum::<f64>() / worths.len() as f64
}

#[test]
fn a_slow_plain_solver_finds_the_same_values() {
    let plain = Plain::new(4, 4, twin::placements);
    let process = every_placement(4, 4);
    check_against(&plain, largest, &solve(&process, Pick::Best), &process);
    check_against(&plain, mean, &solve(&process, Pick::Even), &process);
}

#[test]
fn a_slow_plain_solver_finds_the_same_values_of_controllers() {
    for name in ["dt-10", "yiyuan-lee", "lab-uniform"] {
        let row = Controller::named(name).unwrap();
        let features = row.features(4).unwrap().names();
        let features: Vec<&str> = features.iter().map(String::as_str).collect();
        let losing =
            if row.play.terminal_value == TerminalValue::Avoid { Losing::Avoid } else { Losing::Score };
        let choose =
            |before: &TwinPlayfield, piece| vec![twin::greedy(before, piece, &features, row.weights, losing)];
        let plain = Plain::new(4, 4, choose);
        let process = of_agent(4, 4, &controller(name));
        check_against(&plain, largest, &solve(&process, Pick::Best), &process);
        assert!(process.num_afterstates() < every_placement(4, 4).num_afterstates());
    }
}

#[test]
fn values_are_what_can_be_reasoned() {
    // An upright I in the well takes four lines and leaves nothing; every other placement ends the game.
    let process = every_placement(4, 4);
    let (best, even) = (solve(&process, Pick::Best), solve(&process, Pick::Even));
    let well = drawn(".###/.###/.###/.###");
    let of_game = |solution: &Solution<'_>| solution.of_game().lines;
    assert!((best.of(&well).unwrap().lines - (4.0 + of_game(&best)) / 7.0).abs() < 1e-9);
    assert!((even.of(&well).unwrap().lines - (4.0 + of_game(&even)) / 7.0 / 5.0).abs() < 1e-9);
    assert_eq!(best.of(&Playfield::empty(4, 4)), Some(best.of_game()));
    // No landing leaves a full row, a playfield of another size is another game.
    assert_eq!(best.of(&drawn("####")), None);
    assert_eq!(best.of(&Playfield::empty(5, 4)), None);
    // At the left wall, in the first orientation, no piece reaches the last column.
    let dummy = of_agent(4, 4, &Agent::Dummy);
    assert_eq!(solve(&dummy, Pick::Best).of_game(), ExpectedLines { lines: 0.0, low: 0.0, high: 0.0 });
    assert!(dummy.afterstates().all(|afterstate| afterstate.heights().last() == Some(0)));
}

#[test]
fn a_mirror_changes_nothing_for_the_best_player() {
    let process = every_placement(4, 5);
    let solution = solve(&process, Pick::Best);
    for (afterstate, lines) in process.afterstates().zip(solution.lines()) {
        let columns: Vec<u64> = afterstate.columns().iter().rev().copied().collect();
        let mirrored = solution.of(&Playfield::from_columns(4, 5, &columns)).unwrap().lines;
        assert!((lines - mirrored).abs() < 1e-9, "{lines} and {mirrored} of\n{afterstate}");
    }
}

#[test]
fn any_number_of_threads_finds_the_same_bits() {
    let process = every_placement(4, 5);
    assert!(process.num_afterstates() > 1 << 15, "three parts of the work");
    let alone = process.solve(Pick::Best, &Pool::new(1).unwrap(), |_| {});
    let three = process.solve(Pick::Best, &Pool::new(3).unwrap(), |_| {});
    let bits =
        |solution: &Solution<'_>| solution.lines().iter().map(|lines| lines.to_bits()).collect::<Vec<_>>();
    assert!(bits(&alone) == bits(&three) && alone.sweeps() == three.sweeps());
}

#[test]
fn no_player_is_better_than_the_best() {
    for (width, height) in [(4, 4), (4, 5)] {
        let process = every_placement(width, height);
        let best = solve(&process, Pick::Best).of_game();
        let even = solve(&process, Pick::Even).of_game();
        assert!(best.high - best.low < 1e-8 && best.low > 7.0 && even.high < 1.0, "{best:?}, {even:?}");
        let controllers = CONTROLLERS.iter().filter_map(|row| Some((row.name, row.agent(width).ok()?)));
        let mut played = 0;
        for (name, agent) in controllers {
            let process = of_agent(width, height, &Agent::Linear(agent));
            let value = solve(&process, Pick::Best).of_game();
            assert!(value.high < best.low, "{name}: {value:?}, {best:?}");
            played += 1;
        }
        // All but the one whose features are the columns of a wider playfield.
        assert_eq!(played, CONTROLLERS.len() - 1);
    }
}

#[test]
fn the_error_of_the_last_sweep_is_small_enough() {
    let process = every_placement(4, 4);
    let mut sweeps = Vec::new();
    let solution = process.solve(Pick::Best, &Pool::new(1).unwrap(), |sweep| sweeps.push(sweep));
    assert_eq!(sweeps.len(), solution.sweeps() as usize);
    let (first, last) = (sweeps[0], sweeps[sweeps.len() - 1]);
    assert!(first.error > 1.0 && last.error <= last.wanted && last.wanted < 1e-8, "{first:?}, {last:?}");
}

#[test]
fn what_cannot_be_solved_is_refused() {
    let refused = |rules: Rules, limit| Process::of_every_placement(&rules, limit, |_| {}).unwrap_err();
    let with = |change: fn(&mut Rules)| {
        let mut rules = Rules::simplified(4, 4);
        change(&mut rules);
        refused(rules, MAX_AFTERSTATES).to_string()
    };
    let behind = "exact values exist only for straight drops of uniform pieces";
    assert_eq!(
        with(|rules| rules.randomizer = Randomizer::Bag7),
        format!("randomizer is bag7, expected uniform: {behind}")
    );
    assert_eq!(
        with(|rules| rules.top_out = TopOut::TopRow),
        format!("top_out is top_row, expected overflow: {behind}")
    );
    assert_eq!(
        with(|rules| rules.reach = Reach::SidewaysWalk),
        format!("reach is sideways_walk, expected straight_drop: {behind}")
    );
    assert_eq!(
        with(|rules| rules.garbage = Some(Garbage::DEFAULT)),
        format!("garbage is on, expected off: {behind}")
    );
    let keys = refused(Rules { width: 4, height: 4, ..Rules::preset("lab").unwrap() }, MAX_AFTERSTATES);
    assert_eq!(keys.to_string(), format!("action_model is keypress, expected placement: {behind}"));
    assert_eq!(
        refused(Rules::simplified(3, 4), MAX_AFTERSTATES),
        OptimumError::Rules(Rules::simplified(3, 4).check().unwrap_err())
    );

    let too_large = refused(Rules::simplified(10, 20), MAX_AFTERSTATES);
    assert_eq!(too_large.to_string(), "a playfield of 10 x 20 has 200 cells, expected at most 32");
    assert_eq!(refused(Rules::simplified(4, 9), 1), OptimumError::Cells { width: 4, height: 9 });
    // The plain solver counts as many afterstates of 4 x 4 as this one.
    let all = every_placement(4, 4).num_afterstates();
    assert!(Process::of_every_placement(&Rules::simplified(4, 4), all, |_| {}).is_ok());
    assert_eq!(
        refused(Rules::simplified(4, 4), all - 1).to_string(),
        format!("a playfield of 4 x 4 has more than {} afterstates, expected at most that many", all - 1)
    );

    for agent in [Agent::Random, Agent::RandomSurvey, Agent::MonteCarlo(MonteCarlo::new(1))] {
        let drawn = Process::of_agent(&Rules::simplified(4, 4), &agent, Kernel::best(), |_| {});
        assert_eq!(drawn.unwrap_err(), OptimumError::Draws);
    }
    assert!(AgentRow::named("random").is_some(), "the one whose value is that of the even pick");
}
