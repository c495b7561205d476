//! The afterstates that a player can reach from the empty playfield, and the transitions between them.

use std::collections::HashMap;

use crate::agents::{Agent, AgentRng, Decision, Kernel, Sight};
use crate::engine::NamedChoice;
use crate::engine::rules::RulesError;
use crate::engine::{
    ActionModel, Odds, Placement, Playfield, PlayfieldOf, Randomizer, Reach, Rules, Tetromino, TopOut,
    every_placement_always_exists, place, placements,
};
pub use crate::values::MAX_CELLS;
use crate::values::pack;

/// Most afterstates. With this many, a process and its values take about 700 MB. The largest sizes below it are 4 x 7
/// with 7.1 million and 5 x 5 with 6.4 million; 7 x 4 has more.
pub const MAX_AFTERSTATES: usize = 10_000_000;

/// A playfield in this room.
type Small = PlayfieldOf<u16, 8>;

/// The reason why there are no exact values.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptimumError {
    /// The rules are not playable.
    #[error(transparent)]
    Rules(#[from] RulesError),
    /// This room cannot solve play under these rules.
    #[error(
        "{field} is {value}, expected {expected}: exact values exist only for straight drops of uniform pieces"
    )]
    Choice {
        /// Field of the rules.
        field: &'static str,
        /// Value of the field.
        value: &'static str,
        /// Required value.
        expected: &'static str,
    },
    /// The playfield has more cells than [`MAX_CELLS`].
    #[error("a playfield of {width} x {height} has {} cells, expected at most {MAX_CELLS}", u32::from(*.width) * u32::from(*.height))]
    Cells {
        /// Columns.
        width: u8,
        /// Rows.
        height: u8,
    },
    /// The process has more afterstates than allowed.
    #[error(
        "a playfield of {width} x {height} has more than {limit} afterstates, expected at most that many"
    )]
    Afterstates {
        /// Columns.
        width: u8,
        /// Rows.
        height: u8,
        /// Largest allowed number.
        limit: usize,
    },
    /// The values of this size are not computed on demand, and no file had them.
    #[error(
        "the values of {width} x {height} are not loaded: write them with `tetrion optimum {width}x{height}`, and load \
         the file with --values"
    )]
    NotLoaded {
        /// Columns.
        width: u8,
        /// Rows.
        height: u8,
    },
    /// The agent draws random numbers.
    #[error(
        "the agent draws random numbers, expected one whose choice follows from the playfield and the piece"
    )]
    Draws,
}

/// The reachable afterstates, and the transitions from each of them.
///
/// Afterstates are numbered in the order in which they are found: breadth first, pieces and placements in ascending
/// order. The empty playfield is number 0. Placements that end the game are not transitions: under these rules they
/// clear nothing.
#[derive(Clone, Debug)]
pub struct Process {
    rules: Rules,
    /// Cells of each afterstate.
    pub(super) cells: Vec<u32>,
    numbers: HashMap<u32, u32>,
    pub(super) transitions: Transitions,
    /// Number of placements of each piece, including those that end the game.
    pub(super) num_placements: [f64; 7],
}

/// The transitions from some afterstates, piece by piece.
#[derive(Clone, Debug, Default)]
pub(super) struct Transitions {
    outgoing: Vec<Outgoing>,
    all: Vec<Transition>,
}

/// Index of an afterstate's first transition, and the number of transitions of each piece.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    first: u32,
    counts: [u8; 7],
}

/// A placement that does not end the game. Three bits hold its lines, the others the number of the afterstate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition(u32);

impl Transitions {
    /// Starts the transitions of the next afterstate.
    pub fn begin(&mut self) {
        self.outgoing.push(Outgoing { first: self.all.len() as u32, counts: [0; 7] });
    }

    /// Adds a transition to the afterstate that was started last. Pieces must come in ascending order.
    pub fn push(&mut self, piece: usize, step: Transition) {
        self.all.push(step);
        self.outgoing.last_mut().expect("an afterstate was begun").counts[piece] += 1;
    }

