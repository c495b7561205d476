//! Learning curves: small enough to be checked by eye as text, taken apart as SVG.

use tetrion::optimizers::Generation;
use tetrion::plot::{Bar, BarChart, Chart, Line, Point, WeightCurves, learning_curve};

fn chart(lines: &[(&str, &[(f64, f64)])]) -> Chart {
    let line = |&(name, points): &(&str, &[(f64, f64)])| Line {
        name: name.to_owned(),
        points: points.iter().map(|&(x, y)| Point { x, y, band: None }).collect(),
    };
    Chart {
        title: "Title".into(),
        x_label: "generation".into(),
        y_label: "lines".into(),
        lines: lines.iter().map(line).collect(),
        weights: None,
    }
}

#[track_caller]
fn check(chart: &Chart, columns: usize, rows: usize, expected: &str) {
    let text = chart.to_text(columns, rows, false);
    assert_eq!(text, expected.strip_prefix('\n').unwrap(), "\n{text}");
}

/// The axis ends at 150, half way to a next tick, and the line at four fifths of it.
#[test]
fn a_straight_line() {
    check(
        &chart(&[("mean", &[(0.0, 0.0), (50.0, 120.0)])]),
        30,
        6,
        "
Title
    lines
    │
    │                     ⢀⡠⠤⠒
100 ┤                ⣀⡠⠔⠒⠉⠁
    │          ⢀⣀⠤⠒⠊⠉
    │     ⣀⡠⠔⠒⠉⠁
  0 ┤⣀⠤⠔⠊⠉
    └┬─────────┬────────┬─────
     0         20       40
                    generation
     ⠤⠤⠤ mean
",
    );
}

#[test]
fn lines_differ_by_their_gaps() {
    let flat = |y| [(0.0, y), (10.0, y)];
    check(
        &chart(&[
            ("first", &flat(4.0)),
            ("second", &flat(3.0)),
            ("third", &flat(2.0)),
            ("fourth", &flat(1.0)),
        ]),
        36,
        8,
        "
Title
  lines
4 ┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
  │
  │⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁⠁
2 ┤⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀ ⡀
  │
  │⣀⡀ ⣀⡀ ⣀⡀ ⣀⡀ ⣀⡀ ⣀⡀ ⣀⡀ ⣀⡀ ⣀⡀ ⣀⡀ ⣀⡀
  │
0 ┤
  └┬───────────────┬───────────────┬
   0               5              10
                          generation
   ⠤⠤⠤ first
   ⠄⠄⠄ second
   ⠄ ⠄ third
   ⠤⠄  fourth
",
    );
}

/// From 3 to 30,000 in equal factors is a straight line; the 0 before it is drawn on the lowest tick.
#[test]
fn powers_of_ten() {
    check(
        &chart(&[(
            "mean",
            &[(0.0, 0.0), (1.0, 3.0), (2.0, 30.0), (3.0, 300.0), (4.0, 3000.0), (5.0, 30000.0)],
        )]),
        40,
        9,
        "
Title
       lines
50,000 ┤                              ⢀⡠
10,000 ┤                          ⢀⡠⠔⠊⠁
       │                       ⢀⠤⠊⠁
 1,000 ┤                    ⢀⠤⠊⠁
       │                 ⣀⠤⠊⠁
   100 ┤             ⣀⠤⠒⠉
       │         ⢀⡠⠔⠊
    10 ┤      ⣀⠤⠒⠁
     1 ┤⣀⠤⠔⠒⠊⠉
       └┬───────────┬────────────┬──────
        0           2            4
                              generation
        ⠤⠤⠤ mean
",
    );
}

#[test]
fn below_zero_and_between_whole_numbers() {
    check(
        &chart(&[("score", &[(0.5, -0.2), (1.0, 0.1), (1.5, 0.3)])]),
        36,
        5,
        "
Title
    lines
0.5 ┤
    │                       ⣀⣀⣀⠤⠤⠤⠒⠒
    │             ⣀⣀⠤⠤⠒⠒⠒⠉⠉⠉
  0 ┤     ⣀⣀⠤⠤⠒⠒⠉⠉
    │⠤⠒⠒⠉⠉
    └┬──────────────┬──────────────┬
     0.5            1            1.5
                          generation
     ⠤⠤⠤ score
",
    );
}

#[test]
fn one_point_and_none() {
    check(
        &chart(&[("mean", &[(3.0, 7.0)])]),
        30,
        3,
        "
Title
   lines
10 ┤             ⡀
   │
 0 ┤
   └─────────────┬────────────
                 3  generation
    ⠤⠤⠤ mean
",
    );
    let nothing = "Title\n(nothing to show yet)\n";
    assert_eq!(chart(&[("mean", &[])]).to_text(80, 20, false), nothing);
    assert_eq!(chart(&[("mean", &[(0.0, f64::NAN)])]).to_text(80, 20, false), nothing);
    assert!(chart(&[]).to_svg().contains("Title: nothing to show yet"));
}

