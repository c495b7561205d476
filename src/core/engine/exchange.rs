//! The end of a turn of a match: lines go from one side to the other, and both sides score.
//!
//! [`incoming`](super::incoming) handles the lines of one side. Matches, environments and evaluations call this; it knows
//! no games.

use super::clears::{Attack, ClearPoints};
use super::episode_end::EpisodeEnd;
use super::garbage::Holes;
use super::incoming::Incoming;
use super::rules::Rules;

/// Lets the lines that left each side after its last landing arrive at the other. Returns what arrived.
pub(crate) fn exchange(rules: &Rules, sides: [(&mut Incoming, Holes<'_>); 2]) -> [Attack; 2] {
    let [(first, first_holes), (second, second_holes)] = sides;
    let mut left = [std::mem::take(&mut first.outgoing), std::mem::take(&mut second.outgoing)];
    if rules.garbage.is_some_and(|garbage| garbage.meets_in_flight) {
        let met = left[0].lines().min(left[1].lines());
        left = left.map(|attack| attack.without(met));
    }
    let [to_second, to_first] = left;
    first.receive(rules, first_holes, to_first.events());
    second.receive(rules, second_holes, to_second.events());
    [to_first, to_second]
}

/// What each side of a match scores for a turn as a whole, given what arrived at each side and how each has ended.
pub(crate) fn exchange_points(
    rules: &Rules,
    arrived: [Attack; 2],
    ends: [Option<EpisodeEnd>; 2],
) -> [f64; 2] {
    let lines = arrived.map(|attack| f64::from(attack.lines()));
    match rules.clear_points {
        ClearPoints::Exchange => [lines[1] - lines[0], lines[0] - lines[1]],
        ClearPoints::Result => ends.map(|end| EpisodeEnd::won(end).into()),
        _ => [0.0; 2],
    }
}
