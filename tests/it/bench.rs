//! `tetrion bench`, as a person starts it, and what it makes of its measurements: medians, ratios, tables. The tests check
//! that it measures, not what.

use std::time::Duration;

use serde_json::Value;

use crate::evaluate::tetrion;
use tetrion::bench::groups::thread_counts;
use tetrion::bench::measure::{FigureUnit, Measurement, MedianGoal, RoundPlan, Samples, WorkTable};
use tetrion::bench::report::{BenchReport, MachineInfo};
use tetrion::bench::{BEHAVIOUR, FigureGroup, behaviour_of};
use tetrion_core::agents::Kernel;

fn bench(args: &[&str]) -> String {
    let output = tetrion(&["bench", "--quick"]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_kernel_behaves_as_before() {
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        let (name, behaviour) = (kernel.name(), behaviour_of(kernel));
        assert_eq!(
            behaviour, BEHAVIOUR,
            "{name} plays {behaviour:#018x}: some game, observation, placement or feature has changed. If that is on \
             purpose, change BEHAVIOUR, and say why in the commit"
        );
    }
}

#[test]
fn every_figure_has_a_group_a_unit_and_a_median_within_its_range() {
    let only = "rollouts,threads,stepping,placements,calls,evaluation,startup";
    let report: Value = serde_json::from_str(&bench(&["--json", "--only", only])).unwrap();
    let kernels = report["kernels"].as_array().unwrap();
    assert_eq!(report["kernel"], *kernels.last().unwrap(), "the fastest one is in use");
    let rows = report["rows"].as_array().unwrap();
    for row in rows {
        let number = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("no {name} in {row}"));
        assert!(number("lowest") > 0.0, "{row}");
        assert!(number("lowest") <= number("median") && number("median") <= number("highest"), "{row}");
    }
    for group in only.split(',') {
        assert!(rows.iter().any(|row| row["group"] == group), "nothing of {group}");
    }
    for actions in ["placements", "key presses"] {
        let name = format!("{actions} in 4,096 environments");
        assert!(rows.iter().any(|row| row["name"] == name), "no {actions}");
    }
    for kernel in kernels {
        let kernel = kernel.as_str().unwrap();
        for what in ["`bcts8` 10 x 20", "guideline: `tetrion-guideline`"] {
            let name = format!("{what}, {kernel}");
            assert!(rows.iter().any(|row| row["name"] == name), "nothing of {name}");
        }
    }
    for group in ["rollouts", "stepping", "placements", "calls"] {
        let is_modern = |row: &Value| row["name"].as_str().unwrap().starts_with("guideline: ");
        assert!(rows.iter().any(|row| row["group"] == group && is_modern(row)), "no {group} of guideline");
    }
}

