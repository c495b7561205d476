//! The frames of a session that a viewer can go back to, and how the call stands. It knows no network and no clock.

use std::collections::VecDeque;
use std::time::Duration;

use crate::client::WatchedFrame;

/// The most that frames take: an hour of one playfield of 10 x 20 at 20 frames a second.
const MAX_BYTES: usize = 32 << 20;

/// A frame, and when it came.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptFrame {
    /// Since the first.
    pub at: Duration,
    /// What the session looked like.
    pub frame: WatchedFrame,
}

/// How the call stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// Frames come.
    #[default]
    Up,
    /// The server is lost, for this reason, and looked for.
    Down(String),
    /// No frame will come, for this reason.
    Over(String),
}

/// The newest frames, as many as there is room for. Each has a number, counted from 0 since the first.
#[derive(Debug)]
pub struct Kept {
    frames: VecDeque<KeptFrame>,
    /// The number of the oldest.
    oldest: u64,
    bytes: usize,
    max_bytes: usize,
    /// How the call stands.
    pub link: Link,
}

impl Kept {
    /// The first frame.
    pub fn new(frame: WatchedFrame) -> Kept {
        Kept::within(frame, MAX_BYTES)
    }

    /// The first frame, and room for this many bytes; the newest frame is kept however large it is.
    pub fn within(frame: WatchedFrame, max_bytes: usize) -> Kept {
        let bytes = size(&frame);
        let frames = VecDeque::from([KeptFrame { at: Duration::ZERO, frame }]);
        Kept { frames, oldest: 0, bytes, max_bytes, link: Link::Up }
    }

    /// Adds a frame, which came at this time since the first. One that shows nothing new is not kept.
    pub fn push(&mut self, at: Duration, frame: WatchedFrame) {
        self.link = Link::Up;
        if self.frames.back().is_some_and(|last| last.frame == frame) {
            return;
        }
        self.bytes += size(&frame);
        self.frames.push_back(KeptFrame { at, frame });
        while self.bytes > self.max_bytes && self.frames.len() > 1 {
            if let Some(gone) = self.frames.pop_front() {
                self.bytes -= size(&gone.frame);
                self.oldest += 1;
            }
        }
    }

    /// The number of the oldest frame.
    pub fn oldest(&self) -> u64 {
        self.oldest
    }

    /// The number of the newest frame.
    pub fn newest(&self) -> u64 {
        self.oldest + self.frames.len() as u64 - 1
    }

    /// The frame of a number; the oldest or the newest if it is not kept.
    pub fn get(&self, number: u64) -> &KeptFrame {
        let number = number.clamp(self.oldest, self.newest());
        &self.frames[(number - self.oldest) as usize]
    }
}

/// About how many bytes a frame takes.
fn size(frame: &WatchedFrame) -> usize {
    let of_env = |env: &crate::client::WatchedEnv| {
        let cells: usize = env.scene.cells.rows().map(<[_]>::len).sum();
        size_of_val(env) + cells + 2 * env.scene.last.len() + env.scene.next.len()
    };
    size_of::<KeptFrame>() + frame.envs.iter().map(of_env).sum::<usize>()
}
