//! All places that a piece can reach, found at once: per orientation, one bit for the anchor of each place.
//!
//! A flood spreads sideways and down within an orientation, and by turns to the others, until nothing new is found.
//! Each kick of a turn is applied at once to all places for which the earlier kicks failed.
//!
//! Above a low stack every orientation can reach every column, so the flood starts with everything that can fall from
//! there. If the stack comes near the row where pieces appear, the flood starts there, with one place.
//!
//! An orientation is one vector with a lane per column, so a step takes as many instructions on 28 rows as on 12.
//! Several columns in one word took more: a shift by columns then also moves bits from word to word.
//!
//! Usually only the places matter where a piece can rest, and usually it falls into all of them. So the flood finds the
//! possible resting places first, and ends as soon as it has reached all of them.
//!
//! This file knows nothing of labels, lists and keys.

use std::marker::PhantomData;

use super::super::column::Column;
use super::super::lanes::{Apart, Lanes, small};
use super::super::rotation::{Offset, Turns};
use super::super::spin::SpinRule;
use super::super::tetromino::{ALL_TRUE_POSES, cells_from_anchor};
use super::cells::{
    KnownOffset, cell, fallen, is_empty, left, moved, moved_back, moved_by, right, rows_below, seen_at,
    seen_by, up,
};

/// How far a piece's cells reach below its anchor, at most.
pub(super) const fn below(piece: usize) -> u32 {
    if piece == 0 { 2 } else { 1 }
}

/// The piece of a flood.
pub(super) trait Which: Copy {
    type Kicks: KickSource;
    /// Number of the tetromino, an index into the tables of shapes.
    fn number(self) -> usize;
    /// The places of an orientation where all cells are empty.
    fn free_anchors<L: Lanes, const ORIENTATION: usize>(self, empty: L) -> L;
    /// The places of an orientation, as places of the earlier one with the same cells.
    fn as_same<L: Lanes, const ORIENTATION: usize>(self, places: L) -> L;
    /// The places of an earlier orientation, as places of this one with the same cells.
    fn same_as<L: Lanes, const ORIENTATION: usize>(self, places: L) -> L;
}

/// A piece with separate code, in which the compiler knows all moves by its cells.
#[derive(Clone, Copy)]
pub(super) struct Known<const PIECE: usize>;

/// Any piece, by number, for lanes that are rarely needed. Takes a seventh of the code.
#[derive(Clone, Copy)]
pub(super) struct Any(pub usize);

/// A piece's cell other than the anchor.
struct CellOf<const PIECE: usize, const ORIENTATION: usize, const N: usize>;

/// The anchor's way from an orientation to the earlier one with the same cells.
struct ToSame<const PIECE: usize, const ORIENTATION: usize>;

impl<const PIECE: usize, const ORIENTATION: usize, const N: usize> KnownOffset
    for CellOf<PIECE, ORIENTATION, N>
{
    const OFFSET: Offset = cells_from_anchor(PIECE, ORIENTATION)[N];
}

impl<const PIECE: usize, const ORIENTATION: usize> KnownOffset for ToSame<PIECE, ORIENTATION> {
    const OFFSET: Offset = to_same(PIECE, ORIENTATION);
}

/// The kicks of a piece's turns. Pieces with equal kicks share the code of turns.
pub(super) trait KickSource {
    /// A piece whose kicks under SRS the compiler knows; `None` to read all kicks from a table.
    const SRS_OF: Option<usize>;
}

/// The kicks of a piece, and of all with the same ones.
pub(super) struct KicksOf<const PIECE: usize>;

/// The kicks of any piece, from a table.
pub(super) struct TabledKicks;

impl<const PIECE: usize> KickSource for KicksOf<PIECE> {
    const SRS_OF: Option<usize> = Some(PIECE);
}

impl KickSource for TabledKicks {
    const SRS_OF: Option<usize> = None;
}

