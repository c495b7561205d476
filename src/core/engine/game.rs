//! The course of a game, written once. A piece is dealt and appears, unless it is blocked. The piece is placed, or
//! settles where it fell. Lines, pieces and points are counted, and the next piece follows.
//!
//! All code that plays uses these steps. This file does not know who chooses, what is shown, or what cuts a game short.
//!
//! The surprising decision: the steps are functions of a playfield ([`place`], [`settle`], [`is_blocked`]), and a
//! [`Game`] is these steps with counters. Some callers need only the functions: environments keep playfields and
//! counters in separate arrays, playouts count no points, and [`perft`](super::perft()) counts along the paths of a
//! tree. All functions are inlined into their callers, so they are compiled for the processor of the calling loop.
//!
//! A [`Game`] holds neither the piece in play nor the preview, because callers keep these differently. A kernel's slice
//! keeps the piece in a register from its deal to its landing. A rollout that may stop in between keeps the piece with
//! its agent's thoughts, or as it falls, and deals the preview from a copy of the dealer when the agent looks. An
//! environment deals the preview ahead of time, because each observation shows it.
//!
//! [`comes_to_rest`] resolves a placement to a shape and a row. The kernels and the environments' action table hold
//! shapes and columns instead and drop them; they serve straight drops and walks along the top.
//!
//! This file does not handle held pieces: the code for hold decides which piece is placed. Garbage is not part of a
//! [`Game`] either: [`Landed::counted`] includes it, in games that have it.

use super::clears::{Attack, Chain, Clear, ClearPoints, ClearWorth};
use super::column::Column;
use super::episode_end::EpisodeEnd;
use super::garbage::Holes;
use super::incoming::{Attacking, Incoming};
use super::keypress::FallingPiece;
use super::moving::RestedPiece;
use super::piece::Piece;
use super::placement::Placement;
use super::playfield::{Landed, Landing, PlayfieldOf};
use super::randomizer::Dealer;
use super::reach::is_blocked;
use super::rules::{Rules, TopOut};
use super::shape::Shape;
use super::spin::Spin;

/// A game between two pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Game<C: Column, const N: usize> {
    /// The playfield, without the piece in play.
    pub playfield: PlayfieldOf<C, N>,
    pub lines: u64,
    /// Pieces landed so far, including the piece that ended the game.
    pub pieces: u64,
    /// Points so far, under the rules' scoring.
    pub score: f64,
    /// The recent clears that the rules ask for.
    pub chain: Chain,
    /// The way the game ended; `None` while it goes on.
    pub end: Option<EpisodeEnd>,
}

/// A landing and everything that follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Counted {
    /// The landing. It is terminal if the next piece or garbage ends the game, too.
    pub landed: Landed,
    pub points: f64,
    /// Lines that the landing sends, before they cancel waiting garbage.
    pub attack: Attack,
    /// What of the attack leaves.
    pub left: Attack,
}

impl<C: Column, const N: usize> Game<C, N> {
    /// A new game.
    ///
    /// # Panics
    /// When a playfield of this size does not fit into this type.
    pub fn new(rules: &Rules) -> Game<C, N> {
        let playfield = PlayfieldOf::empty(rules.width, rules.height);
        Game { playfield, lines: 0, pieces: 0, score: 0.0, chain: Chain::default(), end: None }
    }

    /// Deals the next piece. Returns `None` if that ends the game, because no piece is left or the piece is blocked.
    #[inline(always)]
    pub fn deal(&mut self, rules: &Rules, dealer: &mut Dealer) -> Option<Piece> {
        let piece = dealer.deal();
        match piece {
            None => self.end = Some(EpisodeEnd::OutOfPieces),
            Some(piece) if is_blocked(&rules.after(self.chain), &self.playfield, piece) => {
                self.score += rules.scoring.game_end;
                self.end = Some(EpisodeEnd::ToppedOut);
            }
            Some(_) => return piece,
        }
        None
    }

    /// Places the piece in play. Returns the landing and the lines that it sends.
    ///
    /// # Panics
    /// When the piece has no such placement.
    #[inline(always)]
    pub fn place(&mut self, rules: &Rules, piece: Piece, placement: Placement) -> (Landed, u32) {
        let landed = place(rules, &mut self.playfield, piece, placement);
        self.count(rules, landed, placement.spin())
    }

