//! Flags made into the way in which a run of temporal differences learns.

use super::args::TrainArgs;
use super::searches::common_weights;
use super::settings::{Defaults, LITERATURE, with};
use crate::client::Client;
use crate::input::UsageError;
use crate::optimizers::{InvalidParameter, Network, NetworkConfig, Td, TdConfig};
use crate::trainer::lessons::{Lessons, MethodName, Moves};
use crate::trainer::model::{ActivationName, ShapeNote, TupleName, TupleNote};
use crate::trainer::settings::Settings;

/// What the features say and the tables of the surface cannot see. Those of a landing are left out, because two placements with
/// one afterstate have one value.
const FEATURES: &str =
    "row_transitions,column_transitions,holes,cumulative_wells,hole_depth,rows_with_holes,pattern_diversity";

const DEFAULTS: Defaults = Defaults { features: FEATURES, generations: 8, games: 64, ..LITERATURE };

/// The most games at a time: the answer for half of them has some megabytes on a usual playfield.
const MOST_GAMES: u32 = 1024;

/// A table for all cells of a column or of a row has 2 to the power of this many rows, for each of them.
const LONGEST_LINE: u32 = 12;

/// The controller that a network begins with, and what a unit of its score counts in logarithms of the risk.
const START: (&str, f64) = ("dt-10", 0.035);

/// How a run learns, by the flags.
fn lessons(
    args: &TrainArgs,
    features: &[String],
    size: (u32, u32),
    generations: u32,
) -> anyhow::Result<Lessons> {
    let units = args.units.unwrap_or(0);
    let exploration = args.exploration.unwrap_or(if units > 0 { 0.0 } else { 0.02 });
    if !(0.0..=1.0).contains(&exploration) {
        return Err(UsageError(format!("--exploration: {exploration}, expected 0 to 1")).into());
    }
    let rounds = args.rounds.unwrap_or(512);
    let (moves, start, model) = if units > 0 {
        let games = args.games.unwrap_or(DEFAULTS.games);
        let updates = f64::from(generations) * f64::from(rounds) * f64::from(games);
        let (config, start) = network(args, units, (features, size.0), updates)?;
        (Moves::OfNetwork(config), start, Some(tables_of_network(args, units, size)?))
    } else {
        (Moves::OfSum(sum(args)?), Vec::new(), tables_of_sum(args, size)?)
    };
    let stretch = args.stretch.unwrap_or(if units > 0 { 30 } else { 0 });
    let lessons = Lessons { method: MethodName::Td, rounds, exploration, stretch, moves, start, model };
    match lessons.shape() {
        Ok(_) => Ok(lessons),
        Err(error) => {
            Err(UsageError(format!("--step-tuple, --step-clip and --height-tuple: {error}")).into())
        }
    }
}

/// How the scores of a sum move, by the flags.
fn sum(args: &TrainArgs) -> Result<TdConfig, UsageError> {
    let of_network =
        [("--unit-share", args.unit_share.is_some()), ("--start-scale", args.start_scale.is_some())];
    if let Some((flag, _)) = of_network.iter().find(|(_, given)| *given) {
        return Err(UsageError(format!("{flag} is of a network; leave it out, or add --units")));
    }
    let default = TdConfig::default();
    let config = TdConfig {
        discount: args.td_discount.unwrap_or(default.discount),
        feature_step: args.feature_step.unwrap_or(default.feature_step),
        entry_step: args.entry_step.unwrap_or(default.entry_step),
        half: args.step_half.unwrap_or(default.half),
    };
    Td::new(config.clone(), 0, 0).map_err(cannot_begin)?;
    Ok(config)
}

/// How the scores of a network move that learns from this many states, by the flags, and the weights of these features at this
/// width that it begins with.
fn network(
    args: &TrainArgs,
    units: u32,
    (features, width): (&[String], u32),
    updates: f64,
) -> anyhow::Result<(NetworkConfig, Vec<f64>)> {
    if args.feature_step.is_some() {
        let problem = "--feature-step is of sums; a network has one step, --entry-step";
        return Err(UsageError(problem.to_owned()).into());
    }
    let default = NetworkConfig::default();
    let config = NetworkConfig {
        discount: args.td_discount.unwrap_or(default.discount),
        units,
        step: args.entry_step.unwrap_or(default.step),
        share: args.unit_share.unwrap_or(default.share),
        half: args.step_half.unwrap_or((updates / 3.0).ceil()),
    };
    let scale = args.start_scale.unwrap_or(START.1);
    let mut start = common_weights(args.start.as_deref().unwrap_or(START.0), features, width)?;
    start.iter_mut().for_each(|weight| *weight *= scale);
    Network::new(config.clone(), &start, 0, 0).map_err(cannot_begin)?;
    Ok((config, start))
}