/// A kick of a quarter turn under SRS.
pub(super) struct Kick<K, const FROM: usize, const TO: usize, const N: usize>(PhantomData<K>);

impl<K: KickSource, const FROM: usize, const TO: usize, const N: usize> KnownOffset for Kick<K, FROM, TO, N> {
    const OFFSET: Offset = match K::SRS_OF {
        Some(piece) => Turns::srs(piece, FROM, TO)[N],
        None => (0, 0),
    };
}

macro_rules! known {
    ($($piece:literal: $kicks:literal),*) => {$(
        impl Which for Known<$piece> {
            type Kicks = KicksOf<$kicks>;
            #[inline(always)]
            fn number(self) -> usize {
                $piece
            }
            #[inline(always)]
            fn free_anchors<L: Lanes, const ORIENTATION: usize>(self, empty: L) -> L {
                let first = empty.and(seen_at::<L, CellOf<$piece, ORIENTATION, 1>>(empty));
                let others = seen_at::<L, CellOf<$piece, ORIENTATION, 2>>(empty)
                    .and(seen_at::<L, CellOf<$piece, ORIENTATION, 3>>(empty));
                first.and(others)
            }
            #[inline(always)]
            fn as_same<L: Lanes, const ORIENTATION: usize>(self, places: L) -> L {
                moved::<L, ToSame<$piece, ORIENTATION>>(places)
            }
            #[inline(always)]
            fn same_as<L: Lanes, const ORIENTATION: usize>(self, places: L) -> L {
                moved_back::<L, ToSame<$piece, ORIENTATION>>(places)
            }
        }
    )*};
}
known!(0: 0, 1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2);

impl Which for Any {
    type Kicks = TabledKicks;
    #[inline(always)]
    fn number(self) -> usize {
        self.0
    }
    #[inline(always)]
    fn free_anchors<L: Lanes, const ORIENTATION: usize>(self, empty: L) -> L {
        let mut free = empty;
        for cell in &cells_from_anchor(self.0, ORIENTATION)[1..] {
            free = free.and(seen_by(empty, *cell));
        }
        free
    }
    #[inline(always)]
    fn as_same<L: Lanes, const ORIENTATION: usize>(self, places: L) -> L {
        moved_by(places, to_same(self.0, ORIENTATION))
    }
    #[inline(always)]
    fn same_as<L: Lanes, const ORIENTATION: usize>(self, places: L) -> L {
        let (columns, rows) = to_same(self.0, ORIENTATION);
        moved_by(places, (-columns, -rows))
    }
}

/// Does something with a tetromino as a piece whose code is separate, or common where the lanes are long.
macro_rules! each_piece {
    ($lanes:ty, $tetromino:expr, $piece:ident => $work:expr) => {{
        use $crate::engine::reachable::flood::{Any, Known};
        match $tetromino.index() {
            $piece if <$lanes as $crate::engine::lanes::Words>::Word::BITS == u64::BITS => {
                let $piece = Any($piece);
                $work
            }
            0 => each_piece!(@known 0, $piece => $work),
            1 => each_piece!(@known 1, $piece => $work),
            2 => each_piece!(@known 2, $piece => $work),
            3 => each_piece!(@known 3, $piece => $work),
            4 => each_piece!(@known 4, $piece => $work),
            5 => each_piece!(@known 5, $piece => $work),
            6 => each_piece!(@known 6, $piece => $work),
            _ => unreachable!("rules of these moves have the seven tetrominoes"),
        }
    }};
    (@known $number:literal, $piece:ident => $work:expr) => {{
        let $piece = Known::<$number>;
        $work
    }};
}
pub(super) use each_piece;

