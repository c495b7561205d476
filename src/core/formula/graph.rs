//! The parts of a formula while it is read: nodes, each of which names only earlier ones.
//!
//! Equal nodes are one node, and operations on numbers are done at once.

use std::collections::HashMap;

use super::bounds::MAX_COST;
use super::op::Op;
use super::program::{Formula, Program, ProgramStep};
use super::state::Fact;
use crate::features::{FeatureColumn, FeatureError, FeatureSet, MAX_COLUMNS};

/// Number of a node in the order in which nodes were added.
pub(super) type Id = u16;

/// A part of a formula that has a value for each placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// A feature, by its index in the list of features.
    Feature(u16),
    /// A fact about the game.
    Fact(Fact),
    /// A number, by its bits.
    Number(u64),
    /// An operation; operands beyond its arity repeat the first.
    Step(Op, [Id; 3]),
}

/// Largest weight of a [weighted sum](Formula::Weights): no sum of so many features can leave the range of scores.
const MAX_WEIGHT: f64 = 1e290;

/// The graph of a formula.
#[derive(Debug)]
pub(super) struct Graph {
    width: u8,
    nodes: Vec<Node>,
    ids: HashMap<Node, Id>,
    features: Vec<FeatureColumn>,
    cost: u32,
    /// Largest number of the text.
    largest: f64,
}

impl Graph {
    /// An empty graph for playfields of this width.
    pub(super) fn new(width: u8) -> Graph {
        Graph { width, nodes: Vec::new(), ids: HashMap::new(), features: Vec::new(), cost: 0, largest: 1.0 }
    }

    /// Adds a number of the text.
    pub(super) fn literal(&mut self, number: f64) -> Result<Id, TooCostly> {
        self.largest = self.largest.max(number);
        self.number(number)
    }

    /// Adds a number, of the text or computed from numbers.
    pub(super) fn number(&mut self, number: f64) -> Result<Id, TooCostly> {
        self.add(Node::Number(number.to_bits()))
    }

    /// Adds a feature. A feature that the graph has is not added again.
    pub(super) fn feature(&mut self, column: FeatureColumn) -> Result<Id, TooCostly> {
        let known = self.features.iter().position(|other| *other == column);
        let index = known.unwrap_or(self.features.len());
        if known.is_none() {
            self.features.push(column);
        }
        self.add(Node::Feature(index as u16))
    }

    /// Adds a fact about the game.
    pub(super) fn fact(&mut self, fact: Fact) -> Result<Id, TooCostly> {
        self.add(Node::Fact(fact))
    }

    /// Adds an operation, or its result if all operands are numbers.
    pub(super) fn step(&mut self, op: Op, operands: &[Id]) -> Result<Id, TooCostly> {
        debug_assert_eq!(operands.len(), op.arity());
        let all = std::array::from_fn(|at| *operands.get(at).unwrap_or(&operands[0]));
        let numbers = all.map(|id| self.as_number(id));
        if let [Some(a), Some(b), Some(c)] = numbers {
            return self.number(op.apply([a, b, c]));
        }
        self.add(Node::Step(op, all))
    }

