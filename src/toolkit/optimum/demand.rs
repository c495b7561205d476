//! Tables of values on demand: a small table is computed when it is first needed, which takes a second at most.

use std::thread;

use super::process::{MAX_AFTERSTATES, OptimumError, Process, check};
use super::solution::Pick;
use tetrion_core::engine::Rules;
use tetrion_core::pool::Pool;
use tetrion_core::values::{self, Values};

/// The sizes that are solved at the first need, as columns and rows. The largest takes some 10 MiB while it is solved.
pub const ON_DEMAND: [(u8, u8); 3] = [(4, 4), (4, 5), (5, 4)];

/// The table of the size of these rules: already known, or solved now if the size is in [`ON_DEMAND`].
///
/// # Errors
/// If these rules cannot be solved, or the size needs a file.
pub fn values(rules: &Rules) -> Result<&'static Values, OptimumError> {
    check(rules)?;
    let Rules { width, height, .. } = *rules;
    if let Some(known) = values::known(width, height) {
        return Ok(known);
    }
    if !ON_DEMAND.contains(&(width, height)) {
        return Err(OptimumError::NotLoaded { width, height });
    }
    // On a separate thread, because the caller may be a thread of a pool, which would take up other jobs meanwhile.
    let solve = || -> Result<Values, OptimumError> {
        let process =
            Process::of_every_placement(&Rules::simplified(width, height), MAX_AFTERSTATES, |_| {})?;
        let pool = Pool::new(1).expect("a thread");
        Ok(process.solve(Pick::Best, &pool, |_| {}).into_values())
    };
    let solved = thread::scope(|scope| scope.spawn(solve).join()).expect("a solver that does not panic");
    solved.map(values::add)
}
