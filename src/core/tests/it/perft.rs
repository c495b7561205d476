//! Counts of placements in little memory, and a count that is stopped.

use std::ops::ControlFlow;

use tetrion_core::engine::perft::{LOOK, Perft, perft};
use tetrion_core::engine::{Rules, parse_sequence};

fn count(rules: &Rules, sequence: &str, bytes: Option<usize>) -> Perft {
    perft(rules, &parse_sequence(sequence).unwrap(), bytes, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn less_memory_takes_more_passes_and_gives_the_same_counts() {
    for (width, height, sequence) in [(5, 8, "ITOLJ"), (10, 20, "IOTS"), (32, 40, "TI"), (4, 6, "OOOOOO")] {
        let rules = Rules::simplified(width, height);
        let roomy = count(&rules, sequence, Some(1 << 24));
        assert_eq!(roomy.passes, 1);
        let leaves = roomy.distinct.unwrap() as usize;
        for bytes in [10_000, 100_000] {
            let tight = count(&rules, sequence, Some(bytes));
            assert_eq!(Perft { passes: 1, ..tight }, roomy, "{sequence} with {bytes} bytes");
            assert!(tight.passes > 1 || leaves * 8 < bytes || leaves < 16, "{tight:?}");
        }
        assert_eq!(count(&rules, sequence, None), Perft { distinct: None, ..roomy });
    }
}

#[test]
fn a_count_that_is_stopped_says_how_far_it_was() {
    let mut shares = Vec::new();
    let pieces = parse_sequence("IOTSZ").unwrap();
    let stopped = perft(&Rules::default(), &pieces, Some(1 << 20), &mut |progress| {
        shares.push(progress.share);
        if shares.len() == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(shares.is_sorted() && shares[0] > 0.0 && shares[4] < 1.0, "{shares:?}");
    assert!(
        stopped.distinct.is_none() && stopped.leaves > 0 && stopped.placements >= 5 * LOOK,
        "{stopped:?}"
    );
}
