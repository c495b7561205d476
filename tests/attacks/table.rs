//! The attacks, their bounds, and why a bound is where it is.

use std::time::Duration;

use crate::arena::Attack;
use crate::{
    answers, conformance, connections, evaluations, everything, floods, load, memory, mutations, requests,
    strangers, survivors,
};

/// A row whose attack is this function.
macro_rules! attack {
    ($name:literal, $run:path) => {
        Attack { name: $name, run: |arena| Box::pin($run(arena)), ..Attack::ORDINARY }
    };
}

pub const ATTACKS: &[Attack] = &[
    attack!("heavy-work", requests::heavy_work),
    Attack { max_mib: 1536, ..attack!("unread-window-0", answers::with_no_window) },
    Attack { max_mib: 1536, ..attack!("unread-full-socket", answers::with_a_full_socket) },
    Attack { max_mib: 1536, ..attack!("unread-streams", answers::of_streams) },
    Attack { max_mib: 1536, ..attack!("unread-small-calls", answers::of_small_calls) },
    Attack { max_mib: 768, ..attack!("unread-open-doors", answers::of_open_doors) },
    Attack { flags: &["--max-unread-time", "1"], ..attack!("unread-evaluations", answers::of_evaluations) },
    Attack { max_mib: 1024, ..attack!("compressed-streams", requests::compressed_streams) },
    Attack { max_mib: 1024, ..attack!("bombs", requests::bombs) },
    Attack { max_mib: 1024, ..attack!("announced", requests::announced) },
    Attack { max_mib: 2048, ..attack!("withheld", requests::withheld) },
    // The memory of sessions and of requests on their way, each at its most.
    Attack { max_mib: 2048, ..attack!("sequences", requests::sequences) },
    Attack { max_mib: 1024, ..attack!("sessions", requests::sessions) },
    Attack { max_mib: 512, ..attack!("begun-calls", requests::begun_calls) },
    // All of that together stays within what the server was given.
    Attack {
        flags: &["--memory", "1024", "--max-connections-per-address", "256"],
        max_mib: 1024,
        cgroup_mib: 1024,
        ..attack!("everything", everything::at_once)
    },
    Attack { max_mib: 1024, ..attack!("evaluations", evaluations::unread) },
    attack!("evaluation-estimates", evaluations::estimates),
    Attack { max_mib: 512, ..attack!("heavy-headers", requests::heavy_headers) },
    Attack { max_mib: 512, ..attack!("full-windows", requests::full_windows) },
    attack!("endless-headers", connections::endless_headers),
    Attack { max_mib: 768, ..attack!("unread-pages", answers::of_pages) },
    Attack { flags: &["--max-unread-time", "1"], ..attack!("unread-watches", answers::of_watches) },
    attack!("vanishing", requests::vanishing),
    attack!("silent", connections::silent),
    Attack {
        flags: &["--first-request-timeout", "1", "--request-timeout", "1", "--idle-timeout", "1"],
        ..attack!("abandoned", connections::abandoned)
    },
    Attack {
        flags: &["--first-request-timeout", "2"],
        encrypted: true,
        ..attack!("abandoned-handshakes", connections::handshakes)
    },
    // More than a server takes by default, and all of them from one address: 40 KiB for each that has made a call.
    Attack {
        flags: &["--max-connections", "16000", "--max-connections-per-address", "16000"],
        max_mib: 768,
        ..attack!("thousands", connections::thousands)
    },
    Attack { descriptors: 100, ..attack!("out-of-descriptors", connections::out_of_descriptors) },
    Attack {
        stderr: false,
        flags: &["--log", "debug"],
        ..attack!("without-a-log", connections::without_a_log)
    },
    Attack {
        flags: &["--memory", "1024"],
        max_mib: 1024,
        cgroup_mib: 1024,
        ..attack!("memory-of-the-ended", memory::ended_episodes)
    },
    // A small learner goes on through all of it. Servers of these sizes have at least as many connections as a mix.
    Attack {
        flags: &["--memory", "256"],
        max_mib: 256,
        cgroup_mib: 256,
        slowest: Duration::from_secs(10),
        ..attack!("memory-256", memory::of_256)
    },
    Attack {
        flags: &["--memory", "1024"],
        max_mib: 1024,
        cgroup_mib: 1024,
        slowest: Duration::from_secs(10),
        ..attack!("memory-1024", memory::of_1024)
    },
    Attack {
        flags: &["--memory", "4096"],
        max_mib: 4096,
        cgroup_mib: 4096,
        slowest: Duration::from_secs(10),
        ..attack!("memory-4096", memory::of_4096)
    },
    attack!("pages-elsewhere", strangers::pages),
    attack!("load", load::short),
    attack!("faults-under-load", survivors::short),
    attack!("http2-conformance", conformance::conformance),
    attack!("flood-rapid-reset", floods::rapid_reset),
    attack!("flood-reset-of-work", floods::rapid_reset_of_work),
    attack!("flood-made-to-reset", floods::made_to_reset),
    attack!("flood-malformed", floods::malformed),
    attack!("flood-pings", floods::pings),
    attack!("flood-pongs", floods::pongs),
    attack!("flood-settings", floods::settings_again),
    attack!("flood-continuations", floods::continuations),
    attack!("flood-empty-continuations", floods::empty_continuations),
    attack!("flood-empty-data", floods::empty_data),
    attack!("flood-window-updates", floods::window_updates),
    attack!("flood-priorities", floods::priorities),
    attack!("flood-goodbyes", floods::goodbyes),
    attack!("flood-header-bombs", floods::header_bombs),
    attack!("flood-tables", floods::tables),
    attack!("flood-pages", floods::pages),
    attack!("mutated-messages", mutations::messages),
    attack!("mutated-snapshots", mutations::snapshots),
];
