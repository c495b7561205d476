//! Beam searches: against the best of all sequences, written plainly, and alike on every kernel.

use tetrion_core::agents::{
    Agent, AgentRng, Beam, Controller, Decision, Expectation, FormulaAgent, Kernel, LinearAgent, Search,
    Sight, TerminalValue, Thought,
};
use tetrion_core::engine::{
    Chain, Clear, Dealer, Garbage, Live, Odds, Piece, PieceSet, Placement, Playfield, Randomizer, Rules,
    Tetromino, is_blocked, land, parse_sequence,
};
use tetrion_core::features::{FeatureSet, Seen};
use tetrion_core::formula::{Formula, compile};

use tetrion_twins::random_playfield;

/// Features of landings and of playfields, with whole numbers as weights, so that sums are exact in any order.
const FEATURES: [&str; 6] =
    ["landing_height", "eroded_piece_cells", "holes", "row_transitions", "idle_t", "bumpiness"];
const WEIGHTS: [f64; 6] = [-2.0, 1.0, -8.0, -1.0, -4.0, -2.0];

/// The terms of a search, all different, and room for every sequence of three pieces on a narrow playfield.
const WIDE: Beam = Beam {
    width: Beam::MAX_PLACES,
    perfect_clear_places: Beam::MAX_PLACES,
    attack: 0.5,
    back_to_back: 0.375,
    perfect_clear: 2.0,
    t_slot: 0.25,
    t_kept: 0.125,
    ..Beam::DEFAULT
};

/// The end of a sequence of placements, as the definition of the search has it.
struct Plain<'a> {
    rules: &'a Rules,
    set: FeatureSet,
    queue: &'a [Piece],
}

impl Plain<'_> {
    /// The largest value of a sequence that goes on from here; `None` if all end the game.
    fn best(
        &self,
        (playfield, held, at, chain): (&Playfield, Option<Piece>, usize, Chain),
        (sum, score): (f64, f64),
    ) -> Option<f64> {
        let hands = self.hands(held, at);
        if hands.is_empty() {
            return Some(sum + score + self.of_state(playfield, (held, at), chain));
        }
        let mut best: Option<f64> = None;
        for (piece, held, at) in hands {
            if is_blocked(self.rules, playfield, piece) {
                continue;
            }
            for placement in tetrion_core::engine::placements(self.rules, playfield, piece).iter() {
                let next = self.after(playfield, (piece, placement), chain, sum);
                let Some((playfield, chain, sum, score)) = next else { continue };
                let value = self.best((&playfield, held, at, chain), (sum, score));
                best = best.into_iter().chain(value).reduce(f64::max);
            }
        }
        best
    }

    /// The pieces that can be placed, each with the held piece and the place in the queue after that.
    fn hands(&self, held: Option<Piece>, at: usize) -> Vec<(Piece, Option<Piece>, usize)> {
        let current = self.queue.get(at).copied();
        let other = match (current, held) {
            _ if !self.rules.hold => None,
            // Held pieces that are equal to the current one change nothing.
            (current, Some(held)) => Some((held, current, at + 1)).filter(|_| current != Some(held)),
            (current, None) => self.queue.get(at + 1).map(|&next| (next, current, at + 2)),
        };
        current.map(|current| (current, held, at + 1)).into_iter().chain(other).collect()
    }

    /// A placement: the playfield and the chain after it, the sum with its landing terms, and its other terms.
    fn after(
        &self,
        playfield: &Playfield,
        (piece, placement): (Piece, Placement),
        chain: Chain,
        sum: f64,
    ) -> Option<(Playfield, Chain, f64, f64)> {
        let (shape, landing) = land(self.rules, playfield, piece, placement);
        if landing.terminal {
            return None;
        }
        let spin = placement.spin();
        let mut features = [0.0; FEATURES.len()];
        self.set.evaluate(&Seen { piece, spin, shape, landing: &landing }, &mut features);
        let is_perfect = landing.lines > 0 && landing.afterstate.occupied_rows() == 0;
        let clear = Clear { lines: landing.lines, spin, is_perfect, has_garbage: false };
        let keeps_chain = self.rules.keeps_chain();
        let (next, worth) = chain.then(self.rules.attack_table, 1.0, clear);
        let chain = if keeps_chain { next } else { Chain::default() };
        let (mut of_landing, mut of_playfield) = (0.0, 0.0);
        for ((column, weight), feature) in self.set.columns().iter().zip(WEIGHTS).zip(features) {
            let terms = if column.feature.is_of_landing() { &mut of_landing } else { &mut of_playfield };
            *terms += weight * feature;
        }
        let sent = if keeps_chain { worth.attack.lines().into() } else { 0.0 };
        Some((landing.afterstate, chain, sum + of_landing + 8.0 * WIDE.attack * sent, of_playfield))
    }

    /// The terms of the search for the state at the end of a sequence.
    fn of_state(&self, playfield: &Playfield, (held, at): (Option<Piece>, usize), chain: Chain) -> f64 {
        let feature = |name| {
            let mut value = [0.0];
            FeatureSet::custom(&[name], self.rules.width).unwrap().of_playfield(playfield, &mut value);
            value[0]
        };
        let near = feature("perfect_clear_near") / f64::from(self.rules.width);
        let has_t = [held, self.queue.get(at).copied()].contains(&Some(Tetromino::T));
        let of_t = match feature("spin_slot_rows") {
            _ if !has_t => 0.0,
            0.0 => WIDE.t_kept,
            rows => WIDE.t_slot * rows,
        };
        let of_chain = if chain.back_to_back > 0 { WIDE.back_to_back } else { 0.0 };
        8.0 * (of_chain + WIDE.perfect_clear * near + of_t)
    }
}

