//! Measures speed, repeatedly and in turns, never only once.
//!
//! The workloads to compare run in rounds, each once per round, so that other load on the machine affects all of them.
//! A figure is the median over the rounds. A ratio is the median of the rounds' ratios, which a few bad rounds do not
//! change.

use std::time::{Duration, Instant};

/// Number and length of the rounds.
#[derive(Clone, Copy, Debug)]
pub struct RoundPlan {
    pub rounds: usize,
    /// Least time of each workload in a round.
    pub slice: Duration,
}

/// The figures of one workload, one per round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples(pub Vec<f64>);

impl Samples {
    /// The median; the higher middle figure if their number is even.
    ///
    /// # Panics
    /// If there are no samples.
    pub fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// The lowest and the highest figure.
    pub fn range(&self) -> (f64, f64) {
        let lowest = self.0.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (lowest, highest)
    }

    /// These figures divided by others, round by round.
    pub fn over(&self, others: &Samples) -> Samples {
        Samples(self.0.iter().zip(&others.0).map(|(this, other)| this / other).collect())
    }
}

/// A workload. Returns the amount of work that it did.
pub type Workload<'a> = Box<dyn FnMut() -> anyhow::Result<u64> + 'a>;

/// Runs each workload once to warm up, then in turns. Returns the rate of each workload per second. Calls `pause` with
/// the time of each run.
///
/// # Errors
/// The first error of a workload or of `pause`.
pub fn rates(
    works: &mut [Workload<'_>],
    plan: RoundPlan,
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
