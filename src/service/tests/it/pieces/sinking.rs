//! The ground into which a stack sinks, and the preset `melax` that is played on it.

use tetrion_core::agents::{Agent, AgentRng, Kernel, LinearAgent, TerminalValue};
use tetrion_core::engine::{Placement, Playfield, Rules, land, place};
use tetrion_core::features::FeatureSet;
use tetrion_core::rollout::{Bounds, Episode};
use tetrion_testing::choose_plainly;

fn melax() -> Rules {
    Rules::preset("melax").unwrap()
}

#[test]
fn a_stack_sinks_until_the_rows_above_the_field_are_empty() {
    // Rows from the top, without the empty ones; the field has two.
    for (before, letter, orientation, column, after, lines, sunk) in [
        ("", 'O', 0, 2, "..##../..##..", 0, 0),
        // On two rows: both go.
        ("..##../..##..", 'O', 0, 2, "..##../..##..", 0, 2),
        ("..##../..##..", 'D', 0, 2, "..##../..##..", 0, 1),
        ("..##../..##..", 'D', 0, 0, "..##../####..", 0, 0),
        (".#####/.#####", 'D', 1, 0, "", 2, 0),
        // Full rows are cleared first; what is left fits.
        ("#####./#.####", 'D', 1, 5, ".....#/#.####", 1, 0),
        ("#####./#.####", 'L', 1, 4, "....##/#.####", 1, 0),
        // Rows with holes sink as well.
        ("#####./#.####", 'O', 0, 4, "....##/....##", 0, 2),
    ] {
        let rules = melax();
        let drawn = ["....../....../....../....../......", before].join("/");
        let rows: Vec<&str> = drawn.split('/').filter(|row| !row.is_empty()).collect();
        let drawing = rows[rows.len().saturating_sub(7)..].join("\n");
        let playfield = Playfield::from_drawing(6, 7, &drawing).unwrap();
        let piece = rules.pieces.from_letter(letter).unwrap();
        let placement = Placement::straight(orientation, column);
        let (_, landing) = land(&rules, &playfield, piece, placement);
        let full: Vec<String> = landing.afterstate.to_string().lines().map(str::to_owned).collect();
        let full: Vec<&str> = full.iter().map(String::as_str).filter(|row| row.contains('#')).collect();
        assert_eq!(full.join("/"), after, "{letter} on {before}");
        assert_eq!(
            (landing.lines, landing.sunk, landing.terminal),
            (lines, sunk, false),
            "{letter} on {before}"
        );
        let mut in_place = playfield;
        let landed = place(&rules, &mut in_place, piece, placement);
        assert_eq!((in_place, landed), (landing.afterstate, landing.landed()));
    }
}

#[test]
fn points_count_the_rows_that_sank() {
    let rules = melax();
    assert!(!rules.end_games());
    let mut sunk_by = Vec::new();
    for weights in [[0.0; 4], [-1.0, -0.2, -0.05, -0.05]] {
        let set =
            FeatureSet::custom(&["rows_sunk", "holes", "bumpiness", "total_height"], rules.width).unwrap();
        let linear = LinearAgent::new(set, weights.into(), TerminalValue::Avoid).unwrap();
        // Placement by placement.
        let (mut dealer, mut playfield) = (rules.dealer(3), Playfield::empty(rules.width, rules.height));
        let (mut lines, mut sunk, mut cells) = (0, 0, 0);
        for _ in 0..2_000 {
            let piece = dealer.deal().unwrap();
            let placement = choose_plainly(&linear, &rules, &playfield, piece).placement;
            let landed = place(&rules, &mut playfield, piece, placement);
            (lines, sunk) = (lines + u64::from(landed.lines), sunk + u64::from(landed.sunk));
            cells += u64::from(rules.shapes(piece)[0].cells_at(0, 0).len() as u8);
        }
        assert!(
            6 * lines <= cells && cells <= 6 * (lines + sunk + 2),
            "{cells} cells, {lines} lines, {sunk} rows sank"
        );
        // The same game at once.
        let mut episode = Episode::new(&rules, rules.dealer(3), AgentRng::new(3));
        episode.play(&rules, &Agent::Linear(linear), Kernel::best(), Bounds::of_game(2_000, u64::MAX));
        let game = &episode.game;
        assert_eq!((game.playfield, game.pieces, game.end), (playfield, 2_000, None));
        assert_eq!((game.lines, game.score), (lines, -(sunk as f64)));
        sunk_by.push(sunk);
    }
    assert!(sunk_by[0] > 500 && 4 * sunk_by[1] < sunk_by[0], "{sunk_by:?}");
}
