//! Records of a search's generations: the lines of its files, and its checkpoint.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::settings::Settings;
use super::weights::MeasuredScore;
use tetrion_toolkit::optimizers::{Generation, OptimizerState};

/// A line of `generations.jsonl`, equal in every run with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The optimiser's report on the generation.
    #[serde(flatten)]
    pub generation: Generation,
    /// Mean score of the elite.
    pub elite_score: f64,
    /// Score of the search's current result, in games for this check only.
    pub check: MeasuredScore,
    /// Games played, including the check.
    pub games: u64,
    /// Pieces landed in these games.
    pub pieces: u64,
}

/// A line of `timing.jsonl`, which differs from run to run.
#[derive(Debug, Serialize)]
pub struct GenerationTiming {
    /// Number of the generation, from 0.
    pub generation: u32,
    /// Time when the generation ended.
    pub finished_unix_seconds: f64,
    pub seconds: f64,
    pub pieces_per_second: f64,
}

impl GenerationTiming {
    /// The timing of a generation that ends now.
    pub fn of(generation: u32, pieces: u64, took: Duration) -> GenerationTiming {
        GenerationTiming {
            generation,
            finished_unix_seconds: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0.0, |now| now.as_secs_f64()),
            seconds: took.as_secs_f64(),
            pieces_per_second: pieces as f64 / took.as_secs_f64(),
        }
    }
}

/// State in a search's checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub struct CheckpointState {
    #[serde(flatten)]
    pub search: OptimizerState,
    pub settings: Settings,
}
