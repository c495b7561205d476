//! The learning curve of a session: its finished episodes, in a fixed amount of memory.
//!
//! At first every episode has a row. When the rows are used up, every two neighbouring rows become one, and new rows then
//! take twice as many episodes. So rows always cover equally many episodes, from the first one on, and equal steps give
//! equal rows. Only their times depend on the machine.
//!
//! A step in which no episode ends costs nothing but a look at its flags.

use std::time::{Duration, Instant};

use prost::Message;

use tetrion_core::env::{AutoresetMode, EnvBatch, EpisodeStatistics, StepOutcome};
use tetrion_protocol::limits::MAX_HISTORY_ROWS;
use tetrion_protocol::{duration, pb, tensor};

/// The finished episodes of a session.
#[derive(Debug)]
pub(super) struct History {
    num_episodes: u64,
    num_steps: u64,
    /// Episodes of every row but the last: a power of two.
    episodes_per_row: u64,
    rows: Vec<EpisodeRow>,
    /// Age of the session when this server created or restored it.
    restored_age: Duration,
    restored_at: Instant,
}

/// Consecutive episodes as one row of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
struct EpisodeRow {
    /// Steps of the session until the last of these episodes ended.
    steps: u64,
    /// Age of the session when it ended.
    age: Duration,
    lines: SumAndRange,
    lengths: SumAndRange,
    returns: SumAndRange,
}

/// Sum, minimum and maximum of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SumAndRange {
    sum: f64,
    min: f64,
    max: f64,
}

/// A history in the form that a server writes at shutdown.
#[derive(Clone, PartialEq, Message)]
pub(super) struct WrittenHistory {
    #[prost(uint64, tag = "1")]
    num_episodes: u64,
    #[prost(uint64, tag = "2")]
    num_steps: u64,
    #[prost(uint64, tag = "3")]
    episodes_per_row: u64,
    #[prost(fixed64, tag = "4")]
    age_nanoseconds: u64,
    #[prost(message, repeated, tag = "5")]
    rows: Vec<WrittenRow>,
}

#[derive(Clone, PartialEq, Message)]
struct WrittenRow {
    #[prost(uint64, tag = "1")]
    steps: u64,
    #[prost(fixed64, tag = "2")]
    age_nanoseconds: u64,
    /// Sum, minimum and maximum of lines, lengths and returns.
    #[prost(double, repeated, tag = "3")]
    numbers: Vec<f64>,
}

impl History {
    /// Most bytes of a history.
    pub const MAX_BYTES: u64 = (MAX_HISTORY_ROWS * size_of::<EpisodeRow>()) as u64;

    /// Most bytes of an answer with a history: eight bytes for each of the twelve numbers of a row, and its totals.
    pub const MAX_ANSWER_BYTES: u64 = (MAX_HISTORY_ROWS * 12 * 8) as u64 + 256;

    /// The history of a new session.
    pub fn new() -> History {
        History {
            num_episodes: 0,
            num_steps: 0,
            episodes_per_row: 1,
            rows: Vec::new(),
            restored_age: Duration::ZERO,
            restored_at: Instant::now(),
        }
    }

    /// Counts a step of this many environments. [`History::follow_step`] follows for all of them, in one or several parts.
    #[inline]
    pub fn begin_step(&mut self, rows: usize) {
        self.num_steps += rows as u64;
    }

    /// Takes the episodes that have ended in these environments; `None` means all.
    #[inline]
    pub fn follow_step(&mut self, batch: &EnvBatch, env_ids: Option<&[u32]>, outcome: &StepOutcome) {
        let StepOutcome { terminated, truncated, .. } = outcome;
        // Without an early exit, so that many flags are read at once.
        let any = |flags: &[bool]| flags.iter().fold(false, |any, &flag| any | flag);
        if any(terminated) | any(truncated) {
            self.follow_ends(batch, env_ids, outcome);
        }
    }

    #[inline(never)]
    fn follow_ends(&mut self, batch: &EnvBatch, env_ids: Option<&[u32]>, outcome: &StepOutcome) {
        let StepOutcome { terminated, truncated, finals, .. } = outcome;
        let age = self.age();
        let is_replaced = batch.config().autoreset_mode == AutoresetMode::SameStep;
        for (row, (terminated, truncated)) in (0..).zip(terminated.iter().zip(truncated)) {
            if !(terminated | truncated) {
                continue;
            }
            let statistics = if is_replaced {
                finals.ended(row).expect("a row with a flag has a last state").0
            } else {
                batch.statistics(env_ids.map_or(row, |env_ids| env_ids[row as usize]))
            };
            self.add(&statistics, age);
        }
    }

    fn add(&mut self, episode: &EpisodeStatistics, age: Duration) {
        if self.num_episodes == self.rows.len() as u64 * self.episodes_per_row {
            if self.rows.len() == MAX_HISTORY_ROWS {
                self.rows = self.rows.chunks(2).map(|pair| pair[0].joined(&pair[1])).collect();
                self.episodes_per_row *= 2;
            }
            self.rows.push(EpisodeRow::EMPTY);
        }
        self.num_episodes += 1;
        let EpisodeStatistics { lines, steps, episode_return, .. } = *episode;
        let last = self.rows.last_mut().expect("a row with room");
        *last = last.joined(&EpisodeRow {
            steps: self.num_steps,
            age,
            lines: SumAndRange::new(lines as f64),
            lengths: SumAndRange::new(steps as f64),
            returns: SumAndRange::new(episode_return),
        });
    }

