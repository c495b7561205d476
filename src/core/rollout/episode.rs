//! One episode: pieces are dealt, an agent chooses, and they land, until the rules end the game.
//!
//! There are two ways to play. In placement games a controller or a formula plays whole slices inside one kernel;
//! evaluations spend their time there. Every other agent plays in small [`PieceState`] steps: it scores a placement or
//! presses a key, so the episode can stop anywhere.
//!
//! In keypress games an agent that chooses placements does so when a piece appears, and then presses the keys towards
//! its choice. The piece may land somewhere else.

use super::record::{GameRecord, PackedActions};
use super::slice_players::{Fast, Placer, SlicePlayer, ahead};
use crate::agents::{Agent, AgentRng, Decision, Kernel, Sight, Thought};
use crate::engine::{
    ActionModel, Column, Dealer, Game, Holes, Incoming, KeyEffect, Landed, MAX_PREVIEW, MovingPiece, Piece,
    Placement, RestedPiece, Rules, TopOut, comes_to_rest,
};
use crate::features::kernel::{Ahead, LaneBounds, LaneWork, Lanes, dispatch, rows_for};

/// Work between two checks of the stop flag, in pieces of a linear controller on a kernel: one or a few milliseconds.
pub const SLICE: u64 = 4096;

/// An episode that can be played in slices, and that a caller can copy between them.
#[derive(Clone, Debug)]
pub struct Episode {
    /// The current state of the game, without the piece in play.
    pub game: Game<u64, 32>,
    dealer: Dealer,
    rng: AgentRng,
    /// The held piece, if any.
    held: Option<Piece>,
    incoming: Incoming,
    /// The piece in play, between two slices.
    turn: Option<PieceState>,
    /// Steps so far: key presses in keypress games, pieces in all others.
    pub steps: u64,
    /// The actions so far; `None` if they are not recorded.
    notes: Option<Notes>,
}

/// The recorded actions of an episode, and the lines of its landings.
#[derive(Clone, Debug)]
struct Notes {
    actions: PackedActions,
    landing_lines: Vec<u8>,
}

/// The bounds at which an episode is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The episode is cut after this many pieces.
    pub pieces: u64,
    /// The episode is cut after this many steps.
    pub steps: u64,
    /// The episode is cut between two pieces if its stack is lower than this.
    pub lowest_stack: u32,
    /// The episode is cut between two pieces if its stack is higher than this.
    pub highest_stack: u32,
}

impl Bounds {
    /// Bounds of a whole game, without bounds on its stack.
    pub const fn of_game(pieces: u64, steps: u64) -> Bounds {
        Bounds { pieces, steps, lowest_stack: 0, highest_stack: u32::MAX }
    }

    fn leave_out(&self, stack: u32) -> bool {
        !(self.lowest_stack..=self.highest_stack).contains(&stack)
    }
}

/// The state of a piece in play.
#[derive(Clone, Debug)]
enum PieceState {
    Choosing(Piece, Thought),
    /// Keys move the piece, and the agent's decision determines them.
    Moving(MovingPiece, Decision),
}

impl Episode {
    /// A new episode with an empty playfield, a dealer, and the random numbers that the agent may draw.
    pub fn new(rules: &Rules, dealer: Dealer, rng: AgentRng) -> Episode {
        Episode {
            game: Game::new(rules),
            dealer,
            rng,
            held: None,
            incoming: Incoming::new(rules),
            turn: None,
            steps: 0,
            notes: None,
        }
    }

    /// An episode like this on a side of a match, 0 or 1.
    #[must_use]
    pub(super) fn on_side(self, side: u8) -> Episode {
        Episode { incoming: self.incoming.on_side(Some(side)), ..self }
    }

    /// The garbage of the episode and the choice of its holes, for the exchange of a match.
    pub(super) fn garbage(&mut self) -> (&mut Incoming, Holes<'_>) {
        let holes = self.dealer.holes(self.incoming.side);
        (&mut self.incoming, holes)
    }

    /// Deals the next piece, which ends the game if it is blocked, unless one is in play.
    pub(super) fn prepare(&mut self, rules: &Rules) {
        if self.turn.is_none() && self.game.end.is_none() {
            self.turn = self.deal(rules);
        }
    }

    /// Starts recording the episode's actions and landings.
    #[must_use]
    pub fn recorded(self, rules: &Rules) -> Episode {
        let notes = Notes { actions: PackedActions::new(rules), landing_lines: Vec::new() };
        Episode { notes: Some(notes), ..self }
    }

    /// A copy of the episode whose future pieces and random numbers come from `seed`. The copy is not recorded.
    ///
    /// # Panics
    /// When a piece is in play.
    #[must_use]
    pub(crate) fn reseeded(&self, seed: u64) -> Episode {
        assert!(self.turn.is_none(), "the last piece has landed");
        let mut episode = Episode { rng: AgentRng::new(seed), notes: None, ..self.clone() };
        episode.dealer.reseed(seed);
        episode
    }

    /// The height of the stack.
    pub(crate) fn stack(&self) -> u32 {
        self.game.playfield.occupied_rows().top()
    }

