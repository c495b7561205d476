//! Hostile callers, as a program: each attacks a server of its own, a process under hard limits, while a caller that does
//! nothing wrong goes on making steps.
//!
//! ```sh
//! cargo test --test attacks                                # the short form, under a minute: what CI runs
//! cargo test --test attacks -- floods                      # only attacks with this in their names
//! cargo test --test attacks -- --long --seed 7             # with more of everything, and other mutations
//! cargo test --release --test attacks -- --load 10         # no attacks, but ten minutes of load: see `load`
//! cargo test --release --test attacks -- --load 60 --faults 30   # and a server that stops every 30 s: see `survivors`
//! cargo test --release --test attacks -- --mixes           # how long a learner waits while others call: see `mixes`
//! ```
//!
//! The server is the one that cargo has built, or the program that `TETRION_BINARY` names.
//!
//! The server holds if it lives, the bystander's slowest answer and the process' memory stay below the attack's bounds, no
//! call ends with INTERNAL, the log stays small and without a panic, and SIGTERM ends the server within its drain timeout
//! while the attackers still hold what they hold. What fails runs once more, and twice if only the bystander waited too
//! long or was refused; the end of the output says what did not hold at first.
//!
//! The surprising decision: every bound here is far above what a server at rest needs. The program runs on machines that
//! do other work at the same time, so it finds what breaks, and not what is a little slower.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod answers;
#[cfg(target_os = "linux")]
mod arena;
#[cfg(target_os = "linux")]
mod bystander;
#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod conformance;
#[cfg(target_os = "linux")]
mod connections;
#[cfg(target_os = "linux")]
mod corpus;
#[cfg(target_os = "linux")]
mod evaluations;
#[cfg(target_os = "linux")]
mod everything;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod floods;
#[cfg(target_os = "linux")]
mod http2;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod messages;
#[cfg(target_os = "linux")]
mod methods;
#[cfg(target_os = "linux")]
mod mixes;
#[cfg(target_os = "linux")]
mod mutations;
#[cfg(target_os = "linux")]
mod records;
#[cfg(target_os = "linux")]
mod requests;
#[cfg(target_os = "linux")]
mod strangers;
#[cfg(target_os = "linux")]
mod survivors;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod twins;
#[cfg(target_os = "linux")]
mod victim;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    arena::main()
}

/// Limits are set with a shell's `ulimit`, and memory is read from /proc.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("attacks need Linux; nothing was run");
    ExitCode::SUCCESS
}
