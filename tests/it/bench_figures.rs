//! What `tetrion bench` makes of its measurements: medians, ratios, tables.

use std::time::Duration;

use tetrion::cli::bench::FigureGroup;
use tetrion::cli::bench::groups::thread_counts;
use tetrion::cli::bench::measure::{RoundPlan, Samples, Workload, rates};
use tetrion::cli::bench::report::{BenchReport, FigureUnit, MachineInfo, Measurement, MedianGoal};

#[test]
fn a_bad_round_moves_neither_the_median_nor_the_ratio() {
    let (one, two) = (Samples(vec![10.0, 1.0, 11.0]), Samples(vec![20.0, 2.0, 22.0]));
    assert_eq!((one.median(), one.range()), (10.0, (1.0, 11.0)));
    assert_eq!(two.over(&one), Samples(vec![2.0; 3]));
}

#[test]
fn all_works_take_turns_and_are_measured_once_a_round() {
    let order = std::cell::RefCell::new(Vec::new());
    let work = |name: u64| -> Workload<'_> {
        let order = &order;
        Box::new(move || {
            order.borrow_mut().push(name);
            Ok(name)
        })
    };
    let mut pauses = 0;
    let plan = RoundPlan { rounds: 3, slice: Duration::ZERO };
    let samples = rates(&mut [work(1), work(2)], plan, |_| {
        pauses += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(*order.borrow(), [1, 2, 1, 2, 1, 2, 1, 2], "once to warm up, then three rounds");
    assert_eq!((samples.len(), samples[0].0.len(), pauses), (2, 3, 6));
}

#[test]
fn threads_double_and_end_with_all() {
    assert_eq!(thread_counts(1), [1]);
    assert_eq!(thread_counts(2), [1, 2]);
    assert_eq!(thread_counts(12), [1, 2, 4, 8, 12]);
}

fn report() -> BenchReport {
    let row = |group, name: &str, unit, samples: &[f64], goal| Measurement {
        group,
        name: name.to_owned(),
        unit,
        samples: Samples(samples.to_vec()),
        goal,
    };
    BenchReport {
        machine: MachineInfo {
            processor: "a processor".to_owned(),
            threads: 2,
            kernels: vec!["portable", "avx2"],
            kernel: "avx2",
        },
        plan: "3 rounds".to_owned(),
        rows: vec![
            row(
                FigureGroup::Rollouts,
                "bcts8 10 x 20, avx2",
                FigureUnit::PerSecond("pieces"),
                &[3e6, 1e6, 2e6],
                None,
            ),
            row(
                FigureGroup::Threads,
                "2 threads over 1",
                FigureUnit::Ratio,
                &[1.5, 2.0, 1.0],
                Some(MedianGoal::AtLeast(1.9)),
            ),
            row(
                FigureGroup::Startup,
                "start to serving",
                FigureUnit::Milliseconds,
                &[9.0],
                Some(MedianGoal::AtMost(50.0)),
            ),
        ],
    }
}

#[test]
fn the_text_lines_up_and_has_a_head_for_each_group() {
    let text = report().to_text(None);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "a processor, 2 threads; kernels: portable, avx2; in use: avx2");
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
