//! How fast games are played: `cargo bench --bench rollouts`.
//!
//! Items are pieces, placements or afterstates; every figure is one core. Compare in one run, and quote medians.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use tetrion::agents::{Agent, Controller, Kernel};
use tetrion::engine::rng::{Tag, below, stream, stream_word};
use tetrion::engine::{CompactPlayfield, Dealer, Playfield, Rules, placements};
use tetrion::features::FeatureSet;
use tetrion::features::kernel::Extractor;
use tetrion::placements::{Options, Position, enumerate_on, num_rows};
use tetrion::rollout::Episode;

fn main() {
    divan::main();
}

/// A controller on a size, in pieces a second.
const GAMES: [(&str, u8, u8, u64); 6] = [
    ("bcts", 10, 20, 100_000),
    ("dt-10", 10, 20, 100_000),
    ("lab-uniform", 10, 20, 100_000),
    ("dellacherie", 10, 20, 100_000),
    ("bdu", 10, 20, 50_000),
    ("bcts", 10, 30, 10_000),
];

fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.into_iter().filter(|kernel| kernel.is_available())
}

fn cases() -> Vec<String> {
    let case = |(name, width, height, _): (&str, u8, u8, u64)| format!("{name} {width} x {height}");
    GAMES
        .into_iter()
        .flat_map(|game| kernels().map(move |k| format!("{} {}", case(game), k.name())))
        .collect()
}

/// Pieces a second of a linear controller, games begun anew as they end.
#[divan::bench(args = cases(), sample_count = 20)]
fn rollout(bencher: Bencher, case: &str) {
    let words: Vec<&str> = case.split(' ').collect();
    let of_case = |&(name, width, height, _): &(&str, u8, u8, u64)| {
        [name.to_owned(), width.to_string(), height.to_string()] == [words[0], words[1], words[3]]
    };
    let (name, width, height, pieces) = GAMES.into_iter().find(of_case).expect("a case of the table");
    let kernel = kernels().find(|kernel| kernel.name() == words[4]).expect("a kernel that is available");
    let rules = Rules::simplified(width, height);
    let agent = Agent::Linear(Controller::named(name).unwrap().agent(width).unwrap());
    bencher.counter(ItemsCount::new(pieces)).bench_local(|| {
        let (mut left, mut seed) = (pieces, 0);
        while left > 0 {
            let mut episode = Episode::new(&rules, Dealer::seeded(rules.randomizer, seed));
            episode.advance(&rules, &agent, kernel, left);
            left -= episode.pieces;
            seed += 1;
        }
    });
}

/// Random placements a second: deal, choose, drop, clear, and begin anew at the end.
#[divan::bench(sample_count = 50)]
fn random_placements(bencher: Bencher) {
    const PLACEMENTS: u64 = 1_000_000;
    let rules = Rules::default();
    bencher.counter(ItemsCount::new(PLACEMENTS)).bench_local(|| {
        let words = stream(1, Tag::Agent);
        let mut dealer = Dealer::seeded(rules.randomizer, 1);
        let mut playfield = CompactPlayfield::empty(rules.width, rules.height);
        for n in 0..PLACEMENTS {
            let piece = dealer.deal().unwrap();
            let all = placements(&rules, &playfield, piece);
            let placement = all.nth(below(stream_word(words, n), all.len().into()) as u32).unwrap();
            let shape = &rules.shapes(piece)[usize::from(placement.orientation)];
            if playfield.drop(shape, placement.column, rules.top_out).1 {
                playfield = CompactPlayfield::empty(rules.width, rules.height);
            }
        }
        black_box(playfield)
    });
}

/// Afterstates a second with the 8 features of `bcts8`, as the rows of a matrix, for positions of a greedy game.
#[divan::bench(args = kernels().map(Kernel::name).collect::<Vec<_>>(), sample_count = 50)]
fn enumerate_bcts8(bencher: Bencher, kernel: &str) {
    let kernel = kernels().find(|k| k.name() == kernel).expect("a kernel that is available");
    let rules = Rules::default();
    let agent = Controller::named("bcts").unwrap().agent(rules.width).unwrap();
    let mut dealer = Dealer::seeded(rules.randomizer, 1);
    let mut playfield = Playfield::empty(rules.width, rules.height);
    let positions: Vec<Position> = (0..256)
        .map(|_| {
            let piece = dealer.deal().unwrap();
            let position = Position { playfield, piece: Some(piece) };
            let placement = agent.choose(kernel, &rules, &playfield, piece).placement;
            playfield.drop(placement.shape(&rules, piece).unwrap(), placement.column, rules.top_out);
            position
        })
        .collect();
    let extractor = Extractor::new(Some(&FeatureSet::named("bcts8", rules.width).unwrap())).unwrap();
    let rows: u32 = positions.iter().map(|position| num_rows(&rules, position)).sum();
    bencher
        .counter(ItemsCount::new(rows))
        .bench_local(|| enumerate_on(kernel, &rules, &positions, &extractor, Options::default()));
}
