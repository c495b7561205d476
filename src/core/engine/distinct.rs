//! Counts different items among billions, exactly, in any amount of memory.
//!
//! The counter keeps items in order, up to its capacity. When it is full, it drops the larger half and from then on
//! accepts only smaller items. The next pass starts from that bound, and so on, until a pass drops nothing. Less memory
//! costs more passes.

use std::ops::ControlFlow;

/// An item: compared as one number, its first word the most significant.
pub(super) type Item<const WORDS: usize> = [u64; WORDS];

/// Counts different items. One pass counts the items from `low` to below `high`.
#[derive(Debug)]
pub(super) struct DistinctCounter<const WORDS: usize> {
    /// The items in order of insertion; sorted and without duplicates after [`DistinctCounter::tidy`].
    kept: Vec<Item<WORDS>>,
    /// The largest number of items to keep.
    max: usize,
    low: Item<WORDS>,
    /// `None` until items are dropped.
    high: Option<Item<WORDS>>,
    /// Different items below `low`.
    counted: u64,
}

impl<const WORDS: usize> DistinctCounter<WORDS> {
    /// A counter that keeps up to `max` items, at least 16, before the first pass.
    pub(super) fn new(max: usize) -> DistinctCounter<WORDS> {
        DistinctCounter { kept: Vec::new(), max: max.max(16), low: [0; WORDS], high: None, counted: 0 }
    }

    /// Counts an item if it belongs to this pass.
    pub(super) fn insert(&mut self, item: Item<WORDS>) {
        if item < self.low || self.high.is_some_and(|high| item >= high) {
            return;
        }
        if self.kept.len() == self.kept.capacity() {
            self.make_room();
        }
        // `make_room` may have dropped larger items, and this item may be one of them.
        if self.high.is_none_or(|high| item < high) {
            self.kept.push(item);
        }
    }

    /// Frees at least a quarter of the capacity, so that sorting is rare.
    fn make_room(&mut self) {
        self.tidy();
        let (len, capacity) = (self.kept.len(), self.kept.capacity());
        if len <= capacity / 4 * 3 && capacity > 0 {
            return;
        }
        if capacity < self.max {
            let wanted = (2 * capacity).clamp(16, self.max);
            self.kept.reserve_exact(wanted - len);
            debug_assert!(self.kept.capacity() <= self.max, "no more room than was given");
            return;
        }
        self.high = Some(self.kept[len / 2]);
        self.kept.truncate(len / 2);
    }

    fn tidy(&mut self) {
        self.kept.sort_unstable();
        self.kept.dedup();
    }

    /// Ends a pass. Breaks with the number of different items if the pass dropped none.
    pub(super) fn end_pass(&mut self) -> ControlFlow<u64> {
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
