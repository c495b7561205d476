//! Matches in a batch: two environments play each other, as one game does against another outside of it.

use super::{Dice, numbers, running, see};
use tetrion_core::engine::{
    ClearPoints, EpisodeEnd, Garbage, Match, MatchResult, Piece, Placement, Rules, rng,
};
use tetrion_core::env::{
    AutoresetMode, CreateError, EnvBatch, EnvConfig, EnvIdError, EnvState, Field, InvalidActionPolicy,
    ResetError, RestoreError, Restored, Role, Seeding, SeedingError, StepError,
};
use tetrion_core::placements::{Options, Position, enumerate};

fn presets() -> impl Iterator<Item = Rules> {
    let names = ["tetrio", "tetrio_season_1", "botris", "versus_simple"];
    let low = |name| Rules { players: 2, height: 14, rows_above: 4, ..Rules::preset(name).unwrap() };
    let drops = Rules { players: 2, garbage: low("tetrio").garbage, ..Rules::simplified(5, 14) };
    names.map(low).into_iter().chain([Rules { attack_table: low("tetrio").attack_table, ..drops }])
}

fn config(rules: Rules, num_envs: u32) -> EnvConfig {
    EnvConfig { rules, num_envs, autoreset_mode: AutoresetMode::Disabled, ..EnvConfig::default() }
}

/// A placement of each environment that clears lines where one can.
fn actions(batch: &EnvBatch, dice: &mut Dice) -> Vec<i32> {
    let rules = batch.config().rules;
    let greedy = |env_id: u32| {
        let Some(hand) = batch.hand(env_id) else { return 0 };
        let (all, playfield) = (
            hand.placements(&rules.after(batch.chain(env_id)), &batch.playfield(env_id)),
            batch.playfield(env_id),
        );
        let lines = |&(piece, placement): &(_, Placement)| {
            let mut after = playfield;
            let lines = tetrion_core::engine::place(&rules, &mut after, piece, placement).lines;
            (lines, std::cmp::Reverse(after.occupied_rows().count_ones()))
        };
        let best = all.iter().max_by_key(|choice| lines(choice)).unwrap();
        let any = &all[dice.below(all.len())];
        if dice.below(4) == 0 { any.1.action(&rules) as i32 } else { best.1.action(&rules) as i32 }
    };
    (0..batch.config().num_envs).map(greedy).collect()
}

#[test]
fn rows_play_the_matches_of_their_seeds() {
    let mut ends = [0; 3];
    for (n, rules) in presets().enumerate() {
        rules.check().unwrap();
        for seed in 0..6 {
            let mut batch = running(config(rules, 4), &Seeding::Seed(seed));
            let of = |side: u64| rng::word(seed, rng::Tag::Environment, 2 * side);
            let mut matches = [0, 1].map(|number| Match::new(&rules, of(number)).unwrap());
            let mut dice = Dice::new(seed);
            for step in 0..200 {
                let context = format!("rules {n}, seed {seed}, step {step}");
                for (number, versus) in matches.iter().enumerate() {
                    for (side, game) in versus.sides().iter().enumerate() {
                        let i = 2 * number as u32 + side as u32;
                        let incoming = batch.incoming(i);
                        assert_eq!(batch.playfield(i), *game.playfield(), "{context}");
                        assert_eq!(incoming, *game.incoming(), "{context}");
                        assert_eq!(batch.chain(i), game.chain(), "{context}");
                        assert_eq!(batch.hand(i).is_some(), versus.result().is_none(), "{context}");
                        let at = |field| numbers(&batch, field)[i as usize];
                        let totals = incoming.exchanged;
                        let told =
                            [at(Field::Sent), at(Field::Received), at(Field::Cancelled), at(Field::Surge)];
                        let expected = [totals.sent, totals.received, totals.cancelled, totals.surged];
                        assert_eq!(told, expected, "{context}");
                    }
                }
                let chosen = actions(&batch, &mut dice);
                let going: Vec<u32> =
                    (0..4).filter(|i| matches[*i as usize / 2].result().is_none()).collect();
                if going.is_empty() {
                    break;
                }
                let of_going: Vec<i32> = going.iter().map(|i| chosen[*i as usize]).collect();
                let outcome = batch.step(&of_going, Some(&going)).unwrap();
                for (number, versus) in matches.iter_mut().enumerate() {
                    if versus.result().is_some() {
                        continue;
                    }
                    let placements =
                        [0, 1].map(|side| Placement::from_action(chosen[2 * number + side] as u32, &rules));
                    let turn = versus.place(placements).unwrap();
                    let row = going.iter().position(|i| *i == 2 * number as u32).unwrap();
                    for side in 0..2 {
                        let points = turn.happened[side].unwrap().points as f32;
                        assert_eq!(outcome.rewards[row + side], points, "{context}");
                        assert_eq!(outcome.terminated[row + side], versus.result().is_some(), "{context}");
                    }
                }
            }
            let won = see(&batch, Field::Won, None);
            for (number, versus) in matches.iter().enumerate() {
                let (expected, kind) = match versus.result() {
                    Some(MatchResult::Won(0)) => ([1, 255], 0),
                    Some(MatchResult::Won(_)) => ([255, 1], 1),
                    Some(MatchResult::Draw) => ([0, 0], 2),
                    None => continue,
                };
                assert_eq!(won[2 * number..][..2], expected);
                ends[kind] += 1;
            }
        }
    }
    assert!(ends[0] > 0 && ends[1] > 0, "both sides have won: {ends:?}");
}

