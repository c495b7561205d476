//! The screens of `tetrion play` and `tetrion watch`, drawn into buffers of many sizes: pictures, and what they never do.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::widgets::Widget;
use tetrion::agents::{Controller, Kernel, PlayChoice};
use tetrion::engine::{
    ActionModel, Garbage, OrientationTable, PRESETS, PieceCells, Reach, Rules, Tetromino, parse_sequence,
};
use tetrion::players::{Contender, Reasons};
use tetrion::recording::{Course, CurrentPiece, Pieces, Scene, Setup};
use tetrion::viewers::{Board, CellSize, Palette, ScreenPlayer, Show};

/// A buffer as lines, without the blanks at their ends.
pub fn text(buffer: &Buffer) -> String {
    let line = |y| {
        let cells = (buffer.area.x..buffer.area.right()).map(|x| buffer[(x, y)].symbol());
        cells.collect::<String>().trim_end().to_owned() + "\n"
    };
    (buffer.area.y..buffer.area.bottom()).map(line).collect()
}

/// The game of these pieces and actions.
fn course(rules: Rules, pieces: &str, actions: &[u16]) -> Course {
    let pieces: Arc<[Tetromino]> = parse_sequence(pieces).unwrap().into();
    let mut course = Course::new(&Setup::new(rules, Pieces::Sequence(pieces))).unwrap();
    actions.iter().for_each(|action| assert!(course.play(*action).is_ok()));
    course
}

/// An O in the left corner, then an I upright at the right wall; a T is held, another one is its ghost.
fn scene() -> Scene {
    Scene {
        current: Some(CurrentPiece { piece: Tetromino::T, cells: four([(3, 1), (4, 0), (4, 1), (4, 2)]) }),
        ghost: Some(four([(1, 2), (2, 0), (2, 1), (2, 2)])),
        ..course(Rules::simplified(4, 5), "OIT", &[0, 3]).scene()
    }
}

fn board(cells: CellSize, palette: Palette) -> Buffer {
    let mut buffer = Buffer::empty(Rect::from(cells.of_board(4, 5)));
    let scene = scene();
    let board = Board {
        scene: &scene,
        rows: scene.cells.height(),
        hint: Some(four([(0, 2); 4])),
        name: "somebody",
        cells,
        palette,
    };
    board.render(buffer.area, &mut buffer);
    buffer
}

#[test]
fn a_playfield_without_colours_is_drawn_in_characters() {
    let expected = "\
+ somebo +
|###### .|
| .## .{}|
|::::::{}|
|[][]::{}|
|[][]++{}|
+--------+
";
    assert_eq!(text(&board(CellSize::Wide(1), Palette::Ascii)), expected);
}

#[test]
fn half_a_line_is_a_cell_in_its_colour() {
    let palette = Palette::ColourBlind;
    let buffer = board(CellSize::Half, palette);
    assert_eq!(text(&buffer), "┌ so ┐\n│▀▀▀▄│\n│▀▀▀▀│\n│▀▀▀▀│\n└────┘\n");
    let colour = |tetromino| palette.colour(tetromino);
    let (o, t, i) = (colour(Tetromino::O), colour(Tetromino::T), colour(Tetromino::I));
    let inks = |x: u16, y: u16| (buffer[(x, y)].fg, buffer[(x, y)].bg);
    assert_eq!(inks(1, 1), (t, Color::Reset), "the T over nothing");
    assert_eq!(inks(2, 1), (t, t), "the T over its own middle");
    assert_eq!(inks(4, 1), (i, Color::Reset), "nothing over the I");
    assert_eq!(inks(1, 2).1, o, "the ghost over the O");
    assert_eq!(inks(1, 3).0, o, "the O on the floor");
    assert_ne!(inks(1, 2).0, o, "the ghost is no landed cell");
}