/// The tables of a sum, each at every place of the surface.
fn tables_of_sum(args: &TrainArgs, size: (u32, u32)) -> Result<Option<ShapeNote>, UsageError> {
    let mut tuples = Vec::new();
    for Group { kind, length, places, clip } in surface(args, size, 2)? {
        let first = tuples.len() as u32;
        for place in 0..=places - length {
            let positions = (place..place + length).collect();
            tuples.push(TupleNote { kind, positions, clip, shares: (place > 0).then_some(first) });
        }
    }
    Ok((!tuples.is_empty()).then_some(ShapeNote::NTuple { tuples }))
}

/// The tables of a network, one a place of the surface and one for each whole column and row, and its units.
fn tables_of_network(
    args: &TrainArgs,
    units: u32,
    (width, height): (u32, u32),
) -> Result<ShapeNote, UsageError> {
    if width.max(height) > LONGEST_LINE {
        return Err(UsageError(format!(
            "--units: {units}, expected 0 on {width} x {height}: the tables of whole columns and rows are for at most \
             {LONGEST_LINE} of each"
        )));
    }
    let mut tuples = Vec::new();
    for Group { kind, length, places, clip } in surface(args, (width, height), 3)? {
        let first = tuples.len() as u32;
        for place in 0..=places - length {
            // The mirror image of a height is a height; that of a step goes the other way.
            let mirrored = places - length - place;
            let is_image = kind == TupleName::Heights && mirrored < place;
            let mut positions: Vec<u32> = (place..place + length).collect();
            if is_image {
                positions.reverse();
            }
            tuples.push(TupleNote { kind, positions, clip, shares: is_image.then_some(first + mirrored) });
        }
    }
    let first = tuples.len() as u32;
    let cells =
        |positions: Vec<u32>, shares| TupleNote { kind: TupleName::Cells, positions, clip: 0, shares };
    for column in 0..width {
        let mirrored = width - 1 - column;
        let positions = (0..height).rev().map(|row| row * width + column).collect();
        tuples.push(cells(positions, (mirrored < column).then_some(first + mirrored)));
    }
    for row in 0..height {
        tuples.push(cells((0..width).rev().map(|column| row * width + column).collect(), None));
    }
    Ok(ShapeNote::Mlp { hidden: vec![units], activation: ActivationName::LeakyRelu, tuples })
}

/// Tuples of one kind, one at every place.
struct Group {
    kind: TupleName,
    length: u32,
    places: u32,
    clip: u32,
}

/// The tuples of the surface that flags ask for.
fn surface(args: &TrainArgs, (width, height): (u32, u32), heights: u32) -> Result<Vec<Group>, UsageError> {
    let (length, clip) = (args.step_tuple.unwrap_or(4), args.step_clip.unwrap_or(3).min(height));
    let steps = Group { kind: TupleName::Steps, length, places: width.saturating_sub(1), clip };
    let length = args.height_tuple.unwrap_or(heights);
    let heights = Group { kind: TupleName::Heights, length, places: width, clip: height };
    let groups = [("--step-tuple", steps), ("--height-tuple", heights)];
    if let Some((flag, Group { length, places, .. })) =
        groups.iter().find(|(_, group)| group.length > group.places)
    {
        return Err(UsageError(format!("{flag}: {length}, expected at most {places} at width {width}")));
    }
    Ok(groups.into_iter().map(|(_, group)| group).filter(|group| group.length > 0).collect())
}

fn cannot_begin(error: InvalidParameter) -> UsageError {
    UsageError(format!("the learning cannot begin; see the flags of temporal differences: {error}"))
}

/// Settings from flags; what the flags leave open, the server decides.
pub async fn new_settings(args: &TrainArgs, client: &Client) -> anyhow::Result<Settings<Lessons>> {
    let method =
        |features: &[String], size: (u32, u32), generations: u32| lessons(args, features, size, generations);
    let settings = with(args, DEFAULTS, client, method).await?;
    if !(2..=MOST_GAMES).contains(&settings.games) {
        let problem = format!("--games: {}, expected 2 to {MOST_GAMES} at a time", settings.games);
        return Err(UsageError(problem).into());
    }
    Ok(settings)
}
