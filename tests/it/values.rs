//! `tetrion optimum`, and the files that it writes.

use std::fs;
use std::path::Path;

use tetrion::engine::Rules;
use tetrion::optimum;
use tetrion::values::Values;

use crate::evaluate::tetrion;

fn file_of(values: &Values) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.write(&mut bytes).unwrap();
    bytes
}

#[test]
fn the_program_writes_tables_and_loads_them() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("values");
    fs::create_dir_all(&folder).unwrap();
    let (written, one, damaged) = (folder.join("4x4"), folder.join("4x7"), folder.join("damaged"));
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let output = tetrion(&["optimum", "4x4", "--out", &path(&written)]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("4x4: 7.066942465 lines per game, known to "), "{printed}");
    assert_eq!(fs::read(&written).unwrap(), file_of(optimum::values(&Rules::simplified(4, 4)).unwrap()));
    // A size that no other test knows.
    fs::write(&one, file_of(&Values::new(4, 7, vec![0], vec![1.0]))).unwrap();
    fs::write(&damaged, b"TTRNVAL1").unwrap();
    let optimal = ["evaluate", "optimal", "--width", "4", "--height", "7", "--games", "2"];
    let evaluate = |values: &[&str]| tetrion(&[&optimal[..], values].concat()).output().unwrap();
    assert!(evaluate(&["--values", &path(&one)]).status.success());
    for (values, problem) in [
        (&[][..], "the values of 4 x 7 are not loaded"),
        (&["--values", &path(&damaged)], "the file is no table of values"),
        (
            &["--values", &path(&one), "--server", "localhost:1"],
            "--values is for games that this process plays",
        ),
    ] {
        let output = evaluate(values);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(problem), "{said}");
    }
    for (size, problem) in [
        ("9x9", "has 81 cells, expected at most 32"),
        ("3x4", "width is 3"),
        ("four", "expected columns x rows, such as 5x5"),
    ] {
        let output = tetrion(&["optimum", size]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(problem), "{said}");
    }
}