#[test]
fn seven_pieces_have_seven_colours_and_ascii_has_none() {
    for palette in [Palette::Usual, Palette::ColourBlind] {
        let mut colours = Tetromino::ALL.map(|tetromino| format!("{:?}", palette.colour(tetromino)));
        colours.sort();
        assert!(colours.windows(2).all(|pair| pair[0] != pair[1]), "{palette:?}: {colours:?}");
    }
    let buffer = board(CellSize::Wide(1), Palette::Ascii);
    let is_plain = |cell: &ratatui::buffer::Cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset);
    assert!(buffer.content().iter().all(is_plain));
    assert!(text(&buffer).is_ascii());
    assert_eq!(Palette::wanted(None, true), Palette::Ascii);
    assert_eq!(Palette::wanted(None, false), Palette::Usual);
    assert_eq!(Palette::wanted(Some(Palette::ColourBlind), true), Palette::ColourBlind);
}

/// This many players of the same game on a screen of this size.
fn show(
    course: &Course,
    reasons: Option<&Reasons>,
    players: usize,
    palette: Palette,
    size: (u16, u16),
) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, size.0, size.1));
    let seat = ScreenPlayer { name: "dt-10", scene: course.scene(), hint: None, note: "a note" };
    Show {
        seats: vec![seat; players],
        rules: course.rules(),
        reasons: reasons.map(|reasons| (reasons, None)),
        words: vec!["step 5".to_owned(), "4 steps/s".to_owned()],
        keys: &["space pause", "q quit"],
        palette,
    }
    .render(&mut buffer);
    text(&buffer)
}

#[test]
fn numbers_and_next_pieces_stand_beside_the_playfield() {
    let rules = Rules { preview: 3, ..Rules::simplified(4, 12) };
    let course = course(rules, "OISZT", &[0]);
    // The I is created upright, with its anchor at the bottom: the column floor(width / 2) of the top row.
    let drawn = show(&course, None, 1, Palette::Ascii, (40, 16));
    let expected = "\
+ dt-10 -+ piece        I
| . .## .| lines        0
| . . . .| pieces       1
| . . . .|
| . . . .| next
| . . . .|     ####
| . . . .|   ####
| . . . .|
| . . . .|   ####
| . . . .|     ####
| . . . .|
|{}{} . .| then         T
|{}{} . .|
+--------+ a note
step 5, 4 steps/s
space pause  q quit
";
    assert_eq!(drawn, expected);
}

#[test]
fn a_large_cell_is_four_columns_of_two_lines() {
    let expected = "\
+ somebody ------+
|############    |
|############  . |
|    ####    {  }|
|  . ####  . {  }|
|::::::::::::{  }|
|::::::::::::{  }|
|[  ][  ]::::{  }|
|[  ][  ]::::{  }|
|[  ][  ]++++{  }|
|[  ][  ]++++{  }|
+----------------+
";
    assert_eq!(text(&board(CellSize::Wide(2), Palette::Ascii)), expected);
}

#[test]
fn players_whose_names_differ_late_have_different_names() {
    let course = course(Rules::simplified(10, 20), "OISZT", &[0]);
    let names = ["-4*holes - max_height^1.5", "-4*holes - max_height^2.5", "dt-10"];
    let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 24));
    let seats = names.map(|name| ScreenPlayer {
        name,
        scene: course.scene(),
        hint: None,
        note: "differs at 123,456",
    });
    Show {
        seats: seats.to_vec(),
        rules: course.rules(),
        reasons: None,
        words: Vec::new(),
        keys: &[],
        palette: Palette::Ascii,
    }
    .render(&mut buffer);
    let drawn = text(&buffer);
    for name in ["+ ..t^1.5 -", "+ ..t^2.5 -", "+ dt-10 -", "differs at", "123,456"] {
        assert!(drawn.contains(name), "{name}: {drawn}");
    }
}

