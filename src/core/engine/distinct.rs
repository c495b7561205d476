//! How many different items there are among billions, exactly, in any amount of memory.
//!
//! The items are kept in order, as many as fit: when the room is full, the larger half goes, and from then on only smaller
//! items are taken. Another pass counts from that bound on, and so on, until a pass leaves nothing out. Less memory costs
//! more passes.

use std::ops::ControlFlow;

/// What is counted: compared as one number, its first word the highest.
pub type Item<const WORDS: usize> = [u64; WORDS];

/// Counts different items: those from `low` to below `high` in one pass.
#[derive(Debug)]
pub struct DistinctCounter<const WORDS: usize> {
    /// As they came; sorted and without doubles after [`DistinctCounter::tidy`].
    kept: Vec<Item<WORDS>>,
    /// How many there is room for.
    max: usize,
    low: Item<WORDS>,
    /// `None` until items were dropped.
    high: Option<Item<WORDS>>,
    /// Different items below `low`.
    counted: u64,
}

impl<const WORDS: usize> DistinctCounter<WORDS> {
    /// Makes room for `max` items, at least 16, before the first pass.
    pub fn new(max: usize) -> DistinctCounter<WORDS> {
        DistinctCounter { kept: Vec::new(), max: max.max(16), low: [0; WORDS], high: None, counted: 0 }
    }

    /// Counts an item, if it is one of those of this pass.
    pub fn insert(&mut self, item: Item<WORDS>) {
        if item < self.low || self.high.is_some_and(|high| item >= high) {
            return;
        }
        if self.kept.len() == self.kept.capacity() {
            self.make_room();
        }
        // Room was made by forgetting larger items, and this one may be among them.
        if self.high.is_none_or(|high| item < high) {
            self.kept.push(item);
        }
    }

    /// Leaves room for a quarter of all items at least, so that they are seldom sorted.
    fn make_room(&mut self) {
        self.tidy();
        let (len, capacity) = (self.kept.len(), self.kept.capacity());
        if len <= capacity / 4 * 3 && capacity > 0 {
            return;
        }
        if capacity < self.max {
            let wanted = (2 * capacity).clamp(16, self.max);
            self.kept.reserve_exact(wanted - len);
            return;
        }
        self.high = Some(self.kept[len / 2]);
        self.kept.truncate(len / 2);
    }

    fn tidy(&mut self) {
        self.kept.sort_unstable();
        self.kept.dedup();
    }

    /// How many items fit into the allocated memory.
    pub fn capacity(&self) -> usize {
        self.kept.capacity()
    }

    /// How many different items there are, if this pass left none out.
    pub fn end_pass(&mut self) -> ControlFlow<u64> {
        self.tidy();
        self.counted += self.kept.len() as u64;
        self.kept.clear();
        match self.high.take() {
            Some(high) => {
                self.low = high;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(self.counted),
        }
    }
}