    /// Lets the piece in play come to rest where keys have moved it. Returns the landing and the lines that it sends.
    pub(crate) fn rest(&mut self, rules: &Rules, rested: RestedPiece) -> (Landed, u32) {
        let RestedPiece { shape, row, column, spin } = rested;
        let landed = lock(rules, &mut self.playfield, shape, row, column);
        self.count(rules, landed, spin)
    }

    #[inline(always)]
    fn count(&mut self, rules: &Rules, landed: Landed, spin: Spin) -> (Landed, u32) {
        self.lines += u64::from(landed.lines);
        self.pieces += 1;
        let (points, sent) = landed.worth(rules, &self.playfield, spin, &mut self.chain);
        self.score += points;
        if landed.terminal {
            self.end = Some(EpisodeEnd::ToppedOut);
        }
        (landed, sent)
    }

    /// Lets a piece come to rest in a game with garbage, before the next piece appears, unless that is `next`.
    pub(crate) fn rest_in_garbage(
        &mut self,
        rules: &Rules,
        rested: RestedPiece,
        (holes, incoming): (Holes<'_>, &mut Incoming),
        next: Option<Piece>,
    ) -> Counted {
        let RestedPiece { shape, row, column, spin } = rested;
        let landing = land_at(rules, &self.playfield, shape, row, column);
        self.playfield = landing.afterstate;
        let cleared = landing.vanished_rows().to_u64();
        let kind = (spin, cleared, &mut self.chain);
        let counted =
            landing.landed().counted(rules, &mut self.playfield, kind, (holes, self.pieces), incoming, next);
        self.lines += u64::from(counted.landed.lines);
        self.pieces += 1;
        self.score += counted.points;
        if counted.landed.terminal {
            self.end = Some(EpisodeEnd::ToppedOut);
        }
        counted
    }

    /// Copies the game to a playfield of another type and height. The caller knows that all cells fit.
    ///
    /// # Panics
    /// When the size does not fit into that type.
    #[inline(always)]
    pub(crate) fn with_height<D: Column, const M: usize>(&self, height: u8) -> Game<D, M> {
        let Game { playfield, lines, pieces, score, chain, end } = *self;
        Game { playfield: playfield.with_height(height), lines, pieces, score, chain, end }
    }
}

/// The resting place of a placement: the shape, and the row of its lowest cells. A placement without a spot falls
/// straight down.
///
/// # Panics
/// When the piece has no such placement.
#[inline(always)]
pub fn comes_to_rest<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    piece: Piece,
    placement: Placement,
) -> (&'static Shape, u8) {
    let shape = &rules.shapes(piece)[usize::from(placement.orientation)];
    let row = match placement.spot {
        None => playfield.landing_row(shape, placement.column),
        Some(spot) => spot.row,
    };
    (shape, row)
}

/// Places a piece on a playfield.
///
/// # Panics
/// When the piece has no such placement.
#[inline(always)]
pub fn place<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &mut PlayfieldOf<C, N>,
    piece: Piece,
    placement: Placement,
) -> Landed {
    let (shape, row) = comes_to_rest(rules, playfield, piece, placement);
    lock(rules, playfield, shape, row, placement.column)
}

/// The shape of a placement and everything about its landing. The playfield does not change.
///
/// # Panics
/// When the piece has no such placement.
#[inline(always)]
pub fn land<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    piece: Piece,
    placement: Placement,
) -> (&'static Shape, Landing<C, N>) {
    let (shape, row) = comes_to_rest(rules, playfield, piece, placement);
    (shape, land_at(rules, playfield, shape, row, placement.column))
}

/// Locks a piece that fell as far as it could.
#[inline(always)]
pub fn settle<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &mut PlayfieldOf<C, N>,
    fallen: FallingPiece,
) -> Landed {
    let (row, column) = fallen.corner();
    lock(rules, playfield, fallen.shape(), row, column)
}

/// Locks a shape that has come to rest at a row and a column.
///
/// # Panics
/// When the shape sticks out of the right wall.
#[inline(always)]
pub fn lock<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &mut PlayfieldOf<C, N>,
    shape: &Shape,
    row: u8,
    column: u8,
) -> Landed {
    let landed = playfield.lock(shape, row, column, rules.top_out);
    Landed { terminal: landed.terminal || is_locked_out(rules, row), ..landed }
}

/// Everything about the landing of a shape that comes to rest at a row and a column. The playfield does not change.
///
/// # Panics
/// When the shape sticks out of the right wall.
#[inline(always)]
pub(crate) fn land_at<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    shape: &Shape,
    row: u8,
    column: u8,
) -> Landing<C, N> {
    let landing = playfield.land_at(shape, row, column, rules.top_out);
    Landing { terminal: landing.terminal || is_locked_out(rules, row), ..landing }
}

