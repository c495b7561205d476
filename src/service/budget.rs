//! Budgets of bytes, calls or connections: a limit on the whole, and one on each part.
//!
//! Every user of a budget takes a [`Share`] before it begins and holds it until the end; where too little is left, the
//! budget refuses at once. It does not wait: what waits holds a request, and the room that it waits for may never come back.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// An amount, and how much of it is taken.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    taken: Mutex<u64>,
    /// The whole that this is a part of.
    all: Option<Whole>,
}

/// The whole that a budget is a part of.
#[derive(Debug)]
struct Whole {
    budget: Arc<Budget>,
    /// What the part has of its own, outside the whole.
    own: u64,
}

/// A budget has too little left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{taken} of {limit} are taken")]
pub struct Spent {
    /// The amount of the budget that was too small: the part, or the whole.
    pub limit: u64,
    /// How much of it was taken.
    pub taken: u64,
}

/// An amount taken from a budget, and given back when this is dropped.
#[derive(Debug)]
pub struct Share {
    budget: Arc<Budget>,
    amount: u64,
}

impl Budget {
    /// A budget of this amount.
    pub fn new(limit: u64) -> Arc<Budget> {
        Arc::new(Budget { limit, taken: Mutex::new(0), all: None })
    }

    /// A budget within this one: what is taken from it is also taken from the whole, except the first `own`, which are its
    /// own.
    ///
    /// A part never takes more of the whole than it leaves free. So one part has half of it at most, two have a third each.
    /// A part always has its own amount, however much the others take.
    pub fn part(self: &Arc<Budget>, limit: u64, own: u64) -> Arc<Budget> {
        let all = Some(Whole { budget: self.clone(), own });
        Arc::new(Budget { limit: limit.min(self.limit.saturating_add(own)), taken: Mutex::new(0), all })
    }

    /// The whole amount.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// How much of it is taken.
    pub fn taken(&self) -> u64 {
        *self.lock()
    }

    /// Whether more than a quarter is taken, of the whole if this is a part of one. A single part that takes all it can
    /// makes the whole scarce.
    pub fn is_scarce(&self) -> bool {
        self.all.as_ref().map_or_else(|| self.taken() > self.limit / 4, |all| all.budget.is_scarce())
    }

    /// An empty share.
    pub fn share(self: &Arc<Budget>) -> Share {
        Share { budget: self.clone(), amount: 0 }
    }

    /// Takes `amount`.
    ///
    /// # Errors
    /// [`Spent`] if less is left. Nothing is taken then.
    pub fn take(self: &Arc<Budget>, amount: u64) -> Result<Share, Spent> {
        let mut share = self.share();
        share.grow_to(amount)?;
        Ok(share)
    }

    fn try_take(&self, amount: u64) -> Result<(), Spent> {
        let mut taken = self.lock();
        let sum = taken.checked_add(amount).filter(|sum| *sum <= self.limit);
        let sum = sum.ok_or(Spent { limit: self.limit, taken: *taken })?;
        if let Some(all) = &self.all {
            all.try_take(*taken, sum)?;
        }
        *taken = sum;
        Ok(())
    }

    fn take_anyway(&self, amount: u64) {
        let mut taken = self.lock();
        if let Some(Whole { budget, own }) = &self.all {
            budget.take_anyway((*taken + amount).saturating_sub(*own) - taken.saturating_sub(*own));
        }
        *taken += amount;
    }

    fn give_back(&self, amount: u64) {
        let mut taken = self.lock();
        if let Some(Whole { budget, own }) = &self.all {
            budget.give_back(taken.saturating_sub(*own) - (*taken - amount).saturating_sub(*own));
        }
        *taken -= amount;
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The parts of a budget that are in use, one for each holder.
#[derive(Debug)]
pub struct Parts<K> {
    whole: Arc<Budget>,
    parts: Mutex<HashMap<K, Weak<Budget>>>,
}

impl<K: Clone + Eq + Hash> Parts<K> {
    /// The parts of a budget.
    pub fn new(whole: Arc<Budget>) -> Parts<K> {
        Parts { whole, parts: Mutex::default() }
    }

    /// The budget.
    pub fn whole(&self) -> &Arc<Budget> {
        &self.whole
    }

    /// The part of a holder, which never takes more of the whole than it leaves free.
    pub fn part(&self, holder: &K) -> Arc<Budget> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = parts.get(holder).and_then(Weak::upgrade) {
            return part;
        }
        parts.retain(|_, part| part.strong_count() > 0);
        let part = self.whole.part(self.whole.limit / 2, 0);
        parts.insert(holder.clone(), Arc::downgrade(&part));
        part
    }
}

impl Whole {
    /// Takes what a part needs from the whole to go from `before` to `after`.
    fn try_take(&self, before: u64, after: u64) -> Result<(), Spent> {
        let Whole { budget, own } = self;
        let share = after.saturating_sub(*own);
        let more = share - before.saturating_sub(*own);
        if more == 0 {
            return Ok(());
        }
        budget.try_take(more)?;
        let taken = budget.taken();
        if share > budget.limit.saturating_sub(taken) {
            budget.give_back(more);
            return Err(Spent { limit: budget.limit, taken: taken - more });
        }
        Ok(())
    }
}

impl Share {
    /// The amount of this share.
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Grows the share to `amount`, unless it is larger already.
    ///
    /// # Errors
    /// [`Spent`] if less is left. The share is then unchanged.
    pub fn grow_to(&mut self, amount: u64) -> Result<(), Spent> {
        if let Some(more) = amount.checked_sub(self.amount) {
            self.budget.try_take(more)?;
            self.amount = amount;
        }
        Ok(())
    }

    /// Sets the share to `amount`, even beyond the limit: for what is already in use, so that others see it.
    pub fn set(&mut self, amount: u64) {
        match amount.checked_sub(self.amount) {
            Some(more) => self.budget.take_anyway(more),
            None => self.budget.give_back(self.amount - amount),
        }
        self.amount = amount;
    }

    /// Moves everything out of this share into a new one.
    #[must_use]
    pub fn take_out(&mut self) -> Share {
        Share { budget: self.budget.clone(), amount: std::mem::take(&mut self.amount) }
    }

    /// Adds another share of the same budget to this one.
    ///
    /// # Panics
    /// If the share is of another budget.
    pub fn add(&mut self, mut other: Share) {
        assert!(Arc::ptr_eq(&self.budget, &other.budget), "shares of one budget");
        self.amount += std::mem::take(&mut other.amount);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.amount > 0 {
            self.budget.give_back(self.amount);
        }
    }
}