/// Everything that limits a flood, apart from the playfield. Work takes it by reference: a copy reads many small fields
/// at once, just after they were written, and waits for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloodLimits {
    pub turns: &'static Turns,
    /// The turns that count as spins.
    pub spin_rule: SpinRule,
    pub width: u8,
    /// How far the piece's cells reach below its anchor.
    pub below: u32,
    /// The row just above the highest full cell.
    pub stack: u32,
    /// Where the piece appears; `None` if it can reach every place above the stack.
    pub appearing: Option<AppearingCells>,
}

/// The anchor's cells in which a piece may appear: the lowest free one of a few rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct AppearingCells {
    pub column: u32,
    pub first_row: u32,
    pub last_row: u32,
}

impl FloodLimits {
    /// Number of rows that a flood needs: kicks from places that touch the stack, or from near the appearing place, end
    /// below them.
    #[inline(always)]
    pub(super) fn rows(&self) -> u32 {
        let highest = self.appearing.map_or(self.stack, |cells| cells.last_row.max(self.stack));
        highest + self.below + u32::from(self.turns.rows).max(2) + 1
    }

    /// The rows from which a turn may lead to new places. From everything above the stack it does not, if all places
    /// there are reached.
    #[inline(always)]
    pub(super) fn turning<L: Lanes>(&self) -> L {
        match self.appearing {
            None => rows_below(self.stack + self.below),
            Some(_) => L::splat(!L::Word::EMPTY),
        }
    }
}

/// The places that a flood must find before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloodGoal {
    /// The resting places of the piece. The flood ends when it has found all of them.
    Resting,
    /// All places, including places in the air.
    All,
}

/// Places during a turn, and the places that the turn has reached.
pub(super) struct Turning<L> {
    /// The places for which all kicks so far failed.
    pub left: L,
    pub found: L,
}

impl<L: Lanes> Turning<L> {
    /// Tries a kick that the compiler knows. Returns the places where it ends.
    #[inline(always)]
    pub(super) fn kick<W: KnownOffset>(&mut self, free: L) -> L {
        let turned = moved::<L, W>(self.left).and(free);
        self.found = self.found.or(turned);
        self.left = self.left.and_not(moved_back::<L, W>(turned));
        turned
    }

    /// Tries any kick. Returns the places where it ends.
    #[inline(always)]
    pub(super) fn kick_by(&mut self, (columns, rows): Offset, free: L) -> L {
        let turned = moved_by(self.left, (columns, rows)).and(free);
        self.found = self.found.or(turned);
        self.left = self.left.and_not(moved_by(turned, (-columns, -rows)));
        turned
    }
}

/// A flood of one piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flood<L> {
    /// The free places of the anchor, by orientation.
    pub free: [L; 4],
    /// The reached places of the anchor, by orientation.
    pub reach: [L; 4],
    /// The possible resting places, reached or not, by orientation. Empty for orientations with the same cells as an
    /// earlier one.
    pub resting: [L; 4],
    pub empty: L,
    /// The place where the flood started, if it was a single one.
    pub start: L,
}

/// The number of orientations with distinct cells: the first 1, 2 or 4.
#[inline(always)]
pub(super) const fn distinct(piece: usize) -> usize {
    match piece {
        1 => 1,
        0 | 3 | 4 => 2,
        _ => 4,
    }
}

/// The anchor's offset from an orientation to the earlier one with the same cells.
#[inline(always)]
pub(super) const fn to_same(piece: usize, orientation: usize) -> Offset {
    let (this, that) = (&ALL_TRUE_POSES[piece][orientation], &ALL_TRUE_POSES[piece][orientation - 2]);
    (that.anchor_column as i8 - this.anchor_column as i8, that.anchor_row as i8 - this.anchor_row as i8)
}

