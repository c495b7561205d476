//! The words of the language with a meaning everywhere: keywords, functions, facts and operators.

use super::op::Op;

/// Words that are no names of features, facts or variables.
pub(super) const KEYWORDS: [&str; 8] = ["let", "if", "then", "else", "and", "or", "not", "sum"];

/// Functions of numbers: the name and the operation of each.
pub(super) const FUNCTIONS: [(&str, Op); 5] =
    [("min", Op::Min), ("max", Op::Max), ("abs", Op::Abs), ("exp", Op::Exp), ("ln", Op::Ln)];

/// Names of facts that are numbers.
pub(super) const NUMBERS: [&str; 4] = ["lines", "pieces", "width", "height"];

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// An operation on two numbers.
    Arithmetic(Op),
    /// An operation on two conditions.
    Logic(Op),
    /// The operation, whether its operands change places, and whether it is negated.
    Comparison(Op, bool, bool),
    /// A power, whose exponent is written as a number.
    Power,
}

/// Every operator and how strongly it binds. A sign binds like a product, `not` more strongly than `and`.
pub(super) const OPERATORS: [(&str, Operator, u8); 13] = [
    ("or", Operator::Logic(Op::Or), 1),
    ("and", Operator::Logic(Op::And), 2),
    ("==", Operator::Comparison(Op::Equal, false, false), COMPARISON),
    ("!=", Operator::Comparison(Op::Equal, false, true), COMPARISON),
    ("<", Operator::Comparison(Op::Less, false, false), COMPARISON),
    ("<=", Operator::Comparison(Op::AtMost, false, false), COMPARISON),
    (">", Operator::Comparison(Op::Less, true, false), COMPARISON),
    (">=", Operator::Comparison(Op::AtMost, true, false), COMPARISON),
    ("+", Operator::Arithmetic(Op::Add), 4),
    ("-", Operator::Arithmetic(Op::Sub), 4),
    ("*", Operator::Arithmetic(Op::Mul), PRODUCT),
    ("/", Operator::Arithmetic(Op::Div), PRODUCT),
    ("^", Operator::Power, PRODUCT + 2),
];
/// How strongly a comparison binds.
pub(super) const COMPARISON: u8 = 3;
/// How strongly a product binds.
pub(super) const PRODUCT: u8 = 5;
