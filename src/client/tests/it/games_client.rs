//! Whole games through our own client: the server plays the seeds that the client sends, wherever they are.

use std::time::{Duration, Instant};

use tetrion_client::{
    Client, ClientError, ConnectOptions, EvaluationRequest, Features, PlayChoice, Policy, PolicyKind,
    RulesChoice, Seeds, WeightRows,
};
use tetrion_core::agents::Controller;
use tetrion_server::ServerConfig;
use tetrion_service::ServerLimits;

use tetrion_service_testing::servers::{listen_with, start};

fn request(seeds: Seeds) -> EvaluationRequest {
    let weights = |name| Controller::named(name).unwrap().weights.to_vec();
    let policy = Policy {
        kind: PolicyKind::Weights(WeightRows {
            features: Features::Set { name: "bcts8".to_owned(), version: String::new() },
            rows: ["bcts", "bcts-rounded", "bcts"].map(weights).into(),
            model: None,
        }),
        play: PlayChoice::default(),
    };
    let mut request = EvaluationRequest::new(vec![policy], seeds);
    request.rules = RulesChoice::of_size(6, 8);
    request.max_pieces = 2_000;
    request
}

#[tokio::test]
async fn every_policy_plays_its_own_row_of_seeds() {
    let ((first, _one), (second, _two)) = (start().await, start().await);
    let rows: [Vec<u64>; 3] =
        [(0..20).collect(), (u64::MAX - 19..=u64::MAX).collect(), (0..20).rev().collect()];
    let request = request(Seeds::PerPolicy(rows.to_vec()));
    let alone = Client::connect(std::slice::from_ref(&first), ConnectOptions::default()).await.unwrap();
    let evaluated = alone.evaluate_all(&request, |_| ()).await.unwrap();
    for (policy, row) in rows.iter().enumerate() {
        let games = evaluated.games(policy);
        assert_eq!(games.iter().map(|game| game.seed).collect::<Vec<u64>>(), *row);
    }
    // The same player on the same seed, in another place of the row and of the request.
    for (game, again) in evaluated.games(0).iter().zip(evaluated.games(2).iter().rev()) {
        assert_eq!((game.lines, game.pieces, game.score), (again.lines, again.pieces, again.score));
    }
    // Cut into calls, each asks for some of the games of all rows.
    let both = Client::connect(&[first, second], ConnectOptions::default()).await.unwrap();
    assert_eq!(both.evaluate_all(&request, |_| ()).await.unwrap(), evaluated);
}

#[tokio::test]
async fn a_server_without_places_leaves_its_games_to_the_others() {
    let config = |max_evaluations| {
        let limits = ServerLimits { max_evaluations, ..ServerLimits::default() };
        ServerConfig { limits, ..ServerConfig::default() }
    };
    let (some, _one) = listen_with(config(4)).await;
    let (none, _two) = listen_with(config(0)).await;
    let connect = |addresses: Vec<String>| async move {
        Client::connect(&addresses, ConnectOptions::default()).await.unwrap()
    };
    let request = request(Seeds::Common { seed: 1, count: 20 });
    let expected = connect(vec![some.to_string()]).await.evaluate_all(&request, |_| ()).await.unwrap();
    let both = connect(vec![none.to_string(), some.to_string()]).await;
    let begin = Instant::now();
    assert_eq!(both.evaluate_all(&request, |_| ()).await.unwrap(), expected);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}: nobody waits for it", begin.elapsed());
}

/// As many as there are at any time, so that waiting for one does not help.
#[tokio::test]
async fn a_server_without_places_is_not_asked_again_and_says_what_to_do() {
    let none = |max_evaluations, max_evaluations_per_caller| async move {
        let limits = ServerLimits { max_evaluations, max_evaluations_per_caller, ..ServerLimits::default() };
        let (address, _guard) = listen_with(ServerConfig { limits, ..ServerConfig::default() }).await;
        let client = Client::connect(&[address.to_string()], ConnectOptions::default()).await.unwrap();
        let begin = Instant::now();
        let refusal = client.evaluate_all(&request(Seeds::Common { seed: 1, count: 1 }), |_| ()).await;
        // The client is patient for a minute.
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        match refusal {
            Err(ClientError::Refused { reason, message, .. }) if reason == "EVALUATION_LIMIT" => message,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        none(0, 1).await,
        "the server may run no evaluations: the server's --max-evaluations is 0; raise it, or use another server"
    );
    assert_eq!(
        none(1, 0).await,
        "this connection may run no evaluations: the server's --max-evaluations-per-caller is 0; raise it, or use \
         another server"
    );
}

#[test]
#[should_panic(expected = "every policy has as many seeds")]
fn rows_are_of_one_length() {
    Seeds::PerPolicy(vec![vec![1, 2], vec![3]]).games_per_policy();
}
