//! Every feature against the same feature written a second time, slowly and plainly.

use std::collections::HashMap;

use tetrion_core::engine::{Placement, Playfield, Rules, Spin, Tetromino};
use tetrion_core::features::{FeatureSet, Seen};

use super::all_names;
use tetrion_twins::{self as twin, TwinLanding, TwinPlayfield, TwinStep};

/// The set of all features at a width, and the twin's names for those of a playfield.
struct Everything {
    set: FeatureSet,
    of_playfields: Vec<String>,
}

impl Everything {
    fn at_every_width() -> Vec<Everything> {
        let at = |width| Everything {
            set: FeatureSet::custom(&all_names(width), width).unwrap(),
            of_playfields: twin::playfield_feature_names(width.into()),
        };
        (0..=32).map(|width| at(width.max(4))).collect()
    }

    /// What the twin finds on a playfield, by name.
    fn twins_features(&self, playfield: &TwinPlayfield) -> HashMap<&str, f64> {
        let feature = |name: &String| twin::playfield_feature(name, playfield);
        self.of_playfields.iter().map(|name| (name.as_str(), feature(name))).collect()
    }

    /// Compares every feature of a playfield nothing has landed on.
    fn compare_playfield(&self, playfield: &TwinPlayfield, seed: u64) {
        let mut found = vec![f64::NAN; self.set.len()];
        self.set.of_playfield(&same(playfield), &mut found);
        let expected = self.twins_features(playfield);
        for (column, found) in self.set.columns().iter().zip(found) {
            let name = column.to_string();
            let expected = match twin::plain_name(&name) {
                _ if column.feature.is_of_landing() => 0.0,
                Some(plain) => expected[plain.as_str()],
                None => expected[name.as_str()],
            };
            assert_eq!(found, expected, "{name}, seed {seed}:\n{playfield}");
        }
    }

    /// Compares every feature of a landing.
    fn compare_landing(&self, TwinStep { before, placement, landing: twins }: &TwinStep, seed: u64) {
        let rules = Rules::simplified(before.width() as u8, before.height() as u8);
        let ours = Placement::from_action(placement.action(before.width()) as u32, &rules);
        let tetromino = Tetromino::from_letter(placement.tetromino).unwrap();
        let shape = ours.shape(&rules, tetromino).unwrap();
        let landing = same(before).land(shape, ours.column, rules.top_out);

        let mut found = vec![f64::NAN; self.set.len()];
        // What is dropped is no spin, but the features only read what they are told.
        let spin = seed as usize % 3;
        let twins = &TwinLanding { spin, ..twins.clone() };
        let seen = Seen { piece: tetromino, spin: Spin::ALL[spin], shape, landing: &landing };
        self.set.evaluate(&seen, &mut found);
        let after = self.twins_features(&twins.afterstate);
        let unlike = (twins.preclear != twins.afterstate).then(|| self.twins_features(&twins.preclear));
        let preclear = unlike.as_ref().unwrap_or(&after);
        for (column, found) in self.set.columns().iter().zip(found) {
            let name = column.to_string();
            let expected = match twin::plain_name(&name) {
                _ if column.feature.is_of_landing() => twin::feature(&name, before, twins),
                Some(plain) => preclear[plain.as_str()],
                None => after[name.as_str()],
            };
            assert_eq!(found, expected, "{name}, seed {seed}: {placement:?} on\n{before}");
            assert_eq!(f64::from(found as f32), found, "{name} is exact in an f32");
        }
    }
}

/// The twin's playfield as ours.
fn same(playfield: &TwinPlayfield) -> Playfield {
    let (width, height) = (playfield.width() as u8, playfield.height() as u8);
    Playfield::from_drawing(width, height, &playfield.to_string()).unwrap()
}

#[test]
fn every_feature_agrees_with_its_twin_on_playfields_no_game_would_reach() {
    let everything = Everything::at_every_width();
    let (mut overflowing, mut clearing, mut to_the_brim) = (0, 0, 0);
    for seed in 0..4_000 {
        // All widths and all heights, and since 29 and 37 share no factor, in time every pair of them.
        let (width, height) = (4 + seed as usize % 29, 4 + seed as usize % 37);
        let before = twin::random_playfield(width, height, seed);
        to_the_brim += usize::from(before.rows[height - 1].contains(&true));
        everything[width].compare_playfield(&before, seed);
        for step in twin::random_episode(before, twin::uniform_sequence(seed, 3).chars(), seed) {
            everything[width].compare_landing(&step, seed);
            overflowing += usize::from(step.landing.terminal);
            clearing += usize::from(step.landing.lines > 0);
        }
    }
    assert!(
        overflowing > 300 && clearing > 300 && to_the_brim > 100,
        "{overflowing} {clearing} {to_the_brim}"
    );
}

#[test]
fn every_feature_agrees_with_its_twin_in_random_games() {
    let everything = Everything::at_every_width();
    for seed in 0..300 {
        let (width, height) =
            ([4, 5, 7, 10, 16, 17][seed as usize % 6], [4, 10, 20, 28, 29][seed as usize % 5]);
        let pieces = twin::uniform_sequence(seed, 60);
        for step in twin::random_episode(TwinPlayfield::empty(width, height), pieces.chars(), seed) {
            everything[width].compare_landing(&step, seed);
        }
    }
}
