//! Work of calls on the pool: in slices, bounded, and dropped when its caller has left.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tetrion_core::pool::{Party, Pool};
use tetrion_service::Pressure;
use tetrion_service::calls::{CallLane, CallPool, SLICE, Slice};
use tetrion_service::refusal::Refusal;

fn lane(max_work: Duration) -> CallLane {
    CallPool::new(Pool::new(1).unwrap(), max_work, Pressure::default()).lane(Party::Own)
}

#[tokio::test]
async fn slices_follow_each_other_until_one_has_an_answer() {
    let mut slices = 0;
    let count = move || {
        slices += 1;
        (slices == 5).then_some(Ok(slices))
    };
    assert_eq!(lane(SLICE).run_slices(count).await.unwrap(), 5);
}

#[tokio::test]
async fn long_work_is_given_up_when_memory_runs_out_and_short_work_is_not() {
    static USED: AtomicU64 = AtomicU64::new(0);
    let pressure = Pressure::new(1 << 30, || Some(USED.load(Ordering::Relaxed)));
    let lane = CallPool::new(Pool::new(1).unwrap(), SLICE, pressure).lane(Party::Own);
    USED.store((1 << 30) / 100 * 96, Ordering::Relaxed);
    thread::sleep(Duration::from_millis(2)); // the memory is read once per millisecond
    assert_eq!(lane.run_elsewhere(|| Ok(5)).await.unwrap(), 5);
    let given_up = lane.run_slices(|| None::<Result<(), Refusal>>).await;
    assert!(matches!(given_up, Err(Refusal::MemoryPressure { memory: 0x4000_0000, .. })), "{given_up:?}");
    let mut slices = 0;
    let staged = lane.run_stages(move || {
        slices += 1;
        if slices < 5 { Slice::MustEnd } else { Slice::Done(Ok(slices)) }
    });
    assert_eq!(staged.await.unwrap(), 5, "a change that has begun goes on");
}

#[tokio::test]
async fn a_change_that_has_begun_goes_on_when_its_caller_has_left() {
    let (lane, (sender, slices), (left, has_left)) = (lane(SLICE), mpsc::channel(), mpsc::channel());
    let mut number = 0;
    let change = lane.run_stages(move || {
        let _ = sender.send(number);
        number += 1;
        match number {
            1 => Slice::MustEnd,
            2 => {
                let _ = has_left.recv();
                Slice::MustEnd
            }
            _ => Slice::Done(Ok(())),
        }
    });
    let begun = tokio::select! {
        _ = change => unreachable!("the second slice waits"),
        begun = tokio::task::spawn_blocking(move || slices.recv().map(|_| slices)) => begun,
    };
    left.send(()).unwrap();
    assert_eq!(begun.unwrap().unwrap().iter().last(), Some(2), "the last slice has run");
}

#[tokio::test]
async fn work_stops_when_its_caller_has_left() {
    let (lane, (sender, slices)) = (lane(SLICE), mpsc::channel());
    let endless = lane.run_slices(move || {
        let _ = sender.send(());
        None::<Result<(), Refusal>>
    });
    tokio::select! {
        _ = endless => unreachable!(),
        begun = tokio::task::spawn_blocking(move || slices.recv().map(|()| slices)) => {
            // The sender goes with the last slice.
            begun.unwrap().unwrap().iter().for_each(drop);
        }
    }
}

#[tokio::test]
async fn a_panic_is_the_calls_own() {
    let lane = lane(SLICE);
    let panicked = tokio::spawn({
        let lane = lane.clone();
        async move { lane.run_elsewhere(|| -> Result<(), _> { panic!("on purpose") }).await }
    });
    assert!(panicked.await.unwrap_err().is_panic());
    assert_eq!(lane.run_elsewhere(|| Ok(5)).await.unwrap(), 5, "the thread goes on");
}

#[tokio::test]
async fn what_takes_too_long_is_not_begun() {
    let lane = lane(SLICE);
    assert_eq!(lane.run(SLICE, || Ok(5)).await.unwrap(), 5);
    let late = lane.run(SLICE + Duration::from_nanos(1), || -> Result<(), _> { unreachable!() }).await;
    assert!(matches!(late, Err(Refusal::TooMuchWork { .. })), "{late:?}");
}

#[tokio::test]
async fn in_a_crowd_all_but_short_work_goes_to_the_pool() {
    // A pool of one thread: one job may be under way where it arrived.
    let (lane, usual, here) = (lane(SLICE), Duration::from_micros(200), thread::current().id());
    let thread_of = async |work| lane.run(work, || Ok(thread::current().id())).await.unwrap();
    assert_eq!(thread_of(usual).await, here, "it is alone");
    let other = lane.begin(usual);
    assert!(other.is_here());
    assert_ne!(thread_of(usual).await, here, "another is under way");
    assert_eq!(thread_of(Duration::from_micros(40)).await, here, "it is short");
    let waiting = lane.begin(usual);
    drop(other);
    assert_ne!(thread_of(usual).await, here, "one waits in the pool");
    drop(waiting);
    assert_eq!(thread_of(usual).await, here, "the crowd is gone");
    let _long = lane.begin(SLICE);
    assert_eq!(thread_of(usual).await, here, "long work takes no place here");
}
