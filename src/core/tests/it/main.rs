//! The tests of what this package does: one binary, one module per theme. They know no messages, no server and no program.

/// Perft tables and drawings: the engine against counts from other programs.
mod rules;

/// Placements with kicks, spins and the keys that lead to them, against counts from other programs and a slow twin.
mod perfect_clears;

mod reachable;

/// Whole games that another engine played under the rules of modern Tetris.
mod guideline_games;

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

/// Pictures of recorded games, in every form.
mod pictures;

/// Recorded games are those of environments, in colours; falsified ones are found.
mod recording;

/// Playfields drawn as text, to the character.
mod render;

/// Games as text for language models: observations to the character, and actions read back.
mod prompts;

/// Every placement of many positions at once.
mod placements;

/// The cross-entropy search finds its maximum, and takes the same path every time.
mod cem;

/// The genetic algorithm finds its maximum, and takes the same path every time.
mod genetic;

/// Temporal-difference learning moves scores as its formulas say.
mod td;

/// Temporal-difference learning of a network.
mod network;

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

/// Exact values on small playfields, against a slow solver, reasoning, and played games.
mod optimum;

/// Tasks with a known optimum.
mod tasks;

/// Tables of exact values: regret, files, and the optimal agent.
mod values;

/// Whole episodes, alone and in parallel.
mod rollout;

/// Estimates of the length of games, against exact values and whole games.
mod splitting;

/// Threads shared by callers, work in slices, games that are not read.
mod queues;

/// Counting placements in little memory.
mod perft;

/// What the tests of several rooms share.
mod support;
