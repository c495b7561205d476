//! The placements of a flood: the resting places, each set of cells counted once, with their labels.
//!
//! A placement has one label for each kind of last move that leads to it. To find the labels, all last turns are
//! repeated from all reached places, and their ends are sorted by kick.

use std::marker::PhantomData;

use super::super::column::Column;
use super::super::lanes::{Apart, Lanes, small};
use super::super::spin::Spin;
use super::super::tetromino::TRUE_POSES;
use super::cells::{cell, down, is_empty, left, right, row_bit, up};
use super::flood::{Flood, FloodGoal, FloodLimits, Kick, KickSource, Turning, Which, distinct};
use super::resting::Resting;

/// A query about the placements of a piece.
pub(super) enum Ask<'a> {
    Count,
    /// Whether this placement exists. It must lie between the walls.
    Has(Resting),
    /// All placements, appended to a list.
    List(&'a mut Vec<Resting>),
}

/// Work that floods, and returns the number of matching placements.
pub(super) struct PieceFlood<'a, L, P> {
    pub piece: P,
    pub limits: &'a FloodLimits,
    pub empty: L,
    pub ask: Ask<'a>,
}

impl<L: Lanes, P: Which> Apart for PieceFlood<'_, L, P> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let PieceFlood { piece, limits, empty, ask } = self;
        let width = limits.width;
        let mut flood = Flood::new(piece, empty);
        let (rule, is_t) = (limits.spin_rule, piece.number() == 2);
        let may_spin = if rule.immobile(is_t) != Spin::None {
            piece.number() != 1
        } else {
            // Without a resting place between three full corners, no T can spin.
            is_t && rule.has_corners() && flood.has_slots()
        };
        if may_spin {
            flood.run(piece, limits, FloodGoal::All);
            let mut placements = [[small(0); 4]; 3];
            let label = Label { flood: &flood, limits, placements: &mut placements };
            if is_t {
                L::apart(LabelAll::<L, P::Kicks, true> { label, kicks: PhantomData });
            } else {
                L::apart(LabelAll::<L, P::Kicks, false> { label, kicks: PhantomData });
            }
            if distinct(piece.number()) == 2 {
                for places in &mut placements {
                    places[0] = places[0].or(piece.as_same::<L, 2>(places[2]));
                    places[1] = places[1].or(piece.as_same::<L, 3>(places[3]));
                }
            }
            return ask.answer(piece, width, &placements);
        }
        if let Ask::Has(resting) = &ask {
            flood.look_for(piece, *resting);
        }
        flood.run(piece, limits, FloodGoal::Resting);
        let mut places = [small(0); 4];
        for (orientation, places) in places.iter_mut().enumerate().take(distinct(piece.number())) {
            *places = flood.rested(piece, orientation);
        }
        ask.answer(piece, width, &[places])
    }
}

impl Ask<'_> {
    /// The answer, given the resting places by label and orientation. Only looks at the first of several orientations
    /// with the same cells.
    #[inline(always)]
    fn answer<L: Lanes, const LABELS: usize>(
        self,
        piece: impl Which,
        width: u8,
        placements: &[[L; 4]; LABELS],
    ) -> u32 {
        match self {
            Ask::Count => number_of(piece.number(), placements),
            Ask::Has(resting) => has(piece.number(), placements, resting).into(),
            Ask::List(list) => L::apart(AppendPlacements { piece: piece.number(), width, placements, list }),
        }
    }
}

/// The number of placements, of which one is counted once per label.
#[inline(always)]
fn number_of<L: Lanes, const LABELS: usize>(piece: usize, placements: &[[L; 4]; LABELS]) -> u32 {
    let mut counts = small::<L>(0);
    for places in placements {
        for places in &places[..distinct(piece)] {
            counts = counts.add(places.count());
        }
    }
    counts.sum().to_u64() as u32
}

/// Whether the placements include this one, which must lie between the walls.
#[inline(always)]
fn has<L: Lanes, const LABELS: usize>(piece: usize, placements: &[[L; 4]; LABELS], resting: Resting) -> bool {
    let Resting { orientation, column, row, spin } = resting;
    let shape = &TRUE_POSES[piece][usize::from(orientation)];
    let row = u32::from(row) + u32::from(shape.anchor_row);
    let Some(places) = placements.get(spin as usize).filter(|_| usize::from(orientation) < distinct(piece))
    else {
        return false;
    };
    let mut words = [L::Word::EMPTY; 32];
    places[usize::from(orientation)].store(&mut words);
    let rows = words[usize::from(column + shape.anchor_column)];
    row < L::Word::BITS && rows & row_bit(row) != L::Word::EMPTY
}

