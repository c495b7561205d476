//! The tests of what this package does: one binary, one module per theme. They know no messages, no server and no program.

/// Perft tables and drawings: the engine against counts from other programs.
mod rules;

/// Placements with kicks, spins and the keys that lead to them, against counts from other programs and a slow twin.
mod perfect_clears;

mod reachable;

/// Whole games that another engine played under the rules of modern Tetris.
mod guideline_games;

/// Matches of two players, against games of two other engines.
mod versus;

/// Tetrominoes that walk and fall, against a plain model of the notebook they come from.
mod keypress;

/// Whole games of key presses, on the notebook's board.
mod keypress_games;

/// Drawings and the numbers counted on them, every feature against its twin, sets by name.
mod features;

/// The named controllers play the games that other programs recorded of them.
mod controllers;

/// Environments against a slow model of one, their refusals, and whole episodes as text.
mod env;

/// Playfields drawn as text, to the character.
mod render;

/// Every placement of many positions at once.
mod placements;

/// Checks of the twins: examples, counts, vectors and games from other sources.
mod twin_facts;

/// Every kernel gives the bits of the features' own functions.
mod kernel;

/// Placements measured together have the bits of the features' own functions.
mod together;

/// Each agent against a slow and simple twin.
mod agents;

/// The exact mean over hidden pieces.
mod expectation;

/// Sequences of placements of the known pieces.
mod beam;

/// Whole episodes, alone and in parallel.
mod rollout;

/// Threads shared by callers, work in slices, games that are not read.
mod queues;

/// Counting placements in little memory.
mod perft;

/// What the tests of several rooms share.
mod support;

/// Formulas against a walker of trees, and what is refused of them.
mod formulas;
