//! Garbage over the wire: its rules and their defaults, what a session shows and saves; and the row in which pieces appear.

use tetrion_core::engine::{Garbage, Rules};
use tetrion_protocol::rules::{ResolvedRules, RulesChoice};
use tetrion_protocol::{pb, positions};
use tonic::Code;

use crate::support::{field_names, numbers, restore, save, start};
use tetrion_service_testing::{config, create, refused, reset, step};

fn garbage(lines_per_piece: f64) -> pb::Garbage {
    pb::Garbage { lines_per_piece: Some(lines_per_piece), ..Default::default() }
}

fn with(garbage: pb::Garbage) -> pb::Rules {
    pb::Rules { garbage: Some(garbage), width: 6, height: 12, ..Default::default() }
}

#[test]
fn parts_that_are_not_named_are_the_usual_ones() {
    let resolved = |garbage: pb::Garbage| {
        ResolvedRules::try_from(&with(garbage)).map(|resolved| resolved.rules.garbage).unwrap()
    };
    assert_eq!(
        resolved(garbage(0.5)),
        Some(Garbage { lines_per_piece: 0.5, hole_move_chance: 0.05, delay_pieces: 1, ..Garbage::DEFAULT })
    );
    let all = pb::Garbage {
        lines_per_piece: Some(4.0),
        hole_move_chance: Some(0.0),
        delay_pieces: Some(0),
        ..pb::Garbage::default()
    };
    assert_eq!(
        resolved(all),
        Some(Garbage { lines_per_piece: 4.0, hole_move_chance: 0.0, delay_pieces: 0, ..Garbage::DEFAULT })
    );
    // None, and what says nothing about it.
    assert_eq!(resolved(pb::Garbage::default()), None);
    assert_eq!(resolved(pb::Garbage { lines_per_piece: Some(0.0), ..all }), None);
    // What is echoed is the same rules, and says nothing of garbage where there is none.
    let echoed = pb::Rules::from(&ResolvedRules::try_from(&with(garbage(0.5))).unwrap());
    let full = pb::Garbage {
        lines_per_piece: Some(0.5),
        hole_move_chance: Some(0.05),
        delay_pieces: Some(1),
        hole_change_chance: Some(0.0),
        hole_other_column: Some(true),
        hole_margin: Some(0),
        holes_when_sent: Some(false),
        delay_skips_clears: Some(false),
        rises_after_clears: Some(false),
        rows_per_piece: Some(0),
        most_waiting: Some(0),
        opening_pieces: Some(0),
        multiplier: Some(1.0),
        multiplier_growth: Some(0.0),
        multiplier_after: Some(0),
        multiplier_most: Some(100.0),
        frames_per_piece: Some(30),
        meets_in_flight: Some(false),
    };
    assert_eq!(echoed.garbage, Some(full));
    assert_eq!(ResolvedRules::try_from(&echoed), ResolvedRules::try_from(&with(garbage(0.5))));
    assert_eq!(pb::Rules::from(&ResolvedRules::from(Rules::default())).garbage, None);
    let choice = RulesChoice::from(&ResolvedRules::try_from(&with(garbage(0.5))).unwrap());
    let choice = choice.with("garbage.delay_pieces", 7).unwrap();
    let changed = ResolvedRules::try_from(&choice).unwrap().rules.garbage;
    assert_eq!(
        changed,
        Some(Garbage { lines_per_piece: 0.5, hole_move_chance: 0.05, delay_pieces: 7, ..Garbage::DEFAULT })
    );
}

#[test]
fn what_is_out_of_range_is_refused_by_its_name() {
    #[track_caller]
    fn refuses(garbage: pb::Garbage, expected: &str) {
        let error = ResolvedRules::try_from(&with(garbage)).unwrap_err();
        assert_eq!(error.to_string().split_once(": ").unwrap().1, expected);
    }
    let lines = |value: &str| format!("garbage.lines_per_piece is {value}, expected 0 to 4");
    refuses(garbage(4.5), &lines("4.5"));
    refuses(garbage(-1.0), &lines("-1"));
    refuses(garbage(f64::NAN), &lines("NaN"));
    let moving = |hole_move_chance| pb::Garbage { hole_move_chance: Some(hole_move_chance), ..garbage(1.0) };
    refuses(moving(1.5), "garbage.hole_move_chance is 1.5, expected 0 to 1");
    refuses(moving(-0.5), "garbage.hole_move_chance is -0.5, expected 0 to 1");
    for delay_pieces in [8, 255, 256, u32::MAX] {
        let late = pb::Garbage { delay_pieces: Some(delay_pieces), ..garbage(1.0) };
        refuses(late, &format!("garbage.delay_pieces is {delay_pieces}, expected 0 to 7"));
    }
    let none = "expected none: there is garbage only where garbage.lines_per_piece is more than 0";
    let only = pb::Garbage { delay_pieces: Some(2), ..Default::default() };
    refuses(only, &format!("garbage.delay_pieces is 2, {none}"));
    let off = pb::Garbage { hole_move_chance: Some(0.25), ..garbage(0.0) };
    refuses(off, &format!("garbage.hole_move_chance is 0.25, {none}"));
}

