//! The `tetrion` program.
//!
//! | exit code | meaning |
//! | --- | --- |
//! | 0 | it did what the caller asked |
//! | 1 | something failed |
//! | 2 | it does not understand the request: a flag, a value, a name |
//! | 130 | it was interrupted before it was done |
//! | 141 | the reader of its stdout left before it was done |

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic when stdout has no reader: see tetrion::cli::output

use std::process::ExitCode;

/// Returns freed memory to the system, with a thread in the background.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Options of the allocator: it returns freed memory within a second, not within ten. The server compares the memory of
/// its process with `--memory`, so unused memory must not count for long.
///
/// In turns with the system's allocator (`tetrion bench --quick --only calls`, medians of 8, a busy machine, November 2026),
/// calls run at 0.96 of the rate, the geometric mean of 18 rows; with ten seconds at 0.99. Larger caches per thread
/// (`tcache_max` of 1 and 8 MiB) make it 0.94 and 0.90.
#[cfg(not(target_env = "msvc"))]
#[expect(unsafe_code, reason = "jemalloc looks for this name: a pointer to text that ends with a zero byte")]
#[unsafe(export_name = "_rjem_malloc_conf")]
static ALLOCATOR_OPTIONS: &[u8; 37] = b"dirty_decay_ms:1000,muzzy_decay_ms:0\0";

fn main() -> ExitCode {
    tetrion::cli::main(std::env::args_os().collect())
}
