//! Every placement of the pieces of many positions, and its effects.
//!
//! The answer is a table of columns in compressed rows: position i has the rows `row_offsets[i]..row_offsets[i + 1]`,
//! in ascending action order. [`num_rows`] computes their number in advance, for callers with limited memory.

mod columns;

pub use columns::{Options, Placements, bytes_per_cell_row};

use columns::write_rows;

use crate::engine::{
    Chain, Clear, Column, Hand, Incoming, Landed, MovingPiece, Piece, Placement, Playfield, PlayfieldOf,
    Rules, comes_to_rest, drops, every_choice_always_exists, is_locked_out, keys_to_each, land, land_at,
};
use crate::features::kernel::{
    Extractor, Kernel, LaneBounds, LaneWork, Lanes, Measurements, PlacementRows, RestingPiece, Together,
    dispatch,
};
use crate::features::{FeatureSet, Seen};

/// A playfield and the pieces that can be placed on it.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    pub playfield: Playfield,
    /// Pieces to place; `None` if the episode has ended.
    pub hand: Option<Hand>,
    /// The preceding clears, if the rules need them.
    pub chain: Chain,
    /// Position of the piece after keys have moved it; `None` if it has just appeared. Placements start where it
    /// appeared in either case.
    pub falling: Option<MovingPiece>,
    /// The factor of the lines that a clear sends.
    pub multiplier: f64,
    /// The rows that contain garbage: bit r for row r.
    pub garbage_rows: u64,
}

impl Position {
    /// A position without a past.
    pub fn of(playfield: Playfield, hand: Option<Hand>) -> Position {
        let chain = Chain::default();
        Position { playfield, hand, chain, falling: None, multiplier: 1.0, garbage_rows: 0 }
    }

    /// This position with the garbage of its game.
    #[must_use]
    pub fn with_garbage(self, Incoming { multiplier, garbage_rows, .. }: Incoming) -> Position {
        Position { multiplier, garbage_rows, ..self }
    }
}

/// Number of placements of a position under these rules.
pub fn num_rows(rules: &Rules, position: &Position) -> u32 {
    let rules = rules.after(position.chain);
    position.hand.map_or(0, |hand| hand.num_placements(&rules, &position.playfield))
}

/// Rough time of [`enumerate`] for `num_positions`, in nanoseconds on one core.
///
/// For keys on drawings with many places and paths, it takes up to twice as long; in games, a tenth.
pub fn nanoseconds(rules: &Rules, num_positions: usize, set: Option<&FeatureSet>, options: Options) -> u64 {
    let (width, height) = (u64::from(rules.width), u64::from(rules.height));
    let num_features = set.map_or(0, FeatureSet::len) as u64;
    let row = match extractor(rules, set) {
        // Beyond these sizes, only half or a quarter as many placements fit into a register.
        Some(_) if width > 16 || height > 28 => 48 + 6 * num_features,
        Some(_) => 16 + 2 * num_features,
        None => 120 + width * height / 4 + set.map_or(0, |set| set.nanoseconds(rules.height)),
    };
    let boards = u64::from(options.afterstates) + u64::from(options.preclear_boards);
    let landing = if options.look_at_landings() { 20 + 2 * height * boards } else { 0 };
    // A piece has at most 4 * width straight placements; the seven tetrominoes have 2.3 * width on average. With spots,
    // a rough stack has more, and they must be found.
    let placements = if rules.names_spots() { 5 * width } else { 3 * width };
    let search = if rules.names_spots() { 1_000 + 40 * width * height / 16 } else { 0 };
    let searches = u64::from(options.keys) + u64::from(rules.steers());
    let keys = searches * (key_search(rules) + placements * 200);
    let pieces = 1 + u64::from(rules.hold);
    num_positions as u64 * pieces * (search + keys + placements * (row + landing + lookup(options)))
}

/// Rough time of [`enumerate_only`], including the check that the placements exist.
pub fn nanoseconds_of_one(
    rules: &Rules,
    num_positions: usize,
    set: Option<&FeatureSet>,
    options: Options,
) -> u64 {
    let (width, height) = (u64::from(rules.width), u64::from(rules.height));
    let boards = u64::from(options.afterstates) + u64::from(options.preclear_boards);
    let row = 150 + width * height / 4 + set.map_or(0, |set| set.nanoseconds(rules.height));
    let search = if rules.names_spots() { 2 * (1_000 + 40 * width * height / 16) } else { 0 };
    // The search ends at the placement, on average after a third of all places.
    let keys = (u64::from(options.keys) + u64::from(rules.steers())) * key_search(rules) / 3;
    num_positions as u64 * (row + 2 * height * boards + search + keys + lookup(options))
}

