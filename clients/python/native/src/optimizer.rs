//! Searches for weight vectors, by ask and tell, and the games that `tetrion train` plays for them. Configurations and states
//! are JSON, as in its run folders.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::client::Seeds;
use tetrion::optimizers::{
    self, Best, Config, Generation, InvalidParameter, Look, OptimizerState, TellError,
};
use tetrion::trainer::rounds::GameSeeds;
use tetrion::trainer::rounds::{Checked, GamePlan, GameRound, Rounds, SECOND_LOOK};

pyo3::create_exception!(
    tetrion._native,
    InvalidParameterError,
    pyo3::exceptions::PyException,
    "A parameter, a state or scores that no search can have: its name, and the problem."
);

fn invalid(InvalidParameter { field, reason }: InvalidParameter) -> PyErr {
    InvalidParameterError::new_err((field, reason))
}

/// A vector of numbers, which numpy reads from its bytes.
type Vector<'py> = Bound<'py, PyBytes>;

fn vector<'py>(py: Python<'py>, numbers: &[f64]) -> Vector<'py> {
    PyBytes::new(py, &numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
}

/// A search for weights: `ask` returns candidates, `tell` takes their scores.
#[pyclass(frozen, name = "Optimizer", module = "tetrion._native")]
pub(crate) struct PyOptimizer {
    search: Mutex<Box<dyn optimizers::Optimizer>>,
    num_elites: usize,
}

impl PyOptimizer {
    fn search(&self) -> MutexGuard<'_, Box<dyn optimizers::Optimizer>> {
        self.search.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The fields of a generation, which Python reads as one named tuple.
type GenerationFields<'py> = (u32, f64, f64, f64, Vector<'py>, Vector<'py>, Vector<'py>);

fn fields(py: Python<'_>, told: Generation) -> GenerationFields<'_> {
    let Generation { generation, best_score, mean_score, std_score, best, mean, std } = told;
    let [best, mean, std] = [best, mean, std].map(|numbers| vector(py, &numbers));
    (generation, best_score, mean_score, std_score, best, mean, std)
}

fn wrong_scores(error: TellError) -> PyErr {
    let problem = match error {
        TellError::Length { expected, got } => {
            format!("has {got} numbers, expected {expected}, one per candidate")
        }
        TellError::NotANumber { index, value } => {
            format!("has {value} at {index}, expected numbers between -1e100 and 1e100")
        }
    };
    InvalidParameterError::new_err(("scores", problem))
}

fn read_config(config: &str) -> PyResult<Config> {
    serde_json::from_str(config)
        .map_err(|error| InvalidParameterError::new_err(("config", error.to_string())))
}

#[pymethods]
impl PyOptimizer {
    /// Starts a search. `config` is JSON, as in a run's settings. An invalid one raises `InvalidParameterError`.
    #[new]
    fn new(config: &str, num_weights: u32, seed: u64) -> PyResult<PyOptimizer> {
        let config = read_config(config)?;
        let search = Mutex::new(config.start(num_weights, seed).map_err(invalid)?);
        Ok(PyOptimizer { search, num_elites: config.num_elites() })
    }

    /// Goes on with the search that a state was taken from.
    #[staticmethod]
    fn resume(config: &str, state: &str) -> PyResult<PyOptimizer> {
        let wrong = |error: serde_json::Error| {
            InvalidParameterError::new_err(("state", format!("cannot be read: {error}")))
        };
        let state: OptimizerState = serde_json::from_str(state).map_err(wrong)?;
        let config = read_config(config)?;
        let search = Mutex::new(config.resume(state).map_err(invalid)?);
        Ok(PyOptimizer { search, num_elites: config.num_elites() })
    }

    /// The candidates to score next: the generation, whether this is a second look, the weights one vector after the other, and
    /// the place of each vector in its generation.
    fn ask<'py>(&self, py: Python<'py>) -> (u32, bool, Vector<'py>, Vec<u32>) {
        let round = py.detach(|| self.search().ask());
        let weights: Vec<f64> = round.candidates.concat();
        (round.generation, round.look == Look::Second, vector(py, &weights), round.slots)
    }

    /// Takes the scores of the last `ask`. Returns the generation if that completed it, in the order of its fields.
    fn tell<'py>(&self, py: Python<'py>, scores: Vec<f64>) -> PyResult<Option<GenerationFields<'py>>> {
        let told = py.detach(|| self.search().tell(&scores)).map_err(wrong_scores)?;
        Ok(told.map(|told| fields(py, told)))
    }

    /// Number of completed generations, which is also the number of the next one.
    fn generation(&self) -> u32 {
        self.search().generation()
    }

    /// The result so far, if a generation is complete.
    fn incumbent<'py>(&self, py: Python<'py>) -> Option<Vector<'py>> {
        self.search().incumbent().map(|weights| vector(py, &weights))
    }

    /// The score and the weights of the best-scored candidate so far.
    fn best<'py>(&self, py: Python<'py>) -> Option<(f64, Vector<'py>)> {
        self.search().best().map(|Best { score, weights, .. }| (*score, vector(py, weights)))
    }

    /// The state after the last `tell`, in JSON, for `resume`.
    fn state(&self) -> PyResult<String> {
        let state = self.search().state();
        serde_json::to_string(&state)
            .map_err(|error| InvalidParameterError::new_err(("state", error.to_string())))
    }
}

