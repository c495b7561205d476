//! Whether a printed figure and our games can be of the same player.
//!
//! A figure is compared as what it is: a mean with or without an interval, a share, the best of some games, words about
//! typical games ([`Printed`] has the formula of each). Three things can come out: the two agree, they differ, or there
//! are too few games to tell. They differ when chance would set them so far apart once in 370 times (`LEVEL`, three
//! standard errors of a normal number). They agree only when the same test would have refuted a figure that is clearly
//! wrong; what that is, each kind says as well. NaN never agrees, and neither do zero games.
//!
//! Games that were cut earlier than the document's give a lower bound. It can be too large for a figure, and says nothing else.
//! A few lost games among many that were cut do not show how lost games vary: [`Cuts::cut`].

use tetrion::summary::Statistics;
use tetrion::text::numbers::grouped;

/// A figure that was printed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Said {
    /// The figure, and how exact it is.
    pub printed: Printed,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It stands in the document of its experiment.
    Document,
    /// It stands in a paper or with published weights, or is quoted from there.
    Published,
    /// It is cited from memory.
    Recalled,
    /// The document's program, or another one by its rules, was run again and gave it.
    Rerun,
}

/// A figure, and how exact it is.
///
/// In the formulas m is the number of our games, x their mean and s their standard deviation; v is the figure and n the
/// number of games behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Printed {
    /// The mean of n games without a spread. Its games are taken to vary as ours do, which makes the standard error of the
    /// difference s sqrt(1/m + 1/n).
    ///
    /// They differ when x is more than three of these errors away from what v stands for. The lengths of games vary in
    /// proportion to their mean, so that s is taken at the larger of the two means: s max(1, v/x). Our mean of whole numbers
    /// is never taken to be known better than to 1/m. They agree when three errors are at most half of v, so that half or
    /// double the figure would have been refuted, and with ten games at least, fewer of which do not show how games vary.
    Mean {
        /// The figure.
        value: f64,
        /// What becomes of its decimals.
        decimals: Decimals,
        /// Games behind it.
        games: u32,
    },
    /// A mean with its 95 % interval: as a mean, with (high - low) / 3.92 as its own standard error in place of s / sqrt(n).
    Interval {
        /// The mean.
        value: f64,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// This many of n games: Fisher's exact test, two-sided. They agree when a share of ours that is half the scale away
    /// from theirs, such as 10 of 20 beside 0 of 20, would have been refuted.
    Share {
        /// How many.
        count: u32,
        /// Of how many.
        games: u32,
    },
    /// The largest of n games; a single game is the largest of one. If all m + n games are alike, none of the n is among the r
    /// largest with the probability of m (m-1) ... (m-r+1) / ((m+n) (m+n-1) ... (m+n-r+1)). That bounds from both sides how
    /// many of ours may be larger than v, each side at half of the level, and assumes nothing about how games vary.
    ///
    /// They agree when a v above or below all of our games would have been refuted: from about 740 n games on.
    BestOf {
        /// The largest.
        value: f64,
        /// Of how many.
        games: u32,
    },
    /// Words about what games come to: typical ones, which is to say the middle half. They differ when the range lies outside
    /// of the middle half of our games, whose ends are taken at the order statistics that bound the quartiles, each at half
    /// of the level. From 23 games on there are such order statistics, else there are too few.
    Words {
        /// As it is said.
        words: &'static str,
        /// What is meant, from here
        low: f64,
        /// to here.
        high: f64,
    },
    /// Of another search, which finds another player each time, and known to this factor one way or the other. As a
    /// mean that stands for everything from v / factor to v factor, without an error of its own.
    Factor {
        /// The figure.
        value: f64,
        /// The factor.
        factor: f64,
    },
}

/// What becomes of the decimals of a printed mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decimals {
    /// As many are printed as matter.
    Kept,
    /// They are cut off, so that the mean was up to 1 more.
    CutOff,
    /// The mean is rounded, and was up to this much more or less.
    Rounded(f64),
}