fn weights(width: u8) -> LinearAgent {
    let set = FeatureSet::custom(&FEATURES, width).unwrap();
    LinearAgent::new(set, WEIGHTS.into(), TerminalValue::Avoid).unwrap()
}

/// The choice and the values, from thinking step by step.
fn judge(agent: &Agent, kernel: Kernel, sight: &Sight<'_>) -> (Placement, f64) {
    let mut thought = Thought::default();
    let judgement = loop {
        if let Some(judgement) = agent.judge(kernel, sight, &mut thought) {
            break judgement;
        }
    };
    let best = judgement.values.iter().map(|value| value.score).fold(f64::NEG_INFINITY, f64::max);
    (judgement.choice, best)
}

#[test]
fn a_wide_beam_finds_the_best_of_all_sequences() {
    let modern = Rules { width: 4, height: 12, rows_above: 4, ..Rules::preset("guideline").unwrap() };
    let held = Rules { hold: true, ..Rules::simplified(4, 8) };
    let classic = Rules { preview: 2, ..Rules::simplified(5, 8) };
    let mut ended = 0;
    for (case, rules, pieces, held) in [
        ("straight drops", classic, "LTS", None),
        ("straight drops, hold", held, "TI", None),
        ("a held piece, placed last by holding an unseen one", held, "SO", Some(Tetromino::T)),
        ("an equal piece held", held, "OO", Some(Tetromino::O)),
        ("modern", modern, "T", Some(Tetromino::I)),
        ("modern, nothing held", modern, "TJ", None),
    ] {
        let queue = parse_sequence(pieces).unwrap();
        let agent = Agent::searching(weights(rules.width), Search::Beam(WIDE));
        let plain =
            Plain { rules: &rules, set: FeatureSet::custom(&FEATURES, rules.width).unwrap(), queue: &queue };
        for seed in 0..24 {
            let cells = random_playfield(rules.width.into(), rules.height.into(), seed);
            let playfield = Playfield::from_drawing(rules.width, rules.height, &cells.to_string()).unwrap();
            if is_blocked(&rules, &playfield, queue[0]) {
                continue;
            }
            let back_to_back = if rules.keeps_chain() { seed as u16 % 2 } else { 0 };
            let chain = Chain { clears: seed as u16 % 3, back_to_back };
            let sight = Sight { next: &queue[1..], held, chain, ..Sight::of(&rules, &playfield, queue[0]) };
            let expected = plain.best((&playfield, held, 0, chain), (0.0, 0.0));
            let (choice, best) = judge(&agent, Kernel::best(), &sight);
            let Some(expected) = expected else {
                ended += 1;
                continue;
            };
            assert_eq!(best, expected, "{case}, seed {seed}, {choice:?} on\n{playfield}");
        }
    }
    assert!(ended < 60, "{ended}");
}

/// Plays a game of this many pieces, and lists the placements.
fn play(rules: &Rules, agent: &Agent, kernel: Kernel, pieces: usize) -> (Vec<Placement>, Live) {
    let (mut live, mut all) = (Live::new(rules, 5).unwrap(), Vec::new());
    while let (Some(piece), true) = (live.piece(), all.len() < pieces) {
        let next: Vec<Piece> = live.preview().collect();
        let (player_rules, incoming) = (live.player_rules(), *live.incoming());
        let sight = Sight {
            next: &next,
            held: live.held(),
            odds: live.odds(),
            chain: live.chain(),
            incoming: Some(&incoming),
            ..Sight::of(&player_rules, live.playfield(), piece)
        };
        let Decision::Place(placement) = agent.decide(kernel, &sight, &mut AgentRng::new(0)) else {
            panic!("it presses keys")
        };
        live.place(placement).unwrap();
        all.push(placement);
    }
    (all, live)
}