    /// Takes the record. Returns `None` if the episode is not recorded.
    pub fn take_record(&mut self, rules: &Rules) -> Option<GameRecord> {
        let Notes { actions, landing_lines } = self.notes.take()?;
        let mut game = self.game;
        if game.end.is_none() && self.turn.is_none() {
            // A game that was cut after a landing may be over anyway.
            game.deal(rules, &mut self.dealer.clone());
        }
        Some(GameRecord { actions, landing_lines, game, opponent: None })
    }

    /// Whether the episode has ended or reached a bound.
    pub fn is_over(&self, bounds: Bounds) -> bool {
        self.game.end.is_some()
            || self.game.pieces >= bounds.pieces
            || self.steps >= bounds.steps
            || self.turn.is_none() && bounds.leave_out(self.stack())
    }

    /// Plays until the episode is over.
    pub fn play(&mut self, rules: &Rules, agent: &Agent, kernel: Kernel, bounds: Bounds) {
        while !self.is_over(bounds) {
            self.advance(rules, agent, kernel, bounds, SLICE);
        }
    }

    /// Plays a slice of about this much work, in pieces of a linear controller on a kernel.
    ///
    /// # Panics
    /// When the agent cannot play under these rules: see [`Agent::plays`].
    pub fn advance(&mut self, rules: &Rules, agent: &Agent, kernel: Kernel, bounds: Bounds, work: u64) {
        let left = bounds.pieces.min(bounds.steps).saturating_sub(self.game.pieces);
        match Fast::of(agent, rules) {
            Some(Fast::Linear(scorer)) => {
                return self.play_slice(rules, scorer, kernel, bounds, left.min(work));
            }
            Some(Fast::Formula(scorer)) => {
                let pieces = (work / agent.cost(rules)).max(1);
                return self.play_slice(rules, scorer, kernel, bounds, left.min(pieces));
            }
            Some(Fast::Foreseeing(player)) => {
                let pieces = (work / player.agent.work_of_a_piece(rules)).max(1);
                return self.play_slice(rules, player, kernel, bounds, left.min(pieces));
            }
            None => {}
        }
        let cost = agent.cost(rules);
        let mut done = 0;
        while done < work && !self.is_over(bounds) {
            done += match self.turn.take() {
                None => {
                    self.turn = self.deal(rules);
                    1
                }
                Some(PieceState::Choosing(piece, thought)) => {
                    self.think(rules, agent, kernel, piece, thought);
                    cost
                }
                Some(PieceState::Moving(piece, decision)) => {
                    self.press(rules, piece, decision);
                    match decision {
                        Decision::Place(_) if rules.steers() => WAY,
                        Decision::Place(_) | Decision::Press(_) => 1,
                    }
                }
            }
        }
    }

    /// Lets a controller place this many pieces in a placement game, or fewer if its stack leaves the bounds.
    fn play_slice<P: SlicePlayer>(
        &mut self,
        rules: &Rules,
        player: P,
        kernel: Kernel,
        bounds: Bounds,
        pieces: u64,
    ) {
        let end = self.game.pieces + pieces;
        while self.game.pieces < end && self.game.end.is_none() && !bounds.leave_out(self.stack()) {
            let rows = rows_for(rules.width, rules.height, self.stack() + player.rows_ahead());
            dispatch(
                kernel,
                rules.width,
                rows,
                PlaySlice { episode: self, rules, player, bounds, end, rows },
            );
        }
        // In placement games each piece is one step.
        self.steps = self.game.pieces;
    }

    /// Deals the next piece. Returns `None` if no piece is left or the piece is blocked.
    fn deal(&mut self, rules: &Rules) -> Option<PieceState> {
        let piece = self.game.deal(rules, &mut self.dealer)?;
        Some(PieceState::Choosing(piece, Thought::default()))
    }

    /// Lets the agent think, and plays its decision once it has one.
    fn think(&mut self, rules: &Rules, agent: &Agent, kernel: Kernel, piece: Piece, mut thought: Thought) {
        let rules = &*rules.after(self.game.chain);
        let mut shown = [piece; MAX_PREVIEW as usize];
        let Ahead { shown: next, odds } = ahead(&self.dealer, rules, &mut shown);
        let Game { playfield, lines, pieces, chain, .. } = &self.game;
        let (lines, pieces, chain) = (*lines, *pieces, *chain);
        let (held, incoming) = (self.held, Some(&self.incoming));
        let sight = Sight { rules, playfield, piece, next, held, odds, lines, pieces, chain, incoming };
        let Some(decision) = agent.think(kernel, &sight, &mut thought, &mut self.rng) else {
            self.turn = Some(PieceState::Choosing(piece, thought));
            return;
        };
        match (decision, rules.action_model) {
            (Decision::Place(placement), ActionModel::Placement) => {
                let placed = if placement.hold { self.hold(piece) } else { piece };
                let landed = self.place(rules, placed, placement);
                self.steps += 1;
                self.note(placement.action(rules), Some(landed));
            }
            _ => {
                let piece = MovingPiece::spawn(rules, playfield, piece);
                self.turn = Some(PieceState::Moving(piece, decision));
            }
        }
    }

