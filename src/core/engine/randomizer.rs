//! Deals pieces from a seed or an explicit sequence.
//!
//! Piece n of an episode with seed x is a pure function of x, n and the randomizer:
//!
//! * `uniform`: `below(word(x, Pieces, n), 7)`, an index into I O T Z S J L.
//! * `bag7`: bag b holds the pieces 7b..7b+7. It starts as I O T Z S J L and is shuffled from the end (Fisher and
//!   Yates): for j = 6 down to 1, swap j with `below(word(x, Pieces, 6b + 6 - j), j + 1)`. Every episode opens a new
//!   bag.
//! * `balanced`: let c\[k\] be the number of times that tetromino k came among the pieces before n of this episode, and
//!   the weights v\[k\] = 5 + max(c) - c\[k\]. With r = `below(word(x, Pieces, n), v[0] + ... + v[6])`, the piece is
//!   the first k with v\[0\] + ... + v\[k\] > r.
//! * `nes`: with r = `below(word(x, Pieces, n), 56)`, the piece is r / 7 rounded down; if that is 7 or piece n - 1, the
//!   piece is r modulo 7. In other words, one draw out of eight is repeated once if it is blank or the previous piece.
//!
//! With another [set of pieces](super::pieces) of n pieces, `uniform` draws below n, and a bag of `bag7` holds each of
//! the n once: bag b holds the pieces nb..nb+n, and for j = n - 1 down to 1, j is swapped with
//! `below(word(x, Pieces, (n-1)b + n-1 - j), j + 1)`. `balanced` and `nes` need the tetrominoes.
//!
//! `balanced` and `nes` depend on the previous pieces. For x = 42, `uniform` deals `TLZISIOJIJSOOOLJZZSI`, `bag7` deals
//! `OZSILJT ZJLTISO`, `balanced` deals `TLZISIOJIJSOOTLJZZSI` and `nes` deals `TSZIJIOJIJIOJTOLSZJO`.

use std::sync::Arc;

use super::choice::choice;
use super::garbage::Holes;
use super::piece::Piece;
use super::pieces::{MAX_PIECES, PieceSet};
use super::rng::{Tag, below, stream, stream_word, word};
use super::tetromino::Tetromino;

choice! {
    /// The way in which a seed becomes pieces.
    pub enum Randomizer: "randomizer" {
        /// Independent, uniform draws, as in the literature.
        Uniform = 1, "uniform";
        /// Shuffled bags with one of each piece.
        Bag7 = 2, "bag7";
        /// Draws that favour the rarest pieces so far.
        Balanced = 3, "balanced";
        /// Draws that avoid repetition: a blank or a repeated piece is drawn again, once.
        Nes = 4, "nes";
    }
}

/// Odds of the next piece: one whole number per piece, not all of them 0. Pieces outside the set are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Odds([u32; MAX_PIECES]);

impl Odds {
    /// Equal odds for every piece of a set.
    pub const EVEN: Odds = Odds([1; MAX_PIECES]);

    /// Odds of the seven tetrominoes from their counts. Equal odds if all counts are 0.
    pub fn of_counts(counts: [u32; 7]) -> Odds {
        if counts == [0; 7] { Odds::EVEN } else { Odds::of_seven(counts) }
    }

    #[inline]
    fn of_seven(counts: [u32; 7]) -> Odds {
        let mut odds = [0; MAX_PIECES];
        odds[..7].copy_from_slice(&counts);
        Odds(odds)
    }

    /// Odds of a next piece that is certain.
    ///
    /// ```
    /// use tetrion_core::engine::{Odds, Tetromino};
    ///
    /// let odds = Odds::certain(Tetromino::T);
    /// assert_eq!((odds.of(Tetromino::T), odds.of(Tetromino::O)), (1, 0));
    /// ```
    #[inline]
    pub fn certain(piece: Piece) -> Odds {
        let mut odds = [0; MAX_PIECES];
        odds[piece.index()] = 1;
        Odds(odds)
    }

