//! Numbered requests: done once, answered as often as asked.
//!
//! A client whose connection broke does not know whether its last request arrived. It sends the request again with the same
//! number: if it had been done, the kept answer is given again and nothing moves; if not, it is done now.

use std::any::Any;

use prost::Message;
use xxhash_rust::xxh3::xxh3_128;

use super::status::Refusal;

/// The numbers of a session's mutating calls.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    last: u64,
    kept: Option<Kept>,
}

/// The answer of the last call, if that was a numbered one.
#[derive(Debug)]
struct Kept {
    /// Of the request. Its bytes may be many megabytes, and an accidental match is less likely than a broken machine.
    digest: u128,
    /// An answer of the type that belongs to the request's.
    answer: Box<dyn Any + Send>,
}

impl Sequence {
    /// The number of the last call that changed something; 0 before the first one.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Does a mutating call that came with a number (0: unchecked), or gives the kept answer of an identical one.
    ///
    /// `work` gets the number to put into its answer. When it refuses, no number has been used.
    pub fn run<Q: Message, A: Clone + Send + 'static>(
        &mut self,
        number: u64,
        request: &Q,
        work: impl FnOnce(u64) -> Result<A, Refusal>,
    ) -> Result<A, Refusal> {
        let next = self.last + 1;
        if number == 0 {
            let answer = work(next)?;
            (self.last, self.kept) = (next, None);
            return Ok(answer);
        }
        if number == next {
            let answer = work(next)?;
            let digest = xxh3_128(&request.encode_to_vec());
            (self.last, self.kept) = (next, Some(Kept { digest, answer: Box::new(answer.clone()) }));
            return Ok(answer);
        }
        if number == self.last
            && let Some(kept) = &self.kept
            && let Some(answer) = kept.answer.downcast_ref::<A>()
            && kept.digest == xxh3_128(&request.encode_to_vec())
        {
            return Ok(answer.clone());
        }
        Err(Refusal::SequenceMismatch { expected: next, got: number })
    }
}