/// A red bar on the frame, a row high for each line, and numbers: those that may rise now, and the others.
#[test]
fn garbage_that_waits_is_a_bar_and_a_number() {
    let garbage =
        Some(Garbage { lines_per_piece: 1.0, hole_move_chance: 0.0, delay_pieces: 1, ..Garbage::DEFAULT });
    let rules = Rules { garbage, ..Rules::simplified(6, 8) };
    let lowest = |actions: &[u16], palette| {
        let course = course(rules, "OOOOOO", actions);
        let drawn = show(&course, None, 1, palette, (40, 14));
        let lines: Vec<String> = drawn.lines().map(str::to_owned).collect();
        let bar = lines[1..9].iter().map(|line| line.chars().next().unwrap()).collect::<String>();
        let number = lines[1][lines[1].find("garbage").unwrap()..].to_owned();
        (bar, number, lines[8].clone())
    };
    let (bar, number, _) = lowest(&[], Palette::Ascii);
    assert_eq!((bar.as_str(), number.as_str()), ("||||||||", "garbage      0"));
    let (bar, number, _) = lowest(&[0], Palette::Ascii);
    assert_eq!((bar.as_str(), number.as_str()), ("|||||||!", "garbage   0 +1"));
    // One has risen: its hole is in column 2. Two wait.
    let (bar, number, floor) = lowest(&[0, 2, 0], Palette::Ascii);
    assert_eq!((bar.as_str(), number.as_str()), ("||||||!!", "garbage   1 +1"));
    assert_eq!(&floor[..14], "![][] .[][][]|");
    assert_eq!(lowest(&[0, 2], Palette::Usual).0, "││││││██");
}

#[test]
fn a_screen_of_80_by_24_holds_the_playfield_of_the_literature_and_the_reasons() {
    let course = course(Rules::simplified(10, 20), "OISZT", &[0]);
    let dt_10 = Controller::named("dt-10").unwrap().agent(10).unwrap();
    let reasons = Reasons::of_best("dt-10", &dt_10, &course).unwrap();
    let drawn = show(&course, Some(&reasons), 1, Palette::Ascii, (80, 24));
    let lines: Vec<&str> = drawn.lines().collect();
    assert_eq!((lines.len(), lines[21]), (24, "+--------------------+ a note"), "{drawn}");
    assert_eq!((lines[22], lines[23]), ("step 5, 4 steps/s", "space pause  q quit"));
    for feature in dt_10.set().names() {
        assert!(drawn.contains(&feature), "no {feature}: {drawn}");
    }
    assert!(drawn.contains("every placement, 0 worst to 9 best") && drawn.contains("next best"), "{drawn}");
    // Two beside each other leave no room for reasons, and stay as large.
    let drawn = show(&course, Some(&reasons), 2, Palette::Ascii, (80, 24));
    assert_eq!((drawn.matches("+ dt-10 ---").count(), drawn.contains("next best")), (2, false), "{drawn}");
    // Three are smaller, if there are colours.
    let drawn = show(&course, None, 3, Palette::Usual, (80, 24));
    assert_eq!(drawn.matches("┌ dt-10 ───┐").count(), 3, "{drawn}");
}

#[test]
fn nothing_breaks_at_any_size() {
    let widest = Rules {
        action_model: ActionModel::Keypress,
        reach: Reach::SidewaysWalk,
        orientations: OrientationTable::Lab,
        preview: 6,
        ..Rules::simplified(32, 40)
    };
    let garbage = Some(Garbage { lines_per_piece: 4.0, ..Garbage::DEFAULT });
    let all = PRESETS.iter().map(|preset| preset.rules);
    let all = all.chain([Rules::simplified(4, 4), widest, Rules { garbage, ..Rules::simplified(4, 4) }]);
    for rules in all {
        let course = course(rules, "IOTZSJLIOTZSJL", &[]);
        let agent = Controller::named("tetrion-10x10").unwrap().agent(rules.width).unwrap();
        let reasons = Reasons::of_best("tetrion-10x10", &agent, &course);
        for palette in [Palette::Usual, Palette::Ascii] {
            for (players, width, height) in (1..=3).flat_map(|players| {
                (0..160)
                    .step_by(9)
                    .flat_map(move |width| (0..60).step_by(5).map(move |height| (players, width, height)))
            }) {
                show(&course, reasons.as_ref(), players, palette, (width, height));
            }
        }
    }
}

