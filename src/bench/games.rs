//! Games on one core: controllers, a formula, a network, and controllers of modern Tetris.

use tetrion_core::agents::{
    Activation, Agent, AgentRng, Controller, Expectation, FormulaAgent, Kernel, LinearAgent, Mlp, ModelShape,
    Search, TerminalValue,
};
use tetrion_core::engine::Rules;
use tetrion_core::formula::{Formula, compile};
use tetrion_core::rollout::{Bounds, Episode};

/// Pieces, placements or environment steps between two looks at the clock; mostly a millisecond or less.
pub const CHUNK: u64 = 4096;

/// Greedy controllers with the columns and rows that they play: one per commonly requested feature set, a playfield too
/// high for the compact form, and this project's controller, whose features read the surface.
const GREEDY: [(&str, u8, u8); 8] = [
    ("bcts", 10, 20),
    ("dt-10", 10, 20),
    ("lab-uniform", 10, 20),
    ("dellacherie", 10, 20),
    ("el-tetris", 10, 20),
    ("bdu", 10, 20),
    ("bcts", 10, 30),
    ("tetrion-10x10", 10, 10),
];

/// Controllers on 10 x 10 with the exact mean over the next piece, the placements that they expand, and the goal for the
/// fastest kernel in pieces per second.
const EXPECTATIONS: [(&str, u8, Option<f64>); 3] =
    [("dt-10", 4, Some(140_000.0)), ("dt-10", 8, Some(80_000.0)), ("tetrion-10x10-expectation", 8, None)];

/// Controllers under the [`guideline`] rules: one made for them, one of the literature, and one that searches the shown
/// pieces.
const GUIDELINE: [&str; 3] = ["tetrion-guideline", "dt-10", "tetrion-guideline-preview"];

/// Hidden units of the network.
const NETWORK_UNITS: u32 = 32;

/// Eight features and two conditions: what a formula costs compared with the same features' weights.
const FORMULA: &str = "let low = max_height < 8;
    -3 * landing_height + 3 * eroded_piece_cells - row_transitions - (if low then 8 else 12) * column_transitions
    - 4 * holes - 3 * cumulative_wells - (if low then hole_depth else 2 * hole_depth) - 2 * rows_with_holes";

/// The `guideline` rules with four rows above the visible ones, which play equally with fewer rows.
pub fn guideline() -> Rules {
    Rules { height: 24, rows_above: 4, ..Rules::preset("guideline").expect("a preset") }
}

/// A controller of the table.
pub fn controller(name: &str) -> &'static Controller {
    Controller::named(name).expect("a controller")
}

/// Kernels of this machine, the fastest last.
pub fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.into_iter().filter(|kernel| kernel.is_available())
}

/// Games of one agent, restarted as they end.
#[derive(Debug)]
pub struct AgentGames {
    pub name: String,
    /// Goal for the fastest kernel, in pieces per second.
    pub goal: Option<f64>,
    rules: Rules,
    agent: Agent,
    /// Pieces that [`Self::play`] plays.
    num_pieces: u64,
}

impl AgentGames {
    /// The games of every row.
    pub fn all() -> Vec<AgentGames> {
        let greedy = |(name, width, height)| AgentGames::of_controller(name, width, height, Search::Greedy);
        let mut all: Vec<AgentGames> = GREEDY.map(greedy).into();
        all.push(AgentGames::of_formula());
        all.extend(EXPECTATIONS.map(|(name, placements, goal)| {
            let search = Search::Expectation(Expectation { placements, ..Expectation::default() });
            let games = AgentGames::of_controller(name, 10, 10, search);
            let name = format!("{}, mean over {placements}", games.name);
            AgentGames { name, goal, num_pieces: CHUNK / 64, ..games }
        }));
        all.push(AgentGames::of_network());
        all.extend(GUIDELINE.map(AgentGames::under_guideline));
        all
    }

    fn of_controller(name: &str, width: u8, height: u8, search: Search) -> AgentGames {
        let controller = controller(name);
        let agent = controller.agent(width).expect("the table names sizes that they play");
        AgentGames {
            name: format!("`{}` {width} x {height}", controller.feature_set),
            goal: None,
            rules: Rules::simplified(width, height),
            agent: Agent::searching(agent, search),
            num_pieces: CHUNK,
        }
    }

    fn of_formula() -> AgentGames {
        let rules = Rules::simplified(10, 20);
        let Ok(Formula::Program(program)) = compile(FORMULA, &rules) else {
            unreachable!("a formula with conditions")
        };
        AgentGames {
            name: "formula of 8 features and 2 conditions 10 x 20".to_owned(),
            goal: None,
            rules,
            agent: Agent::Formula(FormulaAgent::new(program, TerminalValue::Avoid)),
            num_pieces: CHUNK,
        }
    }

    /// The weights of `dt-10` plus a network of [`NETWORK_UNITS`] with small outputs.
    fn of_network() -> AgentGames {
        let dt_10 = controller("dt-10");
        let mlp = Mlp { hidden: vec![NETWORK_UNITS], activation: Activation::Relu, tables: None };
        let shape = ModelShape::Mlp(mlp);
        let set = dt_10.features(10).expect("a set of the table");
        let parameters = (0..shape.num_parameters(set.len())).map(|n| (n % 101) as f64 / 1e4);
        let weights = dt_10.weights.iter().copied().chain(parameters).collect();
        let agent = LinearAgent::with_model(set, Some(shape.into()), weights, dt_10.play.terminal_value);
        AgentGames {
            name: format!("`{}` 10 x 10, network of {NETWORK_UNITS}", dt_10.feature_set),
            goal: None,
            rules: Rules::simplified(10, 10),
            agent: Agent::Linear(agent.expect("as many parameters as the shape has")),
            num_pieces: CHUNK / 16,
        }
    }

    /// A controller with the search of its row in the table of controllers.
    fn under_guideline(name: &str) -> AgentGames {
        let (controller, rules) = (controller(name), guideline());
        let agent = controller.agent(rules.width).expect("it plays this size");
        AgentGames {
            name: format!("guideline: `{name}`"),
            goal: None,
            rules,
            agent: Agent::searching(agent, controller.play.search),
            num_pieces: CHUNK / 16,
        }
    }

    /// Plays equal pieces in every call; returns their number.
    pub fn play(&self, kernel: Kernel) -> u64 {
        let (mut left, mut seed) = (self.num_pieces, 0);
        while left > 0 {
            left -= self.play_one(kernel, seed, left).game.pieces;
            seed += 1;
        }
        self.num_pieces
    }

    /// Plays a game of a seed, and at most this many pieces.
    pub fn play_one(&self, kernel: Kernel, seed: u64, max_pieces: u64) -> Episode {
        let AgentGames { rules, agent, .. } = self;
        let mut episode = Episode::new(rules, rules.dealer(seed), AgentRng::new(seed));
        episode.play(rules, agent, kernel, Bounds::of_game(max_pieces, u64::MAX));
        episode
    }
}
