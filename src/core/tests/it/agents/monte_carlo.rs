//! Monte-Carlo agents, against brute force and the listing of the report they come from.

use tetrion_core::agents::{Agent, AgentRng, Kernel, MonteCarlo, Sight};
use tetrion_core::engine::{Playfield, Rules, Tetromino, TopOut};

use super::{Words, game, plain_game, stretched};
use tetrion_twins::{self as twin, TwinPlacement, TwinPlayfield};

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
    // Sizes of each kind of word that its playouts are played on, and more playouts than one call plays.
    for (width, height, preview, playouts, games) in [
        (5, 5, 0, 7, 6),
        (4, 8, 1, 3, 3),
        (10, 6, 2, 2, 2),
        (18, 4, 0, 2, 2),
        (6, 30, 0, 1, 1),
        (4, 4, 0, 2_001, 1),
    ] {
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
            let sight = Sight::of(&rules, &playfield, Tetromino::L);
            let agent = Agent::MonteCarlo(MonteCarlo::new(20));
            let ranked = |kernel| {
                let mut rng = AgentRng::new(5);
                (agent.preferences(kernel, &sight, &mut rng), rng)
            };
            let portable = ranked(Kernel::Portable);
            assert!(portable.0.len() > 10, "{portable:?}");
            for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                assert_eq!(ranked(kernel), portable, "{preset}, {top_out:?}, {kernel:?}");
            }
        }
    }
}