/// Rough time to look up the value of a placement, in nanoseconds.
fn lookup(options: Options) -> u64 {
    if options.optimal_values.is_some() { 300 } else { 0 }
}

/// Rough time to find the keys to all placements of a piece, in nanoseconds.
fn key_search(rules: &Rules) -> u64 {
    1_000 + 300 * u64::from(rules.width) * u64::from(rules.visible_rows())
}

/// Lists every placement of every position.
///
/// The fastest kernel measures the features that kernels support; the numbers are equal on every path.
///
/// # Panics
/// If a playfield or the feature set does not have the size of the rules, or if keys are wanted outside of games of keys
/// where [no placement names its spot](Rules::names_spots).
pub fn enumerate(
    rules: &Rules,
    positions: &[Position],
    set: Option<&FeatureSet>,
    options: Options,
) -> Placements {
    enumerate_with(Kernel::best(), rules, positions, set, options)
}

/// Like [`enumerate`], on a given kernel wherever kernels can be used.
///
/// # Panics
/// Like [`enumerate`], or if this machine does not support the kernel.
pub fn enumerate_with(
    kernel: Kernel,
    rules: &Rules,
    positions: &[Position],
    set: Option<&FeatureSet>,
    options: Options,
) -> Placements {
    let columns = match extractor(rules, set) {
        Some(extractor) => enumerate_on(kernel, rules, positions, &extractor, options),
        None => enumerate_together(kernel, rules, positions, set, options),
    };
    with_optimal_values(rules, positions, options, columns)
}

/// Looks up the values of the listed placements, if they are wanted. Tables exist only under rules without hold.
fn with_optimal_values(
    rules: &Rules,
    positions: &[Position],
    options: Options,
    mut columns: Placements,
) -> Placements {
    let Some(values) = options.optimal_values else { return columns };
    for (position, rows) in positions.iter().zip(columns.row_offsets.windows(2)) {
        let Some(hand) = &position.hand else { continue };
        let of_row = |&placement: &i32| {
            let placement = Placement::from_action(placement as u32, rules);
            let (_, landing) = land(rules, &position.playfield, hand.current, placement);
            values.of_landing(&landing).unwrap_or(f64::NAN)
        };
        let listed = &columns.placements[rows[0] as usize..rows[1] as usize];
        columns.optimal_values.extend(listed.iter().map(of_row));
    }
    columns
}

/// Lists every placement. Measures the features of several placements [together](Together) where possible.
///
/// # Panics
/// Like [`enumerate`], or if this machine does not support the kernel.
pub(crate) fn enumerate_together(
    kernel: Kernel,
    rules: &Rules,
    positions: &[Position],
    set: Option<&FeatureSet>,
    options: Options,
) -> Placements {
    let together = Together::new(set, None).map(|together| (kernel, together));
    enumerate_hands(rules, positions, set, together.as_ref(), options)
}

/// The kernels' extractor, if they can be used: they look at every column, even if no piece can reach it.
fn extractor(rules: &Rules, set: Option<&FeatureSet>) -> Option<Extractor> {
    Extractor::new(set).filter(|_| is_for_kernels(rules))
}

/// Whether the kernels list what these rules have: every placement of one tetromino, with points for its lines only.
fn is_for_kernels(rules: &Rules) -> bool {
    rules.pieces.is_tetrominoes() && every_choice_always_exists(rules) && !rules.keeps_chain()
}

/// Lists every placement, with features that a kernel supports.
///
/// # Panics
/// Like [`enumerate`], or if this machine does not support the kernel, [a choice need not
/// exist](every_choice_always_exists), or points for clears depend on earlier clears.
pub fn enumerate_on(
    kernel: Kernel,
    rules: &Rules,
    positions: &[Position],
    extractor: &Extractor,
    options: Options,
) -> Placements {
    assert!(is_for_kernels(rules), "kernels look at every column of one piece, and count its lines");
    let job = Enumerate { rules, positions, extractor, options };
    dispatch(kernel, rules.width, rules.height, job)
}

struct Enumerate<'a> {
    rules: &'a Rules,
    positions: &'a [Position],
    extractor: &'a Extractor,
    options: Options,
}

