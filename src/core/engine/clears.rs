//! The value of clears beyond their lines: points and lines sent, for spins, combos, back-to-back and perfect clears.
//!
//! The tables are data. This file knows neither playfields nor rules: callers pass the clear, its spin, and the chain
//! of clears before it. Points and attack are separate, each with its own table.
//!
//! A clear is *difficult* if it clears four lines, or any lines by a spin. Difficult clears in succession are
//! *back-to-back*. A clear that is not difficult breaks the succession; a piece that clears nothing does not, with or
//! without a spin. A *combo* counts successive pieces that clear lines, from 0, and a piece that clears nothing ends
//! it. A *perfect clear* leaves an empty playfield.
//!
//! An attack is a list of events, numbers of lines that arrive together: a *surge*, which a long succession of difficult
//! clears sends in three parts when it breaks; then the lines of the clear; then, in some tables, those of a perfect
//! clear.

use super::choice::choice;
use super::spin::Spin;

choice! {
    /// The table from which a clear gets its points.
    pub enum ClearPoints: "clear_points" {
        /// Points per number of lines, as in the scoring.
        Lines = 1, "lines";
        /// Guideline points at level 1: spins, back-to-back, combos and perfect clears count.
        Guideline = 2, "guideline";
        /// Lines sent, by the attack table.
        Attack = 3, "attack";
        /// In a match: lines that arrive at the opponent less those that arrive here, turn by turn.
        Exchange = 4, "exchange";
        /// In a match: 1 for winning it, -1 for losing it.
        Result = 5, "result";
    }
}

choice! {
    /// The number of lines that clears send to others.
    pub enum AttackTable: "attack_table" {
        /// No lines are sent.
        None = 1, "none";
        /// Attack table of Jstris; combos add up to 5 lines, from the twelfth clear on.
        Jstris = 2, "jstris";
        /// Attack table of Cold Clear; combos grow a little sooner than in Jstris.
        ColdClear = 3, "cold_clear";
        /// TETR.IO's league since its second season: combos multiply, and long back-to-back chains surge when they break.
        Tetrio = 4, "tetrio";
        /// TETR.IO's league in its first season: combos multiply, and back-to-back chains add more the longer they are.
        TetrioSeason1 = 5, "tetrio_season_1";
        /// TETR.IO's "classic guideline": combos add up to 5 lines, a perfect clear 10.
        TetrioClassic = 6, "tetrio_classic";
        /// TETR.IO's "modern guideline": combos add up to 4 lines, a perfect clear 10.
        TetrioModern = 7, "tetrio_modern";
        /// TETR.IO without combos and perfect clears.
        TetrioPlain = 8, "tetrio_plain";
        /// Attack table of Botris; combos add up to 4 lines.
        Botris = 9, "botris";
        /// Lines of a clear alone: no combos, back-to-back or perfect clears; a mini counts as a full spin.
        Simple = 10, "simple";
    }
}

/// The recent clears of a game, on which the value of the next clear depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Number of successive pieces, up to the last one, that cleared lines.
    pub clears: u16,
    /// Number of difficult clears in succession, up to the last clear; 0 if that was not difficult. Under tables where a
    /// perfect clear keeps the succession, each of these counts too.
    pub back_to_back: u16,
}

/// A clear: its lines and its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clear {
    pub lines: u8,
    /// The spin of the piece.
    pub spin: Spin,
    /// Whether the playfield is empty after the clear.
    pub is_perfect: bool,
    /// Whether one of the lines was garbage.
    pub has_garbage: bool,
}

/// The lines that a landing sends, as events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attack {
    /// The events in order, then zeros.
    events: [u16; Attack::MAX_EVENTS],
}

/// The value of a clear.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClearWorth {
    /// Points by [`ClearPoints::Guideline`].
    pub points: f64,
    /// Lines sent, by an [`AttackTable`].
    pub attack: Attack,
    /// Lines of the attack that come from a surge.
    pub surge: u32,
}

