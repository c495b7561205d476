//! Pictures of recordings: what is in them, and that their files show just that.

use std::sync::Arc;

use tetrion_core::engine::{Rules, Tetromino, parse_sequence};
use tetrion_toolkit::picture::{
    Canvas, ColourScheme, GifWriter, Ink, Layout, Mark, Moment, draw, moment, svg, text, write_png,
};
use tetrion_toolkit::recording::{Pieces, Recorder, Replay, Setup};

fn sequence(letters: &str) -> Arc<[Tetromino]> {
    parse_sequence(letters).unwrap().into()
}

/// O and O complete two lines on 4 x 6; I stands, T lies on nothing.
fn replay() -> Replay {
    let rules = Rules { preview: 1, ..Rules::simplified(4, 6) };
    let mut recorder = Recorder::new(Setup::new(rules, Pieces::Sequence(sequence("OOIT")))).unwrap();
    [0, 2, 0].iter().for_each(|&action| assert!(recorder.play(action).is_ok()));
    Replay::new(recorder.recording("Ada", "")).unwrap()
}

fn plain(replay: &mut Replay, step: usize) -> String {
    let rules = replay.recording().setup.rules;
    text::text(&moment(replay, step), &rules, None)
}

#[test]
fn a_step_shows_the_piece_in_its_place_before_lines_go() {
    let replay = &mut replay();
    let first = "+----+\n|....|  lines   0\n|....|  pieces  1\n|....|  points  0\n|....|  next    O\n|oo..|\n|oo..|\n+----+\n";
    assert_eq!(plain(replay, 0), first);
    let full = "+----+\n|....|  lines   2\n|....|  pieces  2\n|....|  points  2\n|....|  next    I\n|OOoo|<\n|OOoo|<\n+----+\n";
    assert_eq!(plain(replay, 1), full);
    let third = "+----+\n|....|  lines   2\n|....|  pieces  3\n|i...|  points  2\n|i...|  next    T\n|i...|\n|i...|\n+----+\n";
    assert_eq!(plain(replay, 2), third);
    // After the last action: T would be next.
    assert_eq!(plain(replay, 3), third.replace("  next    T", ""));
}

#[test]
fn keys_show_the_piece_on_its_way_and_where_it_would_land() {
    let rules = Rules { width: 5, height: 6, ..Rules::preset("lab").unwrap() };
    let mut recorder = Recorder::new(Setup::new(rules, Pieces::Sequence(sequence("OO")))).unwrap();
    [1, 5].iter().for_each(|&key| assert!(recorder.play(key).is_ok()));
    let mut replay = Replay::new(recorder.recording("", "")).unwrap();
    let rows = |replay: &mut Replay, step| {
        let text = plain(replay, step);
        let rows = text.lines().filter_map(|line| line.strip_prefix('|')?.get(..5).map(str::to_owned));
        rows.collect::<Vec<String>>().join("/")
    };
    // O appears with its right foot in the middle of the top row; its upper half is above the playfield.
    assert_eq!(rows(&mut replay, 0), ".oo../...../...../...../.::../.::..");
    assert_eq!(rows(&mut replay, 1), "oo.../oo.../...../...../::.../::...");
    assert_eq!(rows(&mut replay, 2), ".oo../...../.::../.::../OO.../OO...");
}

/// Every form of picture shows the same marks; a file read back has the pixels that were painted.
#[test]
fn files_show_what_was_painted() {
    let mut replay = replay();
    let layout = Layout::new(&Rules { preview: 1, ..Rules::simplified(4, 6) }, 12, true);
    assert_eq!((layout.width % 2, layout.height % 2), (0, 0), "films need even sizes");
    for scheme in [ColourScheme::Usual, ColourScheme::ColourBlind] {
        let canvases: Vec<Canvas> = (0..=replay.num_steps())
            .map(|step| Canvas::painted(&layout, &draw(&layout, &moment(&mut replay, step))))
            .collect();
        let rgb = |canvas: &Canvas| -> Vec<u8> {
            let inks: Vec<Ink> = Ink::all().collect();
            canvas.pixels().iter().flat_map(|ink| scheme.rgb(inks[usize::from(*ink)])).collect()
        };
        // The colour of the first cell of the first piece.
        let middle = (layout.y(0) + 6) * layout.width + layout.x(0) + 6;
        let yellow = scheme.of(Tetromino::O.into());
        assert_eq!(rgb(&canvases[0])[3 * middle as usize..][..3], yellow);
        let mut file = Vec::new();
        write_png(&mut file, &canvases[1], scheme).unwrap();
        assert_eq!(read_png(&file), rgb(&canvases[1]));
        let mut file = Vec::new();
        let mut gif = GifWriter::new(&mut file, &layout, scheme).unwrap();
        for canvas in &canvases {
            gif.add(canvas.clone(), 7).unwrap();
        }
        gif.finish().unwrap();
        let expected: Vec<Vec<u8>> = canvases.iter().map(rgb).collect();
        assert_eq!(read_gif(&file, layout.width as usize, layout.height as usize), expected);
    }
}

