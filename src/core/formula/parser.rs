//! Reads a formula by the precedence of its operators, checks each part, and adds it to the graph.
//!
//! ```text
//! formula    = { "let" name "=" expression ";" } expression
//! expression = operand { operator operand }
//! operand    = number | feature | fact | name | "(" expression ")" | "-" expression | "not" expression
//!            | "if" expression "then" expression "else" expression | function "(" expression { "," expression } ")"
//! ```

use std::ops::Range;

use super::bounds::{MAX_BYTES, MAX_DEPTH, MAX_EXPONENT};
use super::error::FormulaError;
use super::graph::{Graph, Id, TooCostly};
use super::lexer::{Token, TokenKind, tokens};
use super::op::Op;
use super::program::Formula;
use super::state::{Fact, Seat};
use super::words::{COMPARISON, FUNCTIONS, KEYWORDS, NUMBERS, OPERATORS, Operator, PRODUCT};
use crate::engine::{Piece, Rules};
use crate::features::{FEATURES, Feature, FeatureColumn, FeatureError};
use crate::names::closest;

/// Reads a formula for games under these rules.
pub(super) fn parse(text: &str, rules: &Rules) -> Result<Formula, FormulaError> {
    if text.len() > MAX_BYTES {
        let problem = format!("the formula has {} bytes, expected at most {MAX_BYTES}", text.len());
        return Err(FormulaError::of_text(problem));
    }
    let tokens = tokens(text)?;
    Parser { text, rules, tokens, at: 0, depth: 0, lets: Vec::new(), graph: Graph::new(rules.width) }
        .formula()
}

/// What a part gives: a number, a condition or a piece.
#[derive(Clone, Copy, Debug)]
enum PartValue {
    Number(Id),
    Condition(Id),
    Seat(Seat),
    Letter(Piece),
}

impl PartValue {
    fn kind(self) -> &'static str {
        match self {
            PartValue::Number(_) => "a number",
            PartValue::Condition(_) => "a condition",
            PartValue::Seat(_) | PartValue::Letter(_) => "a piece",
        }
    }
}

/// A part, and its bytes in the text.
#[derive(Clone, Debug)]
struct Part {
    value: PartValue,
    span: Range<usize>,
}

struct Parser<'a> {
    text: &'a str,
    rules: &'a Rules,
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: u32,
    /// Variables, in the order of the text.
    lets: Vec<(&'a str, PartValue)>,
    graph: Graph,
}

impl<'a> Parser<'a> {
    fn formula(mut self) -> Result<Formula, FormulaError> {
        while self.takes("let") {
            self.variable()?;
        }
        let part = self.expression(0)?;
        if self.peek() != TokenKind::End {
            return Err(self.unexpected("an operator or the end of the formula"));
        }
        let root = self.number(&part)?;
        let none = "the score depends on no feature, so all placements would have one score; expected at least one, such as holes";
        self.graph.finish(root).map_err(|error| match error {
            FeatureError::Empty => FormulaError::new(self.text, part.span, none.to_owned()),
            error => FormulaError::of_text(error.to_string()),
        })
    }

    /// Reads a variable, the part after `let`.
    fn variable(&mut self) -> Result<(), FormulaError> {
        let TokenKind::Name(name) = self.peek() else { return Err(self.unexpected("a name")) };
        let span = self.advance();
        let is_feature = FeatureColumn::parse(name, self.rules.width)
            != Err(FeatureError::UnknownFeature(name.to_owned()));
        let is_word = KEYWORDS.contains(&name) || self.known().any(|known| known == name);
        if is_feature || is_word || self.letter(name).is_some() {
            return Err(self.error(span, format!("{name:?} has a meaning already, expected a new name")));
        }
        self.expect("=", "=")?;
        let part = self.expression(0)?;
        if !matches!(part.value, PartValue::Number(_) | PartValue::Condition(_)) {
            return Err(self.wrong_kind(&part, "a number or a condition"));
        }
        self.expect(";", "an operator or ; after the value of a variable")?;
        self.lets.push((name, part.value));
        Ok(())
    }

    /// Operands with operators between them that bind at least as strongly as `least`.
    fn expression(&mut self, least: u8) -> Result<Part, FormulaError> {
        let mut left = self.operand()?;
        let mut compared = false;
        while let Some((operator, binds)) = self.operator().filter(|(_, binds)| *binds >= least) {
            let span = self.advance();
            if binds == COMPARISON && std::mem::replace(&mut compared, true) {
                let problem = "comparisons do not chain, expected two of them with `and` between".to_owned();
                return Err(self.error(span, problem));
            }
            left = match operator {
                Operator::Power => self.power(left)?,
                _ => {
                    let right = self.expression(binds + 1)?;
                    self.combine(operator, &left, &right)?
                }
            };
        }
        Ok(left)
    }

