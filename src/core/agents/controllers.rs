//! The named linear controllers: published weights, and their known scores.
//!
//! Weights are signed: the value of a landing is the sum of weight times feature, in the order of the feature set, and
//! nothing is subtracted. Some sources write positive weights and put the signs into their formula; the weights here
//! include those signs. Weights fit only their own features, so each row names its feature set.
//!
//! A figure is the mean number of lines per game under the named rules: `published` by the source, or `measured` by
//! other programs, either MDPTetris or independent re-implementations. If the two differ, this engine should match the
//! measured one.

use super::{Beam, Expectation, LinearAgent, Play, Search, TerminalValue};
use crate::features::{FeatureError, FeatureSet};
use crate::names::unknown;

/// A linear controller with a name: its weights, and the games that it was made for.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// Name on the wire and on the command line.
    pub name: &'static str,
    /// Name of the feature set.
    pub feature_set: &'static str,
    /// One weight per feature, in the order of the set at `width`.
    pub weights: &'static [f64],
    /// The way the controller plays. It searches if its weights were trained for that; otherwise it is greedy.
    pub play: Play,
    /// Preset for which the controller was made.
    pub preset: &'static str,
    /// Columns of the playfield for which the controller was made.
    pub width: u8,
    /// Rows of the playfield for which the controller was made.
    pub height: u8,
    /// Author, year and method of the weights, in words.
    pub source: &'static str,
    /// Known means, at most one per set of rules.
    pub figures: &'static [Figure],
}

/// Mean lines per game under the named rules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    pub preset: &'static str,
    pub width: u8,
    pub height: u8,
    /// Key presses after which a game is cut; 0 for no limit.
    pub max_steps: u64,
    /// Lines per game, as published by the source.
    pub published: Option<f64>,
    /// Lines per game, as measured since.
    pub measured: Option<Measured>,
}

/// A mean over games that were played to measure the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    pub games: u32,
    /// Lines per game.
    pub mean: f64,
    /// 95 % interval of the mean, if known.
    pub interval: Option<(f64, f64)>,
}

/// The reason why a controller cannot play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ControllerError {
    /// No controller has that name.
    #[error("{}", unknown("controller", .0, CONTROLLERS.iter().map(|controller| controller.name)))]
    Unknown(String),
    /// The numbers of features and weights match only at another width.
    #[error(
        "{name} has {weights} weights, but {features} features at width {width}; it plays width {expected} only"
    )]
    Width {
        name: &'static str,
        weights: usize,
        features: usize,
        width: u8,
        /// Width at which the numbers match.
        expected: u8,
    },
    /// The feature set does not exist.
    #[error(transparent)]
    Features(#[from] FeatureError),
}

impl Controller {
    /// Looks up a controller by name.
    ///
    /// ```
    /// use tetrion_core::agents::Controller;
    /// let bcts = Controller::named("bcts").unwrap();
    /// assert_eq!((bcts.feature_set, bcts.weights[0]), ("bcts8", -12.629));
    /// ```
    ///
    /// # Errors
    /// [`ControllerError::Unknown`].
    pub fn named(name: &str) -> Result<&'static Controller, ControllerError> {
        let found = CONTROLLERS.iter().find(|controller| controller.name == name);
        found.ok_or_else(|| ControllerError::Unknown(name.to_owned()))
    }

    /// The controller at a width, for greedy play, even if it normally searches.
    ///
    /// # Errors
    /// Returns the errors of [`Controller::features`].
    pub fn agent(&self, width: u8) -> Result<LinearAgent, ControllerError> {
        let agent = LinearAgent::new(self.features(width)?, self.weights.into(), self.play.terminal_value);
        Ok(agent.expect("the weights of the table are numbers, and as many as the features"))
    }

    /// The controller's feature set at a width.
    ///
    /// # Errors
    /// [`ControllerError::Width`] if the numbers of features and weights differ at this width.
    pub fn features(&self, width: u8) -> Result<FeatureSet, ControllerError> {
        let features = FeatureSet::named(self.feature_set, width)?;
        if features.len() != self.weights.len() {
            return Err(ControllerError::Width {
                name: self.name,
                weights: self.weights.len(),
                features: features.len(),
                width,
                expected: self.width,
            });
        }
        Ok(features)
    }
}