    /// The odds of one piece.
    #[inline]
    pub fn of(&self, piece: Piece) -> u32 {
        self.0[piece.index()]
    }

    /// The odds of the piece after this one, which came with these odds.
    ///
    /// ```
    /// use tetrion_core::engine::{Odds, PieceSet, Randomizer, Tetromino};
    ///
    /// let odds = Odds::EVEN.after(Randomizer::Bag7, &PieceSet::TETROMINOES, Tetromino::T);
    /// assert_eq!((odds.of(Tetromino::T), odds.of(Tetromino::O)), (0, 1));
    /// ```
    #[must_use]
    pub fn after(self, randomizer: Randomizer, pieces: &PieceSet, piece: Piece) -> Odds {
        let mut odds = self;
        match randomizer {
            Randomizer::Uniform => {}
            Randomizer::Bag7 => {
                odds.0[piece.index()] = 0;
                if pieces.iter().all(|piece| odds.of(piece) == 0) {
                    return Odds::EVEN;
                }
            }
            Randomizer::Balanced => {
                let mut behind = [0; 7];
                for (behind, weight) in behind.iter_mut().zip(odds.0) {
                    *behind = weight.saturating_sub(5) as u16;
                }
                count_one_more(&mut behind, piece);
                return Odds::of_seven(balanced_weights(&behind));
            }
            Randomizer::Nes => return Odds::after_repeated(piece),
        }
        odds
    }

    /// The piece to which a number below the sum of the odds belongs, if each piece in turn has as many numbers as its
    /// odds.
    pub(crate) fn share(&self, number: u64) -> Piece {
        Piece::new(share(&self.0, number) as u8)
    }

    /// The odds of `nes` after this piece.
    fn after_repeated(last: Piece) -> Odds {
        let mut odds = [9; 7];
        odds[last.index()] = 2;
        Odds::of_seven(odds)
    }

    /// The mean of one number per piece of the set minus `caution` standard deviations, so that of two prospects with
    /// equal means the more certain one has the higher value.
    ///
    /// The mean is odds times number, added up in order from 0, then divided by the sum of the odds. Pieces with odds of
    /// 0 are ignored. The variance is the mean of the squared deviations, each odds times difference times difference.
    #[inline]
    pub fn cautious_mean(&self, numbers: &[f64], caution: f64) -> f64 {
        let mean = self.mean_of(numbers, |odds, number| odds * number);
        if caution == 0.0 {
            return mean;
        }
        let variance = self.mean_of(numbers, |odds, number| odds * (number - mean) * (number - mean));
        mean - caution * variance.sqrt()
    }

    /// The sum of terms of odds and number, in order from 0, divided by the sum of the odds.
    #[inline]
    fn mean_of(&self, numbers: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for (&odds, &number) in self.0.iter().zip(numbers) {
            if odds > 0 {
                sum += term(odds.into(), number);
                total += f64::from(odds);
            }
        }
        sum / total
    }
}

/// The piece sequence of one episode, and the number of pieces dealt.
///
/// Clones are cheap: they share an explicit sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dealer {
    source: PieceStream,
    dealt: u64,
}

/// An explicit sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PieceSequence {
    pub pieces: Arc<[Piece]>,
    /// Columns of the first holes in garbage, in the order in which lines get them.
    pub holes: Vec<u8>,
}

