//! `tetrion bench`, as a person starts it. The tests check that it measures, not what.

use serde_json::Value;

use crate::evaluate::tetrion;

fn bench(args: &[&str]) -> String {
    let output = tetrion(&["bench", "--quick"]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
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
