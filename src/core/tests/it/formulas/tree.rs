//! Random formulas as trees: written as text, and evaluated by walking the tree. Shares no code with the library's
//! parser or programs; it is given the values of features.

use std::fmt::{self, Display, Formatter};

use tetrion_testing::Dice;

/// A part of a formula that has a number as its value.
#[derive(Clone, Debug)]
pub enum Number {
    Literal(f64),
    /// The number of a feature in the list of the test.
    Feature(usize),
    /// A fact by its name.
    Fact(&'static str),
    /// An operator and its operands.
    Binary(char, Box<Number>, Box<Number>),
    Power(Box<Number>, u32),
    Negative(Box<Number>),
    Call(&'static str, Vec<Number>),
    If(Box<Condition>, Box<Number>, Box<Number>),
}

/// A part of a formula that holds or does not.
#[derive(Clone, Debug)]
pub enum Condition {
    Compare(&'static str, Box<Number>, Box<Number>),
    /// A seat, whether the letter differs, and the letter.
    Piece(&'static str, bool, char),
    Both(Box<Condition>, Box<Condition>),
    Either(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

/// Everything that a formula can read, with its values.
#[derive(Debug)]
pub struct Reads<'a> {
    pub names: &'a [String],
    pub features: &'a [f64],
    pub facts: &'a [(&'static str, f64)],
    /// Letters by their seats; a blank if the piece is unknown.
    pub pieces: &'a [(&'static str, char)],
}

/// A random number with at most this many levels.
pub fn number(dice: &mut Dice, reads: &Reads<'_>, levels: u32) -> Number {
    let boxed = |dice: &mut Dice| Box::new(number(dice, reads, levels - 1));
    if levels == 0 {
        return match dice.below(6) {
            0 => Number::Literal([0.0, 1.0, 2.5, 1e-3, 0.1, 12.0, 1e200][dice.below(7)]),
            1 => Number::Fact(reads.facts[dice.below(reads.facts.len())].0),
            _ => Number::Feature(dice.below(reads.names.len())),
        };
    }
    match dice.below(12) {
        0..6 => Number::Binary(['+', '-', '*', '/', '+', '-'][dice.below(6)], boxed(dice), boxed(dice)),
        6 => Number::Power(boxed(dice), dice.below(5) as u32),
        7 => Number::Negative(boxed(dice)),
        8 | 9 => {
            let (name, operands) =
                [("min", 2), ("max", 3), ("abs", 1), ("exp", 1), ("ln", 1), ("max", 2)][dice.below(6)];
            Number::Call(name, (0..operands).map(|_| *boxed(dice)).collect())
        }
        _ => Number::If(Box::new(condition(dice, reads, levels - 1)), boxed(dice), boxed(dice)),
    }
}

fn condition(dice: &mut Dice, reads: &Reads<'_>, levels: u32) -> Condition {
    let boxed = |dice: &mut Dice| Box::new(condition(dice, reads, levels - 1));
    match dice.below(if levels == 0 { 2 } else { 5 }) {
        0 if !reads.pieces.is_empty() => {
            let seat = reads.pieces[dice.below(reads.pieces.len())].0;
            Condition::Piece(seat, dice.below(2) == 0, ['I', 'O', 'T', 'Z', 'S', 'J', 'L'][dice.below(7)])
        }
        2 => Condition::Both(boxed(dice), boxed(dice)),
        3 => Condition::Either(boxed(dice), boxed(dice)),
        4 => Condition::Not(boxed(dice)),
        _ => {
            let operator = ["<", "<=", ">", ">=", "==", "!="][dice.below(6)];
            let operand = |dice: &mut Dice| Box::new(number(dice, reads, levels.saturating_sub(1)));
            Condition::Compare(operator, operand(dice), operand(dice))
        }
    }
}

impl Number {
    /// The number of this tree, computed by walking it.
    pub fn value(&self, reads: &Reads<'_>) -> f64 {
        let of = |number: &Number| number.value(reads);
        match self {
            Number::Literal(number) => *number,
            Number::Feature(index) => reads.features[*index],
            Number::Fact(name) => reads.facts.iter().find(|(known, _)| known == name).unwrap().1,
            Number::Binary('+', left, right) => of(left) + of(right),
            Number::Binary('-', left, right) => of(left) - of(right),
            Number::Binary('*', left, right) => of(left) * of(right),
            Number::Binary(_, _, right) if of(right) == 0.0 => 0.0,
            Number::Binary(_, left, right) => of(left) / of(right),
            Number::Power(_, 0) => 1.0,
            Number::Power(base, exponent) => (1..*exponent).fold(of(base), |power, _| power * of(base)),
            Number::Negative(number) => -of(number),
            Number::Call("abs", operands) => of(&operands[0]).abs(),
            Number::Call("exp", operands) => libm::exp(of(&operands[0])),
            Number::Call("ln", operands) => libm::log(of(&operands[0])),
            Number::Call(name, operands) => {
                let mut extreme = of(&operands[0]);
                for operand in &operands[1..] {
                    let other = of(operand);
                    if if *name == "min" { other < extreme } else { other > extreme } {
                        extreme = other;
                    }
                }
                extreme
            }
            Number::If(condition, yes, no) => of(if condition.holds(reads) { yes } else { no }),
        }
    }