/// How games were cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Some were cut earlier than those of the figure: their mean is a lower bound.
    pub early: bool,
    /// How many of them were cut. If some were, and fewer than ten of the m games were lost, these show too little of what lost
    /// games are like. The share of lost games may be larger than the one seen, up to the share p for which so few losses have
    /// a probability of `LEVEL` / 2, and a lost game may have nothing: the mean of all such games may be smaller by
    /// (p - lost / m) x.
    pub cut: u64,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The figures are the same, as far as the games show.
    Agrees,
    /// They are not.
    Differs,
    /// There are too few games to tell, ours or theirs.
    TooFew,
    /// Ours is a lower bound, and no larger than the figure.
    Cut,
}

/// The one verdict on a figure, from everything that was printed about it, in all forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It agrees.
    Agrees,
    /// It differs.
    Differs,
    /// It agrees with what was measured since, and differs from the document.
    DiffersFromDocument,
    /// The document's figure is wrong, as can be shown; ours agrees with what was measured since, if anything was.
    DocumentWrong,
    /// There are too few games to tell.
    TooFew,
    /// It was cut too early to say.
    Cut,
    /// There is nothing to compare.
    None,
}

/// How often chance alone may refute a figure: as often as a normal number is three standard deviations off.
const LEVEL: f64 = 0.0027;
/// The standard deviations of [`LEVEL`].
const ERRORS: f64 = 3.0;
/// Fewer games do not show how much games vary: at [`LEVEL`], not even their median lies between their ends.
const FEW: usize = 10;

/// Where ours are, seen from a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Above,
    Below,
    Here,
    Unknown,
}

impl Cuts {
    /// The share of games that may be lost in addition to those that were.
    fn unseen_losses(self, games: usize) -> f64 {
        let lost = games - games.min(self.cut as usize);
        if self.cut == 0 || lost >= FEW {
            return 0.0;
        }
        most_losses(lost as u64, games as u64, LEVEL / 2.0) - lost as f64 / games as f64
    }
}

impl Said {
    /// Compares a figure with the numbers of our games; of a share they are 1 and 0.
    pub fn compare(&self, ours: &[f64], cuts: Cuts) -> Verdict {
        if ours.is_empty() || !ours.iter().all(|number| number.is_finite()) || !self.is_number() {
            return Verdict::TooFew;
        }
        let unseen = cuts.unseen_losses(ours.len());
        let side = match self.printed {
            Printed::Mean { value, decimals, games } => {
                let (below, above) = match decimals {
                    Decimals::Kept => (0.0, 0.0),
                    Decimals::CutOff => (0.0, 1.0),
                    Decimals::Rounded(by) => (by, by),
                };
                let error = |std| std / f64::from(games).sqrt();
                beside_mean(ours, unseen, (value - below, value + above), error)
            }
            Printed::Interval { value, low, high } => {
                beside_mean(ours, unseen, (value, value), |_| (high - low) / 2.0 / 1.96)
            }
            Printed::Share { count, games } => {
                let lost = ours.iter().filter(|number| **number != 0.0).count() as u64;
                beside_share((lost, ours.len() as u64), (count.into(), games.into()))
            }
            Printed::BestOf { value, games } => beside_best(ours, value, games),
            Printed::Words { low, high, .. } => beside_typical(ours, low, high),
            Printed::Factor { value, factor } => {
                beside_mean(ours, unseen, (value / factor, value * factor), |_| 0.0)
            }
        };
        match side {
            Side::Above => Verdict::Differs,
            _ if cuts.early => Verdict::Cut,
            Side::Below => Verdict::Differs,
            Side::Here => Verdict::Agrees,
            Side::Unknown => Verdict::TooFew,
        }
    }

    fn is_number(&self) -> bool {
        match self.printed {
            Printed::Interval { value, low, high } => (value + low + high).is_finite(),
            Printed::Words { low, high, .. } => (low + high).is_finite(),
            Printed::Factor { value, factor } => (value * factor).is_finite(),
            _ => self.value().is_some_and(f64::is_finite),
        }
    }

