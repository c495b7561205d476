//! Drawings in SVG: one still, or many one after the other, for ever again.
//!
//! A mark that stays from one picture to the next is written once, with the time in which it is seen. Marks of the same
//! time share a group. The animation is declared in the file itself, so it runs in an `<img>` too, where scripts do not.
//! Viewers without animation show the last picture.

use std::collections::BTreeMap;
use std::fmt::Write;

use tetrion_core::engine::Tetromino;

use super::colours::{ColourScheme, Hue, Ink};
use super::draw::Mark;
use super::font;
use super::layout::Layout;

/// A mark is seen from the beginning of one picture to the beginning of another.
type Span = (usize, usize);

/// Writes pictures, each with the hundredths of a second for which it is shown.
pub fn svg(layout: &Layout, scheme: ColourScheme, pictures: &[(Vec<Mark>, u32)]) -> String {
    let Layout { width, height, cell, .. } = *layout;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace,Menlo,Consolas,monospace\" font-weight=\"bold\">\n<defs>\n"
    );
    for hue in Tetromino::ALL.into_iter().map(Hue::from).chain([Hue::Given]) {
        define_block(&mut text, hue, cell, scheme);
    }
    text.push_str("</defs>\n");
    let mut starts = vec![0];
    for (_, hundredths) in pictures {
        starts.push(starts.last().expect("at least one") + u64::from(*hundredths));
    }
    for ((_, (start, end)), marks) in groups(pictures) {
        let lasts = end - start == pictures.len();
        if !lasts {
            let is_last = end == pictures.len();
            text.push_str(if is_last { "<g>" } else { "<g visibility=\"hidden\">" });
            animation(&mut text, &starts, (start, end));
        }
        for mark in marks {
            write_mark(&mut text, layout, scheme, mark);
        }
        text.push_str(if lasts { "\n" } else { "</g>\n" });
    }
    text.push_str("</svg>\n");
    text
}

/// The marks by the time in which they are seen; what lies over others comes later.
fn groups(pictures: &[(Vec<Mark>, u32)]) -> BTreeMap<(u8, Span), Vec<&Mark>> {
    let mut groups: BTreeMap<(u8, Span), Vec<&Mark>> = BTreeMap::new();
    let mut seen: BTreeMap<&Mark, usize> = BTreeMap::new();
    for now in 0..=pictures.len() {
        let marks = pictures.get(now).map_or(&[][..], |(marks, _)| marks);
        let shown: BTreeMap<&Mark, ()> = marks.iter().map(|mark| (mark, ())).collect();
        seen.retain(|mark, start| {
            let stays = shown.contains_key(mark);
            if !stays {
                groups.entry((rank(mark), (*start, now))).or_default().push(mark);
            }
            stays
        });
        // In the order in which they lie over each other, which a group keeps.
        for mark in marks {
            seen.entry(mark).or_insert(now);
        }
    }
    for marks in groups.values_mut() {
        marks.sort_by_key(|mark| rank(mark));
    }
    groups
}

/// Which marks lie over which.
fn rank(mark: &Mark) -> u8 {
    match mark {
        Mark::Area { ink: Ink::Background, .. } => 0,
        Mark::Area { ink: Ink::Frame, .. } => 1,
        Mark::Area { ink: Ink::Empty, .. } => 2,
        Mark::Area { ink: Ink::Grid, .. } => 3,
        Mark::Block { .. } => 4,
        Mark::Area { .. } => 5,
        Mark::Ring { .. } => 6,
        Mark::Words { .. } => 7,
    }
}

fn animation(text: &mut String, starts: &[u64], (start, end): Span) {
    let total = starts[starts.len() - 1].max(1);
    let share = |picture: usize| {
        let share = format!("{:.5}", starts[picture] as f64 / total as f64);
        share.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let (mut values, mut times) = (Vec::new(), Vec::new());
    if start > 0 {
        values.push("hidden");
        times.push("0".to_owned());
    }
    values.push("visible");
    times.push(share(start));
    if end + 1 < starts.len() {
        values.push("hidden");
        times.push(share(end));
    }
    let seconds = total as f64 / 100.0;
    let _ = write!(
        text,
        "<animate attributeName=\"visibility\" calcMode=\"discrete\" repeatCount=\"indefinite\" dur=\"{seconds}s\" \
         values=\"{}\" keyTimes=\"{}\"/>",
        values.join(";"),
        times.join(";")
    );
}

/// The name of a block.
fn name(hue: Hue) -> char {
    match hue {
        Hue::Piece(_) => Tetromino::ALL[hue.index()].letter(),
        Hue::Given => 'G',
    }
}

fn colour(scheme: ColourScheme, ink: Ink) -> String {
    let [red, green, blue] = scheme.rgb(ink);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn define_block(text: &mut String, hue: Hue, size: u32, scheme: ColourScheme) {
    let edge = (size / 8).max(1);
    let (near, far) = (1 + edge, size - edge);
    let [body, light, dark] =
        [Ink::Body(hue), Ink::Light(hue), Ink::Dark(hue)].map(|ink| colour(scheme, ink));
    let _ = writeln!(
        text,
        "<g id=\"{}\"><path fill=\"{body}\" d=\"M1 1H{size}V{size}H1z\"/>\
         <path fill=\"{light}\" d=\"M1 1H{size}L{far} {near}H{near}V{far}L1 {size}z\"/>\
         <path fill=\"{dark}\" d=\"M{size} 1V{size}H1L{near} {far}H{far}V{near}z\"/></g>",
        name(hue)
    );
}

fn write_mark(text: &mut String, layout: &Layout, scheme: ColourScheme, mark: &Mark) {
    let _ = match mark {
        Mark::Area { x, y, width, height, ink } => {
            let fill = colour(scheme, *ink);
            write!(text, "<path fill=\"{fill}\" d=\"M{x} {y}h{width}v{height}h-{width}z\"/>")
        }
        Mark::Block { x, y, size, hue } if *size == layout.cell => {
            write!(text, "<use href=\"#{}\" x=\"{x}\" y=\"{y}\"/>", name(*hue))
        }
        Mark::Block { x, y, size, hue } => {
            let scale = f64::from(*size) / f64::from(layout.cell);
            write!(text, "<use href=\"#{}\" transform=\"translate({x} {y})scale({scale})\"/>", name(*hue))
        }
        Mark::Ring { x, y, size, ink } => {
            let edge = (size / 12).max(1);
            let half = f64::from(edge) / 2.0;
            let (x, y, side) = (f64::from(*x) + 1.0 + half, f64::from(*y) + 1.0 + half, size - 1 - edge);
            let stroke = colour(scheme, *ink);
            write!(
                text,
                "<path fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{edge}\" d=\"M{x} {y}h{side}v{side}h-{side}z\"/>"
            )
        }
        Mark::Words { x, y, dot, ink, text: words } => {
            let letters = words.chars().count() as u32;
            if letters == 0 {
                return;
            }
            let (base, length) = (y + font::HEIGHT * dot, letters * font::ADVANCE * dot - dot);
            let size = font::HEIGHT * dot * 10 / 7;
            let fill = colour(scheme, *ink);
            write!(
                text,
                "<text x=\"{x}\" y=\"{base}\" font-size=\"{size}\" textLength=\"{length}\" \
                 lengthAdjust=\"spacingAndGlyphs\" fill=\"{fill}\">{}</text>",
                escaped(words)
            )
        }
    };
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
