//! The named controllers: they replay the games that other programs recorded of them, placement for placement.

use std::collections::{BTreeMap, HashSet};

use tetrion_core::agents::{CONTROLLERS, Controller, TerminalValue};
use tetrion_core::engine::{
    Dealer, Landing, PRESETS, Placement, Playfield, Randomizer, Rules, Spin, Tetromino, placements,
};
use tetrion_core::features::{FeatureSet, Seen};

/// A landing that was chosen, with its features and their weighted sum.
struct Choice {
    placement: Placement,
    landing: Landing<u64, 32>,
    features: Vec<f64>,
    value: f64,
}

/// The first of the placements with the greatest value; one that ends the game is worth minus infinity.
fn choose(
    rules: &Rules,
    controller: &Controller,
    set: &FeatureSet,
    playfield: &Playfield,
    piece: Tetromino,
) -> Choice {
    assert_eq!(
        controller.play.terminal_value,
        TerminalValue::Avoid,
        "the recorded games are of controllers that avoid the end"
    );
    let look = |placement: Placement| {
        let shape = placement.shape(rules, piece).unwrap();
        let landing = playfield.land(shape, placement.column, rules.top_out);
        let mut features = vec![f64::NAN; set.len()];
        set.evaluate(&Seen { piece, spin: Spin::None, shape, landing: &landing }, &mut features);
        let sum = controller
            .weights
            .iter()
            .zip(&features)
            .fold(0.0, |sum, (weight, feature)| sum + weight * feature);
        let value = if landing.terminal { f64::NEG_INFINITY } else { sum };
        Choice { placement, landing, features, value }
    };
    let better = |best: Choice, next: Choice| if next.value > best.value { next } else { best };
    placements(rules, playfield, piece).iter().map(look).reduce(better).expect("a placement")
}

/// The lines of a file that are not comments, in words.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split(' ').collect())
}

fn drawn(drawing: &str, rules: &Rules) -> Playfield {
    Playfield::from_drawing(rules.width, rules.height, drawing).unwrap()
}

