//! Whole games through our own client: the server plays the seeds that the client sends, wherever they are.

use tetrion::agents::Controller;
use tetrion::client::{Client, ConnectOptions, EvaluationRequest, Features, Policies, RulesChoice, Seeds};

use crate::sessions_client::start;

fn request(seeds: Seeds) -> EvaluationRequest {
    let weights = |name| Controller::named(name).unwrap().weights.to_vec();
    EvaluationRequest {
        rules: RulesChoice { width: Some(6), height: Some(8), ..Default::default() },
        rules_version: String::new(),
        policies: Policies::Matrix {
            features: Features::Set { name: "bcts8".to_owned(), version: String::new() },
            rows: ["bcts", "bcts-rounded", "bcts"].map(weights).into(),
            avoid_terminal: true,
            lookahead: 0,
            expectation: None,
        },
        seeds,
        max_pieces: 2_000,
        max_steps: 0,
    }
}

#[tokio::test]
async fn every_policy_plays_its_own_row_of_seeds() {
    let ((first, _one), (second, _two)) = (start().await, start().await);
    let rows: [Vec<u64>; 3] =
        [(0..20).collect(), (u64::MAX - 19..=u64::MAX).collect(), (0..20).rev().collect()];
    let request = request(Seeds::PerPolicy(rows.to_vec()));
    let alone = Client::connect(std::slice::from_ref(&first), ConnectOptions::default()).await.unwrap();
    let evaluated = alone.evaluate_all(&request, |_| ()).await.unwrap();
    for (row, games) in rows.iter().zip(&evaluated.games) {
        assert_eq!(games.iter().map(|game| game.seed).collect::<Vec<u64>>(), *row);
    }
    // The same player on the same seed, in another place of the row and of the request.
    for (game, again) in evaluated.games[0].iter().zip(evaluated.games[2].iter().rev()) {
        assert_eq!((game.lines, game.pieces, game.score), (again.lines, again.pieces, again.score));
    }
    // Cut into calls, each asks for some of the games of all rows.
    let both = Client::connect(&[first, second], ConnectOptions::default()).await.unwrap();
    assert_eq!(both.evaluate_all(&request, |_| ()).await.unwrap(), evaluated);
}

#[test]
#[should_panic(expected = "every policy has as many seeds")]
fn rows_are_of_one_length() {
    Seeds::PerPolicy(vec![vec![1, 2], vec![3]]).games_per_policy();
}