/// Work that appends the placements in order, and returns their number.
struct AppendPlacements<'a, L, const LABELS: usize> {
    piece: usize,
    width: u8,
    placements: &'a [[L; 4]; LABELS],
    list: &'a mut Vec<Resting>,
}

impl<L: Lanes, const LABELS: usize> Apart for AppendPlacements<'_, L, LABELS> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let AppendPlacements { piece, width, placements, list } = self;
        let number = number_of(piece, placements);
        let before = list.len();
        let none = Resting { orientation: 0, column: 0, row: 0, spin: Spin::None };
        list.resize(before + number as usize, none);
        let mut slots = list[before..].iter_mut();
        for orientation in 0..distinct(piece) {
            let shape = &TRUE_POSES[piece][orientation];
            let mut words = [[L::Word::EMPTY; 32]; LABELS];
            for (words, places) in words.iter_mut().zip(placements) {
                places[orientation].store(words);
            }
            for column in 0..usize::from(width) {
                let mut rows = L::Word::EMPTY;
                for words in &words {
                    rows |= words[column];
                }
                while rows != L::Word::EMPTY {
                    // The highest bit is the lowest row.
                    let top = rows.top();
                    let bit = L::Word::from_u64(1 << (top - 1));
                    rows &= !bit;
                    let row = (L::Word::BITS - top) as u8 - shape.anchor_row;
                    for (spin, words) in Spin::ALL.into_iter().zip(&words) {
                        if (LABELS == 1 || words[column] & bit != L::Word::EMPTY)
                            && let Some(slot) = slots.next()
                        {
                            let column = column as u8 - shape.anchor_column;
                            *slot = Resting { orientation: orientation as u8, column, row, spin };
                        }
                    }
                }
            }
        }
        number
    }
}

/// A flood that has reached all places, and the labels to find.
struct Label<'a, L> {
    flood: &'a Flood<L>,
    limits: &'a FloodLimits,
    /// The empty sets to fill, by label, then by orientation.
    placements: &'a mut [[L; 4]; 3],
}

/// Work that labels the placements of a T, or of another piece. Pieces with equal kicks share it.
struct LabelAll<'a, L, K, const IS_T: bool> {
    label: Label<'a, L>,
    kicks: PhantomData<K>,
}

impl<L: Lanes, K: KickSource, const IS_T: bool> Apart for LabelAll<'_, L, K, IS_T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut label = self.label;
        label.find::<K, IS_T, 0, 1, 2, 3>();
        label.find::<K, IS_T, 1, 2, 3, 0>();
        label.find::<K, IS_T, 2, 3, 0, 1>();
        label.find::<K, IS_T, 3, 0, 1, 2>();
    }
}

/// The ends of the last turns into an orientation.
struct TurnEnds<L> {
    /// The ends of kicks that make a T-spin full.
    fully: L,
    otherwise: L,
}