fn read_png(file: &[u8]) -> Vec<u8> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

/// The pictures that a viewer shows one after the other: what is transparent stays as it was.
fn read_gif(file: &[u8], width: usize, height: usize) -> Vec<Vec<u8>> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(file).unwrap();
    let mut screen = vec![0; 3 * width * height];
    let mut pictures = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        assert_eq!(frame.delay, 7);
        for (n, pixel) in frame.buffer.chunks(4).enumerate().filter(|(_, pixel)| pixel[3] > 0) {
            let (x, y) = (n % usize::from(frame.width), n / usize::from(frame.width));
            let at = (usize::from(frame.top) + y) * width + usize::from(frame.left) + x;
            screen[3 * at..3 * at + 3].copy_from_slice(&pixel[..3]);
        }
        pictures.push(screen.clone());
    }
    pictures
}

/// Each picture of an animated drawing has the marks that were drawn, no more and no fewer, and all of them in their order.
#[test]
fn a_moving_drawing_shows_each_mark_in_its_time() {
    let mut replay = replay();
    let layout = Layout::new(&Rules { preview: 1, ..Rules::simplified(4, 6) }, 16, false);
    let marks =
        |replay: &mut Replay, step| draw(&layout, &Moment { words: String::new(), ..moment(replay, step) });
    let pictures: Vec<(Vec<Mark>, u32)> = (0..4).map(|step| (marks(&mut replay, step), 25)).collect();
    let moving = svg::svg(&layout, ColourScheme::Usual, &pictures);
    // Each piece is four blocks, and stays as long as it does: O of the first picture for two of them.
    let block = format!("<use href=\"#O\" x=\"{}\" y=\"{}\"/>", layout.x(0), layout.y(0));
    assert_eq!(moving.matches(&block).count(), 1);
    let shapes = |text: &str, seen: &dyn Fn(&&str) -> bool| {
        let mut shapes: Vec<String> = text
            .lines()
            .skip_while(|line| *line != "</defs>")
            .filter(seen)
            .flat_map(|line| line.split('<').map(str::to_owned).collect::<Vec<_>>())
            .filter(|tag| ["use", "path", "text"].iter().any(|name| tag.starts_with(name)))
            .collect();
        shapes.sort();
        shapes
    };
    let group = moving.lines().find(|line| line.contains(&block)).unwrap();
    assert!(group.contains("dur=\"1s\" values=\"visible;hidden\" keyTimes=\"0;0.5\""), "{group}");
    for (step, picture) in pictures.iter().enumerate() {
        let still = svg::svg(&layout, ColourScheme::Usual, std::slice::from_ref(picture));
        assert!(!still.contains("<animate"), "a still");
        let seen = |line: &&str| {
            let times = |name: &str| {
                let (_, rest) = line.split_once(&format!("{name}=\""))?;
                Some(rest.split_once('"')?.0.split(';').map(str::to_owned).collect::<Vec<_>>())
            };
            let (Some(values), Some(times)) = (times("values"), times("keyTimes")) else { return true };
            let now = 0.25 * step as f64 + 0.1;
            let at = times.iter().rposition(|time| time.parse::<f64>().unwrap() <= now).unwrap();
            values[at] == "visible"
        };
        assert_eq!(shapes(&moving, &seen), shapes(&still, &|_| true), "step {step}");
    }
    // A viewer that ignores `<animate>`: the last picture, not an empty field.
    let last = svg::svg(&layout, ColourScheme::Usual, &pictures[3..]);
    assert_eq!(shapes(&moving, &|line| !line.contains("visibility=\"hidden\"")), shapes(&last, &|_| true));
}

#[test]
fn colours_are_told_apart() {
    for scheme in [ColourScheme::Usual, ColourScheme::ColourBlind] {
        let mut colours: Vec<[u8; 3]> = Tetromino::ALL.iter().map(|&piece| scheme.of(piece.into())).collect();
        colours.sort();
        colours.dedup();
        assert_eq!(colours.len(), 7);
    }
    assert!(Ink::all().enumerate().all(|(n, ink)| usize::from(ink.index()) == n));
    let Moment { scene, .. } = moment(&mut replay(), 1);
    let coloured =
        text::text(&Moment::of(scene), &replay().recording().setup.rules, Some(ColourScheme::Usual));
    assert!(coloured.contains("\x1b[48;5;221m  \x1b[0m"), "yellow: {coloured:?}");
}