impl From<Arc<[Piece]>> for PieceSequence {
    fn from(pieces: Arc<[Piece]>) -> PieceSequence {
        PieceSequence { pieces, holes: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PieceStream {
    Uniform {
        seed: u64,
        stream: u64,
        num_pieces: u8,
    },
    Bag7 {
        seed: u64,
        bag: [Tetromino; 7],
    },
    /// A bag of a set other than the tetrominoes, boxed so that a dealer stays small.
    Bag(Box<OpenBag>),
    Balanced {
        seed: u64,
        behind: [u16; 7],
    },
    Nes {
        seed: u64,
        last: Option<Tetromino>,
    },
    Sequence(Arc<PieceSequence>),
}

/// The open bag of a set: one of each piece, in the order of dealing.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OpenBag {
    seed: u64,
    bag: Vec<Piece>,
}

/// The whole state of a dealer, for snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DealerState {
    pub dealt: u64,
    /// The seed, or the explicit sequence.
    pub source: DealerSource,
}

/// The source of the pieces of a [`DealerState`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DealerSource {
    /// A seed, and the randomizers' memory of previous pieces.
    Seed {
        /// The seed of the words.
        seed: u64,
        /// The open bag. Used by `bag7` in the middle of a bag, and by `nes`, which keeps the last dealt piece at index
        /// 0.
        bag: [Tetromino; 7],
        /// How much less often each tetromino came than the most frequent one. Used by `balanced` only.
        behind: [u16; 7],
    },
    /// A seed of a game with other pieces than the tetrominoes.
    OtherSeed {
        /// The seed of the words.
        seed: u64,
        /// The open bag, one of each piece. Used by `bag7` in the middle of a bag.
        bag: Vec<Piece>,
    },
    /// An explicit sequence, from its beginning.
    Sequence(Arc<PieceSequence>),
}

impl Dealer {
    /// A dealer of tetrominoes at the start of the episode with this seed.
    ///
    /// ```
    /// use tetrion_core::engine::{Dealer, Randomizer};
    ///
    /// let mut dealer = Dealer::seeded(Randomizer::Bag7, 1);
    /// let mut bag: Vec<char> = (0..7).map(|_| dealer.deal().unwrap().letter()).collect();
    /// bag.sort();
    /// assert_eq!(bag.iter().collect::<String>(), "IJLOSTZ");
    /// ```
    pub fn seeded(randomizer: Randomizer, seed: u64) -> Dealer {
        Dealer::from_parts(randomizer, 0, DealerSource::Seed { seed, bag: Tetromino::ALL, behind: EVEN })
    }

    /// A dealer for any set of pieces, at the start of the episode with this seed.
    /// [`Rules::dealer`](super::Rules::dealer) makes the dealer for given rules.
    pub(super) fn of_set(pieces: &PieceSet, randomizer: Randomizer, seed: u64) -> Dealer {
        if pieces.is_tetrominoes() {
            return Dealer::seeded(randomizer, seed);
        }
        let source = DealerSource::OtherSeed { seed, bag: pieces.iter().collect() };
        Dealer::from_parts(randomizer, 0, source)
    }

    /// The largest number of bytes that a dealer of these pieces uses outside its own value. Explicit sequences are not
    /// included.
    pub(crate) fn bytes_beside(pieces: &PieceSet) -> usize {
        if pieces.is_tetrominoes() { 0 } else { size_of::<OpenBag>() + pieces.len() * size_of::<Piece>() }
    }

