//! The transitions from the afterstates of a process, in as little memory as a fast sweep allows.

/// Afterstates per index into the transitions.
const BLOCK: usize = 16;
/// Bits of a transition's lines.
const LINES: u32 = 3;
/// Marks the last transition of a piece.
const LAST: u32 = 1 << 31;

/// The largest number of afterstates: their numbers must fit into transitions.
pub(super) const MAX_NUMBERED: usize = 1 << (31 - LINES);

/// The transitions from all afterstates of a player, piece by piece.
#[derive(Clone, Debug, Default)]
pub(super) struct Transitions {
    /// Of every afterstate, the pieces that have a transition, as bits.
    pieces: Vec<u8>,
    /// Index of the first transition of every 16th afterstate.
    firsts: Vec<u32>,
    all: Vec<Transition>,
}

/// A placement that does not end the game. The lowest three bits have its lines, the highest says whether it is the
/// last of its piece, the others are the number of the afterstate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition(u32);

/// The transitions from consecutive afterstates.
#[derive(Clone, Debug)]
pub(super) struct Walk<'a> {
    pieces: &'a [u8],
    transitions: &'a [Transition],
}

impl Transitions {
    /// No transitions yet, and memory for so many.
    pub fn with_capacity(num_afterstates: usize, num_transitions: usize) -> Transitions {
        Transitions {
            pieces: Vec::with_capacity(num_afterstates),
            firsts: Vec::with_capacity(num_afterstates.div_ceil(BLOCK)),
            all: Vec::with_capacity(num_transitions),
        }
    }

    /// Starts the transitions of the next afterstate.
    pub fn begin(&mut self) {
        if self.pieces.len().is_multiple_of(BLOCK) {
            self.firsts.push(self.all.len() as u32);
        }
        self.pieces.push(0);
    }

    /// Adds a transition to the afterstate that was started last. Pieces must come in ascending order.
    pub fn push(&mut self, piece: usize, lines: u32, to: usize) {
        let pieces = self.pieces.last_mut().expect("an afterstate was begun");
        if *pieces & 1 << piece != 0 {
            self.all.last_mut().expect("a transition of the piece").0 &= !LAST;
        }
        *pieces |= 1 << piece;
        self.all.push(Transition(LAST | (to as u32) << LINES | lines));
    }

    /// Number of afterstates that were started.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The transitions from this afterstate and those after it.
    pub fn walk(&self, number: usize) -> Walk<'_> {
        let start = number / BLOCK * BLOCK;
        let first = self.firsts[number / BLOCK] as usize;
        let mut walk = Walk { pieces: &self.pieces[start..], transitions: &self.all[first..] };
        for _ in start..number {
            walk.next_choices(|_, _| ());
        }
        walk
    }
}

impl Walk<'_> {
    /// Calls `visit` with every piece that has transitions from the next afterstate, and these transitions.
    ///
    /// # Panics
    /// After the last afterstate.
    #[inline]
    pub fn next_choices(&mut self, mut visit: impl FnMut(usize, &[Transition])) {
        let (&first, others) = self.pieces.split_first().expect("another afterstate");
        self.pieces = others;
        let mut pieces = first;
        while pieces != 0 {
            let last = self.transitions.iter().position(|transition| transition.0 & LAST != 0);
            let (choices, others) = self.transitions.split_at(1 + last.expect("a last transition"));
            visit(pieces.trailing_zeros() as usize, choices);
            self.transitions = others;
            pieces &= pieces - 1;
        }
    }
}

impl Transition {
    /// Number of lines that the placement clears.
    #[inline]
    pub fn lines(self) -> u32 {
        self.0 & ((1 << LINES) - 1)
    }

    /// The number of the afterstate to which the placement leads.
    #[inline]
    pub fn to(self) -> usize {
        ((self.0 & !LAST) >> LINES) as usize
    }
}