/// Whether a piece whose lowest cells are in this row ends the game because it lies wholly above the visible field.
#[inline(always)]
pub(crate) fn is_locked_out(rules: &Rules, row: u8) -> bool {
    rules.top_out == TopOut::LockOut && row >= rules.visible_rows()
}

impl Landed {
    /// The landing, terminal also if the next piece is blocked. `next` is `None` if no piece follows.
    #[inline(always)]
    pub(crate) fn followed_by<C: Column, const N: usize>(
        self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        next: Option<Piece>,
    ) -> Landed {
        let chain = Chain { clears: self.lines.into(), ..Chain::default() };
        let is_blocked = next.is_some_and(|next| is_blocked(&rules.after(chain), playfield, next));
        Landed { terminal: self.terminal || is_blocked, ..self }
    }

    /// Everything that follows from a landing that led to this playfield. First the points and lines sent, for this
    /// spin, these cleared rows and the clears of `chain`; then garbage, for the piece with this number; then the next
    /// piece, if any.
    pub(crate) fn counted<C: Column, const N: usize>(
        self,
        rules: &Rules,
        playfield: &mut PlayfieldOf<C, N>,
        (spin, cleared, chain): (Spin, u64, &mut Chain),
        piece: (Holes<'_>, u64),
        incoming: &mut Incoming,
        next: Option<Piece>,
    ) -> Counted {
        let has_garbage = incoming.clear_rows(cleared) > 0;
        let is_perfect = self.is_perfect(rules, playfield);
        let clear = Clear { lines: self.lines, spin, is_perfect, has_garbage };
        let (points, ClearWorth { attack, surge, .. }) = if rules.keeps_chain() {
            self.worth_in_chain(rules, incoming.multiplier, clear, chain)
        } else {
            (rules.reward(self.lines, self.losses()), ClearWorth::default())
        };
        let (risen, left) =
            incoming.follow(rules, piece, Attacking { landed: self, attack, surge }, playfield);
        let landed = risen.followed_by(rules, playfield, next);
        let is_over_now = landed.terminal && !self.terminal;
        let points = if is_over_now { points + rules.scoring.game_end } else { points };
        Counted { landed, points, attack, left }
    }

    /// The points and the lines sent of a landing that led to this playfield, for this spin and after the clears of
    /// `chain`, in a game without garbage.
    #[inline(always)]
    pub(crate) fn worth<C: Column, const N: usize>(
        self,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        spin: Spin,
        chain: &mut Chain,
    ) -> (f64, u32) {
        let is_perfect = self.is_perfect(rules, playfield);
        let clear = Clear { lines: self.lines, spin, is_perfect, has_garbage: false };
        self.worth_if(rules, 1.0, clear, chain)
    }

    /// Whether the landing cleared everything, where the rules ask for that.
    #[inline(always)]
    fn is_perfect<C: Column, const N: usize>(self, rules: &Rules, playfield: &PlayfieldOf<C, N>) -> bool {
        rules.keeps_chain() && self.lines > 0 && playfield.occupied_rows() == C::EMPTY
    }

    /// The points and the lines sent of a landing that was this clear, with a factor of the lines.
    #[inline(always)]
    pub(crate) fn worth_if(
        self,
        rules: &Rules,
        multiplier: f64,
        clear: Clear,
        chain: &mut Chain,
    ) -> (f64, u32) {
        if rules.keeps_chain() {
            let (points, worth) = self.worth_in_chain(rules, multiplier, clear, chain);
            (points, worth.attack.lines())
        } else {
            (rules.reward(self.lines, self.losses()), 0)
        }
    }

    #[cold]
    fn worth_in_chain(
        self,
        rules: &Rules,
        multiplier: f64,
        clear: Clear,
        chain: &mut Chain,
    ) -> (f64, ClearWorth) {
        let (next, worth) = chain.then(rules.attack_table, multiplier, clear);
        *chain = next;
        let for_lines = match rules.clear_points {
            ClearPoints::Lines => rules.points_for(self.lines),
            ClearPoints::Guideline => worth.points,
            ClearPoints::Attack => worth.attack.lines().into(),
            // What they count is known only once both sides have moved.
            ClearPoints::Exchange | ClearPoints::Result => 0.0,
        };
        let for_end = if self.terminal { rules.scoring.game_end } else { 0.0 };
        (rules.scoring.piece + for_lines + for_end, worth)
    }
}