/// A controller that avoids the end of the game and searches with this expectation.
const fn searching(expectation: Expectation) -> Play {
    Play { terminal_value: TerminalValue::Avoid, search: Search::Expectation(expectation) }
}

/// A controller that avoids the end of the game and searches with this beam.
const fn following(beam: Beam) -> Play {
    Play { terminal_value: TerminalValue::Avoid, search: Search::Beam(beam) }
}

/// A beam that takes about 1.5 ms per move under `guideline`.
const BEAM: Beam = Beam {
    width: 12,
    perfect_clear_places: 24,
    samples: 4,
    sample_pieces: 1,
    attack: 0.856,
    back_to_back: 0.521,
    perfect_clear: 5.622,
    t_slot: 0.218,
    t_kept: 0.199,
    ..Beam::DEFAULT
};

/// Weights of `modern30` for [`BEAM`].
const UNDER_A_BEAM: &[f64] = &[
    // thiery9
    0.0075, 0.03, -0.8528, -0.0582, -0.2296, -0.2228, -0.1055, 0.108, -0.1469, // heights, wells
    0.0397, -0.0703, // steps
    0.04, 0.2925, -0.1121, 0.0744, 0.0771, -0.2728, -0.2866, // ways of clearing
    -0.101, -0.5724, 0.0825, 0.0962, 0.2317, -0.2065, 0.0823,
    // lines sent, idle Ts, rows ready for an I
    0.2247, -0.1224, 0.1878, // slots for a T, and their rows
    0.8037, 0.4861,
];

