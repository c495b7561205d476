//! The whole screen: players in a row, reasons, a line of text and the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::widgets::Widget;

use super::board::{Board, CellSize};
use super::palette::Palette;
use super::panel::{PANEL_WIDTH, Panel, least_height};
use super::reasons::{Explained, LEAST_HEIGHT, LEAST_WIDTH};
use crate::players::Reasons;
use crate::text::fitted;
use tetrion_core::engine::{Placement, Rules};
use tetrion_toolkit::recording::{Scene, SceneCells};

/// Columns between players.
const GAP: u16 = 2;
/// Most lines per cell.
const MAX_LINES: u16 = 4;
/// Lines for the text and the keys. The keys may take more lines if some are left. Remaining keys go to the right of
/// the players if all of them fit there.
const FOOT: u16 = 2;

/// A player on the screen.
#[derive(Clone, Debug)]
pub struct ScreenPlayer<'a> {
    pub name: &'a str,
    pub scene: Scene,
    /// Cells of the hinted placement.
    pub hint: Option<SceneCells>,
    /// Note on the player's state; may be empty.
    pub note: &'a str,
}

/// Everything on the screen, from which [`Show::render`] chooses a layout.
#[derive(Clone, Debug)]
pub struct Show<'a> {
    /// The players, at least one.
    pub seats: Vec<ScreenPlayer<'a>>,
    pub rules: &'a Rules,
    /// Reasons for a player's placement, and the user's placement to compare.
    pub reasons: Option<(&'a Reasons, Option<Placement>)>,
    /// State as text, the most important part first.
    pub words: Vec<String>,
    /// Help texts of the keys, the most important first.
    pub keys: &'a [&'a str],
    pub palette: Palette,
}

/// A layout of the players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SeatLayout {
    cells: CellSize,
    board: Size,
    /// Whether the panel is to the right of the playfield instead of below it.
    is_beside: bool,
    /// Columns and lines per player.
    seat: Size,
}

impl SeatLayout {
    fn new(rules: &Rules, cells: CellSize, is_beside: bool) -> SeatLayout {
        let board = cells.of_board(rules.width, rules.visible_rows());
        let panel = least_height(rules);
        let seat = if is_beside {
            Size::new(board.width + 1 + PANEL_WIDTH, board.height.max(panel))
        } else {
            Size::new(board.width.max(PANEL_WIDTH), board.height + panel)
        };
        SeatLayout { cells, board, is_beside, seat }
    }

    /// Columns and lines that this many players take.
    fn size(&self, players: u16) -> Size {
        Size::new(players * (self.seat.width + GAP) - GAP, self.seat.height)
    }
}