impl LaneWork for Enumerate<'_> {
    type Output = Placements;

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> Placements {
        let Enumerate { rules, positions, extractor, options } = self;
        let size = LaneBounds::<L>::new(rules.width, rules.height);
        let num_rows = positions.iter().map(|position| num_rows(rules, position) as usize).sum();
        let mut columns = Placements::with_capacity(positions.len(), num_rows);
        let mut rows = PlacementRows::with_capacity(num_rows, extractor.num_features());
        for position in positions {
            let playfield: PlayfieldOf<C, N> = position.playfield.resized();
            if options.position_features {
                extractor.append_playfield(&size, &playfield, &mut columns.position_features);
            }
            if let Some(Hand { current: piece, .. }) = position.hand {
                let first = rows.lines.len();
                extractor.append(&size, &playfield, rules.shapes(piece), rules.top_out, &mut rows);
                let all = drops(rules, &playfield, piece);
                columns.placements.extend(all.iter().map(|p| p.action(rules) as i32));
                if options.look_at_landings() {
                    let landed = all.iter().zip(first..);
                    append_landings(rules, position, piece, landed, &rows, options, &mut columns);
                }
            }
            columns.row_offsets.push(rows.lines.len() as u32);
        }
        let reward = |(&lines, &terminated): (&u8, &bool)| rules.reward(lines, terminated.into()) as f32;
        columns.rewards = rows.lines.iter().zip(&rows.terminated).map(reward).collect();
        columns.actions = columns.placements.clone();
        let PlacementRows { features, lines, terminated, .. } = rows;
        Placements { features, lines, terminated, ..columns }
    }
}

/// Writes the wanted columns of one position's landings, whose rows are known.
///
/// If a landing clears nothing, its afterstate is the position plus the piece's cells. Only other landings are played.
fn append_landings(
    rules: &Rules,
    position: &Position,
    piece: Piece,
    placements: impl Iterator<Item = (Placement, usize)>,
    rows: &PlacementRows,
    options: Options,
    columns: &mut Placements,
) {
    let bytes = bytes_per_cell_row(rules.width);
    let height = usize::from(rules.height);
    let mut before = Vec::with_capacity(height * bytes);
    write_rows(&position.playfield, &mut before);
    for (placement, at) in placements {
        let shape = &rules.shapes(piece)[usize::from(placement.orientation)];
        let landing_row = rows.landing_rows[at];
        let write_locked = |out: &mut Vec<u8>| {
            let from = out.len();
            out.extend_from_slice(&before);
            let cells = out[from..].chunks_exact_mut(bytes).skip(landing_row.into());
            for (row, cells) in (0..shape.height).zip(cells) {
                let bits = (shape.row_bits(row) << placement.column).to_le_bytes();
                for (cell, bit) in cells.iter_mut().zip(bits) {
                    *cell |= bit;
                }
            }
        };
        columns.push_rest(options, 4, shape, landing_row, placement.column);
        if options.preclear_boards {
            write_locked(&mut columns.preclear_boards);
        }
        if options.afterstates && rows.lines[at] > 0 {
            let landing = position.playfield.land_at(shape, landing_row, placement.column, rules.top_out);
            write_rows(&landing.afterstate, &mut columns.afterstates);
        } else if options.afterstates {
            write_locked(&mut columns.afterstates);
        }
    }
}

/// Lists every placement by measuring one landing at a time with the features' own functions.
///
/// # Panics
/// Like [`enumerate`].
pub fn enumerate_plainly(
    rules: &Rules,
    positions: &[Position],
    set: Option<&FeatureSet>,
    options: Options,
) -> Placements {
    enumerate_hands(rules, positions, set, None, options)
}

/// Lists every placement of the hands, like [`enumerate_each`].
fn enumerate_hands(
    rules: &Rules,
    positions: &[Position],
    set: Option<&FeatureSet>,
    together: Option<&(Kernel, Together)>,
    options: Options,
) -> Placements {
    let num_rows = positions.iter().map(|position| num_rows(rules, position) as usize).sum();
    enumerate_each(rules, positions, num_rows, set, together, options, |_, rules, hand, playfield| {
        hand.placements(rules, playfield)
    })
}

/// Lists one placement per position, or none for a position without such a placement.
///
/// # Panics
/// Like [`enumerate_with`], or if the numbers of placements and positions differ.
pub fn enumerate_only(
    kernel: Kernel,
    rules: &Rules,
    positions: &[Position],
    only: &[Placement],
    set: Option<&FeatureSet>,
    options: Options,
) -> Placements {
    assert_eq!(positions.len(), only.len(), "one placement for each position");
    let together = Together::new(set, None).map(|together| (kernel, together));
    let together = together.as_ref();
    let chosen = |at: usize, rules: &Rules, hand: &Hand, playfield: &Playfield| {
        let piece = hand.can_place(rules, playfield, only[at]);
        piece.map(|piece| (piece, only[at])).into_iter().collect()
    };
    let columns = enumerate_each(rules, positions, positions.len(), set, together, options, chosen);
    with_optimal_values(rules, positions, options, columns)
}