#[tokio::test]
async fn a_session_shows_what_waits_and_saves_it() {
    let server = start().await;
    let mut client = server.client().await;
    let rules = with(pb::Garbage { hole_move_chance: Some(0.0), delay_pieces: Some(1), ..garbage(1.0) });
    let settings = pb::SessionConfig {
        rules: Some(rules),
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        ..config(2, 3)
    };
    let session = create(&mut client, settings.clone()).await;
    let names = |specs: &[pb::TensorSpec]| specs.iter().map(|spec| spec.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&session.observation_specs), ["board", "current", "garbage"]);
    let spec = &session.observation_specs[2];
    assert_eq!((&spec.shape[..], spec.low, spec.high), (&[2][..], Some(0.0), Some(12.0)));
    assert_eq!(names(&session.info_specs).last().unwrap(), "garbage_rows");
    let name = session.name;
    client.reset(reset(&name)).await.unwrap();
    // Pieces in the left two columns leave the others to the rows that rise: one with each piece from the third on.
    let mut shown = vec![];
    for _ in 0..4 {
        let answer = client.step(step(&name, &[0, 0])).await.unwrap().into_inner();
        let rows = numbers(answer.infos.last().unwrap());
        shown.push((numbers(&answer.observations[2])[..2].to_vec(), rows[0]));
    }
    assert_eq!(shown, [(vec![0., 1.], 0.), (vec![1., 1.], 0.), (vec![1., 1.], 1.), (vec![1., 1.], 2.)]);
    let saved = client.save_state(save(&name)).await.unwrap().into_inner();
    let mut answers = vec![];
    for _ in 0..2 {
        let positions = positions::from_snapshots(saved.states.clone());
        client.restore_state(restore(&name, positions)).await.unwrap();
        let answer = client.step(step(&name, &[4, 4])).await.unwrap().into_inner();
        answers.push((answer.observations, answer.infos, answer.rewards, answer.terminated));
    }
    assert_eq!(answers[0], answers[1]);
    // Not under rules without garbage.
    let plain = create(&mut client, config(2, 3)).await.name;
    let positions = positions::from_snapshots(saved.states.clone());
    let result = client.restore_state(restore(&plain, positions)).await;
    refused(result, Code::FailedPrecondition, "RULES_MISMATCH");
    let wanted = pb::SessionConfig { info_fields: field_names(&["garbage_rows"]), ..config(1, 3) };
    let request = pb::CreateSessionRequest { config: Some(wanted), ..Default::default() };
    let refusal = refused(client.create_session(request).await, Code::InvalidArgument, "INVALID_FIELD");
    assert_eq!(refusal.fields(), ["config.info_fields.names[0]"]);
}

/// Placements are listed as they are before rows rise.
#[tokio::test]
async fn afterstates_are_those_before_rows_rise() {
    let server = start().await;
    let mut client = server.client().await;
    let settings = pb::SessionConfig {
        rules: Some(with(pb::Garbage { delay_pieces: Some(0), ..garbage(3.0) })),
        observation_fields: field_names(&["board_bits"]),
        ..config(1, 3)
    };
    let name = create(&mut client, settings).await.name;
    client.reset(reset(&name)).await.unwrap();
    client.step(step(&name, &[0])).await.unwrap();
    let request = pb::EnumeratePlacementsRequest {
        include_afterstates: true,
        ..tetrion_service_testing::enumerate(pb::SessionEnvs { session: name.clone(), ..Default::default() })
    };
    let listed = client.enumerate_placements(request).await.unwrap().into_inner();
    let action = numbers(listed.placements.as_ref().unwrap())[0];
    let afterstate = numbers(listed.afterstates.as_ref().unwrap())[..12].to_vec();
    let answer = client.step(step(&name, &[action as i32])).await.unwrap().into_inner();
    let after = numbers(&answer.observations[0]);
    // Three rows below, and all else three rows further up.
    assert_eq!(after[3..], afterstate[..9]);
    assert!(after[..3].iter().all(|row| (*row as u32).count_ones() == 5), "{after:?}");
}

#[tokio::test]
async fn pieces_appear_in_the_row_that_is_asked_for() {
    let rules = |spawn_row| pb::Rules {
        preset: "guideline".to_owned(),
        action_model: pb::ActionModel::Keypress.into(),
        height: 24,
        spawn_row,
        ..Default::default()
    };
    let server = start().await;
    let mut client = server.client().await;
    for (spawn_row, expected) in [(None, 19.0), (Some(0), 0.0), (Some(7), 7.0), (Some(23), 23.0)] {
        let settings = pb::SessionConfig {
            rules: Some(rules(spawn_row)),
            observation_fields: field_names(&["falling_cells"]),
            ..config(1, 3)
        };
        let session = create(&mut client, settings).await;
        assert_eq!(session.config.unwrap().rules.unwrap().spawn_row, spawn_row, "echoed as it is");
        let answer = client.reset(reset(&session.name)).await.unwrap().into_inner();
        assert_eq!(numbers(&answer.observations[0])[0], expected, "the lowest cell, {spawn_row:?}");
        let saved = client.save_state(save(&session.name)).await.unwrap().into_inner();
        let positions = positions::from_snapshots(saved.states);
        client.restore_state(restore(&session.name, positions)).await.unwrap();
    }
    #[track_caller]
    fn refuses(rules: pb::Rules, expected: &str) {
        let error = ResolvedRules::try_from(&rules).unwrap_err();
        assert_eq!(error.to_string().split_once(": ").unwrap().1, expected);
    }
    let bounds = "expected 0 to 23: at most 3 rows above the 20 visible ones, and 1 above all";
    for row in [24, 40] {
        refuses(rules(Some(row)), &format!("spawn_row is {row}, {bounds}"));
    }
    for row in [41, 255, 256, u32::MAX] {
        refuses(rules(Some(row)), &format!("spawn_row is {row}, expected 0 to 40"));
    }
}