/// What a placement is listed to send is what it sends: with the chain, garbage among its rows, and a factor that grows.
#[test]
fn listed_attacks_are_those_of_steps() {
    for (n, rules) in presets().enumerate() {
        let garbage = rules.garbage.map(|garbage| Garbage { multiplier: 1.5, ..garbage });
        let rules = Rules { garbage, clear_points: ClearPoints::Attack, ..rules };
        let mut batch = running(
            EnvConfig { autoreset_mode: AutoresetMode::SameStep, ..config(rules, 2) },
            &Seeding::Seed(3),
        );
        let (mut dice, mut sent, mut with_garbage) = (Dice::new(n as u64), 0, 0);
        for step in 0..600 {
            let chosen = actions(&batch, &mut dice);
            let listed = [0, 1].map(|env_id| {
                let incoming = batch.incoming(env_id);
                let position = Position {
                    chain: batch.chain(env_id),
                    ..Position::of(batch.playfield(env_id), batch.hand(env_id)).with_garbage(incoming)
                };
                let all = enumerate(&rules, &[position], None, Options::default());
                let row = all.actions.iter().position(|action| *action == chosen[env_id as usize]).unwrap();
                with_garbage += usize::from(all.lines[row] > 0 && incoming.garbage_rows != 0);
                (all.attacks[row], all.rewards[row])
            });
            let outcome = batch.step(&chosen, None).unwrap();
            for (env_id, (attack, reward)) in listed.into_iter().enumerate() {
                assert_eq!(f32::from(attack), outcome.rewards[env_id], "rules {n}, step {step}");
                assert_eq!(reward, outcome.rewards[env_id], "rules {n}, step {step}");
                sent += u32::from(attack);
            }
        }
        assert!(sent > 0 && with_garbage > 0, "rules {n}: {sent} lines, {with_garbage} with garbage");
    }
}

/// A match that a snapshot of both sides interrupts goes on as if nothing had happened.
#[test]
fn snapshots_of_both_sides_continue_the_match() {
    for rules in presets() {
        let mut batch = running(config(rules, 4), &Seeding::Seed(3));
        let mut dice = Dice::new(1);
        for _ in 0..12 {
            if (0..4).any(|i| batch.has_ended(i)) {
                break;
            }
            batch.step(&actions(&batch, &mut dice), None).unwrap();
        }
        let states: Vec<EnvState> =
            (0..4).map(|i| EnvState::from_bytes(&batch.state(i).to_bytes()).unwrap()).collect();
        assert_eq!(states, (0..4).map(|i| batch.state(i)).collect::<Vec<_>>());
        let mut other = EnvBatch::new(config(rules, 4), &Seeding::Seed(9)).unwrap();
        // Rows may change places.
        let swapped = [states[2].clone(), states[3].clone(), states[0].clone(), states[1].clone()];
        other.restore(None, Restored::States(&swapped), None).unwrap();
        other
            .restore(
                Some(&[1, 0, 2, 3]),
                Restored::States(&[1, 0, 2, 3].map(|i: usize| states[i].clone())),
                None,
            )
            .unwrap();
        for _ in 0..12 {
            if (0..4).any(|i| batch.has_ended(i)) {
                break;
            }
            let chosen = actions(&batch, &mut dice);
            batch.step(&chosen, None).unwrap();
            other.step(&chosen, None).unwrap();
        }
        for i in 0..4 {
            assert_eq!(batch.state(i), other.state(i));
        }
    }
}