    /// Number of afterstates that were started.
    pub fn len(&self) -> usize {
        self.outgoing.len()
    }

    /// The transitions from an afterstate, by piece.
    pub fn of(&self, number: usize) -> impl Iterator<Item = &[Transition]> {
        let Outgoing { first, counts } = self.outgoing[number];
        let mut transitions = &self.all[first as usize..];
        counts.into_iter().map(move |count| {
            let (of_piece, others) = transitions.split_at(usize::from(count));
            transitions = others;
            of_piece
        })
    }
}

impl Transition {
    pub fn new(lines: u32, to: usize) -> Transition {
        Transition((to as u32) << 3 | lines)
    }

    pub fn lines(self) -> u32 {
        self.0 & 7
    }

    pub fn to(self) -> usize {
        (self.0 >> 3) as usize
    }
}

impl Process {
    /// Explores every placement of every piece, up to `limit` afterstates, or [`MAX_AFTERSTATES`] if that is less.
    /// Calls `watch` from time to time with the current number of afterstates.
    ///
    /// # Errors
    /// If the rules or the size cannot be solved.
    pub fn of_every_placement(
        rules: &Rules,
        limit: usize,
        watch: impl FnMut(usize),
    ) -> Result<Process, OptimumError> {
        check(rules)?;
        let mut process = Process::new(rules);
        let empty = Small::empty(rules.width, rules.height);
        process.num_placements =
            Tetromino::ALL.map(|piece| f64::from(placements(rules, &empty, piece).len()));
        let all = Tetromino::ALL.map(|piece| placements(rules, &empty, piece).iter().collect::<Vec<_>>());
        // In straight drops, no cells of the playfield block a placement.
        process.explore(limit, watch, |_, piece, chosen| chosen.extend(&all[piece.index()]))?;
        Ok(process)
    }

    /// Explores only the placement that an agent chooses for each piece.
    ///
    /// # Errors
    /// Like [`Process::of_every_placement`], or if the agent draws random numbers.
    ///
    /// # Panics
    /// If the agent was made for another width.
    pub fn of_agent(
        rules: &Rules,
        agent: &Agent,
        kernel: Kernel,
        watch: impl FnMut(usize),
    ) -> Result<Process, OptimumError> {
        check(rules)?;
        if agent.draws() {
            return Err(OptimumError::Draws);
        }
        let mut process = Process::new(rules);
        // The agent draws nothing from it.
        let mut rng = AgentRng::new(0);
        process.explore(MAX_AFTERSTATES, watch, |playfield, piece, chosen| {
            let playfield: Playfield = playfield.resized();
            let odds = Odds::EVEN;
            let sight = Sight {
                rules,
                playfield: &playfield,
                piece,
                next: &[],
                held: None,
                odds,
                lines: 0,
                pieces: 0,
            };
            match agent.decide(kernel, &sight, &mut rng) {
                Decision::Place(placement) => chosen.push(placement),
                Decision::Press(_) => unreachable!("agents that press keys draw them"),
            }
        })?;
        Ok(process)
    }

    fn new(rules: &Rules) -> Process {
        Process {
            rules: *rules,
            cells: Vec::new(),
            numbers: HashMap::new(),
            transitions: Transitions::default(),
            num_placements: [1.0; 7],
        }
    }

