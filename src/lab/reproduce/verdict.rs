//! Verdicts: can a printed figure and our games belong to the same player?
//!
//! A figure is compared according to its kind: a mean with or without an interval, a share, the best of some games, or words
//! about typical games ([`Printed`] has the formula of each). There are three outcomes: the two agree, they differ, or there
//! are too few games to tell. They differ if chance would set them so far apart only once in 370 times (`LEVEL`, three standard
//! errors of a normal number). They agree only if the same test would have refuted a clearly wrong figure, which each kind
//! defines. NaN never agrees, and neither do zero games.
//!
//! Games that were cut earlier than the document's give a lower bound. It can be too large for a figure, and shows nothing
//! else. A few lost games among many that were cut do not show how lost games vary: [`Cuts::cut`].

use tetrion::summary::Statistics;
use tetrion::text::numbers::grouped;

/// A printed figure with its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// The figure, and its precision.
    pub printed: Printed,
    pub origin: Origin,
}

/// The origin of a figure, which tells how far to trust it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The document of the experiment.
    Document,
    /// A paper or published weights, or a quotation from there.
    Published,
    /// A figure cited from memory.
    Recalled,
    /// A new run of the document's program, or of another program under the same rules.
    Rerun,
}

/// A figure, and its precision.
///
/// In the formulas m is the number of our games, x their mean and s their standard deviation; v is the figure and n its number
/// of games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Printed {
    /// Mean of n games without a spread. These games are assumed to vary as ours do, so the standard error of the difference is
    /// s sqrt(1/m + 1/n).
    ///
    /// The two differ if x is more than three of these errors away from the range of v. The lengths of games vary in proportion
    /// to their mean, so s is taken at the larger of the two means: s max(1, v/x). The standard error of our mean of whole
    /// numbers is at least 1/m. The two agree if three errors are at most half of v, so that half or double the figure would
    /// have been refuted; and only with ten games or more, because fewer do not show how games vary.
    Mean {
        value: f64,
        /// Precision of the printed digits.
        decimals: Decimals,
        /// Number of games in the mean.
        games: u32,
    },
    /// Mean with its 95 % interval: like a mean, but (high - low) / 3.92 is its standard error instead of s / sqrt(n).
    Interval { value: f64, low: f64, high: f64 },
    /// This many of n games: Fisher's exact test, two-sided. The two agree if a share of ours half the scale away, such as 10
    /// of 20 against 0 of 20, would have been refuted.
    Share {
        /// Number of games that the share counts.
        count: u32,
        games: u32,
    },
    /// The largest of n games; a single game is the largest of one. If all m + n games are alike, the probability that none of
    /// the n is among the r largest is m (m-1) ... (m-r+1) / ((m+n) (m+n-1) ... (m+n-r+1)). That bounds from both sides how
    /// many of ours may be larger than v, each side at half of the level, and assumes nothing about how games vary.
    ///
    /// The two agree if a v above or below all of our games would have been refuted, which needs n of about 740 or more.
    BestOf {
        /// The largest number of the games.
        value: f64,
        games: u32,
    },
    /// Words about typical games, which means the middle half. The two differ if the range lies outside of the middle half of
    /// our games, whose ends are the order statistics that bound the quartiles, each at half of the level. Such order
    /// statistics exist from 23 games on; with fewer there are too few games.
    Words {
        words: &'static str,
        /// Low end of the range that they mean.
        low: f64,
        /// High end of the range that they mean.
        high: f64,
    },
    /// Result of another search, which finds another player each time, known within this factor. Compared like a mean that
    /// stands for the range from v / factor to v factor, without a standard error.
    Factor { value: f64, factor: f64 },
}

/// Precision of a printed mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decimals {
    /// All significant digits are printed.
    Kept,
    /// Decimals are cut off, so the mean was up to 1 more.
    CutOff,
    /// The mean is rounded, and was up to this much more or less.
    Rounded(f64),
}