impl<L: Lanes> Label<'_, L> {
    /// Labels the placements of one orientation, which the piece turns to from the others.
    #[inline(always)]
    fn find<
        K: KickSource,
        const IS_T: bool,
        const TO: usize,
        const RIGHT: usize,
        const HALF: usize,
        const LEFT: usize,
    >(
        &mut self,
    ) {
        let flood = self.flood;
        let (reach, free) = (flood.reach[TO], flood.free[TO]);
        let resting = reach.and_not(up(free));
        let rule = self.limits.spin_rule;
        let if_immobile = rule.immobile(IS_T);
        let immobile = || full(right(free).or(left(free)).or(down(free)));
        let has_corners = IS_T && rule.has_corners();
        let mut is_spin = if has_corners { flood.corners(TO).0 } else { small(0) };
        if if_immobile != Spin::None {
            is_spin = is_spin.or(immobile());
        }
        let slots = resting.and(is_spin);
        self.placements[0][TO] = resting.and_not(is_spin);
        if is_empty(slots) {
            return;
        }
        let mut by_move = right(reach).or(left(reach)).or(down(reach));
        if TO == 0 {
            by_move = by_move.or(flood.start);
        }
        self.placements[0][TO] = self.placements[0][TO].or(slots.and(by_move));
        let mut ends = TurnEnds { fully: small(0), otherwise: small(0) };
        if K::SRS_OF.is_some() && self.limits.turns.is_srs {
            self.turned::<K, LEFT, TO>(&mut ends);
            self.turned::<K, RIGHT, TO>(&mut ends);
        } else {
            L::apart(TurnedByTable { label: self, ends: &mut ends, sources: [LEFT, HALF, RIGHT], to: TO });
        }
        let spun = slots.and(ends.fully.or(ends.otherwise));
        if !has_corners {
            self.placements[if_immobile as usize][TO] = spun;
            return;
        }
        // A place reached by a full kick may also be reached by another kick, and is then a mini if its corners say so.
        let (three, pointing) = flood.corners(TO);
        let (pointing, by_kick) = (three.and(pointing), three.and(ends.fully));
        let mini =
            if if_immobile == Spin::None { ends.otherwise } else { ends.otherwise.or(spun.and_not(three)) };
        self.placements[1][TO] = spun.and(mini).and_not(pointing);
        self.placements[2][TO] = spun.and(pointing.or(by_kick));
    }

    /// Adds the ends of turns by kicks that the compiler knows.
    #[inline(always)]
    fn turned<K: KickSource, const FROM: usize, const TO: usize>(&self, ends: &mut TurnEnds<L>) {
        let free = self.flood.free[TO];
        let mut turning = self.turning(FROM);
        self.add(ends, turning.kick::<Kick<K, FROM, TO, 0>>(free), (0, FROM, TO));
        self.add(ends, turning.kick::<Kick<K, FROM, TO, 1>>(free), (1, FROM, TO));
        if is_empty(turning.left) {
            return;
        }
        self.add(ends, turning.kick::<Kick<K, FROM, TO, 2>>(free), (2, FROM, TO));
        self.add(ends, turning.kick::<Kick<K, FROM, TO, 3>>(free), (3, FROM, TO));
        self.add(ends, turning.kick::<Kick<K, FROM, TO, 4>>(free), (4, FROM, TO));
    }

    /// The places from which turns may end in a place where the piece cannot move: none above the stack.
    #[inline(always)]
    fn turning(&self, from: usize) -> Turning<L> {
        Turning { left: self.flood.reach[from].and(self.limits.turning()), found: small(0) }
    }

    /// Adds the ends of a kick, given its number and the orientations before and after.
    #[inline(always)]
    fn add(&self, ends: &mut TurnEnds<L>, found: L, (n, from, to): (usize, usize, usize)) {
        let is_full = self.limits.spin_rule.is_full_by_kick(n, from, to);
        let kind = if is_full { &mut ends.fully } else { &mut ends.otherwise };
        *kind = kind.or(found);
    }
}

/// Work that adds the ends of turns by the kicks of a table.
struct TurnedByTable<'a, 'b, L> {
    label: &'a Label<'b, L>,
    ends: &'a mut TurnEnds<L>,
    sources: [usize; 3],
    to: usize,
}

impl<L: Lanes> Apart for TurnedByTable<'_, '_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let TurnedByTable { label, ends, sources, to } = self;
        for from in sources {
            let mut turning = label.turning(from);
            for (n, &kick) in label.limits.turns.kicks(from, to).iter().enumerate() {
                label.add(ends, turning.kick_by(kick, label.flood.free[to]), (n, from, to));
            }
        }
    }
}

/// The cells that are not in a set of empty ones.
#[inline(always)]
fn full<L: Lanes>(empty: L) -> L {
    L::splat(!L::Word::EMPTY).and_not(empty)
}

impl<L: Lanes> Flood<L> {
    /// Forgets all resting places except one, so that a flood ends when it has found it.
    #[inline(always)]
    fn look_for(&mut self, piece: impl Which, resting: Resting) {
        let Resting { orientation, column, row, .. } = resting;
        let shape = &TRUE_POSES[piece.number()][usize::from(orientation)];
        let row = (row + shape.anchor_row).min(L::Word::BITS as u8 - 1);
        let place = cell((column + shape.anchor_column).into(), row.into());
        for (of, places) in self.resting.iter_mut().enumerate() {
            *places = if of == usize::from(orientation) { places.and(place) } else { small(0) };
        }
    }

    /// Whether a T could rest between three full corners.
    #[inline(always)]
    fn has_slots(&self) -> bool {
        let [a, b, c, d] = self.resting;
        !is_empty(a.or(b).or(c.or(d)).and(self.corners(0).0))
    }

    /// The anchors with three full corners around them, and the anchors with both corners full on the side that a T
    /// points to.
    #[inline(always)]
    fn corners(&self, orientation: usize) -> (L, L) {
        let empty = self.empty;
        // The empty corners, clockwise from the upper left.
        let (above, below) = (down(empty).or(empty.and(small(1))), up(empty));
        let (a, b, c, d) = (right(above), left(above), left(below), right(below));
        let (ab, cd) = (a.or(b), c.or(d));
        let two = a.and(b).or(c.and(d)).or(ab.and(cd));
        let beside_point = [ab, b.or(c), cd, d.or(a)][orientation];
        (full(two), full(beside_point))
    }
}