/// The games of a generation: what to play next, and what came of it.
#[pyclass(frozen, name = "Rounds", module = "tetrion._native")]
pub(crate) struct PyRounds {
    optimizer: Py<PyOptimizer>,
    rounds: Mutex<Rounds>,
}

/// The weights one vector after the other, the number of vectors, and their games: a number from which the seeds of all are
/// drawn and the number of seeds, or a row of seeds for each vector.
type WantedGames<'py> = (Vector<'py>, usize, Option<(u64, u32)>, Vec<Vec<u64>>);

#[pymethods]
impl PyRounds {
    /// The rounds of a search before a generation. `has_own_seeds` tells whether each candidate plays separate pieces.
    #[new]
    fn new(
        optimizer: Py<PyOptimizer>,
        seed: u64,
        games: u32,
        check_games: u32,
        has_own_seeds: bool,
    ) -> PyRounds {
        let plan = GamePlan {
            seed,
            game_seeds: if has_own_seeds { GameSeeds::PerSlot } else { GameSeeds::Common },
            games,
            second_games: games.saturating_mul(SECOND_LOOK),
            check_games,
            num_elites: optimizer.get().num_elites,
        };
        PyRounds { optimizer, rounds: Mutex::new(Rounds::new(plan)) }
    }

    /// The games to play next.
    fn ask<'py>(&self, py: Python<'py>) -> WantedGames<'py> {
        let rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let GameRound { candidates, seeds, .. } = rounds.ask(&**self.optimizer.get().search());
        let weights = vector(py, &candidates.concat());
        match seeds {
            Seeds::Common { seed, count } => (weights, candidates.len(), Some((seed, count)), Vec::new()),
            Seeds::PerPolicy(rows) => (weights, candidates.len(), None, rows),
        }
    }

    /// Takes the mean scores of the candidates, and the numbers of games and pieces. Returns the generation, the mean score
    /// of its elite, and all games and pieces, if these games checked it.
    fn tell<'py>(
        &self,
        py: Python<'py>,
        scores: Vec<f64>,
        games: u64,
        pieces: u64,
    ) -> PyResult<Option<(GenerationFields<'py>, f64, u64, u64)>> {
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        let told = rounds.tell(&mut **self.optimizer.get().search(), scores, games, pieces);
        let checked = told.map_err(wrong_scores)?;
        Ok(checked.map(|Checked { generation, elite_score, games, pieces }| {
            (fields(py, generation), elite_score, games, pieces)
        }))
    }
}
