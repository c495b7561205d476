//! `tetrion bench`: measures the speed of this machine.
//!
//! Measures the engine, the kernels and the environments in this process, and calls to a server in another process of
//! this program. The workloads are in [`bench`](crate::bench).
//! This module times them and reports the results.

mod group;
pub mod groups;
pub mod measure;
mod process;
mod progress;
pub mod report;

pub use group::FigureGroup;
pub use process::COMMAND;

use std::process::ExitCode;
use std::time::Duration;

use self::measure::RoundPlan;
use self::progress::BenchProgress;
use self::report::{BenchReport, MachineInfo};
use super::interrupt::{INTERRUPTED, Interrupt};
use super::output::{print, say, stdout_columns};

/// Takes half a minute to a minute on two cores.
const FULL: RoundPlan = RoundPlan { rounds: 7, slice: Duration::from_millis(100) };
/// Takes a few seconds; the figures are rough.
const QUICK: RoundPlan = RoundPlan { rounds: 3, slice: Duration::from_millis(15) };

/// The options of `tetrion bench`.
#[derive(Debug, clap::Args)]
pub struct BenchArgs {
    /// Take a few seconds only; the figures are too rough to quote
    #[arg(long)]
    pub quick: bool,

    /// Only these groups of measurements
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    pub only: Vec<FigureGroup>,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,

    /// Print Markdown tables
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
}

/// Measures and prints the table; after Ctrl-C, only the finished groups.
///
/// # Errors
/// If a server cannot be started or does not answer.
pub fn run(args: BenchArgs) -> anyhow::Result<ExitCode> {
    let plan = if args.quick { QUICK } else { FULL };
    let wanted = |group: &FigureGroup| args.only.is_empty() || args.only.contains(group);
    let groups: Vec<FigureGroup> = FigureGroup::ALL.into_iter().filter(wanted).collect();
    let interrupt = Interrupt::watch()?;
    let estimates = groups.iter().map(|group| (group.name(), group.estimate(plan))).collect();
    let mut progress = BenchProgress::new(estimates, interrupt.clone());
    let mut rows = Vec::new();
    let mut unfinished = None;
    for (done, group) in groups.iter().enumerate() {
        progress.begin();
        match group.measure(plan, &mut progress) {
            Ok(measured) => rows.extend(measured),
            // Ctrl-C may have caused the error.
            Err(_) if interrupt.is_pressed() => {
                unfinished = Some((done, group));
                break;
            }
            Err(error) => return Err(error.context(format!("measuring {}", group.name()))),
        }
    }
    drop(progress);
    let words = format!("Medians of {} rounds of at least {} ms each.", plan.rounds, plan.slice.as_millis());
    let report = BenchReport { machine: machine(), plan: words, rows };
    let text = match (args.json, args.markdown) {
        (true, _) => format!("{}\n", report.to_json()),
        (_, true) => report.to_markdown(),
        _ => report.to_text(stdout_columns()),
    };
    print(&text)?;
    let Some((done, group)) = unfinished else { return Ok(ExitCode::SUCCESS) };
    let all = groups.len();
    say(format_args!(
        "stopped while measuring {}; {done} of {all} groups were measured before",
        group.name()
    ));
    Ok(ExitCode::from(INTERRUPTED))
}

fn machine() -> MachineInfo {
    let (kernels, kernel) = groups::kernel_names();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    MachineInfo { processor: processor(), threads, kernels, kernel }
}

/// Name of the processor if the system reports it (Linux on x86), otherwise of the architecture.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or(std::env::consts::ARCH, |(_, name)| name.trim()).to_owned()
}