    /// A dealer of an explicit sequence, from its beginning.
    ///
    /// ```
    /// use tetrion_core::engine::{Dealer, Tetromino, parse_sequence};
    ///
    /// let mut dealer = Dealer::sequence(parse_sequence("TO")?.into());
    /// assert_eq!(dealer.deal(), Some(Tetromino::T));
    /// assert_eq!(dealer.deal(), Some(Tetromino::O));
    /// assert_eq!(dealer.deal(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sequence(pieces: Arc<[Piece]>) -> Dealer {
        Dealer::sequence_with_holes(Arc::new(pieces.into()))
    }

    /// A dealer of an explicit sequence, from its beginning, which also has the columns of holes.
    pub fn sequence_with_holes(sequence: Arc<PieceSequence>) -> Dealer {
        Dealer { source: PieceStream::Sequence(sequence), dealt: 0 }
    }

    /// Restores a dealer from a state made by [`Dealer::state`].
    pub(crate) fn from_state(randomizer: Randomizer, state: DealerState) -> Dealer {
        Dealer::from_parts(randomizer, state.dealt, state.source)
    }

    fn from_parts(randomizer: Randomizer, dealt: u64, source: DealerSource) -> Dealer {
        let source = match (source, randomizer) {
            (DealerSource::Sequence(sequence), _) => PieceStream::Sequence(sequence),
            (DealerSource::Seed { seed, .. }, Randomizer::Uniform) => {
                PieceStream::Uniform { seed, stream: stream(seed, Tag::Pieces), num_pieces: 7 }
            }
            (DealerSource::Seed { seed, bag, .. }, Randomizer::Bag7) => PieceStream::Bag7 { seed, bag },
            (DealerSource::Seed { seed, behind, .. }, Randomizer::Balanced) => {
                PieceStream::Balanced { seed, behind }
            }
            (DealerSource::Seed { seed, bag, .. }, Randomizer::Nes) => {
                PieceStream::Nes { seed, last: (dealt > 0).then_some(bag[0]) }
            }
            (DealerSource::OtherSeed { seed, bag }, Randomizer::Bag7) => {
                PieceStream::Bag(Box::new(OpenBag { seed, bag }))
            }
            // Rules with other pieces allow no third randomizer.
            (DealerSource::OtherSeed { seed, bag }, _) => {
                PieceStream::Uniform { seed, stream: stream(seed, Tag::Pieces), num_pieces: bag.len() as u8 }
            }
        };
        Dealer { source, dealt }
    }

    /// Deals the next piece. Returns `None` after the end of an explicit sequence.
    #[inline]
    pub fn deal(&mut self) -> Option<Piece> {
        let n = self.dealt;
        let piece = match &mut self.source {
            PieceStream::Uniform { stream, num_pieces, .. } => {
                Piece::new(below(stream_word(*stream, n), (*num_pieces).into()) as u8)
            }
            PieceStream::Bag(open) => open.deal(n),
            PieceStream::Bag7 { seed, bag } => {
                if n.is_multiple_of(7) {
                    *bag = shuffled_bag(*seed, n / 7);
                }
                bag[(n % 7) as usize]
            }
            PieceStream::Balanced { seed, behind } => {
                let piece = weighted_draw(word(*seed, Tag::Pieces, n), behind);
                count_one_more(behind, piece);
                piece
            }
            PieceStream::Nes { seed, last } => {
                let piece = drawn_again(word(*seed, Tag::Pieces, n), *last);
                *last = Some(piece);
                piece
            }
            PieceStream::Sequence(written) => *written.pieces.get(usize::try_from(n).ok()?)?,
        };
        self.dealt = n.wrapping_add(1); // no game deals that many pieces
        Some(piece)
    }

    /// The odds of the next piece, given all previous pieces. `uniform` has equal odds; `bag7` has equal odds for the
    /// pieces left in the open bag; `balanced` has the weights of the next draw; `nes` has 2 for the previous piece and
    /// 9 for each other one. Future pieces of an explicit sequence are unknown, so their odds are equal.
    ///
    /// ```
    /// use tetrion_core::engine::{Dealer, Randomizer, Tetromino};
    ///
    /// let mut dealer = Dealer::seeded(Randomizer::Bag7, 1);
    /// let dealt: Vec<Tetromino> = (0..6).map(|_| dealer.deal().unwrap()).collect();
    /// let odds = dealer.odds();
    /// let possible = Tetromino::ALL.into_iter().filter(|&piece| odds.of(piece) > 0);
    /// assert_eq!(possible.collect::<Vec<_>>(), [Tetromino::ALL.into_iter().find(|piece| !dealt.contains(piece)).unwrap()]);
    /// ```
    pub fn odds(&self) -> Odds {
        match &self.source {
            PieceStream::Uniform { .. } | PieceStream::Sequence(_) => Odds::EVEN,
            PieceStream::Bag7 { bag, .. } => {
                let mut odds = [0; 7];
                let dealt = (self.dealt % 7) as usize;
                let left = if dealt == 0 { &Tetromino::ALL[..] } else { &bag[dealt..] };
                left.iter().for_each(|piece| odds[piece.index()] = 1);
                Odds::of_seven(odds)
            }
            PieceStream::Bag(open) => open.odds(self.dealt),
            PieceStream::Balanced { behind, .. } => Odds::of_seven(balanced_weights(behind)),
            PieceStream::Nes { last: None, .. } => Odds::EVEN,
            PieceStream::Nes { last: Some(last), .. } => Odds::after_repeated(*last),
        }
    }

    /// Returns to the first piece, of the episode with this seed. An explicit sequence has no seed and starts again.
    pub(crate) fn restart(&mut self, seed: u64) {
        self.dealt = 0;
        match &mut self.source {
            PieceStream::Balanced { behind, .. } => *behind = EVEN,
            PieceStream::Nes { last, .. } => *last = None,
            PieceStream::Uniform { .. }
            | PieceStream::Bag7 { .. }
            | PieceStream::Bag(_)
            | PieceStream::Sequence(_) => {}
        }
        self.reseed(seed);
    }

    /// The seed of future pieces; `None` for an explicit sequence.
    pub(crate) fn seed(&self) -> Option<u64> {
        match &self.source {
            PieceStream::Uniform { seed, .. }
            | PieceStream::Bag7 { seed, .. }
            | PieceStream::Balanced { seed, .. }
            | PieceStream::Nes { seed, .. } => Some(*seed),
            PieceStream::Bag(open) => Some(open.seed),
            PieceStream::Sequence(_) => None,
        }
    }

    /// The choice of the holes in garbage, for a side of a match or a game alone: by the seed of the pieces, or 0 for an
    /// explicit sequence, after the columns that are written with it.
    pub(crate) fn holes(&self, side: Option<u8>) -> Holes<'_> {
        let seed = self.seed().unwrap_or(0);
        let seed = side.map_or(seed, |side| word(seed, Tag::Side, side.into()));
        let written = match &self.source {
            PieceStream::Sequence(written) => &written.holes,
            _ => [].as_slice(),
        };
        Holes { seed, written }
    }

    /// The explicit sequence, if the dealer has one.
    pub(crate) fn written(&self) -> Option<&Arc<PieceSequence>> {
        match &self.source {
            PieceStream::Sequence(written) => Some(written),
            _ => None,
        }
    }

    /// Replaces the explicit sequence with an equal copy, so that many dealers share one.
    ///
    /// # Panics
    /// If the sequence differs, or the dealer has none.
    pub(crate) fn share(&mut self, copy: Arc<PieceSequence>) {
        assert_eq!(self.written(), Some(&copy), "a copy of the same sequence");
        self.source = PieceStream::Sequence(copy);
    }

    /// Continues with another seed. The dealt pieces, the open bag and the counts stay; future pieces are new.
    ///
    /// An explicit sequence has no seed and does not change.
    pub(crate) fn reseed(&mut self, new_seed: u64) {
        match &mut self.source {
            PieceStream::Uniform { seed, stream: words, .. } => {
                (*seed, *words) = (new_seed, stream(new_seed, Tag::Pieces));
            }
            PieceStream::Bag(open) => open.seed = new_seed,
            PieceStream::Bag7 { seed, .. }
            | PieceStream::Balanced { seed, .. }
            | PieceStream::Nes { seed, .. } => {
                *seed = new_seed;
            }
            PieceStream::Sequence(_) => {}
        }
    }

    /// The whole state of a dealer of these pieces, for a snapshot.
    pub(crate) fn state(&self, pieces: &PieceSet) -> DealerState {
        let bag = Tetromino::ALL;
        let source = match &self.source {
            PieceStream::Uniform { seed, .. } if !pieces.is_tetrominoes() => {
                DealerSource::OtherSeed { seed: *seed, bag: pieces.iter().collect() }
            }
            PieceStream::Bag(open) => DealerSource::OtherSeed { seed: open.seed, bag: open.bag.clone() },
            PieceStream::Uniform { seed, .. } => DealerSource::Seed { seed: *seed, bag, behind: EVEN },
            PieceStream::Bag7 { seed, bag } => DealerSource::Seed { seed: *seed, bag: *bag, behind: EVEN },
            PieceStream::Balanced { seed, behind } => {
                DealerSource::Seed { seed: *seed, bag, behind: *behind }
            }
            PieceStream::Nes { seed, last } => {
                let mut bag = bag;
                if let Some(last) = last {
                    bag[..=last.index()].rotate_right(1);
                }
                DealerSource::Seed { seed: *seed, bag, behind: EVEN }
            }
            PieceStream::Sequence(written) => DealerSource::Sequence(written.clone()),
        };
        DealerState { dealt: self.dealt, source }
    }
}

