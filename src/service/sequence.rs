//! Numbered requests: performed once, answered as often as the client sends them.
//!
//! A client whose connection broke does not know whether its last request arrived, so it repeats the request with the
//! same number. If the server has performed it, the server returns the kept answer and changes nothing. If not, it
//! performs the request now.

use std::any::Any;
use std::fmt;

use prost::{Message, Name};
use xxhash_rust::xxh3::xxh3_128;

use super::refusal::Refusal;

/// The numbers of a session's mutating calls.
#[derive(Default)]
pub(super) struct Sequence {
    last: u64,
    kept: Option<Kept>,
}

/// The kept answer to the last call, if that call had a number.
struct Kept {
    /// Digest of the request. The request itself may be many megabytes, and an accidental match is less likely than a
    /// hardware failure.
    digest: u128,
    answer: KeptAnswer,
}

enum KeptAnswer {
    /// The answer as a message, of the type that matches the request.
    Given(Box<dyn Given>),
    /// The answer as the previous server encoded it.
    Written(WrittenAnswer),
}

/// An answer of any type.
trait Given: Any + Send {
    fn as_any(&self) -> &dyn Any;
    fn written(&self) -> WrittenAnswer;
}

impl<A: Message + Name + 'static> Given for A {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn written(&self) -> WrittenAnswer {
        WrittenAnswer { kind: A::full_name(), bytes: self.encode_to_vec() }
    }
}

/// An encoded answer, with the name of its type.
#[derive(Clone, PartialEq, Message)]
pub(super) struct WrittenAnswer {
    /// Name of the message type.
    #[prost(string, tag = "1")]
    pub kind: String,
    #[prost(bytes = "vec", tag = "2")]
    pub bytes: Vec<u8>,
}

/// The numbers of a session's mutating calls, in the form that a server writes at shutdown.
#[derive(Clone, PartialEq, Message)]
pub(super) struct WrittenSequence {
    #[prost(uint64, tag = "1")]
    pub last: u64,
    /// Digest of the last request, 16 bytes; empty if that request had no number.
    #[prost(bytes = "vec", tag = "2")]
    pub digest: Vec<u8>,
    #[prost(message, optional, tag = "3")]
    pub answer: Option<WrittenAnswer>,
}

impl Kept {
    /// The kept answer, if it belongs to this request.
    fn answer_to<Q: Message, A: Message + Name + Clone + Default + 'static>(&self, request: &Q) -> Option<A> {
        if self.digest != xxh3_128(&request.encode_to_vec()) {
            return None;
        }
        match &self.answer {
            KeptAnswer::Given(answer) => answer.as_any().downcast_ref::<A>().cloned(),
            KeptAnswer::Written(written) if written.kind == A::full_name() => {
                A::decode(written.bytes.as_slice()).ok()
            }
            KeptAnswer::Written(_) => None,
        }
    }
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence").field("last", &self.last).finish_non_exhaustive() // an answer can be megabytes long
    }
}

impl Sequence {
    /// Restores the numbers; `None` if the message is invalid.
    pub fn read(written: WrittenSequence) -> Option<Sequence> {
        let WrittenSequence { last, digest, answer } = written;
        let kept = match (<[u8; 16]>::try_from(digest.as_slice()), answer) {
            (Ok(digest), Some(answer)) => {
                Some(Kept { digest: u128::from_le_bytes(digest), answer: KeptAnswer::Written(answer) })
            }
            (Err(_), None) if digest.is_empty() => None,
            _ => return None,
        };
        Some(Sequence { last, kept })
    }

    /// Writes the numbers, and the answer that the client may ask for again.
    pub fn write(&self) -> WrittenSequence {
        let Some(Kept { digest, answer }) = &self.kept else {
            return WrittenSequence { last: self.last, ..Default::default() };
        };
        let answer = match answer {
            KeptAnswer::Given(answer) => answer.written(),
            KeptAnswer::Written(answer) => answer.clone(),
        };
        WrittenSequence { last: self.last, digest: digest.to_le_bytes().to_vec(), answer: Some(answer) }
    }

    /// Number of the last mutating call; 0 before the first one.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The kept answer, if a call with this number is identical to the last one; `None` if it is the next call.
    pub fn kept_answer<Q: Message, A: Message + Name + Clone + Default + 'static>(
        &self,
        number: u64,
        request: &Q,
    ) -> Result<Option<A>, Refusal> {
        let next = self.last + 1;
        if number == 0 || number == next {
            return Ok(None);
        }
        let kept = self.kept.as_ref().filter(|_| number == self.last);
        let answer = kept.and_then(|kept| kept.answer_to(request));
        answer.map(Some).ok_or(Refusal::SequenceMismatch { expected: next, got: number })
    }

    /// Counts the next call as performed. Keeps its answer, unless its number is 0.
    pub fn complete<Q: Message, A: Message + Name + Clone + 'static>(
        &mut self,
        number: u64,
        request: &Q,
        answer: &A,
    ) {
        self.last += 1;
        self.kept = (number != 0).then(|| Kept {
            digest: xxh3_128(&request.encode_to_vec()),
            answer: KeptAnswer::Given(Box::new(answer.clone())),
        });
    }

    /// Performs a mutating call with this number and keeps no answer, for a caller whose answers cannot get lost.
    pub fn run_once<A>(
        &mut self,
        number: u64,
        work: impl FnOnce(u64) -> Result<A, Refusal>,
    ) -> Result<A, Refusal> {
        let next = self.last + 1;
        if number != next {
            return Err(Refusal::SequenceMismatch { expected: next, got: number });
        }
        let answer = work(next)?;
        (self.last, self.kept) = (next, None);
        Ok(answer)
    }
}