impl<L: Lanes> Flood<L> {
    /// A flood with the free and the possible resting places of a piece among the empty cells. No place is reached yet.
    #[inline(always)]
    pub(super) fn new(piece: impl Which, empty: L) -> Self {
        let none = small(0);
        let mut flood = Flood { free: [none; 4], reach: [none; 4], resting: [none; 4], empty, start: none };
        // One by one, so that the compiler knows all offsets.
        flood.look_at::<0>(piece);
        if distinct(piece.number()) > 1 {
            flood.look_at::<1>(piece);
        }
        if distinct(piece.number()) > 2 {
            flood.look_at::<2>(piece);
            flood.look_at::<3>(piece);
        }
        flood
    }

    #[inline(always)]
    fn look_at<const ORIENTATION: usize>(&mut self, piece: impl Which) {
        let free = piece.free_anchors::<L, ORIENTATION>(self.empty);
        self.free[ORIENTATION] = free;
        self.resting[ORIENTATION] = free.and_not(up(free));
    }

    /// Spreads from the start until the goal is reached.
    #[inline(always)]
    pub(super) fn run(&mut self, piece: impl Which, limits: &FloodLimits, goal: FloodGoal) {
        match limits.appearing {
            None => {
                let sky = small::<L>(1);
                for orientation in 0..distinct(piece.number()) {
                    let free = self.free[orientation];
                    self.reach[orientation] = fallen(sky.and(free), free);
                }
                let is_done = match goal {
                    FloodGoal::Resting => !self.misses_some(piece),
                    // Labels also need the orientations with the same cells as others.
                    FloodGoal::All if distinct(piece.number()) == 2 => false,
                    FloodGoal::All => {
                        (0..distinct(piece.number())).all(|orientation| !self.has_more(orientation))
                    }
                };
                if !is_done {
                    L::apart(SpreadFromSky { flood: self, piece, limits, goal });
                }
            }
            Some(cells) => {
                for row in cells.first_row..=cells.last_row {
                    self.start = cell::<L>(cells.column, row).and(self.free[0]);
                    if !is_empty(self.start) {
                        break;
                    }
                }
                self.reach[0] = fallen(self.start, self.free[0]);
                if !is_empty(self.start) {
                    self.see_the_others(piece);
                    self.slide(0);
                    self.spread(piece, limits, goal, 0b0001);
                }
            }
        }
    }

    /// Whether a possible resting place has not been reached. Looks only at orientations with distinct cells, so
    /// another orientation may have reached the place anyway.
    #[inline(always)]
    fn misses_some(&self, piece: impl Which) -> bool {
        let mut missed = small::<L>(0);
        for orientation in 0..distinct(piece.number()) {
            missed = missed.or(self.resting[orientation].and_not(self.reach[orientation]));
        }
        !is_empty(missed)
    }

    /// The reached resting places, by the first orientation with the same cells.
    #[inline(always)]
    pub(super) fn rested(&self, piece: impl Which, orientation: usize) -> L {
        self.resting[orientation].and(self.reached_as(piece, orientation))
    }

    #[inline(always)]
    fn reached_as(&self, piece: impl Which, orientation: usize) -> L {
        let reach = self.reach[orientation];
        match (distinct(piece.number()), orientation) {
            (2, 0) => reach.or(piece.as_same::<L, 2>(self.reach[2])),
            (2, _) => reach.or(piece.as_same::<L, 3>(self.reach[3])),
            _ => reach,
        }
    }

    /// Finds the free places of the orientations with the same cells as others, if turns need them.
    #[inline(always)]
    fn see_the_others(&mut self, piece: impl Which) {
        if distinct(piece.number()) == 2 {
            self.free[2] = piece.free_anchors::<L, 2>(self.empty);
            self.free[3] = piece.free_anchors::<L, 3>(self.empty);
        }
    }

