//! A controller or a formula on one core.

use tetrion_core::agents::{
    Activation, Agent, AgentRng, Controller, Expectation, FormulaAgent, Kernel, LinearAgent, Mlp, ModelShape,
    Search, TerminalValue,
};
use tetrion_core::engine::Rules;
use tetrion_core::formula::{Formula, compile};
use tetrion_core::rollout::{Bounds, Episode};

/// A controller on a playfield size.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub controller: &'static str,
    pub width: u8,
    pub height: u8,
    /// Placements to expand with expectation over the next piece; 0 for greedy play.
    pub looked_at: u8,
}

const fn case(controller: &'static str, width: u8, height: u8) -> Case {
    Case { controller, width, height, looked_at: 0 }
}

/// One controller per commonly requested feature set, a playfield too high for the compact form, and this project's
/// controller, whose features read the surface.
pub const CASES: [Case; 8] = [
    case("bcts", 10, 20),
    case("dt-10", 10, 20),
    case("lab-uniform", 10, 20),
    case("dellacherie", 10, 20),
    case("el-tetris", 10, 20),
    case("bdu", 10, 20),
    case("bcts", 10, 30),
    case("tetrion-10x10", 10, 10),
];

/// Controllers with the exact mean over the next piece, and the goal for the fastest kernel in pieces per second.
pub const EXPECTATIONS: [(Case, Option<f64>); 3] = [
    (Case { looked_at: 4, ..case("dt-10", 10, 10) }, Some(140_000.0)),
    (Case { looked_at: 8, ..case("dt-10", 10, 10) }, Some(80_000.0)),
    (Case { looked_at: 8, ..case("tetrion-10x10-expectation", 10, 10) }, None),
];

/// Controllers under the [`guideline`] rules: one made for them, one of the literature, and one that searches the shown
/// pieces.
pub const GUIDELINE: [&str; 3] = ["tetrion-guideline", "dt-10", "tetrion-guideline-preview"];

/// The `guideline` rules with four rows above the visible ones, which play equally with fewer rows.
pub fn guideline() -> Rules {
    Rules { height: 24, rows_above: 4, ..Rules::preset("guideline").expect("a preset") }
}

/// Hidden units of the network on 10 x 10.
pub const NETWORK_UNITS: u32 = 32;

/// Eight features and two conditions: what a formula costs compared with the same features' weights.
const FORMULA: &str = "let low = max_height < 8;
    -3 * landing_height + 3 * eroded_piece_cells - row_transitions - (if low then 8 else 12) * column_transitions
    - 4 * holes - 3 * cumulative_wells - (if low then hole_depth else 2 * hole_depth) - 2 * rows_with_holes";

/// A formula with eight features and two conditions on 10 x 20.
pub fn formula(kernel: Kernel) -> ControllerGames {
    let rules = Rules::simplified(10, 20);
    let Ok(Formula::Program(program)) = compile(FORMULA, &rules) else {
        unreachable!("a formula with conditions")
    };
    let agent = Agent::Formula(FormulaAgent::new(program, TerminalValue::Avoid));
    ControllerGames { rules, agent, kernel }
}

/// The weights of `dt-10` plus a network of [`NETWORK_UNITS`] with small outputs.
pub fn network(kernel: Kernel) -> ControllerGames {
    let dt_10 = case("dt-10", 10, 10).named();
    let mlp = Mlp { hidden: vec![NETWORK_UNITS], activation: Activation::Relu, tables: None };
    let shape = ModelShape::Mlp(mlp);
    let set = dt_10.features(10).expect("a set of the table");
    let parameters = (0..shape.num_parameters(set.len())).map(|n| (n % 101) as f64 / 1e4);
    let weights = dt_10.weights.iter().copied().chain(parameters).collect();
    let agent = LinearAgent::with_model(set, Some(shape.into()), weights, dt_10.play.terminal_value);
    let agent = Agent::Linear(agent.expect("as many parameters as the shape has"));
    ControllerGames { rules: Rules::simplified(10, 10), agent, kernel }
}

/// One of [`GUIDELINE`], with the search of its table row.
pub fn under_guideline(controller: &str, kernel: Kernel) -> ControllerGames {
    let controller = Controller::named(controller).expect("a controller");
    let rules = guideline();
    let agent = controller.agent(rules.width).expect("it plays this size");
    ControllerGames { rules, agent: Agent::searching(agent, controller.play.search), kernel }
}

impl Case {
    fn named(&self) -> &'static Controller {
        Controller::named(self.controller).expect("the table names controllers that exist")
    }

    /// Feature set of the controller.
    pub fn feature_set(&self) -> &'static str {
        self.named().feature_set
    }

    /// Games of this case on a kernel.
    pub fn on(&self, kernel: Kernel) -> ControllerGames {
        let agent = self.named().agent(self.width).expect("the table names sizes that they play");
        let expectation = Expectation { placements: self.looked_at, ..Expectation::default() };
        let search = if self.looked_at > 0 { Search::Expectation(expectation) } else { Search::Greedy };
        let agent = Agent::searching(agent, search);
        ControllerGames { rules: Rules::simplified(self.width, self.height), agent, kernel }
    }
}

/// Kernels of this machine, the fastest last.
pub fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.into_iter().filter(|kernel| kernel.is_available())
}

/// Games of one controller, restarted as they end.
#[derive(Clone, Debug)]
pub struct ControllerGames {
    rules: Rules,
    agent: Agent,
    kernel: Kernel,
}

impl ControllerGames {
    /// Plays this many pieces, equal ones in every call.
    pub fn pieces(&self, pieces: u64) -> u64 {
        let ControllerGames { rules, agent, kernel } = self;
        let (mut left, mut seed) = (pieces, 0);
        while left > 0 {
            let dealer = rules.dealer(seed);
            let mut episode = Episode::new(rules, dealer, AgentRng::new(seed));
            episode.play(rules, agent, *kernel, Bounds::of_game(left, u64::MAX));
            left -= episode.game.pieces;
            seed += 1;
        }
        pieces
    }
}
