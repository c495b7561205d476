//! The table of feature sets: named lists of features.

/// A named list of features.
#[derive(Clone, Copy, Debug)]
pub struct NamedSet {
    /// Name on the wire and on the command line.
    pub name: &'static str,
    /// Version of the set. Increases whenever a landing's numbers could change.
    pub version: u32,
    /// Source of the set, in one sentence.
    pub source: &'static str,
    /// Features in order; `[i]` stands for all members of a family.
    pub members: &'static [&'static str],
}

// Each of these sets extends the previous one.
const DELLACHERIE6: [&str; 6] = [
    "landing_height",
    "eroded_piece_cells",
    "row_transitions",
    "column_transitions",
    "holes",
    "cumulative_wells",
];
const BCTS8: [&str; 8] = extended(&DELLACHERIE6, &["hole_depth", "rows_with_holes"]);
const THIERY9: [&str; 9] = extended(&BCTS8, &["pattern_diversity"]);

/// Every named list of features.
pub static FEATURE_SETS: &[NamedSet] = &[
    NamedSet {
        name: "dellacherie6",
        version: 1,
        source: "Dellacherie's features, as Thiery and Scherrer (2009) define them",
        members: &DELLACHERIE6,
    },
    NamedSet {
        name: "bcts8",
        version: 1,
        source: "Dellacherie's and two more: the set DU of Thiery and Scherrer (2009)",
        members: &BCTS8,
    },
    NamedSet {
        name: "thiery9",
        version: 1,
        source: "bcts8 and pattern diversity: the set DT of Gabillon, Ghavamzadeh and Scherrer (2013)",
        members: &THIERY9,
    },
    NamedSet {
        name: "steps16",
        version: 1,
        source: "this project: thiery9, then how the surface steps from column to column",
        members: &extended::<10>(&THIERY9, &["steps[i]"]),
    },
    NamedSet {
        name: "surface27",
        version: 1,
        source: "this project: thiery9, then how the surface takes the tetrominoes, its steps, wells and parity, and holes \
                 by depth",
        members: &extended::<15>(
            &THIERY9,
            &["readiness[i]", "fits", "steps[i]", "weighted_holes", "deep_wells", "surface_parity"],
        ),
    },
    NamedSet {
        name: "modern30",
        version: 1,
        source: "this project: thiery9, heights, wells and steps, then what modern Tetris asks for: ways of clearing, lines sent, \
                 idle Ts, rows ready for an I and slots for a T",
        members: &extended::<18>(
            &THIERY9,
            &[
                "total_height",
                "deep_wells",
                "steps[i]",
                "clears[i]",
                "base_attack",
                "idle_t",
                "ready_rows",
                "spin_slots",
                "spin_slot_rows",
            ],
        ),
    },
    NamedSet {
        name: "bertsekas",
        version: 1,
        source: "Bertsekas and Ioffe (1996), without the constant: 2 * width + 1 features",
        members: &["column_height[i]", "height_difference[i]", "max_height", "holes"],
    },
    NamedSet {
        name: "bdu",
        version: 1,
        source: "bertsekas, then the rest of bcts8 (Thiery and Scherrer 2009): 2 * width + 8 features",
        members: &[
            "column_height[i]",
            "height_difference[i]",
            "max_height",
            "holes",
            "landing_height",
            "eroded_piece_cells",
            "row_transitions",
            "column_transitions",
            "cumulative_wells",
            "hole_depth",
            "rows_with_holes",
        ],
    },
    NamedSet {
        name: "eltetris6",
        version: 1,
        source: "El-Ashi (2011): Dellacherie's, with lines in place of eroded cells",
        members: &[
            "landing_height",
            "lines_cleared",
            "row_transitions",
            "column_transitions",
            "holes",
            "cumulative_wells",
        ],
    },
    NamedSet {
        name: "height4",
        version: 1,
        source: "Lee (2013): four numbers, after clearing",
        members: &["total_height", "lines_cleared", "holes", "bumpiness"],
    },
    NamedSet {
        name: "lab4",
        version: 1,
        source: "course notebook and genetic-algorithm write-up: the same four, before clearing",
        members: &["total_height_preclear", "lines_cleared", "holes_preclear", "bumpiness_preclear"],
    },
    NamedSet {
        name: "lab8",
        version: 1,
        source: "course notebook: its own reading of bcts8, before clearing",
        members: &[
            "landing_height_lab",
            "eroded_piece_cells",
            "row_transitions_preclear",
            "column_transitions_lab_preclear",
            "holes_preclear",
            "wells_lab_preclear",
            "hole_depth_lab_preclear",
            "rows_with_holes_preclear",
        ],
    },
    NamedSet {
        name: "survey6",
        version: 1,
        source: "Tetris AI survey notebook: its own reading of eltetris6, as coded",
        members: &[
            "landing_height_survey",
            "lines_cleared",
            "row_transitions_survey",
            "column_transitions_survey",
            "hole_runs",
            "wells_survey",
        ],
    },
    NamedSet {
        name: "flatstack",
        version: 1,
        source: "smart agent of the Leiden report",
        members: &["lines_cleared", "landing_top", "holes", "open_shafts"],
    },
];

/// A list extended by another one, `N` names in total.
const fn extended<const N: usize>(list: &[&'static str], more: &[&'static str]) -> [&'static str; N] {
    assert!(list.len() + more.len() == N);
    let mut all = [""; N];
    let (begin, end) = all.split_at_mut(list.len());
    begin.copy_from_slice(list);
    end.copy_from_slice(more);
    all
}