    /// Finds the afterstates and their transitions. `choose` lists the placements of a piece.
    fn explore(
        &mut self,
        limit: usize,
        mut watch: impl FnMut(usize),
        mut choose: impl FnMut(&Small, Tetromino, &mut Vec<Placement>),
    ) -> Result<(), OptimumError> {
        let rules = self.rules;
        let limit = limit.min(MAX_AFTERSTATES);
        let mut chosen = Vec::new();
        self.number(0);
        while let Some(&cells) = self.cells.get(self.transitions.len()) {
            let playfield = unpacked(&rules, cells);
            self.transitions.begin();
            for piece in Tetromino::ALL {
                chosen.clear();
                choose(&playfield, piece, &mut chosen);
                for &placement in &chosen {
                    let mut afterstate = playfield;
                    let landed = place(&rules, &mut afterstate, piece, placement);
                    if !landed.terminal {
                        let number = self.number(pack(&afterstate));
                        self.transitions.push(piece.index(), Transition::new(landed.lines.into(), number));
                    }
                }
            }
            let Rules { width, height, .. } = rules;
            if self.cells.len() > limit {
                return Err(OptimumError::Afterstates { width, height, limit });
            }
            if self.transitions.len().is_multiple_of(1 << 16) {
                watch(self.cells.len());
            }
        }
        Ok(())
    }

    /// The number of an afterstate. Adds the afterstate if it is new.
    fn number(&mut self, cells: u32) -> usize {
        let number = self.numbers.entry(cells).or_insert_with(|| {
            self.cells.push(cells);
            self.cells.len() as u32 - 1
        });
        *number as usize
    }

    /// Rules of the games.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Number of afterstates, including the empty playfield.
    pub fn num_afterstates(&self) -> usize {
        self.cells.len()
    }

    /// The afterstates, in the order of their numbers.
    pub fn afterstates(&self) -> impl Iterator<Item = Playfield> + '_ {
        self.cells.iter().map(|&cells| unpacked(&self.rules, cells).resized())
    }

    /// The number of an afterstate; `None` if it cannot be reached.
    pub(super) fn find(&self, afterstate: &Playfield) -> Option<usize> {
        let same_size = (afterstate.width(), afterstate.height()) == (self.rules.width, self.rules.height);
        let number = same_size.then(|| self.numbers.get(&pack(afterstate)))??;
        Some(*number as usize)
    }
}

/// Checks that play under these rules can be solved.
pub(super) fn check(rules: &Rules) -> Result<(), OptimumError> {
    rules.check()?;
    // Lists every field, so that a new field is not forgotten here. Points, orientation numbers and shown pieces do not
    // affect lines.
    let &Rules {
        width,
        height,
        pieces,
        action_model,
        randomizer,
        top_out,
        reach,
        scoring: _,
        clear_points: _,
        attack_table: _,
        orientations: _,
        preview: _,
        // Matters only under a reach that is refused.
        rows_above: _,
        rotation_system: _,
        half_turns: _,
        spin_rule: _,
        spawn_row: _,
        timing: _,
        hold,
        garbage,
    } = rules;
    let wrong = |field, value, expected| Err(OptimumError::Choice { field, value, expected });
    if !pieces.is_tetrominoes() {
        return wrong("piece_set", "another set", "tetrominoes");
    }
    if action_model != ActionModel::Placement {
        return wrong("action_model", action_model.name(), ActionModel::Placement.name());
    }
    if randomizer != Randomizer::Uniform {
        return wrong("randomizer", randomizer.name(), Randomizer::Uniform.name());
    }
    if top_out != TopOut::Overflow {
        return wrong("top_out", top_out.name(), TopOut::Overflow.name());
    }
    if !every_placement_always_exists(rules) {
        return wrong("reach", reach.name(), Reach::StraightDrop.name());
    }
    if hold {
        return wrong("hold", "true", "false");
    }
    if garbage.is_some() {
        return wrong("garbage", "on", "off");
    }
    if u32::from(width) * u32::from(height) > MAX_CELLS {
        return Err(OptimumError::Cells { width, height });
    }
    Ok(())
}

fn unpacked(rules: &Rules, cells: u32) -> Small {
    let columns = [0, 1, 2, 3, 4, 5, 6].map(|column| {
        cells.checked_shr(column * u32::from(rules.height)).unwrap_or(0) as u16 // cut off above the height
    });
    Small::from_columns(rules.width, rules.height, &columns)
}