    /// Turns from these orientations, given as bits, and continues until the goal is reached or nothing new is found.
    #[inline(always)]
    fn spread<P: Which>(&mut self, piece: P, limits: &FloodLimits, goal: FloodGoal, mut waiting: u32) {
        if piece.number() == 1 {
            return;
        }
        let (turns, turning) = (limits.turns, limits.turning());
        while waiting != 0 {
            let from = waiting & waiting.wrapping_neg();
            waiting &= !from;
            let added = match from {
                1 => L::apart(Leave::<L, P::Kicks, 0, 1, 2, 3>::new(self, turns, turning)),
                2 => L::apart(Leave::<L, P::Kicks, 1, 2, 3, 0>::new(self, turns, turning)),
                4 => L::apart(Leave::<L, P::Kicks, 2, 3, 0, 1>::new(self, turns, turning)),
                _ => L::apart(Leave::<L, P::Kicks, 3, 0, 1, 2>::new(self, turns, turning)),
            };
            if added != 0 && goal == FloodGoal::Resting && !self.still_misses_some(piece) {
                return;
            }
            waiting |= added;
        }
    }

    /// Like [`Flood::misses_some`], for all orientations.
    #[inline(always)]
    fn still_misses_some(&self, piece: impl Which) -> bool {
        let mut missed = small::<L>(0);
        for orientation in 0..distinct(piece.number()) {
            missed = missed.or(self.resting[orientation].and_not(self.reached_as(piece, orientation)));
        }
        !is_empty(missed)
    }

    /// Whether an orientation has free places that have not been reached.
    #[inline(always)]
    fn has_more(&self, orientation: usize) -> bool {
        !is_empty(self.free[orientation].and_not(self.reach[orientation]))
    }

    /// Turns by kicks that the compiler knows.
    #[inline(always)]
    fn turn<K: KickSource, const FROM: usize, const TO: usize>(&mut self, turning: L) -> u32 {
        let free = self.free[TO];
        let wanted = free.and_not(self.reach[TO]);
        if is_empty(wanted) {
            return 0;
        }
        // Usually no kick leads to a place that is still wanted.
        let near = moved_back::<L, Kick<K, FROM, TO, 0>>(wanted)
            .or(moved_back::<L, Kick<K, FROM, TO, 1>>(wanted))
            .or(moved_back::<L, Kick<K, FROM, TO, 2>>(wanted))
            .or(moved_back::<L, Kick<K, FROM, TO, 3>>(wanted))
            .or(moved_back::<L, Kick<K, FROM, TO, 4>>(wanted));
        let mut turning = Turning { left: near.and(self.reach[FROM]).and(turning), found: small(0) };
        if is_empty(turning.left) {
            return 0;
        }
        turning.kick::<Kick<K, FROM, TO, 0>>(free);
        turning.kick::<Kick<K, FROM, TO, 1>>(free);
        if !is_empty(turning.left) {
            turning.kick::<Kick<K, FROM, TO, 2>>(free);
            turning.kick::<Kick<K, FROM, TO, 3>>(free);
            turning.kick::<Kick<K, FROM, TO, 4>>(free);
        }
        self.add(TO, turning.found)
    }

    #[inline(always)]
    fn add(&mut self, to: usize, found: L) -> u32 {
        if is_empty(found.and_not(self.reach[to])) {
            return 0;
        }
        self.reach[to] = fallen(self.reach[to].or(found), self.free[to]);
        self.slide(to);
        1 << to
    }

    /// Spreads sideways and down within an orientation. The reached places must already extend down as far as possible.
    #[inline(always)]
    fn slide(&mut self, orientation: usize) {
        loop {
            let wider = self.wider(orientation);
            if is_empty(wider.xor(self.reach[orientation])) {
                break;
            }
            self.reach[orientation] = wider;
        }
    }

    /// The reached places after one step sideways and then down.
    #[inline(always)]
    fn wider(&self, orientation: usize) -> L {
        let (reach, free) = (self.reach[orientation], self.free[orientation]);
        fallen(reach.or(right(reach).or(left(reach)).and(free)), free)
    }
}

/// Work that continues a flood whose goal is not reached by falling from the sky.
struct SpreadFromSky<'a, L, P> {
    flood: &'a mut Flood<L>,
    piece: P,
    limits: &'a FloodLimits,
    goal: FloodGoal,
}

