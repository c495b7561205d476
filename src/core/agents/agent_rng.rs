//! The random numbers of an agent.
//!
//! In an episode with seed x, word n of an agent is `word(x, Agent, n)`, where n counts the agent's draws in that
//! episode. So an agent's draws depend only on the episode and on the number of earlier draws. They depend neither on
//! the pieces, which have a separate stream, nor on other agents.

use crate::engine::rng::{Tag, below, stream, stream_word};

/// The random words of one agent in one episode, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRng {
    stream: u64,
    drawn: u64,
}

impl AgentRng {
    /// The words for the episode with this seed, from the first on.
    pub fn new(seed: u64) -> AgentRng {
        AgentRng { stream: stream(seed, Tag::Agent), drawn: 0 }
    }

    /// Draws the next word of the stream; all 64 bits are random.
    #[inline]
    pub(crate) fn draw(&mut self) -> u64 {
        let word = stream_word(self.stream, self.drawn);
        self.drawn += 1;
        word
    }

    /// A number below `bound`, from the next word.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        below(self.draw(), bound.into()) as u32
    }

    /// A number below a small bound from the next word, and the rest of that word, which suffices for one more number.
    #[inline]
    pub(crate) fn number_and_rest(&mut self, bound: u64) -> (u64, u64) {
        let product = u128::from(self.draw()) * u128::from(bound);
        ((product >> 64) as u64, product as u64)
    }
}