impl OpenBag {
    /// Piece n of the episode.
    fn deal(&mut self, n: u64) -> Piece {
        let num_pieces = self.bag.len() as u64;
        if n.is_multiple_of(num_pieces) {
            self.bag.sort_unstable();
            shuffle(&mut self.bag, self.seed, n / num_pieces);
        }
        self.bag[(n % num_pieces) as usize]
    }

    /// The odds of the pieces left in the bag, after this many pieces of the episode.
    fn odds(&self, dealt: u64) -> Odds {
        let mut odds = [0; MAX_PIECES];
        // A bag that is about to be opened contains all pieces; their order does not matter here.
        let left = &self.bag[(dealt % self.bag.len() as u64) as usize..];
        left.iter().for_each(|piece| odds[piece.index()] = 1);
        Odds(odds)
    }
}

/// A tetromino for a word: one draw out of eight, and a second one out of seven if the first is blank or the previous
/// piece.
fn drawn_again(word: u64, last: Option<Tetromino>) -> Tetromino {
    let draw = below(word, 8 * 7) as usize;
    let (first, again) = (Tetromino::ALL.get(draw / 7), Tetromino::ALL[draw % 7]);
    first.copied().filter(|first| Some(*first) != last).unwrap_or(again)
}

/// The counts of tetrominoes that all came equally often.
const EVEN: [u16; 7] = [0; 7];

