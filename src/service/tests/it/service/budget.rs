//! Amounts that are shared out, never more than there is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tetrion_service::Pressure;
use tetrion_service::budget::{Budget, Spent};

#[test]
fn as_much_as_there_is_and_no_more() {
    let budget = Budget::new(10);
    let mut share = budget.take(4).unwrap();
    assert_eq!(budget.take(7).unwrap_err(), Spent::Limit { limit: 10, taken: 4 });
    let other = budget.take(6).unwrap();
    assert_eq!(budget.take(1).unwrap_err(), Spent::Limit { limit: 10, taken: 10 });
    assert_eq!(share.grow_to(5).unwrap_err(), Spent::Limit { limit: 10, taken: 10 });
    assert_eq!(share.amount(), 4, "a refused share is what it was");
    drop(other);
    share.grow_to(10).unwrap();
    share.grow_to(3).unwrap();
    assert_eq!((share.amount(), budget.taken()), (10, 10), "it does not shrink by growing");
    assert!(budget.is_scarce() && budget.part(100, 0).is_scarce());
    assert!(budget.take(u64::MAX).is_err(), "no overflow");
    share.set(2);
    assert_eq!(budget.taken(), 2);
    assert!(!budget.is_scarce());
    share.set(12);
    assert_eq!((budget.taken(), budget.take(0).is_ok()), (12, false));
    drop(share);
    assert_eq!(budget.taken(), 0);
}

#[test]
fn a_part_takes_of_the_whole() {
    let all = Budget::new(20);
    let (one, other) = (all.part(6, 0), all.part(100, 0));
    assert_eq!(other.limit(), 20, "no part is more than the whole");
    let mut share = one.take(6).unwrap();
    assert_eq!(one.take(1).unwrap_err(), Spent::Limit { limit: 6, taken: 6 });
    assert_eq!(other.take(15).unwrap_err(), Spent::Limit { limit: 20, taken: 6 });
    assert_eq!(other.taken(), 0, "a refused share has taken nothing of the part either");
    let rest = other.take(7).unwrap();
    assert_eq!(all.taken(), 13);
    let mut out = share.take_out();
    assert_eq!((share.amount(), out.amount(), all.taken()), (0, 6, 13));
    out.set(5);
    share.add(out);
    drop(rest);
    assert_eq!((share.amount(), one.taken(), all.taken()), (5, 5, 5));
    drop(share);
    assert_eq!((one.taken(), all.taken()), (0, 0));
}

#[test]
fn parts_that_take_all_they_can_leave_as_much_for_another() {
    for greedy in 1..6 {
        let all = Budget::new(1000);
        let parts: Vec<_> = (0..greedy).map(|_| all.part(1000, 0)).collect();
        let mut shares = Vec::new();
        let mut goes_on = true;
        while std::mem::take(&mut goes_on) {
            for part in &parts {
                if let Ok(share) = part.take(1) {
                    shares.push(share);
                    goes_on = true;
                }
            }
        }
        let fair = 1000 / (greedy + 1);
        for part in &parts {
            assert!(part.taken().abs_diff(fair) <= 1, "{} of {greedy} parts", part.taken());
        }
        assert!(all.part(1000, 0).take(fair / 2).is_ok());
    }
}

#[test]
fn a_part_keeps_its_own_however_much_others_take() {
    let all = Budget::new(100);
    let greedy: Vec<_> = (0..20).map(|_| all.part(1000, 5)).collect();
    let mut shares = Vec::new();
    for part in &greedy {
        while let Ok(share) = part.take(1) {
            shares.push(share);
        }
    }
    assert!(all.taken() >= 98, "{} of 100", all.taken());
    let newcomer = all.part(1000, 5);
    let mut share = newcomer.take(5).unwrap();
    assert!(matches!(newcomer.take(3), Err(Spent::Limit { limit: 100, .. })));
    share.set(7);
    assert!(all.taken() >= 100, "what is there already counts beyond that");
    share.set(0);
    drop(shares);
    assert_eq!((all.taken(), greedy[0].taken(), newcomer.taken()), (0, 0, 0));
}

#[test]
fn a_process_that_uses_nearly_all_of_its_memory_gets_small_amounts_only() {
    static USED: AtomicU64 = AtomicU64::new(0);
    let memory = 1 << 30;
    let pressure = Pressure::new(memory, || Some(USED.load(Ordering::Relaxed)));
    let budget = Budget::of_bytes(memory, &pressure).part(memory, 0);
    let uses = |percent: u64| {
        USED.store(memory / 100 * percent, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(2)); // the memory is read once per millisecond
    };
    let large = memory / 1024 + 1;
    uses(79);
    let mut before = budget.take(large).unwrap();
    assert!(!budget.is_scarce());
    uses(81);
    assert!(budget.is_scarce(), "unread answers must go");
    let refused = budget.take(large).unwrap_err();
    assert!(matches!(refused, Spent::Pressure(pressed) if pressed.memory == memory), "{refused:?}");
    assert!(before.grow_to(large + 1).is_err(), "an amount that has become large does not grow");
    assert!(budget.take(large - 1).is_ok());
    assert_eq!(budget.taken(), large);
    uses(10);
    assert!(before.grow_to(large + 1).is_ok());
}