/// Guideline points for 0 to 4 lines: without a spin, by a mini and by a full spin.
const POINTS: [[u32; 5]; 3] =
    [[0, 100, 300, 500, 800], [100, 200, 400, 400, 400], [400, 800, 1200, 1600, 1600]];
/// Extra points for a perfect clear of 1 to 4 lines, and for a back-to-back perfect clear of four lines.
const PERFECT_POINTS: [u32; 4] = [800, 1200, 1800, 2000];
const PERFECT_BACK_TO_BACK: u32 = 3200;
/// Extra points per clear before this one in the combo.
const COMBO_POINTS: u32 = 50;

/// An attack table as data.
struct AttackRules {
    /// Lines for 0 to 4 lines: without a spin, by a mini and by a full spin.
    lines: [[u8; 5]; 3],
    combo: Combo,
    back_to_back: BackToBack,
    perfect: PerfectClear,
    /// Whether long chains surge, perfect clears continue a chain, and a difficult clear with garbage sends a line more.
    has_surges: bool,
}

/// What a combo adds.
enum Combo {
    /// Extra lines after 0, 1, 2 ... clears in the combo. The last number applies to all longer combos.
    Adds(&'static [u8]),
    /// A quarter of the lines for each clear before this one, and at least ln(1 + 1.25 c) lines after c > 1 of them.
    Multiplies,
}

/// What a difficult clear adds after c > 0 others in succession.
enum BackToBack {
    Nothing,
    One,
    /// With L = ln(1 + 0.8 c): 1 + L rounded down, and if c > 1 a third of 1 + the fraction of L.
    Grows,
}

/// What a perfect clear sends.
enum PerfectClear {
    Nothing,
    /// These lines, instead of all others.
    Instead(u8),
    /// An event of these lines after the others.
    Adds(u8),
}

const JSTRIS: AttackRules = AttackRules {
    lines: [[0, 0, 1, 2, 4], [0, 0, 1, 1, 1], [0, 2, 4, 6, 6]],
    combo: Combo::Adds(&[0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5]),
    back_to_back: BackToBack::One,
    perfect: PerfectClear::Instead(10),
    has_surges: false,
};
const CLASSIC_COMBO: Combo = Combo::Adds(&[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5]);
const TETRIO: AttackRules = AttackRules {
    lines: [[0, 0, 1, 2, 4], [0, 0, 1, 2, 10], [0, 2, 4, 6, 10]],
    combo: Combo::Multiplies,
    back_to_back: BackToBack::One,
    perfect: PerfectClear::Adds(5),
    has_surges: true,
};
const TETRIO_SEASON_1: AttackRules = AttackRules {
    back_to_back: BackToBack::Grows,
    perfect: PerfectClear::Adds(10),
    has_surges: false,
    ..TETRIO
};
const TETRIO_CLASSIC: AttackRules =
    AttackRules { combo: CLASSIC_COMBO, back_to_back: BackToBack::One, ..TETRIO_SEASON_1 };
const COLD_CLEAR: AttackRules = AttackRules { combo: CLASSIC_COMBO, ..JSTRIS };
const TETRIO_MODERN: AttackRules =
    AttackRules { combo: Combo::Adds(&[0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4]), ..TETRIO_CLASSIC };
const TETRIO_PLAIN: AttackRules =
    AttackRules { combo: Combo::Adds(&[0]), perfect: PerfectClear::Nothing, ..TETRIO_CLASSIC };
const BOTRIS: AttackRules = AttackRules {
    lines: [[0, 0, 1, 2, 4], [0, 0, 1, 2, 4], [0, 2, 4, 6, 0]],
    combo: Combo::Adds(&[0, 0, 1, 1, 1, 2, 2, 3, 3, 4]),
    ..JSTRIS
};
const SIMPLE: AttackRules = AttackRules {
    lines: [[0, 0, 1, 2, 4], [0, 2, 4, 6, 6], [0, 2, 4, 6, 6]],
    combo: Combo::Adds(&[0]),
    back_to_back: BackToBack::Nothing,
    perfect: PerfectClear::Nothing,
    has_surges: false,
};

impl AttackTable {
    /// The table as data; `None` if no lines are sent.
    fn rules(self) -> Option<&'static AttackRules> {
        Some(match self {
            AttackTable::None => return None,
            AttackTable::Jstris => &JSTRIS,
            AttackTable::ColdClear => &COLD_CLEAR,
            AttackTable::Tetrio => &TETRIO,
            AttackTable::TetrioSeason1 => &TETRIO_SEASON_1,
            AttackTable::TetrioClassic => &TETRIO_CLASSIC,
            AttackTable::TetrioModern => &TETRIO_MODERN,
            AttackTable::TetrioPlain => &TETRIO_PLAIN,
            AttackTable::Botris => &BOTRIS,
            AttackTable::Simple => &SIMPLE,
        })
    }
}