/// Games that were cut before they were lost, or estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Our numbers are estimates, which vary less than games: the figure's games are assumed to vary by their mean.
    pub estimated: bool,
    /// Some were cut earlier than the figure's games, so the mean is a lower bound.
    pub early: bool,
    /// Number of games that were cut. If it is above zero and fewer than ten of the m games were lost, these show too little
    /// about lost games. The share of lost games may then be as large as the p for which so few losses have a probability of
    /// `LEVEL` / 2, and a lost game may have a score of zero: the mean of all such games may be smaller by (p - lost / m) x.
    pub cut: u64,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No difference shows in these games.
    Agrees,
    Differs,
    /// There are too few games to tell, ours or theirs.
    TooFew,
    /// Ours is a lower bound, and not larger than the figure.
    Cut,
}

/// The overall verdict on a figure, in all forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverallVerdict {
    Agrees,
    Differs,
    /// Our figure agrees with later measurements, and differs from the document.
    DiffersFromDocument,
    /// The document's figure is provably wrong; ours agrees with later measurements, if any.
    DocumentWrong,
    /// There are too few games to tell.
    TooFew,
    /// Games were cut too early to tell.
    Cut,
    /// There is no figure to compare.
    None,
}

/// Probability that chance alone refutes a figure: that a normal number is three standard deviations off.
const LEVEL: f64 = 0.0027;
/// The standard deviations of [`LEVEL`].
const ERRORS: f64 = 3.0;
/// Fewer games do not show how games vary: at [`LEVEL`], not even their median lies between the extremes.
const FEW: usize = 10;

/// The figures that our games do not refute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accepted {
    pub low: f64,
    pub high: f64,
    /// Whether a clearly wrong figure would have been refuted.
    tells: bool,
}

impl Accepted {
    /// Too few games refute nothing.
    const ALL: Accepted = Accepted { low: f64::NEG_INFINITY, high: f64::INFINITY, tells: false };
}

impl Cuts {
    /// Share of games that may be lost in addition to the lost ones seen.
    fn unseen_losses(self, games: usize) -> f64 {
        let lost = games - games.min(self.cut as usize);
        if self.cut == 0 || lost >= FEW {
            return 0.0;
        }
        most_losses(lost as u64, games as u64, LEVEL / 2.0) - lost as f64 / games as f64
    }
}

impl Reference {
    /// Compares the figure with the numbers of our games, which are 1 and 0 for a share.
    pub fn compare(&self, ours: &[f64], cuts: Cuts) -> Verdict {
        let Some(Accepted { low, high, tells }) = self.accepted(ours, cuts) else { return Verdict::TooFew };
        let (least, most) = self.range();
        if low > most {
            Verdict::Differs
        } else if cuts.early {
            Verdict::Cut
        } else if high < least {
            Verdict::Differs
        } else if tells {
            Verdict::Agrees
        } else {
            Verdict::TooFew
        }
    }

    /// The figures that these numbers of our games do not refute; `None` if they are no numbers.
    pub fn accepted(&self, ours: &[f64], cuts: Cuts) -> Option<Accepted> {
        let (low, high) = self.range();
        if ours.is_empty() || !ours.iter().all(|number| number.is_finite()) || !(low + high).is_finite() {
            return None;
        }
        let unseen = cuts.unseen_losses(ours.len());
        let near_mean =
            |error: &dyn Fn(f64) -> f64| around_mean(ours, unseen, cuts.estimated, (low, high), error);
        Some(match self.printed {
            Printed::Mean { games, .. } => near_mean(&|std| std / f64::from(games).sqrt()),
            Printed::Interval { low, high, .. } => near_mean(&|_| (high - low) / 2.0 / 1.96),
            Printed::Share { count, games } => {
                let lost = ours.iter().filter(|number| **number != 0.0).count() as u64;
                shares((lost, ours.len() as u64), (count.into(), games.into()))
            }
            Printed::BestOf { games, .. } => best(ours, games),
            Printed::Words { .. } => typical(ours),
            Printed::Factor { .. } => near_mean(&|_| 0.0),
        })
    }

