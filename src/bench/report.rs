//! The table of figures: text for a terminal, Markdown for a README, JSON for programs.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::group::FigureGroup;
use super::measure::{FigureUnit, Measurement, MedianGoal, RoundPlan};
use crate::text::numbers::{count, grouped, short};

/// Columns of the figures and their goal, after the name.
const FIGURES: usize = 61;
/// Width of the column of names on a narrow terminal.
const NARROW_NAME: usize = 16;

/// The machine, as the report shows it.
#[derive(Clone, Debug)]
pub struct MachineInfo {
    /// Name of the processor, as the system reports it.
    pub processor: String,
    /// Hardware threads that this process may use.
    pub threads: usize,
    /// Kernels that the processor supports.
    pub kernels: Vec<&'static str>,
    /// Kernel that the measurements use.
    pub kernel: &'static str,
    /// [Fingerprint](super::behaviour_of) of what that kernel plays: programs whose figures are compared have the same.
    pub behaviour: u64,
}

/// Everything that `tetrion bench` prints, in all output formats.
#[derive(Clone, Debug)]
pub struct BenchReport {
    pub machine: MachineInfo,
    pub plan: RoundPlan,
    pub groups: Vec<(FigureGroup, Vec<Measurement>)>,
    /// How far the measurements came before Ctrl-C.
    pub interruption: Option<String>,
}

impl FigureUnit {
    fn name(self) -> String {
        match self {
            FigureUnit::PerSecond(what) => format!("{what}/s"),
            FigureUnit::Ratio => "ratio".to_owned(),
            FigureUnit::Microseconds => "us".to_owned(),
            FigureUnit::Milliseconds => "ms".to_owned(),
            FigureUnit::Bytes => "bytes".to_owned(),
        }
    }

    fn write(self, number: f64) -> String {
        match self {
            FigureUnit::PerSecond(_) => short(number),
            FigureUnit::Ratio => format!("{number:.3}"),
            FigureUnit::Microseconds | FigureUnit::Bytes => grouped(number),
            FigureUnit::Milliseconds => format!("{number:.1}"),
        }
    }
}

impl Measurement {
    /// Median, lowest, highest, unit, goal.
    fn cells(&self) -> [String; 5] {
        let (lowest, highest) = self.samples.range();
        let write = |number| self.unit.write(number);
        let goal = match self.goal {
            Some(MedianGoal::AtLeast(goal)) => format!(">= {}", write(goal)),
            Some(MedianGoal::AtMost(goal)) => format!("<= {}", write(goal)),
            None => String::new(),
        };
        [write(self.samples.median()), write(lowest), write(highest), self.unit.name(), goal]
    }

    fn to_json(&self, group: FigureGroup) -> Value {
        let (lowest, highest) = self.samples.range();
        let goal = self.goal.map(|goal| match goal {
            MedianGoal::AtLeast(number) => json!({ "at_least": number }),
            MedianGoal::AtMost(number) => json!({ "at_most": number }),
        });
        json!({
            "group": group.name(),
            "name": self.name,
            "unit": self.unit.name(),
            "median": self.samples.median(),
            "lowest": lowest,
            "highest": highest,
            "rounds": self.samples.0.len(),
            "goal": goal,
        })
    }
}

impl MachineInfo {
    fn words(&self) -> String {
        format!(
            "{}, {}; kernels: {}; in use: {}; behaviour {:016x}",
            self.processor,
            count(self.threads as u64, "thread"),
            self.kernels.join(", "),
            self.kernel,
            self.behaviour
        )
    }
}

impl BenchReport {
    /// The report as one JSON object.
    pub fn to_json(&self) -> Value {
        let MachineInfo { processor, threads, kernels, kernel, behaviour } = &self.machine;
        let rows = self.groups.iter().flat_map(|(group, rows)| rows.iter().map(|row| row.to_json(*group)));
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "processor": processor,
            "threads": threads,
            "kernels": kernels,
            "kernel": kernel,
            "behaviour": format!("{behaviour:016x}"),
            "rows": rows.collect::<Vec<_>>(),
        })
    }

    /// The report as text with aligned columns. On a narrow terminal, names get separate lines.
    pub fn to_text(&self, terminal: Option<usize>) -> String {
        let rows = self.groups.iter().flat_map(|(_, rows)| rows);
        let longest = rows.map(|row| row.name.chars().count()).max().unwrap_or(0);
        let is_narrow = terminal.is_some_and(|columns| longest + FIGURES > columns);
        let width = if is_narrow { NARROW_NAME } else { longest };
        let mut text = format!("{}\n{}\n", self.machine.words(), self.plan);
        for (group, rows) in &self.groups {
            let _ = writeln!(text, "\n{}", group.title());
            let head = ["median", "lowest", "highest", "", ""].map(str::to_owned);
            for (name, cells) in
                std::iter::once(("", head)).chain(rows.iter().map(|row| (row.name.as_str(), row.cells())))
            {
                let [median, lowest, highest, unit, goal] = cells;
                let name = match name.chars().count() > width {
                    true => format!("{name}\n  {:width$}", ""),
                    false => format!("{name:width$}"),
                };
                let line = format!("  {name} {median:>10} {lowest:>10} {highest:>10} {unit:<14} {goal}");
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
        text
    }

    /// The report as Markdown, with one table per group.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("{}. {}\n", self.machine.words(), self.plan);
        for (group, rows) in &self.groups {
            let _ = write!(text, "\n| {} | median | lowest to highest | unit |", group.title());
            let goals = rows.iter().any(|row| row.goal.is_some());
            text += if goals {
                " goal |\n| --- | ---: | ---: | --- | --- |\n"
            } else {
                "\n| --- | ---: | ---: | --- |\n"
            };
            for row in rows {
                let [median, lowest, highest, unit, goal] = row.cells();
                let _ = write!(text, "| {} | {median} | {lowest} to {highest} | {unit} |", row.name);
                text += &if goals { format!(" {goal} |\n") } else { "\n".to_owned() };
            }
        }
        text
    }
}
