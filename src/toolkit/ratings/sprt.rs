//! The sequential probability ratio test: how many pairs a question needs is decided while they are played.
//!
//! The test compares two hypotheses about normalized Elo. Under each one it finds the likeliest distribution of the five
//! classes of pairs; the logarithm of the ratio of both likelihoods moves between two bounds until it reaches one (Wald,
//! *Sequential tests of statistical hypotheses*, 1945; Van den Bergh, *Comments on Normalized Elo*, section 4).

use std::array;
use std::cmp::Ordering;

use super::ELO_PER_LOGIT;
use super::pentanomial::{MARGINS, MatchOutcome, Moments, Pentanomial};

/// Largest absolute value of a hypothesis in normalized Elo. About ten pairs decide about such a difference, and the search
/// for the likeliest distribution is certain to find a first one up to 231.
pub const LARGEST_HYPOTHESIS: f64 = 200.0;

/// Change of mean and deviation at which the search for a distribution ends. The error of a likelihood is of the order of
/// the change's square.
const TOLERANCE: f64 = 1e-10;

/// Most rounds of that search. Usually 3 to 10 are enough; counts of millions next to a few may lose so many digits that
/// the change stays above the tolerance.
const MAX_ROUNDS: u32 = 100;

/// A test of two hypotheses about the strength of the first player against the second.
///
/// If a hypothesis is true, this test takes fewer pairs on average than one with a fixed number of pairs and equal errors.
/// The error rates hold for whole pairs in the order of their seeds: if pairs are counted as they end, short matches come
/// first and bias the verdict. [`Sprt::decide`] takes them in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprt {
    lower: f64,
    higher: f64,
    alpha: f64,
    beta: f64,
}

/// What a test says about the pairs so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SprtVerdict {
    /// Neither bound is reached: more pairs are needed.
    GoesOn,
    AcceptsLower,
    AcceptsHigher,
}

/// A test that cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SprtError {
    #[error("hypotheses {lower} and {higher} are not in ascending order from -200 to 200")]
    Hypotheses { lower: f64, higher: f64 },
    #[error("error rates {alpha} and {beta} are not above 0 with a sum below 1")]
    ErrorRates { alpha: f64, beta: f64 },
}

impl Sprt {
    /// A test of `lower` against `higher`, both in normalized Elo.
    ///
    /// `alpha` is the probability of accepting `higher` if `lower` is true, `beta` the probability of accepting `lower` if
    /// `higher` is true; both approximately.
    ///
    /// # Errors
    /// If not -[`LARGEST_HYPOTHESIS`] <= lower < higher <= [`LARGEST_HYPOTHESIS`], or if an error rate is not above 0, or
    /// if both together are not below 1.
    pub fn new(lower: f64, higher: f64, alpha: f64, beta: f64) -> Result<Sprt, SprtError> {
        if !(-LARGEST_HYPOTHESIS <= lower && lower < higher && higher <= LARGEST_HYPOTHESIS) {
            return Err(SprtError::Hypotheses { lower, higher });
        }
        if !(alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0) {
            return Err(SprtError::ErrorRates { alpha, beta });
        }
        Ok(Sprt { lower, higher, alpha, beta })
    }

    /// Log-likelihood ratios at which the test accepts the lower and the higher hypothesis: ln(beta / (1 - alpha)) and
    /// ln((1 - beta) / alpha).
    ///
    /// ```
    /// use tetrion_toolkit::ratings::Sprt;
    /// let (low, high) = Sprt::new(0.0, 20.0, 0.05, 0.05)?.bounds();
    /// assert!((high - 19f64.ln()).abs() < 1e-12 && (low + high).abs() < 1e-12); // 2.944
    /// # Ok::<(), tetrion_toolkit::ratings::SprtError>(())
    /// ```
    pub fn bounds(&self) -> (f64, f64) {
        (libm::log(self.beta / (1.0 - self.alpha)), libm::log((1.0 - self.beta) / self.alpha))
    }

    /// Logarithm of the likelihood ratio of both hypotheses, above 0 if the pairs speak for the higher one; 0 without
    /// pairs.
    ///
    /// The ratio is the exact one, N sum p_i ln(q1_i / q0_i), where p_i is the share of a class, an empty class counts as
    /// 0.001 pairs, and q0 and q1 are the likeliest distributions with the normalized Elo of the hypotheses. If nearly all
    /// pairs are in one class, a distribution may be the likeliest one in its neighbourhood only.
    pub fn log_likelihood_ratio(&self, pairs: &Pentanomial) -> f64 {
        if pairs.num_pairs() == 0 {
            return 0.0;
        }
        let [lower, higher] = [self.lower, self.higher].map(|elo| {
            // Two matches per pair: a pair's score deviates by 1 / sqrt(2) of a match's.
            log_likelihood(&pairs.filled(), elo * std::f64::consts::SQRT_2 / (2.0 * ELO_PER_LOGIT))
        });
        higher - lower
    }

