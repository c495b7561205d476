//! The files of the kit, which are part of the program.

/// Name and text of each file in `conformance`.
pub const KIT: [(&str, &str); 23] = [
    ("info", include_str!("../../conformance/info.txt")),
    ("presets", include_str!("../../conformance/presets.txt")),
    ("seeds", include_str!("../../conformance/seeds.txt")),
    ("rules", include_str!("../../conformance/rules.txt")),
    ("versus", include_str!("../../conformance/versus.txt")),
    ("pieces", include_str!("../../conformance/pieces.txt")),
    ("autoreset", include_str!("../../conformance/autoreset.txt")),
    ("actions", include_str!("../../conformance/actions.txt")),
    ("keys", include_str!("../../conformance/keys.txt")),
    ("fields", include_str!("../../conformance/fields.txt")),
    ("features", include_str!("../../conformance/features.txt")),
    ("placements", include_str!("../../conformance/placements.txt")),
    ("garbage", include_str!("../../conformance/garbage.txt")),
    ("snapshots", include_str!("../../conformance/snapshots.txt")),
    ("render", include_str!("../../conformance/render.txt")),
    ("sessions", include_str!("../../conformance/sessions.txt")),
    ("streams", include_str!("../../conformance/streams.txt")),
    ("watch", include_str!("../../conformance/watch.txt")),
    ("history", include_str!("../../conformance/history.txt")),
    ("evaluations", include_str!("../../conformance/evaluations.txt")),
    ("policies", include_str!("../../conformance/policies.txt")),
    ("tasks", include_str!("../../conformance/tasks.txt")),
    ("refusals", include_str!("../../conformance/refusals.txt")),
];