    /// The operator that comes next, and how strongly it binds.
    fn operator(&self) -> Option<(Operator, u8)> {
        let (TokenKind::Name(word) | TokenKind::Symbol(word)) = self.peek() else { return None };
        let row = OPERATORS.iter().find(|row| row.0 == word)?;
        Some((row.1, row.2))
    }

    fn combine(&mut self, operator: Operator, left: &Part, right: &Part) -> Result<Part, FormulaError> {
        let span = left.span.start..right.span.end;
        let value = match operator {
            Operator::Arithmetic(op) => {
                let operands = [self.number(left)?, self.number(right)?];
                PartValue::Number(self.step(op, &operands, &span)?)
            }
            Operator::Logic(op) => {
                let operands = [self.condition(left)?, self.condition(right)?];
                PartValue::Condition(self.step(op, &operands, &span)?)
            }
            Operator::Comparison(op, swapped, negated) => {
                let compared = match (left.value, right.value) {
                    (PartValue::Seat(seat), PartValue::Letter(piece))
                    | (PartValue::Letter(piece), PartValue::Seat(seat))
                        if op == Op::Equal =>
                    {
                        let fact = self.graph.fact(Fact::Is(seat, piece));
                        self.checked(fact, &span)?
                    }
                    (PartValue::Seat(_) | PartValue::Letter(_), _)
                    | (_, PartValue::Seat(_) | PartValue::Letter(_)) => {
                        let letters = self.rules.pieces.letters().map(String::from).collect::<Vec<_>>();
                        let problem = format!(
                            "pieces compare as in `current == {}`, expected current, next or held, then == or !=, then one of {}",
                            letters[0],
                            letters.join(" ")
                        );
                        return Err(self.error(span, problem));
                    }
                    _ => {
                        let mut operands = [self.number(left)?, self.number(right)?];
                        if swapped {
                            operands.reverse();
                        }
                        self.step(op, &operands, &span)?
                    }
                };
                PartValue::Condition(if negated { self.step(Op::Not, &[compared], &span)? } else { compared })
            }
            Operator::Power => unreachable!("a power has no right operand"),
        };
        Ok(Part { value, span })
    }

    /// A power, after `^`: a product from left to right.
    fn power(&mut self, base: Part) -> Result<Part, FormulaError> {
        let expected = format!("a whole number from 0 to {MAX_EXPONENT}");
        let TokenKind::Number(exponent) = self.peek() else { return Err(self.unexpected(&expected)) };
        let span = self.advance();
        if exponent.fract() != 0.0 || exponent > MAX_EXPONENT.into() {
            let given = &self.text[span.clone()];
            return Err(self.error(span, format!("the exponent is {given}, expected {expected}")));
        }
        let number = self.number(&base)?;
        let span = base.span.start..span.end;
        if exponent == 0.0 {
            let one = self.graph.number(1.0);
            return Ok(Part { value: PartValue::Number(self.checked(one, &span)?), span });
        }
        let mut product = number;
        for _ in 1..exponent as u32 {
            product = self.step(Op::Mul, &[product, number], &span)?;
        }
        Ok(Part { value: PartValue::Number(product), span })
    }

