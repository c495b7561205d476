//! `tetrion bench`: what is measured, how it is timed, and the table of results.
//!
//! A workload does some work and returns its amount: pieces, placements, steps or games. It does not know its duration, its
//! repetitions or its output. The engine, the kernels and the environments work in this process; calls go to a server in
//! another process of this program.
//!
//! The surprising decision: this module knows nearly every other one, from the kernels to the wire. It must know both to
//! compare a network call with equal work done directly.

mod behaviour;
mod error;
mod evaluations;
mod games;
mod group;
pub mod groups;
mod latency;
pub mod measure;
mod placements;
mod process;
mod progress;
mod remote;
pub mod report;
mod stepping;

pub use behaviour::{BEHAVIOUR, behaviour_of};
pub use error::BenchError;
pub use group::FigureGroup;
pub use process::COMMAND;

use self::measure::RoundPlan;
use self::progress::BenchProgress;
use self::report::{BenchReport, MachineInfo};
use tetrion_core::agents::Kernel;

/// Measures these groups until `is_interrupted`; then the report has only the finished ones. `say` prints a line per group
/// if stderr is no terminal.
///
/// # Errors
/// If a server cannot be started or does not answer.
pub fn measure(
    groups: &[FigureGroup],
    plan: RoundPlan,
    say: fn(String),
    is_interrupted: &dyn Fn() -> bool,
) -> Result<BenchReport, BenchError> {
    let estimates = groups.iter().map(|group| (group.name(), group.estimate(plan))).collect();
    let mut progress = BenchProgress::new(estimates, say, is_interrupted);
    let mut report = BenchReport { machine: machine(), plan, groups: Vec::new(), interruption: None };
    for &group in groups {
        progress.begin();
        let name = group.name();
        match group.measure(plan, &mut |took| progress.advance(took)) {
            Ok(rows) => report.groups.push((group, rows)),
            // Ctrl-C may have caused the error.
            Err(_) if is_interrupted() => {
                let (done, all) = (report.groups.len(), groups.len());
                let words =
                    format!("stopped while measuring {name}; {done} of {all} groups were measured before");
                report.interruption = Some(words);
                break;
            }
            Err(error) => return Err(BenchError::Group { group: name, source: Box::new(error) }),
        }
    }
    Ok(report)
}

fn machine() -> MachineInfo {
    let kernels = games::kernels().map(Kernel::name).collect();
    MachineInfo {
        processor: processor(),
        threads: groups::all_threads(),
        kernels,
        kernel: Kernel::best().name(),
        behaviour: behaviour_of(Kernel::best()),
    }
}

/// Name of the processor if the system reports it (Linux on x86), otherwise of the architecture.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or(std::env::consts::ARCH, |(_, name)| name.trim()).to_owned()
}
