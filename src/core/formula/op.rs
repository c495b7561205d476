//! The operations of a formula, and what each computes: the only definition, for constants and for batches.

/// An operation on one to three numbers. Conditions are the numbers 1 and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    /// Quotient; 0 if the divisor is 0.
    Div,
    /// The second number if it is smaller, else the first.
    Min,
    /// The second number if it is larger, else the first.
    Max,
    Abs,
    /// e to the power of the number.
    Exp,
    Ln,
    /// Whether the first number is smaller.
    Less,
    /// Whether the first number is smaller or equal.
    AtMost,
    /// Whether two numbers are equal.
    Equal,
    /// Whether two conditions hold.
    And,
    /// Whether one of two conditions holds.
    Or,
    /// Whether a condition does not hold.
    Not,
    /// The second number if the first, a condition, holds, else the third.
    Select,
}

impl Op {
    /// Number of operands, 1 to 3.
    pub(crate) fn arity(self) -> usize {
        match self {
            Op::Abs | Op::Exp | Op::Ln | Op::Not => 1,
            Op::Select => 3,
            _ => 2,
        }
    }

    /// Rough time for one placement, in additions.
    pub(super) fn cost(self) -> u32 {
        match self {
            Op::Div => 2,
            Op::Exp | Op::Ln => 32,
            _ => 1,
        }
    }

    /// The result, with equal bits on every machine: IEEE 754 fixes the bits of all but `exp` and `ln`, which are
    /// portable code. Every operation rounds once, and none is fused with another.
    #[inline(always)]
    pub(super) fn apply(self, [a, b, c]: [f64; 3]) -> f64 {
        let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
        match self {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::Div => {
                if b == 0.0 {
                    0.0
                } else {
                    a / b
                }
            }
            Op::Min => {
                if b < a {
                    b
                } else {
                    a
                }
            }
            Op::Max => {
                if b > a {
                    b
                } else {
                    a
                }
            }
            Op::Abs => a.abs(),
            Op::Exp => libm::exp(a),
            Op::Ln => libm::log(a),
            Op::Less => truth(a < b),
            Op::AtMost => truth(a <= b),
            Op::Equal => truth(a == b),
            Op::And => a * b,
            Op::Or => a + b - a * b,
            Op::Not => 1.0 - a,
            Op::Select => {
                if a != 0.0 {
                    b
                } else {
                    c
                }
            }
        }
    }
}
