//! Texts that callers send: the longest take hardly longer than short ones, so they can be read where they arrive.

use std::time::Duration;

use tetrion_core::engine::Rules;
use tetrion_core::env::{EnvBatch, EnvConfig, Seeding};
use tetrion_core::formula::{self, MAX_BYTES};
use tetrion_core::names::did_you_mean;
use tetrion_protocol::{features, pb, positions};
use tetrion_toolkit::prompts;
use tonic::Code;

use crate::support::start;
use tetrion_service_testing::refused;

/// Time of this thread on a core.
#[cfg(target_os = "linux")]
fn time_of(mut work: impl FnMut()) -> Duration {
    let on_core = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
    };
    let once = |_| {
        let begun = on_core();
        work();
        on_core() - begun
    };
    (0..5).map(once).min().unwrap()
}

/// Several times what each takes here, and a tenth of what one of them took before the length of a name was looked at.
#[cfg(target_os = "linux")]
#[track_caller]
fn is_quick(what: &str, work: impl FnMut()) {
    let time = time_of(work);
    println!("{what}: {time:?}");
    assert!(time < Duration::from_millis(3), "{what}: {time:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn take_no_time_that_grows_with_them() {
    let rules = Rules::simplified(32, 40);
    let parse = |what: &str, text: &str| {
        assert!(text.len() <= MAX_BYTES, "{what}");
        is_quick(what, || drop(formula::compile(text, &rules)));
    };
    parse("an unknown name", &"x".repeat(MAX_BYTES));
    parse("unknown names", &format!("{}holes", "let hole = ".repeat(MAX_BYTES / 12)));
    let letters = ('a'..='z').flat_map(|a| ('a'..='z').map(move |b| format!("{a}{b}")));
    let lets: String = letters
        .filter(|name| !["if", "or", "ln"].contains(&&**name))
        .map(|name| format!("let {name}=1;"))
        .collect();
    parse("names", &format!("{}holes", &lets[..lets.len().min(MAX_BYTES - 5) / 9 * 9]));
    parse("a sum", &format!("holes{}", "+holes".repeat(MAX_BYTES / 6 - 1)));
    parse("lines", &"\n".repeat(MAX_BYTES));
    let family = (0..32).map(|i| format!("column_height[{i}]")).collect::<Vec<_>>().join("+");
    parse("features", &[&*family; 6].join("*"));

    is_quick("a name", || assert_eq!(did_you_mean(&"holes".repeat(1000), ["holes"]), ","));

    let mut names: Vec<String> = (0..32).map(|i| format!("column_height[{i}]")).collect();
    names.extend((0..31).map(|i| format!("height_difference[{i}]")));
    names.extend((0..32).map(|i| format!("column_height_preclear[{i}]")));
    names.extend((0..31).map(|i| format!("height_difference_preclear[{i}]")));
    let list = |names: &[String]| features::decode_list(names, 32);
    list(&names).unwrap();
    is_quick("a list of features", || drop(list(&names)));
    names.push("h".repeat(128));
    is_quick("a list with an unknown feature", || assert!(list(&names).is_err()));
    *names.last_mut().unwrap() = names[0].clone();
    is_quick("a list with a repeated feature", || assert!(list(&names).is_err()));
    let families = vec!["column_height".to_owned(); 256];
    is_quick("a list of families", || assert!(list(&families).is_err()));

    let mut batch = EnvBatch::new(EnvConfig::default(), &Seeding::Seed(1)).unwrap();
    batch.reset(None, None).unwrap();
    let state = prompts::ObservedState::new(&batch, 0);
    let choices = state.choices();
    for text in ["a ".repeat(1 << 20), "a".repeat(1 << 20)] {
        is_quick("a text action", || assert!(choices.read(state.rules(), &text).is_err()));
    }
}

/// The time of texts that may be long is estimated, so that they are not read where they arrive.
#[cfg(target_os = "linux")]
#[test]
fn that_may_be_long_are_estimated() {
    let drawing = |piece: String, queue: String, rows: Vec<String>| {
        positions::from_drawings(vec![pb::Drawing { rows, piece, queue, ..Default::default() }])
    };
    let long = || "T".repeat(8 << 20);
    for (what, message) in [
        ("a queue", drawing("T".to_owned(), long(), vec![])),
        ("a piece", drawing(long(), String::new(), vec![])),
        ("a row", drawing("T".to_owned(), String::new(), vec![long()])),
        ("rows", drawing("T".to_owned(), String::new(), vec![String::new(); 1 << 18])),
    ] {
        let estimate = Duration::from_nanos(positions::nanoseconds(&message));
        let time = time_of(|| assert!(positions::decode(&message, None).is_err()));
        println!("{what}: {time:?}, estimated {estimate:?}");
        assert!(time < 4 * estimate + Duration::from_millis(1), "{what}: {time:?}, estimated {estimate:?}");
    }
}

#[tokio::test]
async fn are_refused_by_their_length_before_they_are_compared() {
    let server = start().await;
    let mut client = server.client().await;
    let name = "x".repeat(2_000_000);
    let reported = refused(
        client.get_policy(pb::GetPolicyRequest { name }).await,
        Code::InvalidArgument,
        "INVALID_FIELD",
    );
    assert_eq!(reported.fields(), ["name"]);
}