    /// The figure with its precision, as a range.
    pub fn range(&self) -> (f64, f64) {
        match self.printed {
            Printed::Mean { value, decimals, .. } => match decimals {
                Decimals::Kept => (value, value),
                Decimals::CutOff => (value, value + 1.0),
                Decimals::Rounded(by) => (value - by, value + by),
            },
            Printed::Interval { value, .. } | Printed::BestOf { value, .. } => (value, value),
            Printed::Share { count, games } => {
                let share = f64::from(count) / f64::from(games);
                (share, share)
            }
            Printed::Words { low, high, .. } => (low, high),
            Printed::Factor { value, factor } => (value / factor, value * factor),
        }
    }

    /// The figure for programs; `None` for words.
    pub fn value(&self) -> Option<f64> {
        match self.printed {
            Printed::Mean { value, .. }
            | Printed::Interval { value, .. }
            | Printed::BestOf { value, .. }
            | Printed::Factor { value, .. } => Some(value),
            Printed::Share { count, games } => Some(f64::from(count) / f64::from(games)),
            Printed::Words { .. } => None,
        }
    }

    /// The figure for people, with its origin and precision; a `unit` is a game, or a run of a search.
    pub fn text(&self, unit: &str) -> String {
        let many = |number: u32| match number {
            1 => format!("one {unit}"),
            number => format!("{} {unit}s", grouped(number.into())),
        };
        let (figure, basis) = match self.printed {
            Printed::Mean { value, games, decimals: Decimals::CutOff } => {
                (plain(value), format!("{}, decimals cut off", many(games)))
            }
            Printed::Mean { value, games, .. } => (plain(value), many(games)),
            Printed::Interval { value, low, high } => {
                (plain(value), format!("{} to {}", plain(low), plain(high)))
            }
            Printed::Share { count, games } => (format!("{count} of {games}"), String::new()),
            Printed::BestOf { value, games: 1 } => (plain(value), many(1)),
            Printed::BestOf { value, games } => (plain(value), format!("best of {}", many(games))),
            Printed::Words { words, .. } => (words.to_owned(), "in words".to_owned()),
            Printed::Factor { value, factor } => (plain(value), format!("to a factor of {factor}")),
        };
        let origin = match self.origin {
            Origin::Document | Origin::Rerun => "",
            Origin::Published | Origin::Recalled => self.origin.word(),
        };
        let bases: Vec<&str> = [origin, &basis].into_iter().filter(|text| !text.is_empty()).collect();
        if bases.is_empty() { figure } else { format!("{figure} ({})", bases.join(", ")) }
    }
}

impl Origin {
    /// The origin in one word, for programs.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Document => "document",
            Origin::Published => "published",
            Origin::Recalled => "recalled",
            Origin::Rerun => "rerun",
        }
    }
}

impl OverallVerdict {
    /// Combines the comparisons with the document and with later measurements. Later measurements take precedence, because
    /// their program is known; the document decides if they cannot tell. `is_wrong` marks a document's figure that is known to
    /// be wrong.
    pub fn of(document: Option<Verdict>, since: Option<Verdict>, is_wrong: bool) -> OverallVerdict {
        let document_differs = document == Some(Verdict::Differs) && !is_wrong;
        match (since, document) {
            (Some(Verdict::Differs), _) => OverallVerdict::Differs,
            (Some(Verdict::Agrees), _) if is_wrong => OverallVerdict::DocumentWrong,
            (Some(Verdict::Agrees), _) if document_differs => OverallVerdict::DiffersFromDocument,
            (Some(Verdict::Agrees), _) => OverallVerdict::Agrees,
            (_, Some(_)) if document_differs => OverallVerdict::Differs,
            (Some(Verdict::TooFew), Some(Verdict::Agrees)) if !is_wrong => OverallVerdict::Agrees,
            (Some(Verdict::TooFew), _) | (None, Some(Verdict::TooFew)) => OverallVerdict::TooFew,
            (Some(Verdict::Cut), _) | (None, Some(Verdict::Cut)) => OverallVerdict::Cut,
            (None, Some(Verdict::Agrees | Verdict::Differs)) if is_wrong => OverallVerdict::DocumentWrong,
            (None, Some(_)) => OverallVerdict::Agrees,
            (None, None) => OverallVerdict::None,
        }
    }

