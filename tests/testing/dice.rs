//! Random choices of tests.

use tetrion_twins::word;

/// Numbers that look random, one after the other.
#[derive(Debug)]
pub struct Dice(pub u64, pub u64);

impl Dice {
    pub fn below(&mut self, bound: usize) -> usize {
        self.1 += 1;
        (word(self.0, 99, self.1) % bound as u64) as usize
    }

    pub fn one<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}
