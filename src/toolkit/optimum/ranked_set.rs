//! A set of numbers as bits, which numbers its members in ascending order.
//!
//! A bit per possible number and a count per 512 bits take less memory than a list of the members, and far less than a
//! hash table. Neighbours stay neighbours, so values in this order are mostly found in the processor's cache.

/// Words of bits per count in [`RankedSet`].
const BLOCK: usize = 8;

/// A set of numbers below a bound, to be filled.
#[derive(Clone, Debug)]
pub(super) struct Bits {
    words: Vec<u64>,
    len: usize,
}

/// A set whose members are numbered from 0, in ascending order.
#[derive(Clone, Debug)]
pub(super) struct RankedSet {
    bits: Bits,
    /// Number of members before each block of words.
    before: Vec<u32>,
}

impl Bits {
    /// The empty set of numbers below `bound`, at most 2^32.
    pub fn below(bound: usize) -> Bits {
        Bits { words: vec![0; bound.div_ceil(64)], len: 0 }
    }

    /// Number of members so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a number. Returns whether it is new.
    pub fn insert(&mut self, member: u32) -> bool {
        let (word, bit) = (&mut self.words[member as usize / 64], 1 << (member % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        self.len += usize::from(is_new);
        is_new
    }

    /// Calls `visit` with every member once, including the members that it adds meanwhile: in ascending order, again and
    /// again until no member is left.
    pub fn visit_growing<E>(
        &mut self,
        mut visit: impl FnMut(&mut Bits, u32) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut visited = Bits { words: vec![0; self.words.len()], len: 0 };
        while visited.len < self.len {
            for index in 0..self.words.len() {
                loop {
                    let open = self.words[index] & !visited.words[index];
                    if open == 0 {
                        break;
                    }
                    let member = index as u32 * 64 + open.trailing_zeros();
                    visited.insert(member);
                    visit(self, member)?;
                }
            }
        }
        Ok(())
    }

    /// Numbers the members from 0, in ascending order. The set cannot grow after that.
    pub fn ranked(self) -> RankedSet {
        let mut sum = 0;
        let before = self.words.chunks(BLOCK).map(|block| {
            let before = sum;
            sum += count(block);
            before
        });
        RankedSet { before: before.collect(), bits: self }
    }
}

impl RankedSet {
    /// Number of members, one more than the largest number.
    pub fn len(&self) -> usize {
        self.bits.len
    }

    /// The number of a member; `None` if it is no member.
    pub fn find(&self, member: u32) -> Option<usize> {
        let word = self.bits.words.get(member as usize / 64)?;
        (word >> (member % 64) & 1 == 1).then(|| self.rank(member))
    }

    /// The number of a member: how many members are less.
    pub fn rank(&self, member: u32) -> usize {
        let (index, bit) = (member as usize / 64, member % 64);
        let block = index / BLOCK;
        let words = &self.bits.words;
        let in_block = count(&words[block * BLOCK..index]) + (words[index] & ((1 << bit) - 1)).count_ones();
        (self.before[block] + in_block) as usize
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.bits.words).flat_map(|(index, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(index * 64 + bit)
            })
        })
    }
}

fn count(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}