    /// The verdict in one word, for programs.
    pub fn word(self) -> &'static str {
        match self {
            OverallVerdict::Agrees => "agrees",
            OverallVerdict::Differs => "differs",
            OverallVerdict::DiffersFromDocument => "differs_from_document",
            OverallVerdict::DocumentWrong => "document_wrong",
            OverallVerdict::TooFew => "too_few",
            OverallVerdict::Cut => "cut",
            OverallVerdict::None => "none",
        }
    }

    /// The verdict for people; a `unit` is a game, or a run of a search.
    pub fn text(self, unit: &str) -> String {
        match self {
            OverallVerdict::Agrees => "agrees".to_owned(),
            OverallVerdict::Differs => "differs".to_owned(),
            OverallVerdict::DiffersFromDocument => {
                "differs from the document, agrees with later measurements".to_owned()
            }
            OverallVerdict::DocumentWrong => "document wrong".to_owned(),
            OverallVerdict::TooFew => format!("too few {unit}s to tell"),
            OverallVerdict::Cut => "cut before it can tell".to_owned(),
            OverallVerdict::None => "-".to_owned(),
        }
    }
}

/// Accepts means that stand for a range like the one from `low` to `high`, and whose standard error may depend on ours.
/// `unseen` is the share of games that may be lost without having been seen.
fn around_mean(
    ours: &[f64],
    unseen: f64,
    estimated: bool,
    (low, high): (f64, f64),
    error: impl Fn(f64) -> f64,
) -> Accepted {
    let Some(Statistics { mean, spread: Some(spread), .. }) = Statistics::of(ours.iter().copied()) else {
        return Accepted::ALL;
    };
    let nearest = mean.max(low).min(high);
    let larger = if mean > 0.0 { (nearest / mean).max(1.0) } else { 1.0 };
    let (std, games) = (spread.std * larger, ours.len() as f64);
    let own_error = (std / games.sqrt()).max(1.0 / games);
    let their_error = error(if estimated { mean.abs() * larger } else { std });
    // Not `hypot`, which would need a newer glibc than everything else does.
    let tolerance = ERRORS * (own_error * own_error + their_error * their_error).sqrt();
    if ours.len() < FEW || !tolerance.is_finite() {
        return Accepted::ALL;
    }
    let unseen = unseen * mean.max(0.0);
    Accepted {
        low: mean - unseen - tolerance,
        high: mean + tolerance,
        tells: tolerance + unseen <= low.abs().max(high.abs()) / 2.0,
    }
}

/// Accepts shares of as many games as a share has.
fn shares((ours, our_games): (u64, u64), (theirs, their_games): (u64, u64)) -> Accepted {
    let share = theirs as f64 / their_games as f64;
    let far = if share < 0.5 { share + 0.5 } else { share - 0.5 };
    let far = (far * our_games as f64).round() as u64;
    let fits = |theirs: &u64| fisher((ours, our_games), (*theirs, their_games)) >= LEVEL;
    let share_of = |count: Option<u64>| count.map_or(f64::NAN, |count| count as f64 / their_games as f64);
    Accepted {
        low: share_of((0..=their_games).find(fits)),
        high: share_of((0..=their_games).rfind(fits)),
        tells: fisher((far, our_games), (theirs, their_games)) < LEVEL,
    }
}

/// Accepts the largest of this many games.
fn best(ours: &[f64], games: u32) -> Accepted {
    let (all, games) = (ours.len(), f64::from(games));
    // The probability that none of their games is among this many largest.
    let none_among = |largest: usize| {
        let factor = |n: usize| (all as f64 - n as f64) / (all as f64 + games - n as f64);
        (0..largest).map(factor).product::<f64>()
    };
    let mut sorted = ours.to_vec();
    sorted.sort_by(|one, other| other.total_cmp(one));
    // The number of our games that are larger, and of those that are at least as large.
    let most_larger = (0..=all).find(|larger| none_among(*larger) < LEVEL / 2.0);
    let least_at_least = (0..=all).find(|at_least| 1.0 - none_among(at_least + 1) >= LEVEL / 2.0);
    let at = |rank: usize| rank.checked_sub(1).map(|index| sorted[index]);
    Accepted {
        low: most_larger.and_then(at).unwrap_or(f64::NEG_INFINITY),
        high: least_at_least.and_then(at).unwrap_or(f64::INFINITY),
        tells: none_among(all) < LEVEL / 2.0 && 1.0 - none_among(1) < LEVEL / 2.0,
    }
}