    /// The figure for programs; nothing where it is only words.
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

    /// The figure for people, with where it comes from and what it is worth; a `unit` is a game, or a run of a search.
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
    /// One word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Document => "document",
            Origin::Published => "published",
            Origin::Recalled => "recalled",
            Origin::Rerun => "rerun",
        }
    }
}

impl Judgement {
    /// Of the comparisons with the document and with what was measured since. What was measured since counts for more, since
    /// its program is known; the document speaks where that cannot tell. `is_wrong` says that the document's figure is known
    /// to be wrong.
    pub fn of(document: Option<Verdict>, since: Option<Verdict>, is_wrong: bool) -> Judgement {
        let document_differs = document == Some(Verdict::Differs) && !is_wrong;
        match (since, document) {
            (Some(Verdict::Differs), _) => Judgement::Differs,
            (Some(Verdict::Agrees), _) if is_wrong => Judgement::DocumentWrong,
            (Some(Verdict::Agrees), _) if document_differs => Judgement::DiffersFromDocument,
            (Some(Verdict::Agrees), _) => Judgement::Agrees,
            (_, Some(_)) if document_differs => Judgement::Differs,
            (Some(Verdict::TooFew), Some(Verdict::Agrees)) if !is_wrong => Judgement::Agrees,
            (Some(Verdict::TooFew), _) | (None, Some(Verdict::TooFew)) => Judgement::TooFew,
            (Some(Verdict::Cut), _) | (None, Some(Verdict::Cut)) => Judgement::Cut,
            (None, Some(Verdict::Agrees | Verdict::Differs)) if is_wrong => Judgement::DocumentWrong,
            (None, Some(_)) => Judgement::Agrees,
            (None, None) => Judgement::None,
        }
    }

    /// One word for programs.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Agrees => "agrees",
            Judgement::Differs => "differs",
            Judgement::DiffersFromDocument => "differs_from_document",
            Judgement::DocumentWrong => "document_wrong",
            Judgement::TooFew => "too_few",
            Judgement::Cut => "cut",
            Judgement::None => "none",
        }
    }

    /// For people; a `unit` is a game, or a run of a search.
    pub fn text(self, unit: &str) -> String {
        match self {
            Judgement::Agrees => "agrees".to_owned(),
            Judgement::Differs => "differs".to_owned(),
            Judgement::DiffersFromDocument => {
                "differs from the document, agrees with what was measured since".to_owned()
            }
            Judgement::DocumentWrong => "document wrong".to_owned(),
            Judgement::TooFew => format!("too few {unit}s to tell"),
            Judgement::Cut => "cut before it can tell".to_owned(),
            Judgement::None => "-".to_owned(),
        }
    }
}

/// Beside a mean that stands for everything from `low` to `high`; its own standard error may depend on how games vary. A share of
/// games may be lost that was not seen.
fn beside_mean(ours: &[f64], unseen: f64, (low, high): (f64, f64), error: impl Fn(f64) -> f64) -> Side {
    let Some(Statistics { mean, spread: Some(spread), .. }) = Statistics::of(ours.iter().copied()) else {
        return Side::Unknown;
    };
    let nearest = mean.max(low).min(high);
    let larger = if mean > 0.0 { (nearest / mean).max(1.0) } else { 1.0 };
    let (std, games) = (spread.std * larger, ours.len() as f64);
    let own_error = (std / games.sqrt()).max(1.0 / games);
    let tolerance = ERRORS * own_error.hypot(error(std));
    if ours.len() < FEW || !tolerance.is_finite() {
        Side::Unknown
    } else if mean - unseen * mean.max(0.0) > high + tolerance {
        Side::Above
    } else if mean < low - tolerance {
        Side::Below
    } else if tolerance + unseen * mean.max(0.0) <= low.abs().max(high.abs()) / 2.0 {
        Side::Here
    } else {
        Side::Unknown
    }
}