    /// The number of a node that is one.
    fn as_number(&self, id: Id) -> Option<f64> {
        match self.nodes[usize::from(id)] {
            Node::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn add(&mut self, node: Node) -> Result<Id, TooCostly> {
        if let Some(id) = self.ids.get(&node) {
            return Ok(*id);
        }
        self.cost += match node {
            Node::Step(op, _) => op.cost(),
            _ => 1,
        };
        if self.cost > MAX_COST {
            return Err(TooCostly);
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node);
        self.ids.insert(node, id);
        Ok(id)
    }

    /// The formula whose value is this node. Nodes that it does not need are left out.
    ///
    /// # Errors
    /// A formula without features.
    pub(super) fn finish(self, root: Id) -> Result<Formula, FeatureError> {
        if let Some((features, weights)) = self.weights(root) {
            return Ok(Formula::Weights(self.set(&features)?, weights));
        }
        let used = self.used(root);
        let used_nodes = || (0 as Id..).zip(&self.nodes).filter(|(id, _)| used[usize::from(*id)]);
        let (mut features, mut facts, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for (_, node) in used_nodes() {
            match *node {
                Node::Feature(index) => features.push(index),
                Node::Fact(fact) => facts.push(fact),
                Node::Number(bits) => numbers.push(f64::from_bits(bits)),
                Node::Step(..) => {}
            }
        }
        // Features, facts and numbers keep their columns; steps use the columns of earlier steps that are read no more.
        let mut inputs = [0, features.len(), features.len() + facts.len()];
        let mut num_columns = (features.len() + facts.len() + numbers.len()) as u16;
        let last_uses = self.last_uses(&used);
        let mut columns = vec![0; self.nodes.len()];
        let (mut steps, mut free) = (Vec::new(), Vec::new());
        for (id, node) in used_nodes() {
            let kind = match *node {
                Node::Feature(_) => 0,
                Node::Fact(_) => 1,
                Node::Number(_) => 2,
                Node::Step(op, operands) => {
                    let reads = operands.map(|id: Id| columns[usize::from(id)]);
                    for (at, operand) in operands.into_iter().enumerate() {
                        let is_step = matches!(self.nodes[usize::from(operand)], Node::Step(..));
                        if is_step
                            && last_uses[usize::from(operand)] == id
                            && !operands[..at].contains(&operand)
                        {
                            free.push(columns[usize::from(operand)]);
                        }
                    }
                    let writes = free.pop().unwrap_or_else(|| {
                        num_columns += 1;
                        num_columns - 1
                    });
                    columns[usize::from(id)] = writes;
                    steps.push(ProgramStep { op, reads, writes });
                    continue;
                }
            };
            columns[usize::from(id)] = inputs[kind] as u16;
            inputs[kind] += 1;
        }
        Ok(Formula::Program(Program {
            set: self.set(&features)?,
            facts,
            numbers,
            steps,
            num_columns: num_columns.into(),
            cost: self.cost,
            largest_number: self.largest,
        }))
    }

    fn set(&self, features: &[u16]) -> Result<FeatureSet, FeatureError> {
        let names: Vec<_> =
            features.iter().map(|&index| self.features[usize::from(index)].to_string()).collect();
        FeatureSet::custom(&names, self.width)
    }

    /// The nodes that the root needs.
    fn used(&self, root: Id) -> Vec<bool> {
        let mut used = vec![false; self.nodes.len()];
        used[usize::from(root)] = true;
        for id in (0..self.nodes.len()).rev() {
            if let (true, Node::Step(_, operands)) = (used[id], self.nodes[id]) {
                operands.into_iter().for_each(|operand| used[usize::from(operand)] = true);
            }
        }
        used
    }

    /// The last used step that reads each node.
    fn last_uses(&self, used: &[bool]) -> Vec<Id> {
        let mut last_uses = vec![0; self.nodes.len()];
        for (id, node) in (0 as Id..).zip(&self.nodes).filter(|(id, _)| used[usize::from(*id)]) {
            if let Node::Step(_, operands) = node {
                operands.iter().for_each(|operand| last_uses[usize::from(*operand)] = id);
            }
        }
        last_uses
    }

    /// The features and the weights of a weighted sum. It must add, from left to right, weight times feature, each
    /// feature once: only then are its bits those of a linear controller.
    fn weights(&self, root: Id) -> Option<(Vec<u16>, Vec<f64>)> {
        let mut terms = Vec::new();
        let mut rest = root;
        while let Node::Step(op @ (Op::Add | Op::Sub), [left, right, _]) = self.nodes[usize::from(rest)] {
            let (feature, weight) = self.term(right)?;
            terms.push((feature, if op == Op::Sub { -weight } else { weight }));
            rest = left;
        }
        terms.push(self.term(rest)?);
        terms.reverse();
        let (features, weights): (Vec<u16>, Vec<f64>) = terms.into_iter().unzip();
        let is_repeated = |(at, feature)| features[..at].contains(feature);
        let is_plain = weights.iter().all(|weight: &f64| weight.abs() <= MAX_WEIGHT);
        (is_plain && !features.iter().enumerate().any(is_repeated)).then_some((features, weights))
    }

    /// A feature, or a number times a feature.
    fn term(&self, id: Id) -> Option<(u16, f64)> {
        match self.nodes[usize::from(id)] {
            Node::Feature(feature) => Some((feature, 1.0)),
            Node::Step(Op::Mul, [one, other, _]) => {
                let (number, feature) =
                    if self.as_number(one).is_some() { (one, other) } else { (other, one) };
                match self.nodes[usize::from(feature)] {
                    Node::Feature(feature) => Some((feature, self.as_number(number)?)),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The error for a formula over [`MAX_COST`], found before more of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the formula takes too long, expected a cost of at most {MAX_COST} up to here")]
pub(super) struct TooCostly;

// Every feature costs something, so none is beyond the longest list.
const _: () = assert!(MAX_COST as usize <= MAX_COLUMNS);