    /// Time since the session was created, without the time between two servers.
    fn age(&self) -> Duration {
        self.restored_age + self.restored_at.elapsed()
    }

    /// The answer of GetHistory, one tensor per column of the curve.
    pub fn encode(&self, sequence_number: u64) -> pb::GetHistoryResponse {
        let num_rows = self.rows.len() as u32;
        let ends = (1..=u64::from(num_rows)).map(|row| (row * self.episodes_per_row).min(self.num_episodes));
        let ends: Vec<u64> = ends.collect();
        let counts = ends.iter().scan(0, |before, &end| Some(end - std::mem::replace(before, end)));
        let counts: Vec<f64> = counts.map(|count| count as f64).collect();
        let whole = |numbers: Vec<u64>| {
            let numbers: Vec<i64> = numbers.into_iter().map(|number| number as i64).collect();
            Some(tensor::encode(vec![num_rows], &numbers))
        };
        let spread = |spread: fn(&EpisodeRow) -> SumAndRange| {
            let numbers = self.rows.iter().zip(&counts).flat_map(|(row, count)| {
                let SumAndRange { sum, min, max } = spread(row);
                [sum / count, min, max]
            });
            Some(tensor::encode(vec![num_rows, 3], &numbers.collect::<Vec<f64>>()))
        };
        let seconds: Vec<f64> = self.rows.iter().map(|row| row.age.as_secs_f64()).collect();
        pb::GetHistoryResponse {
            sequence_number,
            num_episodes: self.num_episodes,
            num_steps: self.num_steps,
            age: duration::encode(self.age()),
            episodes_per_row: self.episodes_per_row,
            episodes: whole(ends),
            steps: whole(self.rows.iter().map(|row| row.steps).collect()),
            seconds: Some(tensor::encode(vec![num_rows], &seconds)),
            lines: spread(|row| row.lines),
            lengths: spread(|row| row.lengths),
            returns: spread(|row| row.returns),
        }
    }

    /// Writes the history for the next server.
    pub fn write(&self) -> WrittenHistory {
        WrittenHistory {
            num_episodes: self.num_episodes,
            num_steps: self.num_steps,
            episodes_per_row: self.episodes_per_row,
            age_nanoseconds: self.age().as_nanos() as u64,
            rows: self.rows.iter().map(EpisodeRow::write).collect(),
        }
    }

    /// Restores a history; `None` if the message is invalid.
    pub fn read(written: &WrittenHistory) -> Option<History> {
        let WrittenHistory { num_episodes, num_steps, episodes_per_row, age_nanoseconds, rows } = written;
        let is_whole = episodes_per_row.is_power_of_two()
            && rows.len() <= MAX_HISTORY_ROWS
            && rows.len() as u64 == num_episodes.div_ceil(*episodes_per_row);
        let rows = rows.iter().map(EpisodeRow::read).collect::<Option<Vec<_>>>()?;
        is_whole.then(|| History {
            num_episodes: *num_episodes,
            num_steps: *num_steps,
            episodes_per_row: *episodes_per_row,
            rows,
            restored_age: Duration::from_nanos(*age_nanoseconds),
            restored_at: Instant::now(),
        })
    }
}

impl EpisodeRow {
    const EMPTY: EpisodeRow = EpisodeRow {
        steps: 0,
        age: Duration::ZERO,
        lines: SumAndRange::EMPTY,
        lengths: SumAndRange::EMPTY,
        returns: SumAndRange::EMPTY,
    };

    /// The episodes of this row and of the next one.
    fn joined(&self, next: &EpisodeRow) -> EpisodeRow {
        EpisodeRow {
            steps: next.steps,
            age: next.age,
            lines: self.lines.joined(next.lines),
            lengths: self.lengths.joined(next.lengths),
            returns: self.returns.joined(next.returns),
        }
    }

    fn write(&self) -> WrittenRow {
        let numbers =
            [self.lines, self.lengths, self.returns].map(|SumAndRange { sum, min, max }| [sum, min, max]);
        WrittenRow {
            steps: self.steps,
            age_nanoseconds: self.age.as_nanos() as u64,
            numbers: numbers.as_flattened().to_vec(),
        }
    }

    fn read(written: &WrittenRow) -> Option<EpisodeRow> {
        let WrittenRow { steps, age_nanoseconds, numbers } = written;
        let spread = |numbers: &[f64]| SumAndRange { sum: numbers[0], min: numbers[1], max: numbers[2] };
        (numbers.len() == 9).then(|| EpisodeRow {
            steps: *steps,
            age: Duration::from_nanos(*age_nanoseconds),
            lines: spread(&numbers[..3]),
            lengths: spread(&numbers[3..6]),
            returns: spread(&numbers[6..]),
        })
    }
}

impl SumAndRange {
    const EMPTY: SumAndRange = SumAndRange { sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };

    fn new(number: f64) -> SumAndRange {
        SumAndRange { sum: number, min: number, max: number }
    }

    fn joined(self, other: SumAndRange) -> SumAndRange {
        SumAndRange { sum: self.sum + other.sum, min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}