#[test]
fn colours_change_nothing_but_colours() {
    let chart = chart(&[("a", &[(0.0, 1.0), (9.0, 5.0)]), ("b", &[(0.0, 5.0), (9.0, 2.0)])]);
    let (plain, mut coloured) = (chart.to_text(50, 8, false), chart.to_text(50, 8, true));
    assert!(coloured.contains("\x1b[34m") && coloured.contains("\x1b[33m"));
    for code in ["\x1b[34m", "\x1b[33m", "\x1b[0m"] {
        coloured = coloured.replace(code, "");
    }
    assert_eq!(coloured, plain);
}

#[test]
fn text_keeps_to_its_width() {
    let points: Vec<(f64, f64)> =
        (0..500).map(|x| (f64::from(x) * 37.0, f64::from(x * x % 1009) * 1e3)).collect();
    for columns in [30, 31, 57, 80, 200] {
        let text = chart(&[("m", &points)]).to_text(columns, 10, false);
        for line in text.lines() {
            assert!(line.chars().count() <= columns, "{columns} columns:\n{text}");
        }
    }
}

fn generations() -> Vec<Generation> {
    let generation = |index: u32| Generation {
        generation: index,
        best_score: f64::from(index) * 30.0 + 20.0,
        mean_score: f64::from(index) * 10.0 + 5.0,
        std_score: 4.0,
        best: vec![],
        mean: vec![],
        std: vec![],
    };
    (0..5).map(generation).collect()
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn svg_of_a_learning_curve() {
    let incumbents: Vec<Point> =
        (0..5).map(|x| Point { x: f64::from(x), y: 15.0, band: Some([12.0, 18.0]) }).collect();
    let svg =
        learning_curve("Tetris <10 x 20> & more", "lines per game", &generations(), &incumbents).to_svg();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    for text in [
        "Tetris &lt;10 x 20&gt; &amp; more",
        "lines per game",
        "generation",
        "result so far, 95 % interval",
        "best candidate",
        "all candidates, mean and deviation",
        "\n150\n",
    ] {
        assert_eq!(count(&svg, text), 1, "{text}\n{svg}");
    }
    assert_eq!(count(&svg, "<polygon "), 2, "an interval for the result and one for all candidates");
    // Each line and its sample in the legend.
    for colour in ["#0072B2", "#D55E00", "#009E73"] {
        let lines = svg.lines().filter(|line| line.starts_with("<polyline ") && line.contains(colour));
        assert_eq!(lines.count(), 2, "{colour}");
    }
}

/// White, black and what is between glare or disappear on a dark page.
#[test]
fn svg_has_other_greys_in_dark_mode() {
    for generations in [&generations()[..], &[]] {
        let svg = learning_curve("Title", "lines", generations, &[]).to_svg();
        let (style, picture) = svg.split_once("</style>").unwrap();
        assert!(style.contains("@media (prefers-color-scheme: dark)"), "{style}");
        for attribute in ["fill", "stroke"] {
            for part in picture.split(&format!("{attribute}=\"#")).skip(1) {
                let colour = &part[..6];
                let is_grey = colour[..2] == colour[2..4] && colour[2..4] == colour[4..];
                let rule = format!("[{attribute}=\"#{colour}\"] {{ {attribute}: #");
                assert!(!is_grey || style.contains(&rule), "{rule} in {style}");
            }
        }
    }
}

#[test]
fn svg_of_one_generation_has_dots() {
    let svg = learning_curve("Title", "lines", &generations()[..1], &[]).to_svg();
    assert_eq!((count(&svg, "<circle "), count(&svg, "<polygon ")), (2, 0));
    assert!(!svg.contains("result so far"));
}

/// The first generation has a mean of 5 and a deviation of 4, the second lines of it below 0 with one of 20.
#[test]
fn bands_end_at_the_smallest_score() {
    let mut generations = generations();
    generations[1].std_score = 20.0;
    let bands = |chart: Chart| -> Vec<[f64; 2]> {
        chart.lines[1].points.iter().take(2).map(|point| point.band.unwrap()).collect()
    };
    let chart = learning_curve("Title", "lines", &generations, &[]);
    assert_eq!(bands(chart.clone()), [[1.0, 9.0], [-5.0, 35.0]]);
    assert_eq!(bands(chart.clone().with_bands_from(0.0)), [[1.0, 9.0], [0.0, 35.0]]);
    assert_eq!(bands(chart.with_bands_from(f64::NEG_INFINITY)), [[1.0, 9.0], [-5.0, 35.0]]);
    generations[0].std_score = f64::NAN;
    let unknown = learning_curve("Title", "lines", &generations, &[]).with_bands_from(0.0);
    assert!(bands(unknown)[0].iter().all(|edge| edge.is_nan()), "an unknown interval is not 0 to 0");
}

/// A page of a long search gets a part of its generations, and always the last one.
#[test]
fn a_page_gets_weights_of_some_generations() {
    let rows = |number: usize| -> Vec<Vec<f64>> { (0..number).map(|row| vec![row as f64, 1.0]).collect() };
    for (number, kept) in [(0, 0), (1, 1), (300, 300), (301, 151), (3000, 300)] {
        let features = vec!["holes".to_owned(), "bumpiness".to_owned()];
        let weights = WeightCurves { features, means: rows(number), deviations: rows(number) };
        let json = Chart { weights: Some(weights), ..chart(&[]) }.to_json();
        assert_eq!(json["weights"]["features"], serde_json::json!(["holes", "bumpiness"]));
        for name in ["means", "deviations"] {
            let rows = json["weights"][name].as_array().unwrap();
            assert_eq!(rows.len(), kept, "{number} generations");
            assert_eq!(
                rows.last().map(|row| row[0].as_f64().unwrap() as usize + 1),
                (number > 0).then_some(number)
            );
        }
    }
    assert_eq!(chart(&[]).to_json().get("weights"), None);
}

fn bars(bars: &[(&str, f64, Option<[f64; 2]>)]) -> BarChart {
    let bar = |&(name, value, interval): &(&str, _, _)| Bar { name: name.to_owned(), value, interval };
    let (title, unit) = ("Title".to_owned(), "lines per game".to_owned());
    BarChart { title, unit, bars: bars.iter().map(bar).collect() }
}

/// Values on an axis of 31 cells from 0 to 30, so a cell is a line.
#[test]
fn bars_end_in_their_intervals() {
    let chart = bars(&[
        ("wide", 20.0, Some([14.0, 26.0])),
        ("exact", 8.0, None),
        ("narrow", 30.0, Some([29.0, 30.0])),
        ("nothing", 0.0, Some([0.0, 0.2])),
    ]);
    let expected = "
         lines per game
wide    │██████████████├─────┼─────┤
exact   │████████
narrow  │█████████████████████████████├┤
nothing │
        └┬─────────┬─────────┬─────────┬
         0         10        20       30
";
    assert_eq!(chart.to_text(40), expected.strip_prefix('\n').unwrap(), "\n{}", chart.to_text(40));
}

#[test]
fn bars_below_zero_over_powers_of_ten_and_with_long_names() {
    for (chart, expected) in [
        (
            bars(&[("loss", -10.0, Some([-15.0, -5.0])), ("gain", 10.0, None)]),
            "
      lines per game
loss │     ├───┼────┤███
gain │                  █████████
     └┬─────────────────┬─────────
      -20               0
",
        ),
        (
            bars(&[("a", 2.0, None), ("b", 1000.0, Some([100.0, 2000.0]))]),
            "
   lines per game
a │███
b │██████████████████├────────┼──┤
  └┬────────┬────────┬────────┬───
   1        10      100     1,000
",
        ),
        (
            bars(&[("a long name, more than half of the columns", 1.0, None), ("b", 2.0, None)]),
            "
  lines per game
a long name, more than half of the columns
│████████████████
b
│███████████████████████████████
 └┬───────────────┬──────────────┬
  0               1              2
",
        ),
    ] {
        assert_eq!(chart.to_text(34), expected.strip_prefix('\n').unwrap(), "\n{}", chart.to_text(34));
    }
    assert_eq!(bars(&[]).to_text(80), "");
}

#[test]
fn svg_of_bars() {
    let svg = bars(&[("a < b", 3.0, Some([2.0, 4.0])), ("exact", 2.0, None)]).to_svg();
    for text in ["Title", "lines per game", "a &lt; b", "exact"] {
        assert_eq!(count(&svg, text), 1, "{text}\n{svg}");
    }
    let blue = svg.lines().filter(|line| line.starts_with("<rect ") && line.contains("#0072B2"));
    assert_eq!(blue.count(), 2);
    let interval =
        svg.lines().filter(|line| line.starts_with("<polyline ") && line.contains("stroke-width=\"2\""));
    assert_eq!(interval.count(), 3, "a line with two ends");
    assert!(bars(&[]).to_svg().starts_with("<svg "));
}
