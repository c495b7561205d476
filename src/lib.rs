//! Tetrion: a Tetris environment server for reinforcement learning.
