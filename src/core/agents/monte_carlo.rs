//! Monte-Carlo: play every placement to the end at random, many times, and choose the best one (Leiden report).
//!
//! The value of a placement is the total number of lines that its playouts clear and, if equal, of pieces that they
//! place; of equals, the first placement wins. Lines and pieces of the placement itself count in every playout.
//!
//! The report speaks of means and its program uses totals, which give the same order if all placements have equally
//! many playouts. But the program keeps two records, of lines and of pieces, and does not update the pieces when the
//! lines set a new record. So the pieces of another placement decide ties. [`MonteCarlo::new`] keeps one record;
//! [`MonteCarlo::as_coded`] keeps the program's two, and reproduces the report's tables. With 50 playouts the slip
//! costs about a sixth of the lines on 10 x 10, 5.5 per game instead of 6.6, and an eighth on the report's 10 x 15 and
//! 15 x 15; `tetrion-lab reproduce leiden-2` plays both. With 1,000 playouts ties are rare, and both play alike.
//!
//! A playout deals the pieces that the rules show, then all seven with equal probability, whatever the randomizer,
//! because a player cannot see the rest of a bag. Each of its pieces takes one word of the agent's random numbers. For
//! a shown piece, the word w chooses among its m placements: number (w * m) >> 64, in ascending action order. For
//! another piece, the word first chooses the piece: number (w * 7) >> 64 of I O T Z S J L. The rest of that product,
//! which is (w * 7) mod 2^64, then chooses among the placements like w above. Playouts run one after another, and
//! placements in ascending action order. No playout holds a piece, and no garbage rises in a playout, because garbage
//! is random.

use super::thought::Thought;
use super::worth::{Tally, Worth};
use super::{AgentRng, Sight};
use crate::engine::rng::below;
use crate::engine::{Column, Piece, Placement, PlayfieldOf, Rules, is_blocked, place, placements};
use crate::features::kernel::{Kernel, LaneWork, Lanes, dispatch};

/// Pieces after which a playout is cut. Playouts rarely get there: most place only a few more pieces than fit into the
/// playfield.
const LONGEST_PLAYOUT: u64 = 10_000;

/// Playouts without a pause for other work of the server.
const PLAYOUTS_PER_CALL: u32 = 1_000;

/// The settings of a Monte-Carlo agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonteCarlo {
    playouts: u32,
    is_as_coded: bool,
}

impl MonteCarlo {
    /// Default number of playouts: the smaller of the report's two numbers.
    pub const DEFAULT_PLAYOUTS: u32 = 50;

    /// Creates an agent that plays this many games per placement.
    ///
    /// # Panics
    /// If the number is 0.
    pub const fn new(playouts: u32) -> MonteCarlo {
        assert!(playouts > 0, "an agent without playouts knows nothing");
        MonteCarlo { playouts, is_as_coded: false }
    }

    /// Creates an agent with the two records of the report's program, which plays this many games per placement.
    ///
    /// # Panics
    /// If the number is 0.
    pub const fn as_coded(playouts: u32) -> MonteCarlo {
        MonteCarlo { is_as_coded: true, ..MonteCarlo::new(playouts) }
    }

    /// Whether the agent keeps the two records of the report's program.
    pub fn is_as_coded(&self) -> bool {
        self.is_as_coded
    }

    /// Random games that the agent plays per placement.
    pub fn playouts(&self) -> u32 {
        self.playouts
    }

    /// Plays the next games of the next placement. Returns the choice after the last game of the last placement.
    pub(super) fn weigh(
        &self,
        kernel: Kernel,
        sight: &Sight<'_>,
        thought: &mut Thought,
        rng: &mut AgentRng,
    ) -> Option<Placement> {
        let placement = thought.next_among(|| sight.placements());
        let sight = sight.placing(placement);
        let playouts = PLAYOUTS_PER_CALL.min(self.playouts - thought.playouts);
        let job = Playouts { sight, placement, playouts, rng };
        let Tally { lines, pieces } = dispatch(kernel, sight.rules.width, sight.rules.height, job);
        thought.tally.lines += lines;
        thought.tally.pieces += pieces;
        thought.playouts += playouts;
        if thought.playouts < self.playouts {
            return None;
        }
        thought.playouts = 0;
        let tally = std::mem::take(&mut thought.tally);
        thought.judge(if self.is_as_coded {
            // The program plays copies of its game, so its totals include the lines of that game.
            let lines = tally.lines + u64::from(self.playouts) * sight.lines;
            Worth::PlayoutsAsCoded(Tally { lines, ..tally })
        } else {
            Worth::Playouts(tally)
        })
    }

    /// Number of calls for a placement.
    pub(super) fn calls(&self) -> u64 {
        self.playouts.div_ceil(PLAYOUTS_PER_CALL).into()
    }

    /// Rough number of pieces in the games of a call: a random game ends when about half of the cells are full. If the
    /// rules never end a game, playouts are cut at that point.
    pub(super) fn estimated_pieces(&self, rules: &Rules) -> u64 {
        u64::from(self.playouts.min(PLAYOUTS_PER_CALL)) * usual_playout(rules)
    }
}

/// Rough number of pieces that random play places before it loses.
fn usual_playout(rules: &Rules) -> u64 {
    1 + u64::from(rules.width) * u64::from(rules.height) / 8
}

/// Work that plays some games of one placement.
struct Playouts<'a> {
    sight: Sight<'a>,
    placement: Placement,
    playouts: u32,
    rng: &'a mut AgentRng,
}

impl LaneWork for Playouts<'_> {
    type Output = Tally;

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> Tally {
        let (width, height) = (self.sight.rules.width, self.sight.rules.height);
        // The lanes are not needed here, so a wide playfield can use the smaller words.
        if !PlayfieldOf::<C, N>::fits(17, 4) || !PlayfieldOf::<u32, 32>::fits(width, height) {
            self.play::<C, N>()
        } else {
            self.play::<u32, 32>()
        }
    }
}

impl Playouts<'_> {
    #[inline(always)]
    fn play<C: Column, const N: usize>(self) -> Tally {
        let Playouts { sight: Sight { rules, playfield, piece, next, .. }, placement, playouts, rng } = self;
        let mut after: PlayfieldOf<C, N> = playfield.resized();
        let landed = place(rules, &mut after, piece, placement);
        let playouts = u64::from(playouts);
        let num_pieces = rules.pieces.len() as u64;
        let mut tally = Tally { lines: playouts * u64::from(landed.lines), pieces: playouts };
        if landed.terminal {
            return tally;
        }
        let longest = if rules.end_games() { LONGEST_PLAYOUT } else { usual_playout(rules) };
        for _ in 0..playouts {
            let mut playfield = after;
            for dealt in 0..longest {
                let (piece, word) = match next.get(dealt as usize) {
                    Some(&shown) => (shown, rng.draw()),
                    None => {
                        let (drawn, rest) = rng.number_and_rest(num_pieces);
                        (Piece::new(drawn as u8), rest)
                    }
                };
                let Some(placement) = pick(rules, &playfield, piece, word) else { break };
                let landed = place(rules, &mut playfield, piece, placement);
                tally.lines += u64::from(landed.lines);
                tally.pieces += 1;
                if landed.terminal {
                    break;
                }
            }
        }
        tally
    }
}

/// The placement that a word selects; `None` if the piece cannot enter.
#[inline(always)]
fn pick<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    piece: Piece,
    word: u64,
) -> Option<Placement> {
    if is_blocked(rules, playfield, piece) {
        return None;
    }
    let all = placements(rules, playfield, piece);
    all.nth(below(word, all.len().into()) as u32)
}