#[test]
fn games_are_alike_on_every_kernel_with_every_value_function() {
    let preview = Controller::named("tetrion-guideline-preview").unwrap().agent(10).unwrap();
    let Ok(Formula::Program(formula)) =
        compile("-landing_height - 4 * max(holes, 1) - bumpiness", &guideline())
    else {
        panic!("a formula that is no weighted sum")
    };
    let beam = Beam { width: 4, perfect_clear_places: 4, attack: 1.0, perfect_clear: 3.0, ..Beam::DEFAULT };
    let drawing = Beam { samples: 3, sample_pieces: 2, ..beam };
    let garbage = Rules { garbage: Some(Garbage::DEFAULT), ..guideline() };
    for (rules, agent) in [
        (guideline(), Agent::searching(preview.clone(), Search::Beam(beam))),
        (guideline(), Agent::searching(preview.clone(), Search::Beam(drawing))),
        (garbage, Agent::searching(preview, Search::Beam(drawing))),
        (guideline(), Agent::searching(FormulaAgent::new(formula, TerminalValue::Avoid), Search::Beam(beam))),
        (
            Rules { preview: 2, ..Rules::simplified(10, 20) },
            Agent::searching(weights(10), Search::Beam(drawing)),
        ),
    ] {
        let (first, live) = play(&rules, &agent, Kernel::Portable, 25);
        assert_eq!(live.end(), None, "{agent:?}");
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
            assert_eq!(play(&rules, &agent, kernel, 25).0, first, "{kernel:?}, {agent:?}");
        }
    }
}

#[test]
fn as_many_draws_as_the_odds_add_up_to_give_the_exact_mean() {
    let rules = Rules { randomizer: Randomizer::Bag7, ..Rules::simplified(10, 20) };
    let mean = Search::Expectation(Expectation { placements: 128, ..Expectation::DEFAULT });
    let mean = Agent::searching(weights(10), mean);
    let mut live = Live::new(&rules, 3).unwrap();
    for _ in 0..20 {
        let samples = Tetromino::ALL.iter().map(|piece| live.odds().of(*piece) as u16).sum();
        let beam = Beam { width: Beam::MAX_PLACES, samples, sample_pieces: 1, ..Beam::DEFAULT };
        let agent = Agent::searching(weights(10), Search::Beam(beam));
        let sight = Sight { odds: live.odds(), ..Sight::of(&rules, live.playfield(), live.piece().unwrap()) };
        let (choice, best) = judge(&agent, Kernel::best(), &sight);
        assert_eq!((choice, best), judge(&mean, Kernel::best(), &sight), "on\n{}", live.playfield());
        live.place(choice).unwrap();
    }
    // With hold and one known piece, draws matter too.
    let rules = Rules { hold: true, ..rules };
    let playfield = Playfield::from_drawing(10, 20, "#########.").unwrap();
    let sight = Sight::of(&rules, &playfield, Tetromino::O);
    let values = |samples| {
        let beam = Beam { samples, sample_pieces: 1, ..Beam::DEFAULT };
        judge(&Agent::searching(weights(10), Search::Beam(beam)), Kernel::best(), &sight).1
    };
    assert_ne!(values(7), values(0));
}

fn guideline() -> Rules {
    Rules::preset("guideline").unwrap()
}

#[test]
fn the_odds_of_continuations_are_those_of_dealers() {
    for randomizer in [Randomizer::Uniform, Randomizer::Bag7, Randomizer::Balanced, Randomizer::Nes] {
        for seed in 0..20 {
            let mut dealer = Dealer::seeded(randomizer, seed);
            for n in 0..40 {
                let before = dealer.odds();
                let piece = dealer.deal().unwrap();
                let after = before.after(randomizer, &PieceSet::TETROMINOES, piece);
                let same = |piece: &Tetromino| after.of(*piece) == dealer.odds().of(*piece);
                assert!(Tetromino::ALL.iter().all(same), "{randomizer:?}, seed {seed}, piece {n}");
            }
        }
    }
    assert_eq!(Odds::EVEN.after(Randomizer::Bag7, &PieceSet::TETROMINOES, Tetromino::O).of(Tetromino::O), 0);
}