    /// The score: the value within its range.
    pub fn score(&self, reads: &Reads<'_>) -> f64 {
        let value = self.value(reads);
        if value.is_nan() { -1e300 } else { value.clamp(-1e300, 1e300) }
    }

    /// How strongly the outermost operator binds.
    fn binds(&self) -> u8 {
        match self {
            Number::If(..) => 0,
            Number::Binary('+' | '-', ..) => 4,
            Number::Binary(..) => 5,
            Number::Negative(_) => 6,
            Number::Power(..) => 7,
            _ => 9,
        }
    }

    fn within<'a>(&'a self, reads: &'a Reads<'a>, least: u8) -> Written<'a> {
        Written { number: self, reads, least }
    }

    /// The text, with parentheses only where they are needed.
    pub fn text(&self, reads: &Reads<'_>) -> String {
        self.within(reads, 0).to_string()
    }
}

impl Condition {
    fn holds(&self, reads: &Reads<'_>) -> bool {
        match self {
            Condition::Compare(operator, left, right) => {
                let (left, right) = (left.value(reads), right.value(reads));
                match *operator {
                    "<" => left < right,
                    "<=" => left <= right,
                    ">" => left > right,
                    ">=" => left >= right,
                    "==" => left == right,
                    _ => left != right,
                }
            }
            Condition::Piece(seat, differs, letter) => {
                let there = reads.pieces.iter().find(|(known, _)| known == seat).unwrap().1;
                (there == *letter) != *differs
            }
            Condition::Both(one, other) => one.holds(reads) && other.holds(reads),
            Condition::Either(one, other) => one.holds(reads) || other.holds(reads),
            Condition::Not(condition) => !condition.holds(reads),
        }
    }

    fn text(&self, reads: &Reads<'_>, least: u8) -> String {
        let (binds, text) = match self {
            Condition::Either(one, other) => {
                (1, format!("{} or {}", one.text(reads, 1), other.text(reads, 2)))
            }
            Condition::Both(one, other) => {
                (2, format!("{} and {}", one.text(reads, 2), other.text(reads, 3)))
            }
            Condition::Compare(operator, left, right) => {
                (3, format!("{} {operator} {}", left.within(reads, 4), right.within(reads, 4)))
            }
            Condition::Piece(seat, differs, letter) => {
                (3, format!("{seat} {} {letter}", if *differs { "!=" } else { "==" }))
            }
            Condition::Not(condition) => (3, format!("not {}", condition.text(reads, 3))),
        };
        if binds < least { format!("({text})") } else { text }
    }
}

/// A number as an operand of an operator that binds so strongly.
struct Written<'a> {
    number: &'a Number,
    reads: &'a Reads<'a>,
    least: u8,
}

impl Display for Written<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Written { number, reads, least } = *self;
        let binds = number.binds();
        if binds < least {
            return write!(f, "({})", number.within(reads, 0));
        }
        match number {
            Number::Literal(number) => write!(f, "{number:?}"),
            Number::Feature(index) => f.write_str(&reads.names[*index]),
            Number::Fact(name) => f.write_str(name),
            Number::Binary(operator, left, right) => {
                write!(f, "{} {operator} {}", left.within(reads, binds), right.within(reads, binds + 1))
            }
            Number::Power(base, exponent) => write!(f, "{}^{exponent}", base.within(reads, 7)),
            Number::Negative(number) => write!(f, "-{}", number.within(reads, 6)),
            Number::Call(name, operands) => {
                let operands: Vec<_> =
                    operands.iter().map(|operand| operand.within(reads, 0).to_string()).collect();
                write!(f, "{name}({})", operands.join(", "))
            }
            Number::If(condition, yes, no) => write!(
                f,
                "if {} then {} else {}",
                condition.text(reads, 0),
                yes.within(reads, 0),
                no.within(reads, 0)
            ),
        }
    }
}