/// Accepts ranges that touch the middle half of games.
fn typical(ours: &[f64]) -> Accepted {
    let mut sorted = ours.to_vec();
    sorted.sort_by(f64::total_cmp);
    // The `rank`-th smallest of ours is above the quartile if at most that many of ours lie below the quartile.
    let (mut rank, mut probability) = (0, binomial(0, ours.len() as u64, 0.25));
    if probability > LEVEL / 2.0 {
        return Accepted::ALL;
    }
    while probability + binomial(rank + 1, ours.len() as u64, 0.25) <= LEVEL / 2.0 {
        rank += 1;
        probability += binomial(rank, ours.len() as u64, 0.25);
    }
    let rank = rank as usize;
    Accepted { low: sorted[rank], high: sorted[ours.len() - 1 - rank], tells: true }
}

/// The 95 % interval of a share (Clopper and Pearson): all shares for which neither so few nor so many are rarer than 2.5 %.
///
/// ```
/// use tetrion_lab::reproduce::verdict::share_interval;
/// let (low, high) = share_interval(0, 20);
/// assert_eq!((low, (high * 1e4).round()), (0.0, 1684.0)); // 1 - 0.025^(1/20)
/// ```
pub fn share_interval(count: u64, games: u64) -> (f64, f64) {
    // Count the rest of the games for the lower end.
    (1.0 - most_losses(games - count, games, 0.025), most_losses(count, games, 0.025))
}

/// The largest share of losses that gives at most `count` losses in this many games with at least this probability.
fn most_losses(count: u64, games: u64, probability: f64) -> f64 {
    if count == games {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if binomial_at_most(count, games, middle) > probability { low = middle } else { high = middle }
    }
    high
}

/// The probability of at most `count` of `games`.
fn binomial_at_most(count: u64, games: u64, share: f64) -> f64 {
    (0..=count).map(|n| binomial(n, games, share)).sum()
}

/// The probability of `count` of `games`, for a share between 0 and 1.
fn binomial(count: u64, games: u64, share: f64) -> f64 {
    let (log, log_rest) = (libm::log(share), libm::log1p(-share));
    libm::exp(log_choose(games, count) + count as f64 * log + (games - count) as f64 * log_rest)
}

/// Fisher's exact test, two-sided: the probability of all tables that are at most as probable as this one.
fn fisher((ours, our_games): (u64, u64), (theirs, their_games): (u64, u64)) -> f64 {
    let all = ours + theirs;
    let log = |n: u64| log_choose(their_games, n) + log_choose(our_games, all - n);
    let least = all.saturating_sub(our_games);
    let (this, total) = (log(theirs), log_choose(our_games + their_games, all));
    let tables = (least..=their_games.min(all)).map(log).filter(|log| *log <= this + 1e-7);
    tables.map(|log| libm::exp(log - total)).sum()
}

/// The logarithm of a binomial coefficient.
fn log_choose(of: u64, chosen: u64) -> f64 {
    let log_factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
    log_factorial(of) - log_factorial(chosen) - log_factorial(of - chosen)
}

/// The figure as it was printed: no figure has more than two decimals.
fn plain(number: f64) -> String {
    if number.fract() == 0.0 { grouped(number) } else { ((number * 100.0).round() / 100.0).to_string() }
}

/// Whether lines and pieces of games on a playfield are consistent: a piece has four cells, a line `width` cells, and the rest
/// lies on the playfield. Both are means whose decimals may have been cut off.
///
/// ```
/// use tetrion_lab::reproduce::verdict::balances;
/// assert!(balances(10, 10, 68.0, 186.0));
/// assert!(!balances(20, 15, 1_228_724.0, 5_868_939.0)); // more lines than the pieces have cells for
/// ```
pub fn balances(width: u32, height: u32, lines: f64, pieces: f64) -> bool {
    let width = f64::from(width);
    let least = 4.0 * pieces - width * (lines + 1.0);
    let most = 4.0 * (pieces + 1.0) - width * lines;
    most >= 0.0 && least <= width * f64::from(height)
}
