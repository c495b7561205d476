//! Mistakes in formulas, and how they are shown.

use tetrion_core::engine::Rules;
use tetrion_core::formula::{MAX_BYTES, MAX_COST, MAX_DEPTH, compile};

#[track_caller]
fn check_under(rules: &Rules, text: &str, expected: &str) {
    match compile(text, rules) {
        Ok(_) => panic!("{text} is a formula"),
        Err(error) => assert_eq!(error.to_string(), expected, "{text}"),
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    check_under(&Rules::simplified(10, 20), text, expected);
}

/// The texts, and what is said about them without the quoted line: the carets are checked separately.
#[test]
fn are_named_with_what_was_expected() {
    let told = |text: &str| {
        let error = compile(text, &Rules::simplified(10, 20)).map(|_| ()).expect_err(text).to_string();
        error.lines().next().unwrap().to_owned()
    };
    for (text, expected) in [
        ("-4.5 * hole", "nothing is called \"hole\", did you mean \"holes\"? (line 1, column 8):"),
        (
            "holes_preclaer",
            "nothing is called \"holes_preclaer\", did you mean \"holes_preclear\"? (line 1, column 1):",
        ),
        ("Holes", "nothing is called \"Holes\", did you mean \"holes\"? (line 1, column 1):"),
        (
            "holes + xyzzy",
            "nothing is called \"xyzzy\", expected a feature, such as holes, a variable, or one of lines, pieces, width, \
             height, current, next, held (line 1, column 9):",
        ),
        ("let roof = holes; ruof", "nothing is called \"ruof\", did you mean \"roof\"? (line 1, column 19):"),
        ("", "the formula ends, expected a number, a feature, a condition or ( (line 1, column 1):"),
        ("holes +", "the formula ends, expected a number, a feature, a condition or ( (line 1, column 8):"),
        ("holes + )", "found \")\", expected a number, a feature, a condition or ( (line 1, column 9):"),
        ("holes 2", "found \"2\", expected an operator or the end of the formula (line 1, column 7):"),
        ("(holes", "the formula ends, expected an operator or ) (line 1, column 7):"),
        ("holes & 2", "'&' is no part of a formula (line 1, column 7):"),
        ("2.5.1 + holes", "found \".1\", expected an operator or the end of the formula (line 1, column 4):"),
        (". + holes", "\".\" is no number (line 1, column 1):"),
        ("1e301 * holes", "1e301 is too large, expected at most 1e300 (line 1, column 1):"),
        (
            "column_height",
            "column_height is a family of features, expected column_height[0] to column_height[9] at width 10 (line 1, column 1):",
        ),
        (
            "column_height[10]",
            "\"column_height[10]\" has a wrong index, expected 0 to 9 at width 10 (line 1, column 1):",
        ),
        ("holes[1]", "\"holes[1]\" has a wrong index, expected none at width 10 (line 1, column 1):"),
        ("column_height[x]", "found \"x\", expected the index of a feature (line 1, column 15):"),
        (
            "lines_cleared_preclear",
            "lines_cleared belongs to the landing and has no _preclear form (line 1, column 1):",
        ),
        ("sum(holes)", "holes is one feature, expected a family such as column_height (line 1, column 5):"),
        ("sum(2)", "found \"2\", expected a family of features, such as column_height (line 1, column 5):"),
        ("max(holes)", "max has one number, expected two or more (line 1, column 1):"),
        ("abs(holes, 2)", "found \",\", expected an operator or ) (line 1, column 10):"),
        ("holes^0.5", "the exponent is 0.5, expected a whole number from 0 to 16 (line 1, column 7):"),
        ("holes^17", "the exponent is 17, expected a whole number from 0 to 16 (line 1, column 7):"),
        ("2^holes", "found \"holes\", expected a whole number from 0 to 16 (line 1, column 3):"),
        ("holes > 2", "this is a condition, expected a number (line 1, column 1):"),
        ("2 * (holes > 2)", "this is a condition, expected a number (line 1, column 5):"),
        (
            "if holes then 1 else 2",
            "this is a number, expected a condition, such as holes > 0 (line 1, column 4):",
        ),
        ("if holes > 2 then 1", "the formula ends, expected an operator or `else` (line 1, column 20):"),
        (
            "if holes > 2 and bumpiness then 1 else 2",
            "this is a number, expected a condition, such as holes > 0 (line 1, column 18):",
        ),
        (
            "if 1 < holes < 3 then 1 else 2",
            "comparisons do not chain, expected two of them with `and` between (line 1, column 14):",
        ),
        (
            "if current then 1 else holes",
            "this is a piece, expected a condition, such as holes > 0 (line 1, column 4):",
        ),
        (
            "if current > I then 1 else holes",
            "pieces compare as in `current == I`, expected current, next or held, then == or !=, then one of \
             I O T Z S J L (line 1, column 4):",
        ),
        (
            "if next == I then 1 else holes",
            "next is hidden, expected rules that show a next piece (line 1, column 4):",
        ),
        (
            "if held == I then 1 else holes",
            "held is always empty, expected rules with hold (line 1, column 4):",
        ),
        ("let holes = 2; holes", "\"holes\" has a meaning already, expected a new name (line 1, column 5):"),
        ("let T = 2; holes", "\"T\" has a meaning already, expected a new name (line 1, column 5):"),
        (
            "let x = holes x",
            "found \"x\", expected an operator or ; after the value of a variable (line 1, column 15):",
        ),
        ("let x = current; holes", "this is a piece, expected a number or a condition (line 1, column 9):"),
        (
            "holes + let x = 2; x",
            "`let` stands at the beginning of a formula, before its score (line 1, column 9):",
        ),
        (
            "lines / 2",
            "the score depends on no feature, so all placements would have one score; expected at least one, such as \
             holes (line 1, column 1):",
        ),
        // Both name one.
        (
            "holes^0",
            "the score depends on no feature, so all placements would have one score; expected at least one, such as \
             holes (line 1, column 1):",
        ),
        (
            "let x = holes; 3",
            "the score depends on no feature, so all placements would have one score; expected at least one, such as \
             holes (line 1, column 16):",
        ),
        (
            "let x = 2; let x = 3; holes",
            "\"x\" has a meaning already, expected a new name (line 1, column 16):",
        ),
        ("let sum = 2; holes", "\"sum\" has a meaning already, expected a new name (line 1, column 5):"),
        ("let _x = 2; holes", "'_' is no part of a formula (line 1, column 5):"),
    ] {
        assert_eq!(told(text), expected, "{text}");
    }
}

#[test]
fn are_shown_where_they_are() {
    check(
        "let x = 2;\n\tx * hole + 2 # many",
        "nothing is called \"hole\", did you mean \"holes\"? (line 2, column 6):\n   x * hole + 2 # many\n       ^^^^",
    );
    check(
        "1 + (holes\n > 2) * 3",
        "this is a condition, expected a number (line 1, column 5):\n  1 + (holes\n      ^^^^^^",
    );
    check("holes § 2", "'§' is no part of a formula (line 1, column 7):\n  holes § 2\n        ^");
    let long = format!("{}hole{}", "1 + ".repeat(30), " + 1".repeat(30));
    let (before, after) = ("1 + ".repeat(10), " + 1".repeat(9));
    check(
        &long,
        &format!(
            "nothing is called \"hole\", did you mean \"holes\"? (line 1, column 121):\n  ...{before}hole{after}...\n     {}^^^^",
            " ".repeat(40)
        ),
    );
}

#[test]
fn features_of_tetrominoes_need_tetrominoes() {
    let rules = Rules::preset("melax").unwrap();
    check_under(
        &rules,
        "1 + sum(fits_of)",
        "fits_of is about the seven tetrominoes, expected a feature of any pieces: the game has others (line 1, column \
         9):\n  1 + sum(fits_of)\n          ^^^^^^^",
    );
}

#[test]
fn the_longest_and_the_deepest_formulas() {
    let rules = Rules::simplified(10, 20);
    let long = |length: usize| format!("{:length$}", "holes + 1");
    compile(&long(MAX_BYTES), &rules).unwrap();
    check(&long(MAX_BYTES + 1), "the formula has 4097 bytes, expected at most 4096");
    let deep = |depth: u32| format!("{}holes{}", "(".repeat(depth as usize), ")".repeat(depth as usize));
    compile(&deep(MAX_DEPTH - 1), &rules).unwrap();
    let error = compile(&deep(MAX_DEPTH), &rules).unwrap_err().to_string();
    assert!(
        error.starts_with("the formula is nested too deeply, expected at most 64 levels (line 1"),
        "{error}"
    );
    // A feature, numbers from 1 on and their products with the feature, and a sum for each but the first.
    let costly = |terms: u32| {
        let terms: Vec<String> = (2..2 + terms).map(|number| format!("{number} * holes")).collect();
        terms.join(" + ")
    };
    let fitting = (MAX_COST - 1) / 3;
    compile(&costly(fitting), &rules).unwrap();
    let error = compile(&costly(fitting + 1), &rules).unwrap_err().to_string();
    assert!(error.starts_with("the formula takes too long, expected a cost of at most 256"), "{error}");
}