/// All named controllers, in the order in which catalogs list them.
pub static CONTROLLERS: &[Controller] = &[
    Controller {
        name: "dellacherie",
        feature_set: "dellacherie6",
        weights: &[-1.0, 1.0, -1.0, -1.0, -4.0, -1.0],
        source: "Dellacherie 2003, made by hand",
        figures: &[
            on(10, 10).measured(10_000, 2_367.0, (2_320.0, 2_414.0)),
            on(10, 20).published(5_000_000.0),
        ],
        ..SIMPLIFIED
    },
    Controller {
        name: "bcts",
        feature_set: "bcts8",
        weights: &[-12.62900, 6.601974, -9.215815, -19.77356, -13.08335, -10.48747, -1.611863, -24.04087],
        source: "Thiery and Scherrer 2009, by the cross-entropy method; all digits of MDPTetris' weight file",
        figures: &[
            on(10, 10).measured(7_111, 4_004.0, (3_911.0, 4_098.0)),
            on(10, 20).published(35_000_000.0),
        ],
        ..SIMPLIFIED
    },
    Controller {
        name: "bcts-rounded",
        feature_set: "bcts8",
        weights: &[-12.63, 6.60, -9.22, -19.77, -13.08, -10.49, -1.61, -24.04],
        source: "Thiery and Scherrer 2009, as printed: two decimals",
        figures: &[
            on(10, 10).measured(10_000, 3_936.0, (3_859.0, 4_012.0)),
            on(10, 20).published(35_000_000.0).measured(124, 35_500_000.0, (29_100_000.0, 41_900_000.0)),
        ],
        ..SIMPLIFIED
    },
    Controller {
        name: "ce-d",
        feature_set: "dellacherie6",
        weights: &[-8.593742, 4.982987, -5.315517, -17.01111, -14.26038, -6.035001],
        source: "MDPTetris (Thiery and Scherrer), by the cross-entropy method on Dellacherie's features",
        ..SIMPLIFIED
    },
    Controller {
        name: "cma-d",
        feature_set: "dellacherie6",
        weights: &[-1.168, 1.328, -1.017, -2.168, -4.335, -1.472],
        source: "MDPTetris' weight files, by CMA-ES on Dellacherie's features",
        ..SIMPLIFIED
    },
    Controller {
        name: "dt-10",
        feature_set: "thiery9",
        weights: &[-2.18, 2.42, -2.17, -3.31, 0.95, -2.22, -0.81, -9.65, 1.27],
        height: 10,
        source: "Gabillon, Ghavamzadeh and Scherrer 2013, by classification-based policy iteration on 10 x 10",
        figures: &[on(10, 10).measured(10_000, 5_236.0, (5_135.0, 5_337.0))],
        ..SIMPLIFIED
    },
    Controller {
        name: "dt-20",
        feature_set: "thiery9",
        weights: &[-2.68, 1.38, -2.41, -6.32, 2.03, -2.71, -0.43, -9.48, 0.89],
        source: "Gabillon, Ghavamzadeh and Scherrer 2013, by classification-based policy iteration on 10 x 20",
        figures: &[
            on(10, 10).measured(10_000, 4_513.0, (4_425.0, 4_602.0)),
            on(10, 20).published(51_000_000.0).measured(51, 61_900_000.0, (49_200_000.0, 74_600_000.0)),
        ],
        ..SIMPLIFIED
    },
    Controller {
        name: "rv-ce",
        feature_set: "thiery9",
        weights: &[
            -11.334763, 5.599150, -9.951538, -15.122333, -3.301414, -10.990716, -5.651008, -34.671752,
            5.484312,
        ],
        height: 10,
        source: "Robust-Validation-Cross-Entropy 2026, its best weights on 10 x 10",
        figures: &[on(10, 10).published(5_379.0).measured(11_500, 5_307.0, (5_210.0, 5_403.0))],
        ..SIMPLIFIED
    },
    Controller {
        name: "tetrion-10x10",
        feature_set: "surface27",
        weights: &[
            // thiery9
            -0.19222137823831603,
            0.1672417451177072,
            -0.18840963356161614,
            -0.3017579372810555,
            0.09311096494832105,
            -0.21305813850753627,
            -0.0773248020240303,
            -0.8362042719737113,
            0.07227292419772688, //
            // readiness
            -0.0026503627084169816,
            0.07493301489020364,
            -0.0069307012020341785,
            0.01865151260164747,
            0.018224235111253997,
            -0.03975463897758956,
            0.0025130718614320775, //
            // fits, steps
            0.006489338306550203,
            -0.060384153866641636,
            -0.01385539473163936,
            0.08042365282513078,
            -0.03220487302724053,
            0.08241282352493201,
            -0.017350568212666593,
            -0.005774545884869907, //
            // weighted holes, deep wells, parity
            -0.023689950372732128,
            -0.046751238149009236,
            -0.010591813132425605,
        ],
        height: 10,
        source: "this project, by the cross-entropy method from dt-10 on; docs/results.md has the command",
        figures: &[on(10, 10).measured(10_000, 7_120.0, (6_980.0, 7_259.0))],
        ..SIMPLIFIED
    },
    Controller {
        name: "tetrion-10x20",
        feature_set: "steps16",
        weights: &[
            // thiery9
            -0.185031392947436,
            0.045465054554085435,
            -0.21023157482616495,
            -0.5236982053464376,
            0.1672251471259471,
            -0.24450410233940484,
            -0.06431875437637054,
            -0.708658215581391,
            0.09858085670396344, //
            // steps
            -0.045921961712706814,
            -0.06585276566984119,
            0.09858708514132188,
            -0.02087928805820039,
            0.10196006422993646,
            -0.04399342529515345,
            -0.06518377773674115,
        ],
        height: 20,
        source: "this project, by the cross-entropy method on estimates of long games, from dt-20 on; docs/results.md has the \
                 command",
        figures: &[],
        ..SIMPLIFIED
    },
    Controller {
        name: "tetrion-10x10-expectation",
        feature_set: "steps16",
        weights: UNDER_THE_MEAN,
        play: searching(Expectation::DEFAULT),
        height: 10,
        source: "this project, by the cross-entropy method under the exact mean over the hidden piece, from dt-10 on; \
                 docs/results.md has the command",
        figures: &[on(10, 10).measured(400, 38_553.0, (34_903.0, 42_203.0))],
        ..SIMPLIFIED
    },
    Controller {
        name: "tetrion-10x10-preview",
        feature_set: "steps16",
        weights: UNDER_THE_MEAN,
        play: searching(Expectation { pieces: 2, placements: 4, ..Expectation::DEFAULT }),
        height: 10,
        source: "this project: the weights of tetrion-10x10-expectation, for rules that show the next piece",
        figures: &[],
        ..SIMPLIFIED
    },
    Controller {
        name: "tetrion-guideline",
        feature_set: "modern30",
        weights: &[
            // thiery9
            -0.1313850798104846,
            0.06956993751904202,
            -0.14073274219529588,
            -0.23909148356405793,
            -0.10803752903139052,
            0.010840073054027047,
            -0.013824382839739214,
            -0.11641727160797342,
            0.08552519997809355, //
            // heights, wells
            0.059215603878897634,
            0.03868922081884917, //
            // steps
            0.04153314146652646,
            -0.027879604753163364,
            -0.023134339248757293,
            -0.09757705251916016,
            -0.015645585584828817,
            -0.07697773700188053,
            -0.013441564372887805, //
            // ways of clearing
            -0.3110400178476047,
            -0.3449421213627397,
            -0.1759155962869455,
            0.1431175519313119,
            -0.045638608055088785,
            0.03597966647883096,
            0.0605839505513217, //
            // lines sent, idle Ts, rows ready for an I
            0.3814366723301983,
            -0.17734231587773497,
            0.13126335240008416, //
            // slots for a T, and their rows
            0.28340085664731435,
            0.537397232544146,
        ],
        preset: "guideline",
        height: 24,
        source: "this project, by the cross-entropy method on lines sent; docs/results.md has the commands",
        figures: &[],
        ..SIMPLIFIED
    },
    Controller {
        name: "tetrion-guideline-preview",
        feature_set: "modern30",
        weights: &[
            // thiery9
            -0.0968221654252395,
            0.12929776129757198,
            -0.124664014502172,
            -0.16657954517491488,
            -0.1343099644258642,
            -0.0023824049649843167,
            -0.014775708855041718,
            0.041362516768003725,
            0.015901791661783675, //
            // heights, wells
            0.0766207468525138,
            0.10657130953160474, //
            // steps
            -0.011374833634986405,
            -0.015076589802890407,
            -0.025641720543334547,
            -0.12486485214742647,
            -0.042552087095182635,
            -0.028123190503682328,
            -0.010424471261889723, //
            // ways of clearing
            -0.32494915820155307,
            -0.4063512380337404,
            -0.20959926594869083,
            0.08314888312761208,
            0.058550779033679036,
            -0.023407419597790073,
            0.05501620574293276, //
            // lines sent, idle Ts, rows ready for an I
            0.4055898935441695,
            -0.18859313393813365,
            0.1587434039470811, //
            // slots for a T, and their rows
            0.293676034709285,
            0.4774186757733609,
        ],
        play: searching(Expectation::DEFAULT),
        preset: "guideline",
        height: 24,
        source: "this project, continued from tetrion-guideline with one-piece expectimax; docs/results.md has the commands",
        figures: &[],
        ..SIMPLIFIED
    },
    Controller {
        name: "tetrion-guideline-beam",
        feature_set: "modern30",
        weights: UNDER_A_BEAM,
        play: following(BEAM),
        preset: "guideline",
        height: 24,
        source: "this project, by CMA-ES on lines sent under a beam search; docs/results.md has figures",
        figures: &[],
        ..SIMPLIFIED
    },
    Controller {
        name: "tetrion-guideline-beam-wide",
        feature_set: "modern30",
        weights: UNDER_A_BEAM,
        play: following(Beam { width: 24, perfect_clear_places: 64, samples: 7, sample_pieces: 3, ..BEAM }),
        preset: "guideline",
        height: 24,
        source: "this project: the weights of tetrion-guideline-beam, for ten milliseconds per move",
        figures: &[],
        ..SIMPLIFIED
    },
    Controller {
        name: "tetrion-guideline-beam-deep",
        feature_set: "modern30",
        weights: UNDER_A_BEAM,
        play: following(Beam { width: 48, perfect_clear_places: 96, samples: 24, sample_pieces: 3, ..BEAM }),
        preset: "guideline",
        height: 24,
        source: "this project: the weights of tetrion-guideline-beam, for fifty milliseconds per move",
        figures: &[],
        ..SIMPLIFIED
    },
    Controller {
        name: "bdu",
        feature_set: "bdu",
        weights: &[
            // column heights
            -13.18725, -7.652075, 7.622007, -9.044294, -1.747279, -7.569865, -5.221819, -0.6874555, -6.483100,
            -16.01383, //
            // height differences
            2.356909, 2.143912, -7.351929, 1.558139, 0.4336980, 3.655922, -4.673708, -1.997187,
            9.122675, //
            // maximum, holes, then the rest of bcts8
            12.36382, -40.64000, -43.27153, -1.036039, -36.93346, -81.00232, -41.17906, -13.27585, -75.47524,
        ],
        source: "Thiery and Scherrer 2009, by the cross-entropy method on bertsekas and bcts8 together; width 10 only",
        figures: &[on(10, 10).measured(1_500, 4_446.0, (4_215.0, 4_677.0))],
        ..SIMPLIFIED
    },
    Controller {
        name: "el-tetris",
        feature_set: "eltetris6",
        weights: &EL_TETRIS,
        source: "El-Ashi 2011, by particle swarm optimisation",
        figures: &[
            on(10, 10).measured(5_000, 2_997.0, (2_916.0, 3_078.0)),
            on(10, 20).published(16_000_000.0),
        ],
        ..SIMPLIFIED
    },
    Controller {
        name: "el-tetris-coded",
        feature_set: "survey6",
        weights: &EL_TETRIS,
        preset: "survey",
        source: "Tetris AI survey notebook: El-Tetris' weights on the features as they are coded there",
        figures: &[under("survey", 10, 20).measured_roughly(20, 1_124.0)],
        ..SIMPLIFIED
    },
    Controller {
        name: "yiyuan-lee",
        feature_set: "height4",
        weights: &[-0.510066, 0.760666, -0.35663, -0.184483],
        source: "Lee 2013, by a genetic algorithm, for play with one piece of lookahead",
        figures: &[
            on(10, 10).measured(2_000, 113.0, (109.0, 117.0)),
            on(10, 20).measured(400, 686.0, (626.0, 746.0)),
        ],
        ..SIMPLIFIED
    },
    Controller {
        name: "lab-uniform",
        feature_set: "lab4",
        weights: &[-1.0, 1.0, -1.0, -1.0],
        play: Play { terminal_value: TerminalValue::Score, search: Search::Greedy },
        preset: "lab",
        source: "course notebook, all weights 1; its formula subtracts height, holes and bumpiness",
        figures: &[under("lab", 10, 20).cut_at(1_000).published(58.0).measured_roughly(200, 39.0)],
        ..SIMPLIFIED
    },
    Controller {
        name: "lab-optimised",
        feature_set: "lab4",
        weights: &[-0.434, 0.238, -0.247, -0.081],
        play: Play { terminal_value: TerminalValue::Score, search: Search::Greedy },
        preset: "lab",
        source: "course notebook, by its cross-entropy search; its formula subtracts height, holes and bumpiness",
        figures: &[under("lab", 10, 20).cut_at(1_000).measured_roughly(200, 71.0)],
        ..SIMPLIFIED
    },
    Controller {
        name: "lab8",
        feature_set: "lab8",
        weights: &[-12.63, 6.60, -9.22, -19.77, -13.08, -10.49, -1.61, -24.04],
        play: Play { terminal_value: TerminalValue::Score, search: Search::Greedy },
        preset: "lab",
        source: "course notebook: the weights of bcts-rounded on its own features; its formula holds the signs",
        figures: &[under("lab", 10, 20).cut_at(5_000).measured_roughly(40, 481.0)],
        ..SIMPLIFIED
    },
    Controller {
        name: "genetic",
        feature_set: "lab4",
        weights: &[0.06346301632540774, 0.2653280714475912, -1.2246601893643692, -0.27134621659306046],
        play: Play { terminal_value: TerminalValue::Score, search: Search::Greedy },
        preset: "genetic",
        height: 22,
        source: "genetic-algorithm write-up, its submitted weights; they reward height, as it remarks itself",
        figures: &[under("genetic", 10, 22).measured_roughly(100, 558.0)],
        ..SIMPLIFIED
    },
    Controller {
        name: "flat_stacking",
        feature_set: "flatstack",
        weights: &[1.0, -1.0, -4.0, -1.0],
        preset: "leiden",
        height: 10,
        source: "smart agent of the Leiden report, without the terms of its formula that are equal for all placements",
        figures: &[
            under("leiden", 10, 10).published(68.0).measured_roughly(1_000, 70.2),
            under("leiden", 15, 10).published(342.0).measured_roughly(1_000, 312.0),
            under("leiden", 20, 10).published(1_466.0).measured_roughly(1_000, 1_411.0),
            under("leiden", 15, 15).published(48_257.0).measured_roughly(49, 40_108.0),
            under("leiden", 20, 15).published(1_228_724.0),
        ],
        ..SIMPLIFIED
    },
];