/// Number of clears before the breaking one that a chain needs to surge.
const SURGES_FROM: u16 = 4;

impl Attack {
    /// No lines.
    pub const NOTHING: Attack = Attack { events: [0; Attack::MAX_EVENTS] };
    /// Number of events that an attack can have.
    pub const MAX_EVENTS: usize = 5;

    /// An attack of events, of which those without lines are dropped.
    ///
    /// # Panics
    /// With more than [`Attack::MAX_EVENTS`] of them.
    pub fn new(events: impl IntoIterator<Item = u16>) -> Attack {
        let mut attack = Attack::default();
        events
            .into_iter()
            .filter(|lines| *lines > 0)
            .enumerate()
            .for_each(|(n, lines)| attack.events[n] = lines);
        attack
    }

    /// The number of lines of each event, in order.
    pub fn events(&self) -> impl Iterator<Item = u16> + use<> {
        self.events.into_iter().take_while(|lines| *lines > 0)
    }

    /// The attack without its first lines.
    #[must_use]
    pub fn without(self, lines: u32) -> Attack {
        let mut gone = lines;
        Attack::new(self.events().map(|lines| {
            let part = gone.min(lines.into());
            gone -= part;
            lines - part as u16
        }))
    }

    /// The number of lines of all events.
    #[inline]
    pub fn lines(&self) -> u32 {
        self.events.iter().map(|&lines| u32::from(lines)).sum()
    }
}

impl Clear {
    /// The lines that the clear sends by itself in [`AttackTable::Jstris`]. Two, three and four lines send 1, 2 and 4.
    /// One, two and three lines by a full spin send 2, 4 and 6; two lines by a mini send 1. A perfect clear sends 10
    /// instead.
    ///
    /// ```
    /// use tetrion_core::engine::{AttackTable, Chain, Clear};
    ///
    /// let attack = |clear| Chain::default().then(AttackTable::Jstris, 1.0, clear).1.attack.lines();
    /// let four = Clear { lines: 4, ..Clear::default() };
    /// assert_eq!((attack(four), attack(Clear { is_perfect: true, ..four })), (4, 10));
    /// ```
    pub(crate) fn base_attack(self) -> u32 {
        match JSTRIS.perfect {
            PerfectClear::Instead(lines) if self.is_perfect => lines.into(),
            _ => JSTRIS.lines[self.spin as usize][usize::from(self.lines.min(4))].into(),
        }
    }
}

