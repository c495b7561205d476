//! Searches for weight vectors, by ask and tell. Configurations and states are JSON, as in the run folders of `tetrion train`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::optimizers::{
    self, Best, Config, Generation, InvalidParameter, Look, OptimizerState, TellError,
};

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
pub(crate) struct PyOptimizer(Mutex<Box<dyn optimizers::Optimizer>>);

impl PyOptimizer {
    fn search(&self) -> MutexGuard<'_, Box<dyn optimizers::Optimizer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        let search = read_config(config)?.start(num_weights, seed).map_err(invalid)?;
        Ok(PyOptimizer(Mutex::new(search)))
    }

    /// Goes on with the search that a state was taken from.
    #[staticmethod]
    fn resume(config: &str, state: &str) -> PyResult<PyOptimizer> {
        let wrong = |error: serde_json::Error| {
            InvalidParameterError::new_err(("state", format!("cannot be read: {error}")))
        };
        let state: OptimizerState = serde_json::from_str(state).map_err(wrong)?;
        let search = read_config(config)?.resume(state).map_err(invalid)?;
        Ok(PyOptimizer(Mutex::new(search)))
    }

    /// The candidates to score next: the generation, whether this is a second look, the weights one vector after the other, and
    /// the place of each vector in its generation.
    fn ask<'py>(&self, py: Python<'py>) -> (u32, bool, Vector<'py>, Vec<u32>) {
        let round = py.detach(|| self.search().ask());
        let weights: Vec<f64> = round.candidates.concat();
        (round.generation, round.look == Look::Second, vector(py, &weights), round.slots)
    }

    /// Takes the scores of the last `ask`. Returns the generation if that completed it, in the order of its fields.
    #[allow(clippy::type_complexity)] // Python reads it as one named tuple
    fn tell<'py>(
        &self,
        py: Python<'py>,
        scores: Vec<f64>,
    ) -> PyResult<Option<(u32, f64, f64, f64, Vector<'py>, Vector<'py>, Vector<'py>)>> {
        let told = py.detach(|| self.search().tell(&scores));
        let told = told.map_err(|error| {
            let problem = match error {
                TellError::Length { expected, got } => {
                    format!("has {got} numbers, expected {expected}, one per candidate")
                }
                TellError::NotANumber { index, value } => {
                    format!("has {value} at {index}, expected numbers between -1e100 and 1e100")
                }
            };
            InvalidParameterError::new_err(("scores", problem))
        })?;
        Ok(told.map(|told| {
            let Generation { generation, best_score, mean_score, std_score, best, mean, std } = told;
            let [best, mean, std] = [best, mean, std].map(|numbers| vector(py, &numbers));
            (generation, best_score, mean_score, std_score, best, mean, std)
        }))
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
