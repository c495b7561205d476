//! Measures speed, repeatedly and in turns, never only once.
//!
//! The workloads to compare run in rounds, each once per round, so that other load on the machine affects all of them.
//! A figure is the median over the rounds. A ratio is the median of the rounds' ratios, which a few bad rounds do not
//! change.

use std::fmt;
use std::time::{Duration, Instant};

use super::error::BenchError;

/// Number and length of the rounds.
#[derive(Clone, Copy, Debug)]
pub struct RoundPlan {
    pub rounds: usize,
    /// Least time of each workload in a round.
    pub slice: Duration,
}

impl RoundPlan {
    /// Takes half a minute to a minute on two cores.
    pub const FULL: RoundPlan = RoundPlan { rounds: 7, slice: Duration::from_millis(100) };
    /// Takes a few seconds; the figures are rough.
    pub const QUICK: RoundPlan = RoundPlan { rounds: 3, slice: Duration::from_millis(15) };
}

impl fmt::Display for RoundPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Medians of {} rounds of at least {} ms each.", self.rounds, self.slice.as_millis())
    }
}

/// What happens between two runs: progress, and an error after Ctrl-C.
pub type RoundPause<'a> = &'a mut dyn FnMut(Duration) -> Result<(), BenchError>;

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

/// The unit of a figure, which decides how the table writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureUnit {
    /// Amount per second, with its name.
    PerSecond(&'static str),
    Ratio,
    Microseconds,
    Milliseconds,
    Bytes,
}

/// The goal of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MedianGoal {
    AtLeast(f64),
    AtMost(f64),
}

/// A row of the table: its samples, and the goal for their median.
#[derive(Clone, Debug)]
pub struct Measurement {
    pub name: String,
    pub unit: FigureUnit,
    pub samples: Samples,
    /// Goal for the median; `None` for a figure without one.
    pub goal: Option<MedianGoal>,
}

impl Measurement {
    /// A row without a goal.
    pub fn new(name: impl Into<String>, unit: FigureUnit, samples: Vec<f64>) -> Measurement {
        Measurement { name: name.into(), unit, samples: Samples(samples), goal: None }
    }

    /// The row with the ratio of two rows.
    pub fn ratio(name: impl Into<String>, over: &Measurement, under: &Measurement) -> Measurement {
        Measurement::new(name, FigureUnit::Ratio, over.samples.over(&under.samples).0)
    }

    /// A row with this goal for its median.
    pub fn with_goal(self, goal: MedianGoal) -> Measurement {
        Measurement { goal: Some(goal), ..self }
    }
}

/// A workload. Returns the amount of work that it did.
type Workload<'a> = Box<dyn FnMut() -> Result<u64, BenchError> + 'a>;

/// Workloads that take turns. Each gives a row.
#[derive(Default)]
pub struct WorkTable<'a>(Vec<(Measurement, Workload<'a>)>);

impl fmt::Debug for WorkTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(row, _)| row)).finish()
    }
}

impl<'a> WorkTable<'a> {
    /// Adds a workload. Returns its row, for a goal.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        unit: &'static str,
        work: impl FnMut() -> Result<u64, BenchError> + 'a,
    ) -> &mut Measurement {
        let row = Measurement::new(name, FigureUnit::PerSecond(unit), Vec::new());
        self.0.push((row, Box::new(work)));
        &mut self.0.last_mut().expect("a row").0
    }

    /// Runs each workload once to warm up, then in turns. Calls `pause` with the time of each run.
    ///
    /// # Errors
    /// The first error of a workload or of `pause`.
    pub fn measure(mut self, plan: RoundPlan, pause: RoundPause<'_>) -> Result<Vec<Measurement>, BenchError> {
        for (_, work) in &mut self.0 {
            work()?;
        }
        for _ in 0..plan.rounds {
            for (row, work) in &mut self.0 {
                let (start, mut done) = (Instant::now(), 0);
                let took = loop {
                    done += work()?;
                    let took = start.elapsed();
                    if took >= plan.slice {
                        break took;
                    }
                };
                row.samples.0.push(done as f64 / took.as_secs_f64());
                pause(took)?;
            }
        }
        Ok(self.0.into_iter().map(|(row, _)| row).collect())
    }
}