/// Lists the placements that `chosen` returns for the number of a position, its pieces and its playfield. Measures them
/// together on the kernel, if given, wherever that is possible, and otherwise one by one.
fn enumerate_each(
    rules: &Rules,
    positions: &[Position],
    num_rows: usize,
    set: Option<&FeatureSet>,
    together: Option<&(Kernel, Together)>,
    options: Options,
    chosen: impl Fn(usize, &Rules, &Hand, &Playfield) -> Vec<(Piece, Placement)>,
) -> Placements {
    let max_cells = if options.cells { rules.pieces.max_cells() } else { 0 };
    let mut vector = vec![0.0; set.map_or(0, FeatureSet::len)];
    let mut columns = Placements::with_capacity(positions.len(), num_rows);
    if options.keys {
        columns.key_offsets.push(0);
    }
    for (at, position) in positions.iter().enumerate() {
        let rules = &*rules.after(position.chain);
        if let Some(hand) = &position.hand {
            let all = chosen(at, rules, hand, &position.playfield);
            if options.keys {
                columns.push_keys(&keys_to_each(rules, &position.playfield, &all));
            }
            columns.push_actions(rules, (&position.playfield, position.falling), hand.current, &all);
            let playfield = &position.playfield;
            let measured =
                together.filter(|_| Together::holds(rules, playfield)).map(|(kernel, together)| {
                    let rest = |&(piece, placement): &(Piece, Placement)| {
                        let (shape, row) = comes_to_rest(rules, playfield, piece, placement);
                        RestingPiece { piece, shape, row, column: placement.column, spin: placement.spin() }
                    };
                    let rests: Vec<RestingPiece> = all.iter().map(rest).collect();
                    together.measure(*kernel, rules, playfield, &rests, set.is_some())
                });
            if let Some(Measurements { features, .. }) = &measured {
                columns.features.extend_from_slice(features);
            }
            let has_garbage = position.garbage_rows != 0;
            let looks = measured.is_none() || options.preclear_boards || options.afterstates || has_garbage;
            for (n, (piece, placement)) in all.into_iter().enumerate() {
                let (shape, row) = comes_to_rest(rules, playfield, piece, placement);
                let landing = looks.then(|| land_at(rules, playfield, shape, row, placement.column));
                columns.placements.push(placement.action(rules) as i32);
                if rules.spin_labels() > 1 {
                    columns.spins.push(placement.spin() as u8);
                }
                if rules.hold {
                    columns.holds.push(placement.hold);
                }
                let (landed, is_empty) = match (&landing, &measured) {
                    (Some(landing), _) => (landing.landed(), landing.afterstate.occupied_rows() == 0),
                    // On such a playfield, nothing else ends a game.
                    (None, Some(Measurements { lines, is_empty, .. })) => (
                        Landed { lines: lines[n], sunk: 0, terminal: is_locked_out(rules, row) },
                        is_empty[n],
                    ),
                    (None, None) => unreachable!("what is not measured is looked at"),
                };
                let mut chain = position.chain;
                let is_perfect = landed.lines > 0 && is_empty;
                let cleared = landing.as_ref().map_or(0, |landing| landing.vanished_rows());
                let has_garbage = cleared & position.garbage_rows != 0;
                let clear = Clear { lines: landed.lines, spin: placement.spin(), is_perfect, has_garbage };
                let (points, attack) = landed.worth_if(rules, position.multiplier, clear, &mut chain);
                columns.rewards.push(points as f32);
                if rules.keeps_chain() {
                    columns.attacks.push(attack.min(u8::MAX.into()) as u8);
                }
                columns.lines.push(landed.lines);
                columns.terminated.push(landed.terminal);
                if let (Some(set), None, Some(landing)) = (set, &measured, &landing) {
                    let seen = Seen { piece, spin: placement.spin(), shape, landing };
                    set.evaluate(&seen, &mut vector);
                    columns.features.extend(vector.iter().map(|&value| value as f32));
                }
                columns.push_rest(options, max_cells, shape, row, placement.column);
                if let Some(landing) = &landing {
                    if options.preclear_boards {
                        write_rows(&landing.locked, &mut columns.preclear_boards);
                    }
                    if options.afterstates {
                        write_rows(&landing.afterstate, &mut columns.afterstates);
                    }
                }
            }
        }
        if let Some(set) = set.filter(|_| options.position_features) {
            set.of_playfield(&position.playfield, &mut vector);
            columns.position_features.extend(vector.iter().map(|&value| value as f32));
        }
        columns.row_offsets.push(columns.actions.len() as u32);
    }
    columns
}
