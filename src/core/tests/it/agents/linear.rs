//! Agents that score one placement: flat stacking, against the sum that its report writes out, and pieces that walk.

use tetrion_core::agents::{Agent, AgentRng, Controller, Kernel, Sight, TerminalValue};
use tetrion_core::engine::rng::{Tag, word as engine_word};
use tetrion_core::engine::{
    Dealer, Placement, Playfield, Randomizer, Rules, Tetromino, TopOut, is_blocked, placements,
};

use super::{choose, flat_stacking, linear};
use tetrion_testing::choose_plainly;

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
                .filter(|&(r, c)| shape.column_bits(c.into()) >> r & 1 == 1)
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
                let sight = Sight::of(&rules, &playfield, piece);
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
            for terminal_value in [TerminalValue::Avoid, TerminalValue::Score] {
                let seed = 1000 * n as u64 + 40 * u64::from(width) + u64::from(height);
                let draw = |k: u64| engine_word(seed, Tag::Reseed, k);
                // Odd weights, so that another order of summation shows.
                let weights: Vec<f64> = (0..4).map(|k| draw(k) as f64 / 1e19 - 0.9).collect();
                let agent = linear("flatstack", width, &weights, terminal_value);
                assert!(agent.is_fast());
                let mut playfield = Playfield::empty(width, height);
                for k in 10..130 {
                    let piece = Tetromino::ALL[(draw(k) % 7) as usize];
                    if is_blocked(&rules, &playfield, piece) {
                        break;
                    }
                    let plain = choose_plainly(&agent, &rules, &playfield, piece);
                    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
                        let fast = agent.choose(kernel, &rules, &playfield, piece);
                        assert_eq!(fast, plain, "{piece} under {top_out:?}, {terminal_value:?}\n{playfield}");
                        assert_eq!(fast.score.to_bits(), plain.score.to_bits());
                    }
                    choices += 1;
                    // Flat stacks by the report's own weights, and anything now and then.
                    let all = placements(&rules, &playfield, piece);
                    let flat = choose_plainly(&flat_stacking(width), &rules, &playfield, piece);
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
        assert!(agent.is_fast(), "{name}");
        let (mut clear, mut in_the_way) = (0, 0);
        for seed in 0..60 {
            let mut dealer = Dealer::seeded(Randomizer::Uniform, seed);
            let mut playfield = Playfield::empty(10, 9);
            loop {
                let piece = dealer.deal().unwrap();
                if is_blocked(&rules, &playfield, piece) {
                    break;
                }
                let plain = choose_plainly(&agent, &rules, &playfield, piece);
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
