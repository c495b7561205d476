//! How fast games are played: `cargo bench --bench rollouts`.
//!
//! Items are pieces, placements or afterstates; every figure is one core. Compare in one run, and quote medians. The work is
//! that of `tetrion bench`, which shows the same in one table.

use divan::Bencher;
use divan::counter::ItemsCount;
use tetrion::agents::Kernel;
use tetrion::workloads::games::kernels;
use tetrion::workloads::{CASES, Listing, RandomPlacements};

fn main() {
    divan::main();
}

const PIECES: u64 = 50_000;

/// A case of the table and a kernel, by the number of the one and the name of the other.
fn cases() -> Vec<String> {
    let name = |i: usize, kernel: Kernel| {
        let case = CASES[i];
        format!("{i} {} {} x {} {}", case.controller, case.width, case.height, kernel.name())
    };
    (0..CASES.len()).flat_map(|i| kernels().map(move |kernel| name(i, kernel))).collect()
}

fn kernel(name: &str) -> Kernel {
    kernels().find(|kernel| kernel.name() == name).expect("a kernel that is available")
}

/// Pieces a second of a linear controller, games begun anew as they end.
#[divan::bench(args = cases(), sample_count = 20)]
fn rollout(bencher: Bencher, case: &str) {
    let words: Vec<&str> = case.split(' ').collect();
    let number: usize = words[0].parse().expect("the number of a case");
    let play = CASES[number].on(kernel(words[words.len() - 1]));
    bencher.counter(ItemsCount::new(PIECES)).bench_local(|| play.pieces(PIECES));
}

/// Random placements a second: deal, choose, drop, clear, and begin anew at the end.
#[divan::bench(sample_count = 50)]
fn random_placements(bencher: Bencher) {
    const PLACEMENTS: u64 = 1_000_000;
    let mut games = RandomPlacements::default();
    bencher.counter(ItemsCount::new(PLACEMENTS)).bench_local(|| games.place(PLACEMENTS));
}

/// Afterstates a second with the 8 features of `bcts8`, as the rows of a matrix, for positions of a greedy game.
#[divan::bench(args = kernels().map(Kernel::name).collect::<Vec<_>>(), sample_count = 50)]
fn enumerate_bcts8(bencher: Bencher, name: &str) {
    let listing = Listing::new(256);
    bencher.counter(ItemsCount::new(listing.num_rows())).bench_local(|| listing.list(kernel(name)));
}
