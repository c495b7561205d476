//! Budgets of bytes, calls or connections, with limits on the whole and on each part.
//!
//! Every user of a budget takes a [`Share`] before it starts and holds it until the end. If too little is left, the
//! budget refuses at once. It never waits, because a waiting call holds a request, and nothing may ever release the
//! amount that it waits for.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::pressure::{Level, Pressed, Pressure};

/// A limited amount, with a count of how much of it is taken.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    /// The memory of the process, for a budget of bytes.
    pressure: Pressure,
    taken: Mutex<u64>,
    /// The whole that contains this budget, if any.
    all: Option<Whole>,
}

/// The whole that contains a budget.
#[derive(Debug)]
struct Whole {
    budget: Arc<Budget>,
    /// Amount that is reserved for the part and does not come from the whole.
    own: u64,
}

/// The reason why a budget refuses an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    Limit {
        /// The limit of the exhausted budget: the part or the whole.
        limit: u64,
        /// Amount taken from that budget.
        taken: u64,
    },
    /// Enough is left, but the process uses nearly all of its memory.
    Pressure(Pressed),
}

/// An amount taken from a budget; dropping it releases the amount.
#[derive(Debug)]
pub struct Share {
    budget: Arc<Budget>,
    amount: u64,
}

impl Budget {
    /// A budget with this limit, for anything but bytes.
    pub fn new(limit: u64) -> Arc<Budget> {
        Budget::of_bytes(limit, &Pressure::default())
    }

    /// A budget of bytes. While the process uses nearly all of its memory, the budget refuses large amounts.
    pub fn of_bytes(limit: u64, pressure: &Pressure) -> Arc<Budget> {
        Arc::new(Budget { limit, pressure: pressure.clone(), taken: Mutex::new(0), all: None })
    }

    /// A budget within this one. It takes its amounts from the whole as well, except the first `own`, which are
    /// reserved for it.
    ///
    /// A part never takes more of the whole than it leaves free. So a single part gets at most half of it, and two
    /// parts a third each. The reserved amount is available however much the others take.
    pub fn part(self: &Arc<Budget>, limit: u64, own: u64) -> Arc<Budget> {
        let all = Some(Whole { budget: self.clone(), own });
        let limit = limit.min(self.limit.saturating_add(own));
        Arc::new(Budget { limit, pressure: self.pressure.clone(), taken: Mutex::new(0), all })
    }

    /// The limit of the budget.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Amount taken from the budget.
    pub fn taken(&self) -> u64 {
        *self.lock()
    }

    /// Whether more than a quarter is taken, or the process uses nearly all of its memory. A part asks its whole: a
    /// single part that takes as much as it can makes the whole scarce.
    pub fn is_scarce(&self) -> bool {
        let own = || self.taken() > self.limit / 4 || self.pressure.level() > Level::Calm;
        self.all.as_ref().map_or_else(own, |all| all.budget.is_scarce())
    }

    /// A share of this budget that holds nothing yet and can grow.
    pub fn share(self: &Arc<Budget>) -> Share {
        Share { budget: self.clone(), amount: 0 }
    }

    /// Takes `amount`.
    ///
    /// # Errors
    /// [`Spent`] if less is left, or if the process has too little memory for a large amount. Then nothing is taken.
    pub fn take(self: &Arc<Budget>, amount: u64) -> Result<Share, Spent> {
        let mut share = self.share();
        share.grow_to(amount)?;
        Ok(share)
    }

    fn try_take(&self, amount: u64) -> Result<(), Spent> {
        let mut taken = self.lock();
        let sum = taken.checked_add(amount).filter(|sum| *sum <= self.limit);
        let sum = sum.ok_or(Spent::Limit { limit: self.limit, taken: *taken })?;
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

/// The parts of a budget, one per holder.
#[derive(Debug)]
pub struct Parts<K> {
    whole: Arc<Budget>,
    parts: Mutex<HashMap<K, Weak<Budget>>>,
}

impl<K: Clone + Eq + Hash> Parts<K> {
    /// Creates the parts of a budget; there are none yet.
    pub fn new(whole: Arc<Budget>) -> Parts<K> {
        Parts { whole, parts: Mutex::default() }
    }

    /// The budget that the parts share.
    pub fn whole(&self) -> &Arc<Budget> {
        &self.whole
    }

    /// The part of this holder, which never takes more of the whole than it leaves free.
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
    /// Takes from the whole the amount that a part needs to grow from `before` to `after`.
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
            return Err(Spent::Limit { limit: budget.limit, taken: taken - more });
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
    /// [`Spent`] if less is left, or if the process has too little memory for a large share. Then the share is unchanged.
    pub fn grow_to(&mut self, amount: u64) -> Result<(), Spent> {
        if let Some(more) = amount.checked_sub(self.amount) {
            if more > 0 {
                self.budget.pressure.admit(amount).map_err(Spent::Pressure)?;
            }
            self.budget.try_take(more)?;
            self.amount = amount;
        }
        Ok(())
    }

    /// Sets the share to `amount`, even beyond the limit: for memory that is already in use, so that the budget shows
    /// it.
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
