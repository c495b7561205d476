//! What an agent would choose in place of its choice.

use tetrion_core::agents::{
    Agent, AgentRng, Controller, Decision, Expectation, Kernel, LookaheadAgent, Search, Sight,
};
use tetrion_core::engine::{Odds, Placement, Playfield, Tetromino};

use super::moves::guideline;
use tetrion_testing::Dice;

/// Random positions, and pieces to come.
fn positions(mut check: impl FnMut(&Sight<'_>)) {
    let (rules, dice) = (guideline(), &mut Dice(51, 0));
    for _ in 0..12 {
        let rows = (0..dice.below(8)).map(|_| dice.below(1 << 10) as u32).collect::<Vec<_>>();
        let playfield = Playfield::from_rows(10, 40, rows);
        let [piece, held, next] = [0; 3].map(|_| Tetromino::ALL[dice.below(7)]);
        let (next, odds) = ([next], Odds::EVEN);
        let held = Some(held);
        check(&Sight { next: &next, held, odds, ..Sight::of(&rules, &playfield, piece) });
    }
}

/// The choice first, and no placement twice.
fn preferences(agent: &Agent, sight: &Sight<'_>) -> Vec<Placement> {
    let kernel = Kernel::best();
    let preferences = agent.preferences(kernel, sight, &mut AgentRng::new(3));
    let Decision::Place(chosen) = agent.decide(kernel, sight, &mut AgentRng::new(3)) else { unreachable!() };
    assert_eq!(preferences[0], chosen);
    let different: std::collections::HashSet<_> = preferences.iter().collect();
    assert_eq!(different.len(), preferences.len());
    preferences
}

#[test]
fn placements_are_ranked_by_what_they_are_worth() {
    let linear = Controller::named("dt-10").unwrap().agent(10).unwrap();
    positions(|sight| {
        let scores = linear.scores_of_hand(Kernel::best(), sight.rules, sight.playfield, sight.hand());
        let score =
            |placement: &Placement| scores.iter().find(|one| one.placement == *placement).unwrap().score;
        let ranked = preferences(&Agent::Linear(linear.clone()), sight);
        assert_eq!(ranked.len(), scores.len());
        assert!(ranked.is_sorted_by(|one, other| score(one) >= score(other)));
        let agent = LookaheadAgent::new(linear.clone(), 1);
        let value = |placement: &Placement| agent.value(Kernel::best(), sight, *placement);
        let ranked = preferences(&Agent::Lookahead(agent.clone()), sight);
        assert_eq!(ranked.len(), sight.hand().placements(sight.rules, sight.playfield).len());
        assert!(ranked.is_sorted_by(|one, other| value(one) >= value(other)));
        // Among those that it looked at.
        let ranked = preferences(
            &Agent::searching(linear.clone(), Search::Expectation(Expectation::default())),
            sight,
        );
        assert_eq!(ranked.len(), usize::from(Expectation::default().placements));
    });
}

#[test]
fn an_agent_that_weighs_nothing_has_one_choice() {
    positions(|sight| {
        assert_eq!(preferences(&Agent::Random, sight).len(), 1);
        assert_eq!(preferences(&Agent::Dummy, sight).len(), 1);
    });
}
