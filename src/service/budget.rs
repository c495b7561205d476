//! So much of something in all, and so much of it for each: bytes, calls, connections.
//!
//! Whatever takes of a budget does so before it begins and holds a [`Share`] until the end; what finds too little left is
//! refused at once. It does not wait: what waits holds a request, and what it waits for may never be given back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An amount, and how much of it is taken.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    taken: AtomicU64,
    /// What this is a part of.
    all: Option<Arc<Budget>>,
}

/// A budget has too little left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{taken} of {limit} are taken")]
pub struct Spent {
    /// The amount of the budget that was too small: the part, or the whole.
    pub limit: u64,
    /// What was taken of it.
    pub taken: u64,
}

/// What is taken of a budget, and given back when this is dropped.
#[derive(Debug)]
pub struct Share {
    budget: Arc<Budget>,
    amount: u64,
}

impl Budget {
    /// A budget of this amount.
    pub fn new(limit: u64) -> Arc<Budget> {
        Arc::new(Budget { limit, taken: AtomicU64::new(0), all: None })
    }

    /// A budget within this one: what is taken of it is taken of both.
    ///
    /// A part never takes more than it leaves free of the whole. So one part has half of it at most, two have a third each, and
    /// however many take all that they can, another one finds as much left as each of them has.
    pub fn part(self: &Arc<Budget>, limit: u64) -> Arc<Budget> {
        Arc::new(Budget { limit: limit.min(self.limit), taken: AtomicU64::new(0), all: Some(self.clone()) })
    }

    /// The whole amount.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// How much of it is taken.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Whether more than a quarter of the whole is taken, which this may be a part of. One part that takes all
    /// that it can makes it scarce.
    pub fn is_scarce(&self) -> bool {
        self.all.as_ref().map_or(self.taken() > self.limit / 4, |all| all.is_scarce())
    }

    /// A share of nothing yet.
    pub fn share(self: &Arc<Budget>) -> Share {
        Share { budget: self.clone(), amount: 0 }
    }

    /// Takes so much.
    ///
    /// # Errors
    /// [`Spent`] if less is left. Nothing is taken then.
    pub fn take(self: &Arc<Budget>, amount: u64) -> Result<Share, Spent> {
        let mut share = self.share();
        share.grow_to(amount)?;
        Ok(share)
    }

    fn try_take(&self, amount: u64) -> Result<(), Spent> {
        let room = |taken: u64| taken.checked_add(amount).filter(|sum| *sum <= self.limit);
        let spent = |taken| Spent { limit: self.limit, taken };
        self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room).map_err(spent)?;
        let Some(all) = &self.all else { return Ok(()) };
        all.try_take(amount).inspect_err(|_| self.sub(amount))?;
        let (own, others) = (self.taken(), all.taken());
        if own > all.limit.saturating_sub(others) {
            self.give_back(amount);
            return Err(Spent { limit: all.limit, taken: others - amount });
        }
        Ok(())
    }

    fn take_anyway(&self, amount: u64) {
        self.taken.fetch_add(amount, Ordering::Relaxed);
        if let Some(all) = &self.all {
            all.take_anyway(amount);
        }
    }

    fn give_back(&self, amount: u64) {
        self.sub(amount);
        if let Some(all) = &self.all {
            all.give_back(amount);
        }
    }

    fn sub(&self, amount: u64) {
        self.taken.fetch_sub(amount, Ordering::Relaxed);
    }
}

impl Share {
    /// How much it is.
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// Makes it so much, unless it is more already.
    ///
    /// # Errors
    /// [`Spent`] if less is left. The share is then what it was.
    pub fn grow_to(&mut self, amount: u64) -> Result<(), Spent> {
        if let Some(more) = amount.checked_sub(self.amount) {
            self.budget.try_take(more)?;
            self.amount = amount;
        }
        Ok(())
    }

    /// Makes it exactly so much, whether or not that is left: for what is there already, so that others see it.
    pub fn set(&mut self, amount: u64) {
        match amount.checked_sub(self.amount) {
            Some(more) => self.budget.take_anyway(more),
            None => self.budget.give_back(self.amount - amount),
        }
        self.amount = amount;
    }

    /// Takes everything out of it into a share of its own.
    #[must_use]
    pub fn take_out(&mut self) -> Share {
        Share { budget: self.budget.clone(), amount: std::mem::take(&mut self.amount) }
    }

    /// Adds another share of the same budget to it.
    ///
    /// # Panics
    /// If it is of another budget.
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
