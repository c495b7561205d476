//! Past frames of a session, to which a viewer can go back, and the state of the call. This file knows no network and
//! no clock.

use std::collections::VecDeque;
use std::time::Duration;

use tetrion_client::WatchedFrame;

/// Memory for frames: an hour of one 10 x 20 playfield at 20 frames per second.
const MAX_BYTES: usize = 32 << 20;

/// A frame with its time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedFrame {
    /// Time since the first frame.
    pub at: Duration,
    /// The session at that time.
    pub frame: WatchedFrame,
}

/// The state of the call that brings the frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LinkState {
    /// The call is open, and frames arrive.
    #[default]
    Up,
    /// The server is lost, for this reason. The call is retried.
    Down(String),
    /// The call has ended, for this reason.
    Over(String),
}

/// The newest frames that fit into memory, numbered from 0 since the first frame.
#[derive(Debug)]
pub struct FrameHistory {
    frames: VecDeque<TimedFrame>,
    /// Number of the oldest frame.
    oldest: u64,
    bytes: usize,
    max_bytes: usize,
    pub link: LinkState,
}

impl FrameHistory {
    /// Starts with the first frame.
    pub fn new(frame: WatchedFrame) -> FrameHistory {
        FrameHistory::within(frame, MAX_BYTES)
    }

    /// Starts with the first frame and a limit on memory, in bytes. The newest frame stays whatever its size.
    pub fn within(frame: WatchedFrame, max_bytes: usize) -> FrameHistory {
        let bytes = size(&frame);
        let frames = VecDeque::from([TimedFrame { at: Duration::ZERO, frame }]);
        FrameHistory { frames, oldest: 0, bytes, max_bytes, link: LinkState::Up }
    }

    /// Adds a frame that arrived at this time after the first. Drops a frame that equals the last.
    pub fn push(&mut self, at: Duration, frame: WatchedFrame) {
        self.link = LinkState::Up;
        if self.frames.back().is_some_and(|last| last.frame == frame) {
            return;
        }
        self.bytes += size(&frame);
        self.frames.push_back(TimedFrame { at, frame });
        while self.bytes > self.max_bytes && self.frames.len() > 1 {
            if let Some(gone) = self.frames.pop_front() {
                self.bytes -= size(&gone.frame);
                self.oldest += 1;
            }
        }
    }

    /// Number of the oldest frame.
    pub fn oldest(&self) -> u64 {
        self.oldest
    }

    /// Number of the newest frame.
    pub fn newest(&self) -> u64 {
        self.oldest + self.frames.len() as u64 - 1
    }

    /// The frame with this number, or the nearest one in memory.
    pub fn get(&self, number: u64) -> &TimedFrame {
        let number = number.clamp(self.oldest, self.newest());
        &self.frames[(number - self.oldest) as usize]
    }
}

/// Approximate memory of a frame in bytes.
fn size(frame: &WatchedFrame) -> usize {
    let of_env = |env: &tetrion_client::WatchedEnv| {
        let cells: usize = env.scene.cells.rows().map(<[_]>::len).sum();
        size_of_val(env) + cells + 2 * env.scene.last.len() + env.scene.next.len()
    };
    size_of::<TimedFrame>() + frame.envs.iter().map(of_env).sum::<usize>()
}