#[test]
fn latencies_grow_from_the_median_to_the_longest() {
    let report: Value = serde_json::from_str(&bench(&["--json", "--only", "latency"])).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 16, "four percentiles of two sizes, alone and beside an evaluation");
    for four in rows.chunks(4) {
        let times: Vec<f64> = four.iter().map(|row| row["median"].as_f64().unwrap()).collect();
        assert!(times.is_sorted() && times[0] > 0.0, "{times:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_environment_takes_less_than_a_kibibyte() {
    let report: Value = serde_json::from_str(&bench(&["--json", "--only", "memory"])).unwrap();
    let bytes = report["rows"][0]["median"].as_f64().unwrap();
    assert!((1.0..=1024.0).contains(&bytes), "{bytes} bytes");
}

#[test]
fn the_table_comes_as_text_and_as_markdown() {
    let text = bench(&["--only", "startup"]);
    assert!(text.contains("kernels: portable") && text.contains("\nStart\n"), "{text}");
    let markdown = bench(&["--only", "startup", "--markdown"]);
    assert!(markdown.contains("| Start | median | lowest to highest | unit | goal |"), "{markdown}");
    let output = tetrion(&["bench", "--only", "everything"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_measured_server_ignores_a_token_meant_for_other_servers() {
    let mut command = tetrion(&["bench", "--quick", "--only", "calls"]);
    let output = command.env("TETRION_SERVE_TOKEN", "secret").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_bad_round_moves_neither_the_median_nor_the_ratio() {
    let (one, two) = (Samples(vec![10.0, 1.0, 11.0]), Samples(vec![20.0, 2.0, 22.0]));
    assert_eq!((one.median(), one.range()), (10.0, (1.0, 11.0)));
    assert_eq!(two.over(&one), Samples(vec![2.0; 3]));
}

#[test]
fn all_works_take_turns_and_are_measured_once_a_round() {
    let order = std::cell::RefCell::new(Vec::new());
    let mut table = WorkTable::default();
    for name in [1, 2] {
        let order = &order;
        table.add(name.to_string(), "works", move || {
            order.borrow_mut().push(name);
            Ok(name)
        });
    }
    let mut pauses = 0;
    let plan = RoundPlan { rounds: 3, slice: Duration::ZERO };
    let mut pause = |_| {
        pauses += 1;
        Ok(())
    };
    let rows = table.measure(plan, &mut pause).unwrap();
    assert_eq!(*order.borrow(), [1, 2, 1, 2, 1, 2, 1, 2], "once to warm up, then three rounds");
    assert_eq!((rows.len(), rows[0].samples.0.len(), pauses), (2, 3, 6));
}

#[test]
fn threads_double_and_end_with_all() {
    assert_eq!(thread_counts(1), [1]);
    assert_eq!(thread_counts(2), [1, 2]);
    assert_eq!(thread_counts(12), [1, 2, 4, 8, 12]);
}

fn report() -> BenchReport {
    let rate = FigureUnit::PerSecond("pieces");
    let rollouts = Measurement::new("bcts8 10 x 20, avx2", rate, vec![3e6, 1e6, 2e6]);
    let ratio = Measurement::new("2 threads over 1", FigureUnit::Ratio, vec![1.5, 2.0, 1.0]);
    let start = Measurement::new("start to serving", FigureUnit::Milliseconds, vec![9.0]);
    BenchReport {
        machine: MachineInfo {
            processor: "a processor".to_owned(),
            threads: 2,
            kernels: vec!["portable", "avx2"],
            kernel: "avx2",
            behaviour: 0x12ab,
        },
        plan: RoundPlan::QUICK,
        groups: vec![
            (FigureGroup::Rollouts, vec![rollouts]),
            (FigureGroup::Threads, vec![ratio.with_goal(MedianGoal::AtLeast(1.9))]),
            (FigureGroup::Startup, vec![start.with_goal(MedianGoal::AtMost(50.0))]),
        ],
        interruption: None,
    }
}

#[test]
fn the_text_lines_up_and_has_a_head_for_each_group() {
    let text = report().to_text(None);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "a processor, 2 threads; kernels: portable, avx2; in use: avx2; behaviour 00000000000012ab"
    );
    assert_eq!(lines[1], "Medians of 3 rounds of at least 15 ms each.");
    assert_eq!(lines[3], FigureGroup::Rollouts.title());
    assert_eq!(lines[4], "                          median     lowest    highest");
    assert_eq!(lines[5], "  bcts8 10 x 20, avx2     2.00 M     1.00 M     3.00 M pieces/s");
    assert_eq!(lines[9], "  2 threads over 1         1.500      1.000      2.000 ratio          >= 1.900");
    let narrow = report().to_text(Some(79));
    let lines: Vec<&str> = narrow.lines().collect();
    assert_eq!(lines[5], "  bcts8 10 x 20, avx2");
    assert_eq!(lines[6], "                       2.00 M     1.00 M     3.00 M pieces/s");
    assert_eq!(lines[10], "  2 threads over 1      1.500      1.000      2.000 ratio          >= 1.900");
}

#[test]
fn markdown_has_goals_where_there_are_any() {
    let text = report().to_markdown();
    assert!(text.contains("| bcts8 10 x 20, avx2 | 2.00 M | 1.00 M to 3.00 M | pieces/s |\n"), "{text}");
    assert!(text.contains("| 2 threads over 1 | 1.500 | 1.000 to 2.000 | ratio | >= 1.900 |\n"), "{text}");
    assert!(text.contains("| start to serving | 9.0 | 9.0 to 9.0 | ms | <= 50.0 |\n"), "{text}");
}

#[test]
fn json_has_every_row_with_its_group_and_unit() {
    let json = report().to_json();
    assert_eq!(json["kernel"], "avx2");
    assert_eq!(json["rows"].as_array().unwrap().len(), 3);
    let row = &json["rows"][1];
    assert_eq!((&row["group"], &row["median"], &row["rounds"]), (&"threads".into(), &1.5.into(), &3.into()));
    assert_eq!(row["goal"]["at_least"], 1.9);
}