/// With swapped sides, each environment has the holes of its opponent: in later episodes too, and after a snapshot.
#[test]
fn swapped_sides_play_the_mirrored_match() {
    let (mut ended, mut risen) = (0, 0);
    for (n, rules) in presets().enumerate() {
        let config = EnvConfig { autoreset_mode: AutoresetMode::SameStep, ..config(rules, 4) };
        let seeds = Seeding::Seeds(vec![5, 5, 6, 6]);
        let [mut plain, mut mirrored] = [(), ()].map(|()| running(config.clone(), &seeds));
        mirrored.swap_sides(None);
        let mut dice = Dice::new(2);
        for step in 0..200 {
            let chosen = actions(&plain, &mut dice);
            let outcome = plain.step(&chosen, None).unwrap();
            let exchanged = [1, 0, 3, 2].map(|i| chosen[i]);
            let rewards = mirrored.step(&exchanged, None).unwrap().rewards;
            assert_eq!([1, 0, 3, 2].map(|i| rewards[i]), outcome.rewards[..], "rules {n}, step {step}");
            for i in 0..4 {
                assert_eq!(
                    plain.state(i).to_bytes(),
                    mirrored.state(i ^ 1).to_bytes(),
                    "rules {n}, step {step}"
                );
                risen += u32::from(plain.incoming(i).just_risen);
            }
            ended += outcome.terminated.iter().filter(|ended| **ended).count();
            if step % 20 == 0 {
                let states = [0, 1, 2, 3].map(|i| mirrored.state(i));
                mirrored = running(config.clone(), &Seeding::Seed(9));
                mirrored.restore(None, Restored::States(&states), None).unwrap();
            }
        }
        mirrored.reset(None, Some(&seeds)).unwrap();
        plain.reset(None, Some(&seeds)).unwrap();
        assert_eq!([0, 1].map(|i| plain.state(i)), [0, 1].map(|i| mirrored.state(i)), "until the next reset");
    }
    assert!(ended > 0 && risen > 0, "{ended} ended, {risen} rows");
}

/// A reseeded match goes on with equal pieces on both sides: those of its first side's row, wherever that is in the list.
#[test]
fn both_sides_of_a_reseeded_match_get_the_same_pieces() {
    let rules = presets().next().unwrap();
    let dealt = |list: &[u32], reseed: u64| -> Vec<Vec<Piece>> {
        let mut batch = running(config(rules, 6), &Seeding::Seed(4));
        let states: Vec<EnvState> = list.iter().map(|&i| batch.state(i)).collect();
        batch.restore(Some(list), Restored::States(&states), Some(reseed)).unwrap();
        (0..6).map(|i| batch.state(i).deal(60)).collect()
    };
    let (one, other) = (dealt(&[3, 5, 0, 4, 1, 2], 8), dealt(&[4, 0, 1, 2, 5, 3], 8));
    for k in [0, 2, 4] {
        assert_eq!(one[k], one[k + 1]);
        assert_eq!(other[k], other[k + 1]);
        assert_ne!(one[k], one[(k + 2) % 6]);
    }
    // The first sides are in the rows 2, 5, 3 and 1, 3, 0.
    assert_eq!(one[4][14..], other[2][14..], "what was seen or in the bag stays");
    assert_ne!(one[0], other[0]);
}