const EL_TETRIS: [f64; 6] = [
    -4.500158825082766,
    3.4181268101392694,
    -3.2178882868487753,
    -9.348695305445199,
    -7.899265427351652,
    -3.3855972247263626,
];

/// Weights found by a search with the exact mean over the hidden piece, for the set
/// [`steps16`](crate::features::FEATURE_SETS).
const UNDER_THE_MEAN: &[f64] = &[
    // thiery9
    -0.19670806117055017,
    0.17128095657669437,
    -0.22432222758422113,
    -0.28797092198632285,
    0.08040847099603267,
    -0.2579191393338119,
    -0.09005843079918116,
    -0.8301784405226885,
    0.10360245121963066, //
    // steps
    -0.05353266881045736,
    -0.02989524141899125,
    0.05581899868892911,
    -0.017879718639209133,
    0.03319144702490406,
    0.020122557592492003,
    -0.03172023550004418,
];

/// Values that most rows share.
const SIMPLIFIED: Controller = Controller {
    name: "",
    feature_set: "",
    weights: &[],
    play: Play { terminal_value: TerminalValue::Avoid, search: Search::Greedy },
    preset: "simplified",
    width: 10,
    height: 20,
    source: "",
    figures: &[],
};

/// A figure for games of the literature on a playfield of this size.
const fn on(width: u8, height: u8) -> Figure {
    under("simplified", width, height)
}

const fn under(preset: &'static str, width: u8, height: u8) -> Figure {
    Figure { preset, width, height, max_steps: 0, published: None, measured: None }
}

impl Figure {
    const fn cut_at(self, max_steps: u64) -> Figure {
        Figure { max_steps, ..self }
    }

    const fn published(self, lines: f64) -> Figure {
        Figure { published: Some(lines), ..self }
    }

    const fn measured(self, games: u32, mean: f64, interval: (f64, f64)) -> Figure {
        Figure { measured: Some(Measured { games, mean, interval: Some(interval) }), ..self }
    }

    const fn measured_roughly(self, games: u32, mean: f64) -> Figure {
        Figure { measured: Some(Measured { games, mean, interval: None }), ..self }
    }
}