/// Beside a share of games.
fn beside_share((ours, our_games): (u64, u64), (theirs, their_games): (u64, u64)) -> Side {
    let share = theirs as f64 / their_games as f64;
    let far = if share < 0.5 { share + 0.5 } else { share - 0.5 };
    let far = (far * our_games as f64).round() as u64;
    if fisher((ours, our_games), (theirs, their_games)) < LEVEL {
        if ours as f64 / our_games as f64 > share { Side::Above } else { Side::Below }
    } else if fisher((far, our_games), (theirs, their_games)) < LEVEL {
        Side::Here
    } else {
        Side::Unknown
    }
}

/// Beside the largest of `games`.
fn beside_best(ours: &[f64], value: f64, games: u32) -> Side {
    let (all, games) = (ours.len(), f64::from(games));
    // The probability that none of theirs is among this many largest.
    let none_among = |largest: usize| {
        let factor = |n: usize| (all as f64 - n as f64) / (all as f64 + games - n as f64);
        (0..largest).map(factor).product::<f64>()
    };
    let larger = ours.iter().filter(|number| **number > value).count();
    let at_least = ours.iter().filter(|number| **number >= value).count();
    if none_among(larger) < LEVEL / 2.0 {
        Side::Above
    } else if 1.0 - none_among(at_least + 1) < LEVEL / 2.0 {
        Side::Below
    } else if none_among(all) < LEVEL / 2.0 && 1.0 - none_among(1) < LEVEL / 2.0 {
        Side::Here
    } else {
        Side::Unknown
    }
}

/// Beside the range that typical games are said to be in.
fn beside_typical(ours: &[f64], low: f64, high: f64) -> Side {
    let mut sorted = ours.to_vec();
    sorted.sort_by(f64::total_cmp);
    // The smallest but `rank` of ours is above the quartile when at most that many of them are below it.
    let (mut rank, mut probability) = (0, binomial(0, ours.len() as u64, 0.25));
    if probability > LEVEL / 2.0 {
        return Side::Unknown;
    }
    while probability + binomial(rank + 1, ours.len() as u64, 0.25) <= LEVEL / 2.0 {
        rank += 1;
        probability += binomial(rank, ours.len() as u64, 0.25);
    }
    let rank = rank as usize;
    if high < sorted[rank] {
        Side::Above
    } else if low > sorted[ours.len() - 1 - rank] {
        Side::Below
    } else {
        Side::Here
    }
}

/// The 95 % interval of a share (Clopper and Pearson): the shares for which so few, and so many, are not rarer than 2.5 %.
///
/// ```
/// use tetrion::cli::reproduce::verdict::share_interval;
/// let (low, high) = share_interval(0, 20);
/// assert_eq!((low, (high * 1e4).round()), (0.0, 1684.0)); // 1 - 0.025^(1/20)
/// ```
pub fn share_interval(count: u64, games: u64) -> (f64, f64) {
    // Seen from the other end, the rest of the games is few.
    (1.0 - most_losses(games - count, games, 0.025), most_losses(count, games, 0.025))
}

/// The largest share of losses for which at most `count` losses in this many games have at least this probability.
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

/// As it was printed: no figure has more than two decimals.
fn plain(number: f64) -> String {
    if number.fract() == 0.0 { grouped(number) } else { ((number * 100.0).round() / 100.0).to_string() }
}

/// Whether lines and pieces of games on a playfield can be true together: four cells a piece, `width` cells a line, and what
/// is left lies on the playfield. Both are means whose decimals may have been cut off.
///
/// ```
/// use tetrion::cli::reproduce::verdict::balances;
/// assert!(balances(10, 10, 68.0, 186.0));
/// assert!(!balances(20, 15, 1_228_724.0, 5_868_939.0)); // more lines than the pieces have cells for
/// ```
pub fn balances(width: u32, height: u32, lines: f64, pieces: f64) -> bool {
    let width = f64::from(width);
    let least = 4.0 * pieces - width * (lines + 1.0);
    let most = 4.0 * (pieces + 1.0) - width * lines;
    most >= 0.0 && least <= width * f64::from(height)
}
