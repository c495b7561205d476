//! A control group for one server: the kernel kills it at the first byte beyond its limit, as it would in a container.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Where the system mounts control groups: of version 2 alone, beside version 1, and the memory of version 1.
const MOUNTS: [&str; 3] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory"];

/// The files that set the limit, of version 2 and of version 1.
const LIMITS: [&str; 2] = ["memory.max", "memory.limit_in_bytes"];

/// A control group, removed when this is dropped.
#[derive(Debug)]
pub struct Cgroup(PathBuf);

impl Cgroup {
    /// A control group with a limit in bytes; `None` where none can be made.
    pub fn new(limit: u64) -> Option<Cgroup> {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let own: Vec<&str> = own.lines().filter_map(|line| line.splitn(3, ':').nth(2)).collect();
        let parents = MOUNTS.iter().flat_map(|mount| {
            let inside = own.iter().map(move |path| Path::new(mount).join(path.trim_start_matches('/')));
            inside.chain([PathBuf::from(mount)])
        });
        parents.into_iter().find_map(|parent| Cgroup::under(&parent, limit))
    }

    fn under(parent: &Path, limit: u64) -> Option<Cgroup> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let is_parent = LIMITS.iter().any(|file| parent.join(file).exists())
            || parent.join("cgroup.controllers").exists();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = parent.join(format!("tetrion-attacks-{}-{number}", std::process::id()));
        if !is_parent || fs::create_dir(&path).is_err() {
            return None;
        }
        // From here on, dropping it removes the folder.
        let group = Cgroup(path);
        let is_limited = LIMITS.iter().any(|file| fs::write(group.0.join(file), limit.to_string()).is_ok());
        let _ = fs::write(group.0.join("memory.swap.max"), "0");
        is_limited.then_some(group)
    }

    /// The file into which a process writes its number to enter.
    pub fn entry(&self) -> PathBuf {
        self.0.join("cgroup.procs")
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}
