//! Threads are shared by callers, not by jobs.

use std::time::Duration;

use tetrion_core::pool::queues::{Party, Queues};

/// The callers that would get the next turns of one thread, if every job took this long.
fn turns(queues: &mut Queues, number: usize, took: impl Fn(&Party) -> Duration) -> Vec<Party> {
    let turn = |_| {
        let (party, job) = queues.take().expect("a job");
        job();
        queues.put(&party, Box::new(|| {}));
        queues.done(&party, took(&party));
        party
    };
    (0..number).map(turn).collect()
}

fn count(turns: &[Party], party: &Party) -> usize {
    turns.iter().filter(|turn| *turn == party).count()
}

#[test]
fn callers_share_the_threads_however_many_jobs_they_have_and_however_long_these_are() {
    let (greedy, slow, modest) = (Party::Connection(1), Party::Connection(2), Party::Connection(3));
    let mut queues = Queues::default();
    for _ in 0..8 {
        queues.put(&greedy, Box::new(|| {}));
    }
    queues.put(&slow, Box::new(|| {}));
    queues.put(&modest, Box::new(|| {}));
    let took = |party: &Party| Duration::from_millis(if *party == slow { 10 } else { 1 });
    let turns = turns(&mut queues, 2100, took);
    assert_eq!([&greedy, &slow, &modest].map(|party| count(&turns, party)), [1000, 100, 1000]);
}

#[test]
fn a_new_caller_is_next_and_has_saved_up_nothing() {
    let (old, new) = (Party::Connection(1), Party::Connection(2));
    let mut queues = Queues::default();
    queues.put(&old, Box::new(|| {}));
    let millisecond = |_: &Party| Duration::from_millis(1);
    turns(&mut queues, 1000, millisecond);
    queues.put(&new, Box::new(|| {}));
    let turns = turns(&mut queues, 100, millisecond);
    assert!(turns[..2].contains(&new), "{turns:?}");
    assert_eq!(count(&turns, &new), 50);
}

#[test]
fn what_is_over_is_forgotten() {
    let mut queues = Queues::default();
    queues.put(&Party::Own, Box::new(|| {}));
    let (party, _) = queues.take().unwrap();
    queues.done(&party, Duration::ZERO);
    assert!(queues.num_parties() == 0 && queues.take().is_none());
}
