//! The afterstates that a player can reach from the empty playfield, and the transitions between them.

use super::ranked_set::{Bits, RankedSet};
use super::transitions::{MAX_NUMBERED, Transitions};
use tetrion_core::agents::{Agent, AgentRng, Decision, Kernel, Sight};
use tetrion_core::engine::{
    ActionModel, Placement, Playfield, PlayfieldOf, Randomizer, Reach, Rules, Tetromino, TopOut,
    every_placement_always_exists, place, placements,
};
use tetrion_core::engine::{NamedChoice, RulesError};
pub use tetrion_core::values::MAX_CELLS;
use tetrion_core::values::pack;

/// Most afterstates. With this many, a process and its values take up to 9 GB. Every size with at most [`MAX_CELLS`] has
/// fewer: the largest number is 193 million, on 5 x 6.
pub const MAX_AFTERSTATES: usize = 200_000_000;

const _: () = assert!(MAX_AFTERSTATES <= MAX_NUMBERED);

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
        field: &'static str,
        value: &'static str,
        /// Value that the field must have.
        expected: &'static str,
    },
    /// The playfield has more cells than [`MAX_CELLS`].
    #[error("a playfield of {width} x {height} has {} cells, expected at most {MAX_CELLS}", u32::from(*.width) * u32::from(*.height))]
    Cells { width: u8, height: u8 },
    /// The process has more afterstates than allowed.
    #[error(
        "a playfield of {width} x {height} has more than {limit} afterstates, expected at most that many"
    )]
    Afterstates {
        width: u8,
        height: u8,
        /// The number that the caller allows.
        limit: usize,
    },
    /// The values of this size are not computed on demand, and no file had them.
    #[error(
        "the values of {width} x {height} are not loaded: write them with `tetrion optimum {width}x{height}`, and load \
         the file with --values"
    )]
    NotLoaded { width: u8, height: u8 },
    /// The agent draws random numbers.
    #[error(
        "the agent draws random numbers, expected one whose choice follows from the playfield and the piece"
    )]
    Draws,
}

/// The reachable afterstates, and the transitions from each of them.
///
/// Afterstates are numbered by their [packed](pack) cells, in ascending order, so the empty playfield is number 0.
/// Placements that end the game are not transitions: under these rules they clear nothing.
#[derive(Clone, Debug)]
pub struct Process {
    rules: Rules,
    /// The packed cells of all afterstates.
    pub(super) cells: RankedSet,
    pub(super) transitions: Transitions,
    /// Number of placements of each piece, including those that end the game.
    pub(super) num_placements: [f64; 7],
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
        let empty = Small::empty(rules.width, rules.height);
        let all = Tetromino::ALL.map(|piece| placements(rules, &empty, piece).iter().collect::<Vec<_>>());
        let num_placements = all.each_ref().map(|placements| placements.len() as f64);
        // In straight drops, no cells of the playfield block a placement.
        Process::explore(rules, num_placements, limit, watch, |_, piece, chosen| {
            chosen.extend(&all[piece.index()]);
        })
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
        // The agent draws nothing from it.
        let mut rng = AgentRng::new(0);
        Process::explore(rules, [1.0; 7], MAX_AFTERSTATES, watch, |playfield, piece, chosen| {
            let playfield: Playfield = playfield.resized();
            let sight = Sight::of(rules, &playfield, piece);
            match agent.decide(kernel, &sight, &mut rng) {
                Decision::Place(placement) => chosen.push(placement),
                Decision::Press(_) => unreachable!("agents that press keys draw them"),
            }
        })
    }

    /// Finds the afterstates, then their transitions. `choose` lists the placements of a piece. It is called twice per
    /// afterstate, because afterstates have no numbers until all are found.
    fn explore(
        rules: &Rules,
        num_placements: [f64; 7],
        limit: usize,
        mut watch: impl FnMut(usize),
        mut choose: impl FnMut(&Small, Tetromino, &mut Vec<Placement>),
    ) -> Result<Process, OptimumError> {
        let Rules { width, height, .. } = *rules;
        let limit = limit.min(MAX_AFTERSTATES);
        let mut chosen = Vec::new();
        let mut each_transition = |cells, visit: &mut dyn FnMut(Tetromino, u32, u32)| {
            let playfield = unpacked(rules, cells);
            for piece in Tetromino::ALL {
                chosen.clear();
                choose(&playfield, piece, &mut chosen);
                for &placement in &chosen {
                    let mut afterstate = playfield;
                    let landed = place(rules, &mut afterstate, piece, placement);
                    if !landed.terminal {
                        visit(piece, landed.lines.into(), pack(&afterstate));
                    }
                }
            }
        };
        let mut found = Bits::below(1 << (u32::from(width) * u32::from(height)));
        found.insert(0);
        let (mut visited, mut num_transitions) = (0_usize, 0);
        found.visit_growing(|found, cells| {
            each_transition(cells, &mut |_, _, to| {
                found.insert(to);
                num_transitions += 1;
            });
            visited += 1;
            if visited.is_multiple_of(1 << 16) {
                watch(found.len());
            }
            match found.len() > limit {
                true => Err(OptimumError::Afterstates { width, height, limit }),
                false => Ok(()),
            }
        })?;
        let cells = found.ranked();
        let mut transitions = Transitions::with_capacity(cells.len(), num_transitions);
        for from in cells.iter() {
            transitions.begin();
            each_transition(from, &mut |piece, lines, to| {
                transitions.push(piece.index(), lines, cells.rank(to));
            });
        }
        Ok(Process { rules: *rules, cells, transitions, num_placements })
    }

    /// Rules of the games whose afterstates these are.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Number of afterstates, including the empty playfield.
    pub fn num_afterstates(&self) -> usize {
        self.cells.len()
    }

    /// The afterstates, in the order of their numbers.
    pub fn afterstates(&self) -> impl Iterator<Item = Playfield> + '_ {
        self.cells.iter().map(|cells| unpacked(&self.rules, cells).resized())
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
        clutch: _,
        lifts: _,
        hold,
        garbage,
        // Matters only with garbage.
        players: _,
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
    let columns = [0, 1, 2, 3, 4, 5, 6, 7].map(|column| {
        cells.checked_shr(column * u32::from(rules.height)).unwrap_or(0) as u16 // cut off above the height
    });
    Small::from_columns(rules.width, rules.height, &columns)
}