impl<L: Lanes, P: Which> Apart for SpreadFromSky<'_, L, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let SpreadFromSky { flood, piece, limits, goal } = self;
        // One step sideways and down is usually enough.
        for orientation in 0..distinct(piece.number()) {
            flood.reach[orientation] = flood.wider(orientation);
        }
        if goal == FloodGoal::Resting && !flood.misses_some(piece) {
            return;
        }
        if distinct(piece.number()) == 4 {
            // The first kick of these pieces does not move their anchor.
            let [a, b, c, d] = flood.reach;
            for (orientation, beside) in [b.or(d), a.or(c), b.or(d), a.or(c)].into_iter().enumerate() {
                let free = flood.free[orientation];
                flood.reach[orientation] = fallen(flood.reach[orientation].or(beside.and(free)), free);
            }
            if goal == FloodGoal::Resting && !flood.misses_some(piece) {
                return;
            }
        }
        for orientation in 0..distinct(piece.number()) {
            flood.slide(orientation);
        }
        if piece.number() == 1 || goal == FloodGoal::Resting && !flood.misses_some(piece) {
            return;
        }
        flood.see_the_others(piece);
        if distinct(piece.number()) == 2 {
            let sky = small::<L>(1);
            flood.reach[2] = piece.same_as::<L, 2>(flood.reach[0]).or(sky).and(flood.free[2]);
            flood.reach[3] = piece.same_as::<L, 3>(flood.reach[1]).or(sky).and(flood.free[3]);
        }
        flood.spread(piece, limits, goal, 0b1111);
    }
}

/// Work that turns from one orientation to the others: to the right, by half, to the left; then slides there. Returns
/// the orientations that gained places, as bits.
struct Leave<'a, L, K, const FROM: usize, const RIGHT: usize, const HALF: usize, const LEFT: usize> {
    flood: &'a mut Flood<L>,
    turns: &'a Turns,
    turning: L,
    kicks: PhantomData<K>,
}

impl<'a, L, K, const FROM: usize, const RIGHT: usize, const HALF: usize, const LEFT: usize>
    Leave<'a, L, K, FROM, RIGHT, HALF, LEFT>
{
    #[inline(always)]
    fn new(flood: &'a mut Flood<L>, turns: &'a Turns, turning: L) -> Self {
        Leave { flood, turns, turning, kicks: PhantomData }
    }
}

impl<L: Lanes, K: KickSource, const FROM: usize, const RIGHT: usize, const HALF: usize, const LEFT: usize>
    Apart for Leave<'_, L, K, FROM, RIGHT, HALF, LEFT>
{
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let Leave { flood, turns, turning, .. } = self;
        if K::SRS_OF.is_some() && turns.is_srs {
            return flood.turn::<K, FROM, RIGHT>(turning) | flood.turn::<K, FROM, LEFT>(turning);
        }
        let mut added = 0;
        for to in [RIGHT, HALF, LEFT] {
            let kicks = turns.kicks(FROM, to);
            added |= L::apart(TurnByTable { flood, from: FROM, to, kicks, turning });
        }
        added
    }
}

/// Work that turns by the kicks of a table.
struct TurnByTable<'a, L> {
    flood: &'a mut Flood<L>,
    from: usize,
    to: usize,
    kicks: &'a [Offset],
    turning: L,
}

impl<L: Lanes> Apart for TurnByTable<'_, L> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let TurnByTable { flood, from, to, kicks, turning } = self;
        if kicks.is_empty() || !flood.has_more(to) {
            return 0;
        }
        let mut turning = Turning { left: flood.reach[from].and(turning), found: small(0) };
        for kick in kicks {
            if is_empty(turning.left) {
                break;
            }
            turning.kick_by(*kick, flood.free[to]);
        }
        flood.add(to, turning.found)
    }
}
