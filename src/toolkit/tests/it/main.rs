//! The tests of what surrounds games: one binary, one module per theme. They know no messages, no server and no program.

/// Pictures of recorded games, in every form.
mod pictures;

/// Recorded games are those of environments, in colours; falsified ones are found.
mod recording;

/// Games as text for language models: observations to the character, and actions read back.
mod prompts;

/// The cross-entropy search finds its maximum, and takes the same path every time.
mod cem;

/// The genetic algorithm finds its maximum, and takes the same path every time.
mod genetic;

/// Temporal-difference learning moves scores as its formulas say.
mod td;

/// Temporal-difference learning of a network.
mod network;

/// Exact values on small playfields, against a slow solver, reasoning, and played games.
mod optimum;

/// Statistics of matches: published figures, simulated tests, and ratings next to a slow twin.
mod ratings;

/// Tasks with a known optimum.
mod tasks;

/// Tables of exact values: regret, files, and the optimal agent.
mod values;

/// Estimates of the length of games, against exact values and whole games.
mod splitting;

/// Both sides of the Tetris Bot Protocol.
mod tbp;