    fn operand(&mut self) -> Result<Part, FormulaError> {
        let start = self.tokens[self.at].span.clone();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let problem = format!("the formula is nested too deeply, expected at most {MAX_DEPTH} levels");
            return Err(self.error(start, problem));
        }
        let value = match self.peek() {
            TokenKind::Number(number) => {
                let span = self.advance();
                let id = self.graph.literal(number);
                PartValue::Number(self.checked(id, &span)?)
            }
            TokenKind::Name(name) => self.named(name)?,
            TokenKind::Symbol("(") => {
                self.advance();
                let part = self.expression(0)?;
                self.expect(")", "an operator or )")?;
                part.value
            }
            TokenKind::Symbol("-") => {
                self.advance();
                let part = self.expression(PRODUCT + 1)?;
                let number = self.number(&part)?;
                let minus_one = self.graph.number(-1.0);
                let minus_one = self.checked(minus_one, &start)?;
                PartValue::Number(self.step(Op::Mul, &[minus_one, number], &part.span)?)
            }
            _ => return Err(self.unexpected("a number, a feature, a condition or (")),
        };
        self.depth -= 1;
        Ok(Part { value, span: start.start..self.tokens[self.at - 1].span.end })
    }

    /// An operand that begins with a name.
    fn named(&mut self, name: &'a str) -> Result<PartValue, FormulaError> {
        let span = self.advance();
        if let Some((_, value)) = self.lets.iter().find(|(known, _)| *known == name) {
            return Ok(*value);
        }
        match name {
            "if" => return self.choice(),
            "not" => {
                let part = self.expression(COMPARISON)?;
                let condition = self.condition(&part)?;
                return Ok(PartValue::Condition(self.step(Op::Not, &[condition], &part.span)?));
            }
            "sum" => return self.sum(),
            "width" | "height" => {
                let size = if name == "width" { self.rules.width } else { self.rules.height };
                let id = self.graph.number(size.into());
                return Ok(PartValue::Number(self.checked(id, &span)?));
            }
            "lines" | "pieces" => {
                let fact = self.graph.fact(if name == "lines" { Fact::Lines } else { Fact::Pieces });
                return Ok(PartValue::Number(self.checked(fact, &span)?));
            }
            "let" => {
                let problem = "`let` stands at the beginning of a formula, before its score".to_owned();
                return Err(self.error(span, problem));
            }
            _ => {}
        }
        if let Some((_, op)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
            return self.call(name, *op);
        }
        if let Some((_, seat)) = Seat::ALL.iter().find(|(known, _)| *known == name) {
            self.check_seat(*seat, &span)?;
            return Ok(PartValue::Seat(*seat));
        }
        if let Some(piece) = self.letter(name) {
            return Ok(PartValue::Letter(piece));
        }
        if KEYWORDS.contains(&name) {
            self.at -= 1;
            return Err(self.unexpected("a number, a feature, a condition or ("));
        }
        let full_name = self.feature_name(name)?;
        let span = span.start..self.tokens[self.at - 1].span.end;
        let column = self.column(&full_name, &span)?;
        let feature = self.graph.feature(column);
        Ok(PartValue::Number(self.checked(feature, &span)?))
    }

    /// A choice between two numbers, after `if`.
    fn choice(&mut self) -> Result<PartValue, FormulaError> {
        let condition = self.expression(0)?;
        let condition = self.condition(&condition)?;
        self.expect("then", "an operator or `then`")?;
        let yes = self.expression(0)?;
        let first = self.number(&yes)?;
        self.expect("else", "an operator or `else`")?;
        let no = self.expression(0)?;
        let second = self.number(&no)?;
        let span = yes.span.start..no.span.end;
        Ok(PartValue::Number(self.step(Op::Select, &[condition, first, second], &span)?))
    }

    /// A call, after the name of the function. `min` and `max` take two numbers or more, from left to right.
    fn call(&mut self, name: &str, op: Op) -> Result<PartValue, FormulaError> {
        let start = self.tokens[self.at - 1].span.start;
        self.expect("(", "(")?;
        let part = self.expression(0)?;
        let mut result = self.number(&part)?;
        let is_unary = op.arity() == 1;
        if is_unary {
            result = self.step(op, &[result], &part.span)?;
        }
        let mut operands = 1;
        while !is_unary && self.takes(",") {
            let part = self.expression(0)?;
            let number = self.number(&part)?;
            result = self.step(op, &[result, number], &part.span)?;
            operands += 1;
        }
        self.expect(")", if is_unary { "an operator or )" } else { "an operator, a comma or )" })?;
        if !is_unary && operands == 1 {
            let span = start..self.tokens[self.at - 1].span.end;
            return Err(self.error(span, format!("{name} has one number, expected two or more")));
        }
        Ok(PartValue::Number(result))
    }

    /// The sum of a family, after `sum`.
    fn sum(&mut self) -> Result<PartValue, FormulaError> {
        self.expect("(", "(")?;
        let TokenKind::Name(family) = self.peek() else {
            return Err(self.unexpected("a family of features, such as column_height"));
        };
        let span = self.advance();
        if Feature::named(family.strip_suffix("_preclear").unwrap_or(family))
            .is_some_and(|feature| feature.family_size(self.rules.width).is_none())
        {
            let problem = format!("{family} is one feature, expected a family such as column_height");
            return Err(self.error(span, problem));
        }
        let first = self.column(&format!("{family}[0]"), &span)?;
        let size = first.feature.family_size(self.rules.width).expect("a family");
        let mut sum = None;
        for index in 0..size {
            let feature = self.graph.feature(FeatureColumn { index, ..first });
            let feature = self.checked(feature, &span)?;
            sum = Some(match sum {
                None => feature,
                Some(sum) => self.step(Op::Add, &[sum, feature], &span)?,
            });
        }
        self.expect(")", ")")?;
        Ok(PartValue::Number(sum.expect("a family has features")))
    }

    /// The full name of a feature: its name, and the index if one follows.
    fn feature_name(&mut self, name: &str) -> Result<String, FormulaError> {
        if !self.takes("[") {
            return Ok(name.to_owned());
        }
        let TokenKind::Number(_) = self.peek() else { return Err(self.unexpected("the index of a feature")) };
        let index = self.advance();
        self.expect("]", "]")?;
        Ok(format!("{name}[{}]", &self.text[index]))
    }

    fn column(&self, name: &str, span: &Range<usize>) -> Result<FeatureColumn, FormulaError> {
        let column = FeatureColumn::parse(name, self.rules.width).map_err(|error| match error {
            FeatureError::UnknownFeature(_) => self.unknown(span),
            error => self.error(span.clone(), error.to_string()),
        })?;
        if column.feature.tetrominoes_only && !self.rules.pieces.is_tetrominoes() {
            let problem = FeatureError::OfTetrominoes(column.feature.name).to_string();
            return Err(self.error(span.clone(), problem));
        }
        Ok(column)
    }

    /// The refusal of a name without a meaning.
    fn unknown(&self, span: &Range<usize>) -> FormulaError {
        let name = &self.text[span.clone()];
        let preclear: Vec<String> = FEATURES
            .iter()
            .filter(|feature| !feature.is_of_landing())
            .map(|feature| format!("{}_preclear", feature.name))
            .collect();
        let known = self.known().chain(KEYWORDS).chain(preclear.iter().map(String::as_str));
        let meant = match closest(name.split('[').next().unwrap_or(name), known) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None => format!(
                "expected a feature, such as holes, a variable, or one of {}, current, next, held",
                NUMBERS.join(", ")
            ),
        };
        self.error(span.clone(), format!("nothing is called {name:?}, {meant}"))
    }

    /// Names with a meaning, other than keywords and letters of pieces.
    fn known(&self) -> impl Iterator<Item = &str> {
        let features = FEATURES.iter().map(|feature| feature.name);
        let lets = self.lets.iter().map(|(name, _)| *name);
        let functions = FUNCTIONS.iter().map(|(name, _)| *name);
        features.chain(lets).chain(NUMBERS).chain(functions).chain(Seat::ALL.iter().map(|(name, _)| *name))
    }

    /// The piece with this letter, upper case.
    fn letter(&self, name: &str) -> Option<Piece> {
        let mut chars = name.chars();
        match (chars.next(), chars.next()) {
            (Some(letter), None) if letter.is_uppercase() => self.rules.pieces.from_letter(letter),
            _ => None,
        }
    }

    fn check_seat(&self, seat: Seat, span: &Range<usize>) -> Result<(), FormulaError> {
        let problem = match seat {
            Seat::Next if self.rules.preview == 0 => "next is hidden, expected rules that show a next piece",
            Seat::Held if !self.rules.hold => "held is always empty, expected rules with hold",
            _ => return Ok(()),
        };
        Err(self.error(span.clone(), problem.to_owned()))
    }

    fn number(&self, part: &Part) -> Result<Id, FormulaError> {
        match part.value {
            PartValue::Number(id) => Ok(id),
            _ => Err(self.wrong_kind(part, "a number")),
        }
    }

    fn condition(&self, part: &Part) -> Result<Id, FormulaError> {
        match part.value {
            PartValue::Condition(id) => Ok(id),
            _ => Err(self.wrong_kind(part, "a condition, such as holes > 0")),
        }
    }

    fn wrong_kind(&self, part: &Part, expected: &str) -> FormulaError {
        self.error(part.span.clone(), format!("this is {}, expected {expected}", part.value.kind()))
    }

    fn step(&mut self, op: Op, operands: &[Id], span: &Range<usize>) -> Result<Id, FormulaError> {
        let step = self.graph.step(op, operands);
        self.checked(step, span)
    }

    fn checked(&self, id: Result<Id, TooCostly>, span: &Range<usize>) -> Result<Id, FormulaError> {
        id.map_err(|error| self.error(span.clone(), error.to_string()))
    }

    fn error(&self, span: Range<usize>, problem: String) -> FormulaError {
        FormulaError::new(self.text, span, problem)
    }

    /// The refusal of the next word.
    fn unexpected(&self, expected: &str) -> FormulaError {
        let span = self.tokens[self.at].span.clone();
        let found = match self.peek() {
            TokenKind::End => "the formula ends".to_owned(),
            _ => format!("found {:?}", &self.text[span.clone()]),
        };
        self.error(span, format!("{found}, expected {expected}"))
    }

    fn peek(&self) -> TokenKind<'a> {
        self.tokens[self.at].kind
    }

    /// Takes the next word, which is not the end. Returns its bytes.
    fn advance(&mut self) -> Range<usize> {
        self.at += 1;
        self.tokens[self.at - 1].span.clone()
    }

    /// Takes the next word if it is this one.
    fn takes(&mut self, word: &str) -> bool {
        let (TokenKind::Name(next) | TokenKind::Symbol(next)) = self.peek() else { return false };
        self.at += usize::from(next == word);
        next == word
    }

    /// Takes the next word, which must be this one.
    fn expect(&mut self, word: &str, expected: &str) -> Result<(), FormulaError> {
        if self.takes(word) { Ok(()) } else { Err(self.unexpected(expected)) }
    }
}
