//! How fast is it? Repeated, in turns, and never once.
//!
//! Things to compare are measured in rounds, each of them once a round, so that whatever else the machine does affects all
//! of them. A figure is the median of the rounds; a ratio is the median of the ratios of the rounds, which a bad minute does
//! not change.

use std::time::{Duration, Instant};

/// How long, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many rounds.
    pub rounds: usize,
    /// How long each thing is done in a round, at least.
    pub slice: Duration,
}

/// One figure for each round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples(pub Vec<f64>);

impl Samples {
    /// The figure in the middle; of an even number the higher of the two.
    ///
    /// # Panics
    /// If there are none.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// The lowest and the highest.
    pub fn range(&self) -> (f64, f64) {
        let lowest = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (lowest, highest)
    }

    /// Round by round, these over others.
    pub fn over(&self, others: &Samples) -> Samples {
        Samples(self.0.iter().zip(&others.0).map(|(this, other)| this / other).collect())
    }
}

/// Work that says how much it was.
pub type Work<'a> = Box<dyn FnMut() -> anyhow::Result<u64> + 'a>;

/// Does every work once to warm up, and then in turns; returns how much of each was done a second. Calls `pause` between
/// two.
///
/// # Errors
/// The first work that fails, or a pause that ends the measurement.
pub fn rates(
    works: &mut [Work<'_>],
    plan: Plan,
    mut pause: impl FnMut(Duration) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<Samples>> {
    for work in works.iter_mut() {
        work()?;
    }
    let mut samples = vec![Samples::default(); works.len()];
    for _ in 0..plan.rounds {
        for (work, samples) in works.iter_mut().zip(&mut samples) {
            let (start, mut done) = (Instant::now(), 0);
            let took = loop {
                done += work()?;
                let took = start.elapsed();
                if took >= plan.slice {
                    break took;
                }
            };
            samples.0.push(done as f64 / took.as_secs_f64());
            pause(took)?;
        }
    }
    Ok(samples)
}
