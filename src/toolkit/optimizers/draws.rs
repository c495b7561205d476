//! Random numbers for the optimizers, with equal bits on every machine.
//!
//! The generator is ChaCha8 (Bernstein 2008, eight rounds), `ChaCha8Rng` of `rand`. Its key is the seed as eight
//! little-endian bytes followed by [`DOMAIN`]. The caller chooses the stream number, a separate one per generation; the
//! block counter starts at 0. The keystream is read as little-endian 64-bit words, one word per draw.
//!
//! Normals use Marsaglia's polar method (Marsaglia and Bray 1964). Square roots are exact everywhere; the logarithm is
//! not, so it comes from the `libm` crate on every platform. `rand_distr` is not used, because a feature that another
//! crate enables would replace that logarithm.

use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

/// Separates these streams from any other use of the same seed.
const DOMAIN: &[u8; 24] = b"tetrion optimizer draws.";

/// Random numbers of one generation: words, uniform numbers and normals.
#[derive(Debug)]
pub(super) struct Draws {
    words: ChaCha8Rng,
    /// The second normal of a pair, because the polar method produces two at a time.
    spare: Option<f64>,
}

impl Draws {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..].copy_from_slice(DOMAIN);
        let mut words = ChaCha8Rng::from_seed(key);
        words.set_stream(stream);
        Self { words, spare: None }
    }

    /// A number in [0, 1), a multiple of 2^-53.
    pub(super) fn uniform(&mut self) -> f64 {
        (self.words.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number in 0..n, from the upper word of a product: for n below 2^32 the bias is below 2^-32.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.words.next_u64()) * n as u128) >> 64) as usize
    }

    /// A normal with mean 0 and standard deviation 1.
    pub(super) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let u = 2.0 * self.uniform() - 1.0;
            let v = 2.0 * self.uniform() - 1.0;
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                let factor = (-2.0 * libm::log(s) / s).sqrt();
                self.spare = Some(v * factor);
                return u * factor;
            }
        }
    }
}
