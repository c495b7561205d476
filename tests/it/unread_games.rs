//! Games of an evaluation whose caller does not read the results.

use std::sync::Arc;

use tetrion::agents::{Agent, Controller};
use tetrion::engine::Rules;
use tetrion::features::kernel::Kernel;
use tetrion::pool::{Party, Pool};
use tetrion::rollout::{Deal, Evaluation};
use tetrion::service::games::{Keep, MAX_UNREAD, RunningGames};

#[test]
fn no_games_begin_while_too_many_lie_unread() {
    let agent = Controller::named("bcts").and_then(|bcts| bcts.agent(10)).unwrap();
    let evaluation = Evaluation {
        rules: Rules::default(),
        policies: vec![Agent::Linear(agent)],
        deal: Deal::Common((0..50_000).collect()),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces: 1,
        max_steps: u64::MAX,
        loss_trials: 0,
        kernel: Kernel::best(),
    };
    let lane = Pool::new(2).unwrap().lane(Party::Own);
    let games = RunningGames::begin(&lane, Arc::new(evaluation), 0, Keep::Results);
    let mut read = 0;
    while read < 50_000 {
        // Both threads have nothing left to do, for now or for good.
        while games.num_waiting() < 2 && !games.ended() {
            std::thread::yield_now();
        }
        let unread = games.take_unread().len();
        assert!(unread <= MAX_UNREAD + 1, "{unread} games are unread");
        read += unread;
    }
    assert_eq!((read, games.games_done()), (50_000, 50_000));
}
