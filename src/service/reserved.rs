//! Values whose size follows from a request or a session, in memory that was reserved before they were made.
//!
//! A list of `Copy` items owns nothing but its items, so its bytes are known before it exists; [`List`] takes no other
//! items and has no other constructor. [`Reserved`] holds a value of any type with an upper bound of its bytes. Handlers
//! keep such values between two slices of their work, when any number of calls may wait at the same time.

use std::ops::{Deref, DerefMut};

use super::answers::{AnswerRoom, Answers};
use super::refusal::Refusal;

/// Bytes of a value that needs no reservation, because every call reserves as much from its start to its end.
const LIGHT: u64 = 2 << 10;

/// A value and the memory that is reserved for it.
#[derive(Debug)]
pub(super) struct Reserved<T> {
    value: T,
    _room: Option<AnswerRoom>,
}

/// A list and the memory that is reserved for it.
pub(super) type List<T> = Reserved<Vec<T>>;

impl<T> Reserved<T> {
    /// Makes a value of at most `bytes`, after reserving memory for it.
    ///
    /// # Errors
    /// [`Refusal::AnswerLimit`] before anything is made if less memory is left, or else the errors of `make`.
    pub fn make<E: Into<Refusal>>(
        answers: &Answers,
        bytes: u64,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Reserved<T>, Refusal> {
        let room = if bytes > LIGHT { Some(answers.exact_room(bytes)?) } else { None };
        Ok(Reserved { value: make().map_err(Into::into)?, _room: room })
    }
}

impl<T: Copy> List<T> {
    /// Makes a list of these items, after reserving memory for it.
    ///
    /// # Errors
    /// [`Refusal::AnswerLimit`] if less memory is left.
    pub fn collect(answers: &Answers, items: impl ExactSizeIterator<Item = T>) -> Result<List<T>, Refusal> {
        let bytes = (items.len() * size_of::<T>()) as u64;
        Reserved::make(answers, bytes, || {
            let mut list = Vec::with_capacity(items.len());
            list.extend(items);
            Ok::<_, Refusal>(list)
        })
    }
}

impl<T> Deref for Reserved<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Reserved<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
