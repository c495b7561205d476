//! Films: pictures sent to ffmpeg, if it is installed.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};

use tetrion_toolkit::picture::{Canvas, ColourScheme, Layout};

/// A running ffmpeg that receives pictures.
pub struct Film {
    ffmpeg: Child,
    scheme: ColourScheme,
}

impl Film {
    /// Starts ffmpeg for a film with this many pictures per second.
    ///
    /// # Errors
    /// If ffmpeg cannot be started.
    pub fn begin(out: &Path, layout: &Layout, scheme: ColourScheme, rate: f64) -> anyhow::Result<Film> {
        let size = format!("{}x{}", layout.width, layout.height);
        let mut command = Command::new("ffmpeg");
        command.args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", &size]);
        command.args(["-r", &rate.to_string(), "-i", "-", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]);
        command.args(["-f", "mp4"]);
        // Prevents a name that begins with a dash from being read as an option.
        command.arg(Path::new(".").join(out));
        let ffmpeg = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start ffmpeg, which makes films: install it, or write a .gif")?;
        Ok(Film { ffmpeg, scheme })
    }

    /// Adds a picture.
    ///
    /// # Errors
    /// If ffmpeg has ended.
    pub fn add(&mut self, canvas: &Canvas) -> anyhow::Result<()> {
        let mut pixels = Vec::new();
        canvas.write_rgb(self.scheme, &mut pixels);
        let input = self.ffmpeg.stdin.as_mut().expect("a pipe, until it is finished");
        input.write_all(&pixels).context("ffmpeg has ended early")
    }

    /// Waits for ffmpeg to finish.
    ///
    /// # Errors
    /// If ffmpeg fails; its message is on stderr.
    pub fn finish(mut self) -> anyhow::Result<()> {
        drop(self.ffmpeg.stdin.take());
        let status = self.ffmpeg.wait()?;
        if !status.success() {
            bail!("ffmpeg failed: {status}");
        }
        Ok(())
    }
}

impl Drop for Film {
    /// Ends ffmpeg, if it still waits for pictures.
    fn drop(&mut self) {
        let _ = self.ffmpeg.kill(); // fails if it has ended
        let _ = self.ffmpeg.wait();
    }
}