    /// The verdict about these pairs alone.
    ///
    /// A test stops at its first verdict other than [`SprtVerdict::GoesOn`]: after that, further pairs change nothing.
    pub fn verdict(&self, pairs: &Pentanomial) -> SprtVerdict {
        let ratio = self.log_likelihood_ratio(pairs);
        match self.bounds() {
            (low, _) if ratio <= low => SprtVerdict::AcceptsLower,
            (_, high) if ratio >= high => SprtVerdict::AcceptsHigher,
            _ => SprtVerdict::GoesOn,
        }
    }

    /// Takes pairs, in the order of their seeds, until the test stops or no pair is left. Returns the pairs taken, and the
    /// verdict about them.
    pub fn decide(&self, pairs: impl IntoIterator<Item = [MatchOutcome; 2]>) -> (Pentanomial, SprtVerdict) {
        let mut taken = Pentanomial::default();
        for pair in pairs {
            taken.add(pair);
            let verdict = self.verdict(&taken);
            if verdict != SprtVerdict::GoesOn {
                return (taken, verdict);
            }
        }
        (taken, SprtVerdict::GoesOn)
    }
}

/// Logarithm of the likelihood of the counts under the likeliest distribution whose mean lies `distance` standard
/// deviations above 1/2, without a term that depends on the counts alone.
///
/// The condition on mean and deviation is linearized around the last distribution, from the uniform one on. Under a linear
/// condition, that the mean of a slope is 0, the likeliest distribution is share / (1 + multiplier slope).
fn log_likelihood(counts: &[f64; 5], distance: f64) -> f64 {
    let num_pairs: f64 = counts.iter().sum();
    let shares = counts.map(|count| count / num_pairs);
    let Moments { margin: mut mean, mut variance, .. } = Moments::new(&[1.0; 5]);
    let (mut slopes, mut multiplier) = ([0.0; 5], 0.0);
    for _ in 0..MAX_ROUNDS {
        let deviation = variance.sqrt();
        slopes = MARGINS.map(|margin| {
            let offset = margin - mean;
            margin - distance / 2.0 * (deviation + offset * offset / deviation)
        });
        multiplier = find_multiplier(&shares, &slopes, multiplier);
        let likeliest = Moments::new(&array::from_fn(|i| shares[i] / (1.0 + multiplier * slopes[i])));
        let change = (likeliest.margin - mean).abs() + (likeliest.variance.sqrt() - deviation).abs();
        (mean, variance) = (likeliest.margin, likeliest.variance);
        if change < TOLERANCE {
            break;
        }
    }
    let terms = counts.iter().zip(slopes).map(|(count, slope)| count * libm::log1p(multiplier * slope));
    -terms.sum::<f64>()
}

/// The multiplier with sum share slope / (1 + multiplier slope) = 0, by Newton's method from a first guess, which falls
/// back to bisection. There are slopes of both signs.
fn find_multiplier(shares: &[f64; 5], slopes: &[f64; 5], guess: f64) -> f64 {
    // No share of the distribution exceeds 1.
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for (share, slope) in shares.iter().zip(slopes) {
        let end = (share - 1.0) / slope;
        match slope.total_cmp(&0.0) {
            Ordering::Less => high = high.min(end),
            Ordering::Greater => low = low.max(end),
            Ordering::Equal => {}
        }
    }
    let mut multiplier = guess.max(low).min(high);
    for _ in 0..MAX_ROUNDS {
        let (mut sum, mut steepness) = (0.0, 0.0);
        for (share, slope) in shares.iter().zip(slopes) {
            let ratio = slope / (1.0 + multiplier * slope);
            sum += share * ratio;
            steepness += share * ratio * ratio;
        }
        if sum > 0.0 {
            low = multiplier
        } else {
            high = multiplier
        }
        let last = multiplier;
        multiplier += sum / steepness;
        if !(low <= multiplier && multiplier <= high) {
            multiplier = (low + high) / 2.0;
        }
        if (multiplier - last).abs() <= 1e-15 * (1.0 + last.abs()) {
            break;
        }
    }
    multiplier
}
