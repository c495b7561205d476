//! Memory, processor time and descriptors of the process, on systems that report them in files.

use std::fs;

/// Resources of the process; `None` if the system does not report them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Bytes of resident memory, not of address space.
    pub memory: Option<u64>,
    /// Seconds of processor time, of all threads together.
    pub cpu: Option<f64>,
    pub open_fds: Option<u64>,
    pub max_fds: Option<u64>,
}

/// Reads the current usage of the process.
pub(super) fn usage() -> Usage {
    Usage { memory: memory(), cpu: cpu(), open_fds: open_fds(), max_fds: max_fds() }
}

/// Resident memory in bytes, in a few microseconds.
pub(super) fn memory() -> Option<u64> {
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
    let resident: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
    Some(resident * page_bytes())
}

/// Bytes of a page of memory.
fn page_bytes() -> u64 {
    #[cfg(unix)]
    return rustix::param::page_size() as u64;
    #[cfg(not(unix))]
    return 4096; // without /proc no pages are counted
}

fn cpu() -> Option<f64> {
    /// Linux reports times in this unit, whatever its internal ticks are.
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name is in brackets and may contain anything. The fields after it are numbered from 3.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(14 - 3);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((user + system) as f64 / TICKS_A_SECOND)
}

fn open_fds() -> Option<u64> {
    // Listing the folder itself uses a descriptor.
    Some((fs::read_dir("/proc/self/fd").ok()?.count() as u64).saturating_sub(1))
}

fn max_fds() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}