    /// Holds a piece. Returns the piece that is placed instead: the one that was held, or the next one.
    fn hold(&mut self, piece: Piece) -> Piece {
        let next = || self.dealer.deal().expect("a piece that was shown");
        self.held.replace(piece).unwrap_or_else(next)
    }

    /// Places a piece, and applies garbage if the rules have some.
    fn place(&mut self, rules: &Rules, piece: Piece, placement: Placement) -> Landed {
        if rules.garbage.is_none() {
            return self.game.place(rules, piece, placement).0;
        }
        let (shape, row) = comes_to_rest(rules, &self.game.playfield, piece, placement);
        self.rest(rules, RestedPiece { shape, row, column: placement.column, spin: placement.spin() })
    }

    /// Lets a piece come to rest, and applies garbage if the rules have some.
    fn rest(&mut self, rules: &Rules, rested: RestedPiece) -> Landed {
        if rules.garbage.is_none() {
            return self.game.rest(rules, rested).0;
        }
        let garbage = (self.dealer.holes(self.incoming.side), &mut self.incoming);
        self.game.rest_in_garbage(rules, rested, garbage, None).landed
    }

    #[inline(always)]
    fn note(&mut self, action: u32, landed: Option<Landed>) {
        if let Some(notes) = &mut self.notes {
            notes.actions.push(action);
            notes.landing_lines.extend(landed.map(|landed| landed.lines));
        }
    }

    /// Presses one key for the piece in play.
    fn press(&mut self, rules: &Rules, piece: MovingPiece, decision: Decision) {
        let rules = &*rules.after(self.game.chain);
        let playfield = &self.game.playfield;
        let next = if rules.hold && self.held.is_none() { self.dealer.clone().deal() } else { None };
        let key = match decision {
            Decision::Place(target) => piece.key_towards(rules, playfield, target),
            Decision::Press(agent) if rules.steers() => {
                let keys = rules.keys().iter().copied();
                let keys = keys.filter(|key| piece.has_key(rules, playfield, *key, self.held, next));
                agent.press(&keys.collect::<Vec<_>>(), &mut self.rng)
            }
            Decision::Press(agent) => agent.press(rules.keys(), &mut self.rng),
        };
        self.steps += 1;
        let mut landing = None;
        match piece.press(rules, playfield, key, self.held, next) {
            KeyEffect::Moves(piece) => self.turn = Some(PieceState::Moving(piece, decision)),
            KeyEffect::Holds(swapped) => {
                self.hold(piece.tetromino());
                self.turn = Some(PieceState::Moving(swapped, decision));
            }
            KeyEffect::Rests(rested) => {
                landing = Some(self.rest(rules, rested));
            }
        }
        self.note(key as u32, landing);
    }
}

/// Approximate work to find the way to a placement, in pieces of a kernel's own loop.
const WAY: u64 = 64;

/// A slice of play with a controller on one kernel, while the stack keeps about the same height. Evaluations spend
/// their time in this loop.
///
/// The stack is low most of the time, so the upper rows of the playfield are empty. Leaving them out lets the other
/// rows fit into shorter words.
struct PlaySlice<'a, P> {
    episode: &'a mut Episode,
    rules: &'a Rules,
    player: P,
    bounds: Bounds,
    end: u64,
    rows: u8,
}

impl<P: SlicePlayer> LaneWork for PlaySlice<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) {
        let PlaySlice { episode, rules, player, bounds, end, rows } = self;
        let mut game: Game<C, N> = episode.game.with_height(rows);
        // A game cannot end while rows are left out.
        let is_lowered = rows < rules.height;
        let top_out = if is_lowered { TopOut::Overflow } else { rules.top_out };
        let lowered = Rules { height: rows, top_out, ..*rules };
        let placer = player.on(&lowered, LaneBounds::<L>::lowered(rules.width, rules.height, rows));
        let highest = if is_lowered { u32::from(rows) - 4 - player.rows_ahead() } else { u32::MAX };
        let highest = highest.min(bounds.highest_stack);
        let lowest = lowest_stack(rules, rows, player.rows_ahead()).max(bounds.lowest_stack);
        while game.pieces < end {
            let Some(piece) = game.deal(&lowered, &mut episode.dealer) else { break };
            let placement = placer.place(&lowered, &game, piece, &episode.dealer);
            let (landed, _) = game.place(&lowered, piece, placement);
            episode.note(placement.action(rules), Some(landed));
            let stack = game.playfield.occupied_rows().top();
            if game.end.is_some() || stack > highest || stack < lowest {
                break;
            }
        }
        episode.game = game.with_height(rules.height);
    }
}

/// The stack height below which the slice ends, because fewer rows would do. Two rows below the highest such stack, so
/// that a stack that goes up and down does not change the word size with every piece.
fn lowest_stack(rules: &Rules, rows: u8, rows_ahead: u32) -> u32 {
    (0..u32::from(rows))
        .rev()
        .find(|&stack| rows_for(rules.width, rules.height, stack + rows_ahead) < rows)
        .map_or(0, |stack| stack.saturating_sub(2))
}