/// A tetromino for a word. Its weight is 5, plus the number of times that it came less often than the most frequent
/// one.
fn weighted_draw(word: u64, behind: &[u16; 7]) -> Tetromino {
    let weights = balanced_weights(behind);
    let total = weights.iter().copied().map(u64::from).sum();
    Tetromino::ALL[share(&weights, below(word, total))]
}

/// The index of the weight to which a number below their sum belongs.
fn share(weights: &[u32], number: u64) -> usize {
    let (mut left, mut at) = (number, 0);
    while left >= u64::from(weights[at]) {
        left -= u64::from(weights[at]);
        at += 1;
    }
    at
}

fn balanced_weights(behind: &[u16; 7]) -> [u32; 7] {
    behind.map(|behind| 5 + u32::from(behind))
}

/// Counts a tetromino. If it was behind, it catches up by one; if not, all others fall one further behind.
///
/// A tetromino that is far behind is likely to come, so numbers near the type's maximum occur only in artificial
/// states.
fn count_one_more(behind: &mut [u16; 7], piece: Tetromino) {
    let piece = piece.index();
    if behind[piece] > 0 {
        behind[piece] -= 1;
        return;
    }
    for (k, behind) in behind.iter_mut().enumerate() {
        if k != piece {
            *behind = behind.saturating_add(1);
        }
    }
}

fn shuffled_bag(seed: u64, bag_index: u64) -> [Tetromino; 7] {
    let mut bag = Tetromino::ALL;
    shuffle(&mut bag, seed, bag_index);
    bag
}

#[inline]
fn shuffle(bag: &mut [Piece], seed: u64, bag_index: u64) {
    let words = stream(seed, Tag::Pieces);
    let last = bag.len() as u64 - 1;
    for j in (1..=last).rev() {
        let word = stream_word(words, bag_index.wrapping_mul(last).wrapping_add(last - j));
        bag.swap(j as usize, below(word, j + 1) as usize);
    }
}

/// The seed of episode k of an environment with seed `env_seed`: first the seed itself, then words of its stream.
pub const fn episode_seed(env_seed: u64, episode: u64) -> u64 {
    if episode == 0 { env_seed } else { word(env_seed, Tag::Episode, episode) }
}