impl AttackRules {
    /// The lines of a clear before they are rounded down, without surges and perfect clears.
    fn lines(&self, clear: Clear, combo: u16, back_to_back: u16) -> f64 {
        let Clear { lines, spin, .. } = clear;
        let mut sent = f64::from(self.lines[spin as usize][usize::from(lines.min(4))]);
        match self.back_to_back {
            BackToBack::One if back_to_back > 0 => sent += 1.0,
            BackToBack::Grows if back_to_back > 0 => {
                let log = libm::log1p(0.8 * f64::from(back_to_back));
                sent += (1.0 + log).floor();
                if back_to_back > 1 {
                    sent += (1.0 + log.fract()) / 3.0;
                }
            }
            _ => {}
        }
        match self.combo {
            Combo::Adds(lines) => sent + f64::from(lines[usize::from(combo).min(lines.len() - 1)]),
            Combo::Multiplies => {
                sent *= 1.0 + f64::from(combo) / 4.0;
                if combo > 1 { sent.max(libm::log1p(1.25 * f64::from(combo))) } else { sent }
            }
        }
    }

    /// The attack of a clear, and the lines of its surge. `combo` and `back_to_back` count the clears before this one
    /// that it continues; `broken` counts those that it breaks.
    fn attack(
        &self,
        multiplier: f64,
        clear: Clear,
        (combo, back_to_back): (u16, u16),
        broken: u16,
    ) -> (Attack, u32) {
        let rounded = |lines: f64| lines as u16; // rounds down, and stops at the largest number
        if let PerfectClear::Instead(lines) = self.perfect
            && clear.is_perfect
        {
            return (Attack::new([rounded(f64::from(lines) * multiplier)]), 0);
        }
        let surge = if self.has_surges && broken >= SURGES_FROM {
            rounded(f64::from(broken) * multiplier)
        } else {
            0
        };
        let part = (f64::from(surge) / 3.0).round() as u16;
        let special = f64::from(u8::from(self.has_surges && clear.has_garbage && clear.is_difficult()));
        let lines = rounded(self.lines(clear, combo, back_to_back) * multiplier + special);
        let perfect = match self.perfect {
            PerfectClear::Adds(lines) if clear.is_perfect => rounded(f64::from(lines) * multiplier),
            _ => 0,
        };
        (Attack::new([part, part, surge - 2 * part, lines, perfect]), surge.into())
    }
}

impl Clear {
    /// Whether the clear continues a succession of difficult clears.
    fn is_difficult(self) -> bool {
        self.spin != Spin::None || self.lines >= 4
    }
}

impl Chain {
    /// The value of the next piece's clear, and the chain after it. `multiplier` multiplies the lines sent.
    pub fn then(self, table: AttackTable, multiplier: f64, clear: Clear) -> (Chain, ClearWorth) {
        let Clear { lines, spin, is_perfect, .. } = clear;
        let (row, column) = (spin as usize, usize::from(lines.min(4)));
        if lines == 0 {
            let worth = ClearWorth { points: POINTS[row][0].into(), ..ClearWorth::default() };
            return (Chain { clears: 0, ..self }, worth);
        }
        let is_back_to_back = clear.is_difficult() && self.back_to_back > 0;
        let mut points = POINTS[row][column];
        if is_back_to_back {
            points += points / 2;
        }
        points += COMBO_POINTS * u32::from(self.clears);
        if is_perfect {
            let is_best = is_back_to_back && lines >= 4;
            points += if is_best { PERFECT_BACK_TO_BACK } else { PERFECT_POINTS[column - 1] };
        }
        let rules = table.rules();
        let continues = clear.is_difficult() || is_perfect && rules.is_some_and(|rules| rules.has_surges);
        let (back_to_back, broken) = if continues {
            (self.back_to_back.saturating_add(1), 0)
        } else {
            (0, self.back_to_back.saturating_sub(1))
        };
        let before = (self.clears, back_to_back.saturating_sub(1));
        let attack = rules.map(|rules| rules.attack(multiplier, clear, before, broken));
        let (attack, surge) = attack.unwrap_or_default();
        let chain = Chain { clears: self.clears.saturating_add(1), back_to_back };
        (chain, ClearWorth { points: points.into(), attack, surge })
    }
}
