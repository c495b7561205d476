//! Games of an evaluation whose caller does not read the results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tetrion_core::agents::{Agent, Controller};
use tetrion_core::engine::Rules;
use tetrion_core::features::kernel::Kernel;
use tetrion_core::pool::{Party, Pool};
use tetrion_core::rollout::{Deal, Evaluation};
use tetrion_protocol::limits::MAX_UNREAD_GAMES;
use tetrion_service::budget::Budget;
use tetrion_service::games::{Keep, RunningGames, Unread};

/// Fifty thousand games of one piece.
fn evaluation() -> Evaluation {
    let agent = Controller::named("bcts").and_then(|bcts| bcts.agent(10)).unwrap();
    Evaluation {
        rules: Rules::default(),
        policies: vec![Agent::Linear(agent)],
        deal: Deal::Common((0..50_000).collect()),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: 1,
        max_steps: u64::MAX,
        loss_trials: 0,
        opponent: None,
        kernel: Kernel::best(),
    }
}

#[test]
fn an_evaluation_that_panics_gives_its_memory_back() {
    let evaluation = Evaluation { pairs: Some(vec![(0, 0), (7, 0)]), ..evaluation() };
    let lane = Pool::new(2).unwrap().lane(Party::Own);
    let budget = Budget::new(1000);
    let room = Arc::new(budget.take(900).unwrap());
    let games = RunningGames::begin(&lane, evaluation, room, 0, Keep::Results);
    while !games.ended() {
        std::thread::yield_now();
    }
    assert!(games.games_done() < 2, "there is no eighth policy");
    drop(games);
    let start = Instant::now();
    while budget.taken() > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "{} bytes are kept", budget.taken());
        std::thread::yield_now();
    }
}

#[test]
fn no_games_begin_while_too_many_lie_unread() {
    let lane = Pool::new(2).unwrap().lane(Party::Own);
    let games = RunningGames::begin(&lane, evaluation(), Arc::new(Budget::new(0).share()), 0, Keep::Results);
    let mut read = 0;
    while read < 50_000 {
        // Both threads have nothing left to do, for now or for good.
        while games.num_waiting() < 2 && !games.ended() {
            std::thread::yield_now();
        }
        let Unread::Games(unread) = games.take_unread() else { panic!("games are played") };
        let unread = unread.len();
        assert!(unread <= MAX_UNREAD_GAMES + 1, "{unread} games are unread");
        read += unread;
    }
    assert_eq!((read, games.games_done()), (50_000, 50_000));
}