#[test]
fn one_side_is_refused_without_the_other() {
    let rules = presets().next().unwrap();
    let odd = EnvBatch::new(config(rules, 3), &Seeding::Seed(0)).unwrap_err();
    assert_eq!(odd, CreateError::OddMatch(3));
    let mixed = Seeding::Seeds(vec![4, 5]);
    let error = SeedingError::MatchSeeds { row: 1, got: 5, expected: 4 };
    assert_eq!(EnvBatch::new(config(rules, 2), &mixed).unwrap_err(), CreateError::Seeding(error));
    let mut batch = running(config(rules, 4), &Seeding::Seed(0));
    let before: Vec<EnvState> = (0..4).map(|i| batch.state(i)).collect();
    let alone = EnvIdError::Alone { row: 1, env_id: 3, opponent: 2 };
    let list: &[u32] = &[0, 3, 1];
    assert_eq!(batch.reset(Some(list), None), Err(ResetError::EnvIds(alone)));
    assert_eq!(batch.step(&[0, 0, 0], Some(list)).unwrap_err(), StepError::EnvIds(alone));
    let restored = batch.restore(Some(list), Restored::States(&before[..1]), None);
    assert_eq!(restored, Err(RestoreError::EnvIds(alone)));
    assert_eq!(batch.reset(Some(&[2, 3]), Some(&mixed)), Err(ResetError::Seeding(error)));
    let refused = |states: [usize; 2]| {
        let states = states.map(|i| before[i].clone());
        batch.check_restore(Some(&[0, 1]), Restored::States(&states))
    };
    let other = Err(RestoreError::OtherMatch { row: 0, other: 1 });
    assert_eq!([refused([0, 0]), refused([0, 2]), refused([0, 3]), refused([2, 1])], [other; 4]);
    assert_eq!([refused([2, 3]), refused([1, 0])], [Ok(()); 2]);
    assert_eq!((0..4).map(|i| batch.state(i)).collect::<Vec<_>>(), before, "nothing has changed");
    // Reading one side alone is no move.
    assert_eq!(batch.check(Some(&[3])), Ok(()));
}

/// Under every way of going on, both sides end and begin together, with equal seeds.
#[test]
fn both_sides_end_and_begin_together() {
    for autoreset_mode in [AutoresetMode::NextStep, AutoresetMode::SameStep] {
        for clear_points in [ClearPoints::Exchange, ClearPoints::Result] {
            let rules = Rules { clear_points, ..presets().next().unwrap() };
            let mut batch = running(EnvConfig { autoreset_mode, ..config(rules, 2) }, &Seeding::Seed(5));
            let mut dice = Dice::new(2);
            let (mut matches, mut sums) = (0, [0.0; 2]);
            for _ in 0..400 {
                let over = batch.has_ended(0);
                let chosen = if over { vec![0, 0] } else { actions(&batch, &mut dice) };
                let outcome = batch.step(&chosen, None).unwrap();
                assert_eq!(batch.has_ended(0), batch.has_ended(1));
                let seeds = numbers(&batch, Field::Seed);
                assert_eq!(seeds[0], seeds[1]);
                assert_eq!(outcome.terminated[0], outcome.terminated[1]);
                sums = [0, 1].map(|side| sums[side] + outcome.rewards[side]);
                if outcome.terminated[0] {
                    matches += 1;
                    if autoreset_mode == AutoresetMode::SameStep {
                        assert_eq!(outcome.finals.rows(), [0, 1]);
                        let mut won = Vec::new();
                        batch.observe_finals(Field::Won, &outcome.finals, &mut won);
                        assert_eq!(won[0], won[1].wrapping_neg());
                    }
                }
                assert_eq!(outcome.rewards[0], -outcome.rewards[1]);
            }
            assert!(matches > 2, "{matches} matches under {autoreset_mode:?}");
            assert!(sums[0] != 0.0 && sums[0] == -sums[1], "{sums:?}");
        }
    }
}

/// An action that does not exist loses the match, where it is not refused.
#[test]
fn an_invalid_action_loses() {
    let rules = presets().next().unwrap();
    let terminates = EnvConfig { invalid_action_policy: InvalidActionPolicy::Terminate, ..config(rules, 2) };
    let mut batch = running(terminates, &Seeding::Seed(5));
    let chosen = actions(&batch, &mut Dice::new(0));
    let mut mask = Vec::new();
    batch.observe(Field::ActionMask, None, &mut mask);
    let invalid = mask.iter().position(|exists| *exists == 0).unwrap() as i32;
    let outcome = batch.step(&[chosen[0], invalid], None).unwrap();
    assert_eq!(outcome.terminated, [true, true]);
    let ends = [EpisodeEnd::Won, EpisodeEnd::InvalidAction].map(|end| end as u8);
    assert_eq!(see(&batch, Field::End, None), ends);
    assert_eq!(see(&batch, Field::Won, None), [1, 255]);
    let defaults = Field::defaults(Role::Observation, batch.config());
    assert!(defaults.into_iter().any(|field| field == Field::Counts));
}