/// Games of the literature's own program; the shorter ones, since this is the slow way to play.
#[test]
fn games_of_mdptetris_come_out() {
    const MOST_PIECES: u32 = 5_000;
    let mut games_of = BTreeMap::new();
    for row in rows(include_str!("../data/reference_games.txt")) {
        let [name, width, height, seed, pieces, lines, checksum, end] = row[..] else { panic!("{row:?}") };
        let pieces: u32 = pieces.parse().unwrap();
        if pieces > MOST_PIECES {
            continue;
        }
        let controller = Controller::named(name).unwrap();
        let rules = Rules::simplified(width.parse().unwrap(), height.parse().unwrap());
        let set = controller.features(rules.width).unwrap();
        let mut dealer = Dealer::seeded(Randomizer::Uniform, seed.parse().unwrap());
        let mut playfield = Playfield::empty(rules.width, rules.height);
        let (mut cleared, mut over, mut hash) = (0u32, false, 0xcbf2_9ce4_8422_2325u64);
        for _ in 0..pieces {
            assert!(!over, "{row:?} ends too early");
            let choice = choose(&rules, controller, &set, &playfield, dealer.deal().unwrap());
            for byte in [choice.placement.orientation, choice.placement.column] {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            cleared += u32::from(choice.landing.lines);
            (playfield, over) = (choice.landing.afterstate, choice.landing.terminal);
        }
        assert_eq!((cleared, over), (lines.parse().unwrap(), end == "over"), "{row:?}");
        assert_eq!(format!("{hash:016x}"), checksum, "{row:?}");
        *games_of.entry(name).or_insert(0) += 1;
    }
    assert_eq!(games_of.len(), 10, "every controller has a game: {games_of:?}");
}

#[test]
fn games_of_the_survey_notebook_come_out() {
    let controller = Controller::named("el-tetris-coded").unwrap();
    let rules = Rules::preset(controller.preset).unwrap();
    let set = controller.features(rules.width).unwrap();
    let (mut playfield, mut cleared, mut moves, mut games) = (Playfield::empty(10, 20), 0, 0, 0);
    for row in rows(include_str!("../data/survey_games.txt")) {
        match row[..] {
            ["game"] => (playfield, cleared) = (Playfield::empty(10, 20), 0),
            ["final", drawing] => {
                assert_eq!(playfield, drawn(drawing, &rules));
                games += 1;
            }
            [piece, turns, column, drop_row, lines] => {
                let number = |word: &str| word.parse::<u8>().unwrap();
                let piece = Tetromino::from_letter(piece.parse().unwrap()).unwrap();
                let choice = choose(&rules, controller, &set, &playfield, piece);
                let expected = Placement::straight(number(turns), number(column));
                assert_eq!(choice.placement, expected, "{piece} on\n{playfield}");
                let height = expected.shape(&rules, piece).unwrap().height;
                assert_eq!(20 - number(drop_row) - height, choice.landing.row, "{row:?}");
                cleared += choice.landing.lines;
                assert_eq!(cleared, number(lines), "{row:?}");
                playfield = choice.landing.afterstate;
                moves += 1;
            }
            _ => panic!("{row:?}"),
        }
    }
    assert_eq!((games, moves), (3, 300));
}

#[test]
fn games_of_the_leiden_report_come_out() {
    let controller = Controller::named("flat_stacking").unwrap();
    let shafts_of = |playfield: &Playfield| {
        let mut shafts = [f64::NAN];
        let set = FeatureSet::custom(&["open_shafts"], playfield.width()).unwrap();
        set.of_playfield(playfield, &mut shafts);
        shafts[0]
    };
    let mut rules = Rules::preset(controller.preset).unwrap();
    let mut set = controller.features(rules.width).unwrap();
    let (mut playfield, mut cleared, mut moves, mut games) = (Playfield::empty(10, 10), 0.0, 0, 0);
    for row in rows(include_str!("../data/leiden_games.txt")) {
        match row[..] {
            ["game", width, height] => {
                rules = Rules { width: width.parse().unwrap(), height: height.parse().unwrap(), ..rules };
                set = controller.features(rules.width).unwrap();
                (playfield, cleared) = (Playfield::empty(rules.width, rules.height), 0.0);
            }
            ["final", drawing] => {
                assert_eq!(playfield, drawn(drawing, &rules));
                games += 1;
            }
            [piece, orientation, column, score, top, closed, shaft, lines] => {
                let piece = Tetromino::from_letter(piece.parse().unwrap()).unwrap();
                let choice = choose(&rules, controller, &set, &playfield, piece);
                let expected = Placement::straight(orientation.parse().unwrap(), column.parse().unwrap());
                assert_eq!(choice.placement, expected, "{piece} on\n{playfield}");
                // The report's formula also adds the height and the shafts there were.
                let value = choice.value + f64::from(rules.height) + shafts_of(&playfield);
                match score {
                    "-" => assert!(choice.landing.terminal, "{row:?}"),
                    score => assert_eq!(value, score.parse::<f64>().unwrap(), "{row:?}"),
                }
                let expected = [top, closed, shaft].map(|word| word.parse::<f64>().unwrap());
                assert_eq!(choice.features[1..], expected, "{row:?}");
                cleared += choice.features[0];
                assert_eq!(cleared, lines.parse::<f64>().unwrap(), "{row:?}");
                playfield = choice.landing.afterstate;
                moves += 1;
            }
            _ => panic!("{row:?}"),
        }
    }
    assert_eq!((games, moves), (5, 214));
}

#[test]
fn every_controller_can_play_where_it_belongs() {
    let names: HashSet<&str> = CONTROLLERS.iter().map(|controller| controller.name).collect();
    assert_eq!(names.len(), CONTROLLERS.len(), "every name is used once");
    for controller in CONTROLLERS {
        let name = controller.name;
        let set = controller.features(controller.width).unwrap();
        assert_eq!((set.name(), set.len()), (controller.feature_set, controller.weights.len()), "{name}");
        assert!(controller.weights.iter().all(|weight| weight.is_finite() && *weight != 0.0), "{name}");
        assert!(!controller.source.is_empty(), "{name}");
        let rules = Rules::preset(controller.preset).expect("a preset");
        assert_eq!(
            (rules.width, rules.height.min(controller.height)),
            (controller.width, controller.height),
            "{name}"
        );
        for figure in controller.figures {
            assert!(PRESETS.iter().any(|preset| preset.name == figure.preset), "{name}");
            controller.features(figure.width).unwrap();
            assert!(
                figure.published.is_some() || figure.measured.is_some(),
                "{name}: a figure without a number"
            );
            if let Some(measured) = figure.measured
                && let Some((low, high)) = measured.interval
            {
                assert!(low < measured.mean && measured.mean < high, "{name}: {measured:?}");
            }
        }
    }
}

#[test]
fn controllers_that_do_not_exist_or_do_not_fit_are_refused_with_a_reason() {
    let message = Controller::named("btcs").unwrap_err().to_string();
    assert!(
        message.starts_with(
            "no controller is called \"btcs\", did you mean \"bcts\"? expected one of dellacherie, bcts, "
        ),
        "{message}"
    );
    let bdu = Controller::named("bdu").unwrap();
    assert_eq!(
        bdu.features(9).unwrap_err().to_string(),
        "bdu has 28 weights, but 26 features at width 9; it plays width 10 only"
    );
    assert_eq!(bdu.features(10).unwrap().len(), 28);
}