impl Show<'_> {
    /// The possible layouts, best first.
    fn plans(&self) -> Vec<SeatLayout> {
        plans(self.rules, self.palette)
    }

    /// Number of players that fit on the screen, at least one.
    pub fn most_seats(rules: &Rules, palette: Palette, screen: Rect) -> usize {
        let plans = plans(rules, palette).into_iter();
        let fitting = plans.filter(|plan| plan.seat.height + FOOT <= screen.height);
        let seats = fitting.map(|plan| usize::from((screen.width + GAP) / (plan.seat.width + GAP)));
        seats.max().unwrap_or(1).max(1)
    }

    /// Of the sizes that suffice, the one closest to the size of the screen.
    fn needed(&self, screen: Rect) -> Size {
        let sizes = self.plans().into_iter().map(|plan| {
            let size = plan.size(self.seats.len() as u16);
            Size::new(size.width, size.height + FOOT)
        });
        let missing =
            |size: &Size| size.width.saturating_sub(screen.width) + size.height.saturating_sub(screen.height);
        sizes.min_by_key(missing).expect("there is an arrangement")
    }

    /// Draws the screen in the largest layout that fits, or says how large it should be.
    pub fn render(&self, buffer: &mut Buffer) {
        let area = buffer.area;
        let players = self.seats.len() as u16;
        let fits = |plan: &SeatLayout| {
            let size = plan.size(players);
            let main = Rect { height: area.height.saturating_sub(FOOT), ..area };
            // Large cells leave room for the reasons, whether or not there are some now: cells keep their size.
            let has_room = match plan.cells {
                CellSize::Wide(2..) => room_for_reasons(main, size).is_some(),
                CellSize::Wide(_) | CellSize::Half => true,
            };
            size.width <= main.width && size.height <= main.height && has_room
        };
        let Some(plan) = self.plans().into_iter().find(fits) else { return self.render_refusal(buffer) };
        let names: Vec<&str> = self.seats.iter().map(|seat| seat.name).collect();
        let names = told_apart(&names, Board::name_width(plan.board.width));
        for ((n, seat), name) in (0..).zip(&self.seats).zip(&names) {
            let left = area.x + n * (plan.seat.width + GAP);
            let area = Rect { x: left, width: plan.seat.width, height: plan.seat.height, ..area };
            self.render_seat(&ScreenPlayer { name, ..seat.clone() }, &plan, area, buffer);
        }
        let size = plan.size(players);
        let width = usize::from(area.width);
        let (keys, others) = packed(self.keys, width, usize::from(area.height - size.height - 1));
        let foot = 1 + keys.len() as u16;
        let main = Rect { height: area.height - foot, ..area };
        if let Some((reasons, yours)) = self.reasons
            && let Some(room) = room_for_reasons(main, size)
        {
            let explained = Explained { reasons, rules: self.rules, yours, palette: self.palette };
            explained.render(room, buffer);
        } else {
            let room = room_beside(main, size);
            let has_room = |key: &&str| key.len() <= usize::from(room.width);
            if others.len() <= usize::from(room.height) && others.iter().all(has_room) {
                for (y, key) in (room.top()..room.bottom()).rev().zip(others.into_iter().rev()) {
                    buffer.set_string(room.x, y, key, self.palette.label());
                }
            }
        }
        let words = fitted(&self.words, width);
        buffer.set_stringn(area.x, main.bottom(), words, width, self.palette.strong());
        for (y, line) in (main.bottom() + 1..).zip(keys) {
            buffer.set_stringn(area.x, y, line, width, self.palette.label());
        }
    }

    fn render_seat(&self, seat: &ScreenPlayer<'_>, plan: &SeatLayout, area: Rect, buffer: &mut Buffer) {
        let ScreenPlayer { name, ref scene, hint, note } = *seat;
        let palette = self.palette;
        Board { scene, rows: self.rules.visible_rows(), hint, name, cells: plan.cells, palette }
            .render(area, buffer);
        let panel = if plan.is_beside {
            let x = area.x + plan.board.width + 1;
            Rect { x, width: PANEL_WIDTH, ..area }
        } else {
            let y = area.y + plan.board.height;
            Rect { y, width: PANEL_WIDTH, height: area.bottom() - y, ..area }
        };
        Panel { scene, rules: self.rules, note, palette }.render(panel, buffer);
    }

    /// Draws the message that the screen is too small.
    fn render_refusal(&self, buffer: &mut Buffer) {
        let (area, needed) = (buffer.area, self.needed(buffer.area));
        let lines = [
            format!("too small: {} x {}", area.width, area.height),
            format!("needs {} x {}", needed.width, needed.height),
        ];
        for (y, line) in (area.y..area.bottom()).zip(lines) {
            buffer.set_stringn(area.x, y, line, area.width.into(), self.palette.strong());
        }
    }
}

/// The possible layouts, best first.
fn plans(rules: &Rules, palette: Palette) -> Vec<SeatLayout> {
    let sizes =
        (1..=MAX_LINES).rev().map(CellSize::Wide).chain(palette.has_halves().then_some(CellSize::Half));
    sizes.flat_map(|cells| [true, false].map(|beside| SeatLayout::new(rules, cells, beside))).collect()
}

/// Names whose first characters differ, as many as there is room for: formulas may differ at their ends only.
fn told_apart(names: &[&str], room: usize) -> Vec<String> {
    let start = |name: &str| name.chars().take(room).collect::<String>();
    let apart = |name: &&str| {
        let others = names.iter().filter(|other| *other != name && start(other) == start(name));
        let equal = |other: &&str| name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
        match others.map(equal).min() {
            Some(equal) => "..".chars().chain(name.chars().skip(equal.saturating_sub(2))).collect(),
            None => (*name).to_owned(),
        }
    };
    names.iter().map(apart).collect()
}

/// The area to the right of the players.
fn room_beside(main: Rect, players: Size) -> Rect {
    let x = main.x + players.width + GAP;
    Rect { x, width: main.right().saturating_sub(x), ..main }
}

/// The area for the reasons, if it is large enough: to the right of the players, otherwise below them.
fn room_for_reasons(main: Rect, players: Size) -> Option<Rect> {
    let beside = room_beside(main, players);
    let y = main.y + players.height + 1;
    let below = Rect { y, height: main.bottom().saturating_sub(y), ..main };
    let fits = |room: &Rect| room.width >= LEAST_WIDTH && room.height >= LEAST_HEIGHT;
    [beside, below].into_iter().find(fits)
}

/// Packs the keys into as few lines as possible, at most `most`, separated by two spaces. Also returns the keys that do
/// not fit, the least important ones. The result has at least one line.
fn packed<'a>(keys: &[&'a str], width: usize, most: usize) -> (Vec<String>, Vec<&'a str>) {
    let (mut lines, mut others) = (vec![String::new()], Vec::new());
    for key in keys {
        let room = |line: &String| line.is_empty() || line.chars().count() + 2 + key.chars().count() <= width;
        let line = match lines.iter().position(room) {
            Some(line) => line,
            None if lines.len() < most => {
                lines.push(String::new());
                lines.len() - 1
            }
            None => {
                others.push(*key);
                continue;
            }
        };
        if !lines[line].is_empty() {
            lines[line] += "  ";
        }
        lines[line] += key;
    }
    (lines, others)
}