#[test]
fn a_screen_that_is_too_small_says_what_it_needs() {
    let course = course(Rules::simplified(10, 20), "O", &[]);
    for (palette, needed) in [(Palette::Usual, "27 x 14"), (Palette::Ascii, "22 x 29")] {
        let small = show(&course, None, 1, palette, (26, 13));
        assert_eq!(
            small.lines().take(2).collect::<Vec<_>>(),
            ["too small: 26 x 13", &format!("needs {needed}")]
        );
        let (width, height) = needed.split_once(" x ").unwrap();
        let size = (width.parse().unwrap(), height.parse().unwrap());
        assert!(show(&course, None, 1, palette, size).contains("space pause"), "{needed}");
        assert!(show(&course, None, 1, palette, (size.0, size.1 - 1)).contains("too small"), "{needed}");
    }
}

#[test]
fn reasons_add_up_and_name_the_placement_that_is_chosen() {
    let rules = Rules::simplified(10, 12);
    let setup = Setup::new(rules, Pieces::Seed(3));
    for name in ["dt-10", "tetrion-10x10", "flat_stacking", "lab-uniform"] {
        let agent = Controller::named(name).unwrap().agent(10).unwrap();
        let mut course = Course::new(&setup).unwrap();
        for _ in 0..60 {
            let Some(piece) = course.piece() else { break };
            let chosen = agent.choose(Kernel::best(), &rules, course.playfield(), piece);
            let reasons = Reasons::of_best(name, &agent, &course).unwrap();
            assert_eq!((reasons.placement, reasons.score), (chosen.placement, chosen.score));
            let sum = reasons.terms.iter().fold(0.0, |sum, term| sum + term.product());
            assert_eq!(sum, reasons.score);
            assert_eq!(reasons.level(reasons.score), 9);
            assert!(reasons.next_best().unwrap() <= reasons.score);
            assert_eq!(reasons.score_of(chosen.placement), Some(chosen.score));
            course.play(chosen.placement.action(course.rules()) as u16).unwrap();
        }
        assert!(course.steps() > 20, "{name} ended early: a bad test");
    }
}

#[test]
fn the_reasons_of_a_formula_are_its_features_and_its_value() {
    let text = "-holes^2 - 2 * max_height + (if held == I then -1 else 0) + lines_cleared";
    for rules in [Rules::simplified(10, 12), Rules::preset("guideline").unwrap()] {
        let text = if rules.hold { text } else { &text.replace("held == I", "lines > 9") };
        let setup = Setup::new(rules, Pieces::Seed(3));
        let formula = Contender::from_formulas(&[text.to_owned()]).remove(0);
        let mut player = formula.player(&setup, PlayChoice::default(), 1).unwrap();
        let mut held = 0;
        for _ in 0..60 {
            let Some([action, _]) = player.choose(&mut u64::MAX.clone()) else { break };
            let reasons = player.reasons_of(0).unwrap();
            assert_eq!(u32::from(action), reasons.placement.action(&rules));
            held += usize::from(reasons.placement.hold);
            let names: Vec<_> = reasons.terms.iter().map(|term| term.feature.as_str()).collect();
            assert_eq!(names, ["holes", "max_height", "lines_cleared"]);
            assert!(reasons.terms.iter().all(|term| term.weight.is_none()));
            let [holes, height, lines] = [0, 1, 2].map(|at| reasons.terms[at].value);
            // The piece that is held once this one has landed.
            let course = player.course();
            let kept = if reasons.placement.hold { course.piece() } else { course.held() };
            let condition = match rules.hold {
                true => kept == Some(Tetromino::I),
                false => course.outcome().lines > 9,
            };
            assert_eq!(reasons.score, -holes * holes - 2.0 * height - f64::from(u8::from(condition)) + lines);
            // A placement that ends the game has no score, and is only chosen if all do.
            let is_last = reasons.scores.is_empty();
            assert_eq!(reasons.score_of(reasons.placement), (!is_last).then_some(reasons.score));
            assert!(reasons.next_best().is_none_or(|next| next <= reasons.score));
            let drawn = show(course, Some(&reasons), 1, Palette::Ascii, (90, 30));
            assert!(drawn.contains("feature                           value"), "{drawn}");
            player.forward(&mut u64::MAX.clone());
        }
        assert!(player.course().steps() > 20, "it ended early: a bad test");
        assert!(!rules.hold || held > 0, "nothing was held: a bad test");
    }
}

fn four(cells: [(u8, u8); 4]) -> PieceCells {
    cells.into_iter().collect()
}
