//! Placements scored by a formula: features measured by the kernels, column by column, then one pass of the program
//! over all placements of a piece.

use std::cell::Cell;
use std::sync::Arc;

use super::Sight;
use super::linear::none_to_choose;
use crate::engine::{
    Column, Game, Landing, Piece, Placement, Playfield, PlayfieldOf, Rules, comes_to_rest, drops,
    every_choice_always_exists, every_placement_exists, is_locked_out, land, placements,
};
use crate::features::Seen;
use crate::features::kernel::{
    Apart, Extractor, Kernel, LaneBounds, LaneWork, Lanes, PlacementColumns, RestingPiece, ScoredPlacement,
    TerminalValue, Together, dispatch,
};
use crate::formula::{Batch, Program, State};

/// A formula that is no weighted sum, and plays the placement with the largest score, the first of equals in ascending
/// action order.
#[derive(Clone, Debug)]
pub struct FormulaAgent {
    program: Arc<Program>,
    terminal_value: TerminalValue,
    /// The features prepared for straight drops, if the kernels support all of them.
    extractor: Option<Extractor>,
    /// The features prepared for other placements, if the kernels support all of them.
    together: Option<Together>,
}

thread_local! {
    /// The numbers of the last choice, whose memory the next one reuses.
    static BATCH: Cell<Batch> = Cell::default();
}

impl FormulaAgent {
    /// An agent that plays a program.
    pub fn new(program: Program, terminal_value: TerminalValue) -> FormulaAgent {
        let extractor = Extractor::new(Some(program.set()));
        let together = Together::new(Some(program.set()), None);
        FormulaAgent { program: Arc::new(program), terminal_value, extractor, together }
    }

    /// The formula, ready to run over measured features.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Score of a placement that ends the game.
    pub(crate) fn terminal_value(&self) -> TerminalValue {
        self.terminal_value
    }

    /// Whether there is a faster way than the features' own functions.
    pub(crate) fn is_fast(&self) -> bool {
        self.extractor.is_some()
    }

    /// The agent prepared for slices of games, if the kernels support its features and the rules.
    pub(crate) fn drops_under(&self, rules: &Rules) -> Option<DropScorer<'_>> {
        let is_supported = rules.pieces.is_tetrominoes() && every_choice_always_exists(rules);
        let extractor = self.extractor.as_ref().filter(|_| is_supported)?;
        Some(DropScorer { program: &self.program, extractor, terminal_value: self.terminal_value })
    }

    /// Chooses among all placements of the hand, including those that hold the current piece: the first of the best.
    pub(crate) fn choose_of_hand(&self, kernel: Kernel, sight: &Sight<'_>) -> ScoredPlacement {
        let scores = self.scores_of_hand(kernel, sight);
        let first = none_to_choose(sight.rules, sight.playfield, sight.piece);
        let larger = |best: ScoredPlacement, other: ScoredPlacement| {
            if other.score > best.score { other } else { best }
        };
        scores.into_iter().fold(first, larger)
    }

    /// The scores of every placement of the hand: of the current piece, then of the other one with the current one
    /// held; without those that end the game, if the agent avoids them.
    pub fn scores_of_hand(&self, kernel: Kernel, sight: &Sight<'_>) -> Vec<ScoredPlacement> {
        let mut scores = self.scores(kernel, sight);
        if let Some(other) = sight.holding() {
            let held = |choice: ScoredPlacement| ScoredPlacement {
                placement: choice.placement.holding(true),
                ..choice
            };
            scores.extend(self.scores(kernel, &other).into_iter().map(held));
        }
        scores
    }

    /// The score of a landing, whether or not it ends the game.
    pub fn score(&self, sight: &Sight<'_>, seen: &Seen<'_>) -> f64 {
        let mut features = vec![0.0; self.program.set().len()];
        self.program.set().evaluate(seen, &mut features);
        self.program.score(&state(sight), &features)
    }

    /// The score of a landing if every feature of a playfield were 0.
    pub(crate) fn landing_score(&self, sight: &Sight<'_>, seen: &Seen<'_>) -> f64 {
        let value = |column: &crate::features::FeatureColumn| {
            if column.feature.is_of_landing() { column.of_landing(seen) } else { 0.0 }
        };
        let features: Vec<f64> = self.program.set().columns().iter().map(value).collect();
        self.program.score(&state(sight), &features)
    }

    /// The scores of the current piece's placements.
    fn scores(&self, kernel: Kernel, sight: &Sight<'_>) -> Vec<ScoredPlacement> {
        let Sight { rules, playfield, piece, .. } = *sight;
        let mut batch = BATCH.take();
        let scores = match (&self.extractor, &self.together) {
            (Some(extractor), _)
                if rules.pieces.is_tetrominoes() && every_placement_exists(rules, playfield) =>
            {
                let scorer =
                    DropScorer { program: &self.program, extractor, terminal_value: self.terminal_value };
                dispatch(kernel, rules.width, rules.height, AllDrops { scorer, sight, batch: &mut batch })
            }
            (_, Some(together)) if Together::holds(rules, playfield) => {
                self.scores_together(together, kernel, sight, &mut batch)
            }
            _ => self.scores_plainly(rules, playfield, piece, &state(sight), &mut batch),
        };
        BATCH.set(batch);
        scores
    }

    /// The scores, with the features of many placements measured together.
    fn scores_together(
        &self,
        together: &Together,
        kernel: Kernel,
        sight: &Sight<'_>,
        batch: &mut Batch,
    ) -> Vec<ScoredPlacement> {
        let Sight { rules, playfield, piece, .. } = *sight;
        let mut rests = Vec::new();
        let mut all: Vec<Placement> = placements(rules, playfield, piece).iter().collect();
        all.retain(|&placement| {
            let (shape, row) = comes_to_rest(rules, playfield, piece, placement);
            // Nothing else ends a game on such a playfield.
            let stays = self.terminal_value == TerminalValue::Score || !is_locked_out(rules, row);
            if stays {
                rests.push(RestingPiece {
                    piece,
                    shape,
                    row,
                    column: placement.column,
                    spin: placement.spin(),
                });
            }
            stays
        });
        let measured = together.measure(kernel, rules, playfield, &rests, true);
        let features = measured.features.into_iter().map(f64::from);
        self.scores_of_rows(all, features, &state(sight), batch)
    }

    /// The scores by the features' own functions.
    fn scores_plainly(
        &self,
        rules: &Rules,
        playfield: &Playfield,
        piece: Piece,
        state: &State,
        batch: &mut Batch,
    ) -> Vec<ScoredPlacement> {
        let set = self.program.set();
        let mut row = vec![0.0; set.len()];
        let (mut all, mut features) = (Vec::new(), Vec::new());
        for placement in placements(rules, playfield, piece).iter() {
            let (shape, landing): (_, Landing<u64, 32>) = land(rules, playfield, piece, placement);
            if landing.terminal && self.terminal_value == TerminalValue::Avoid {
                continue;
            }
            set.evaluate(&Seen { piece, spin: placement.spin(), shape, landing: &landing }, &mut row);
            all.push(placement);
            features.extend_from_slice(&row);
        }
        self.scores_of_rows(all, features.into_iter(), state, batch)
    }

    /// The scores of placements with these features, given one placement after the other.
    fn scores_of_rows(
        &self,
        all: Vec<Placement>,
        features: impl Iterator<Item = f64>,
        state: &State,
        batch: &mut Batch,
    ) -> Vec<ScoredPlacement> {
        let num_features = self.program.set().len();
        batch.resize(self.program.num_columns(), all.len());
        let (cells, stride) = batch.cells_mut();
        for (at, feature) in features.enumerate() {
            cells[at % num_features * stride + at / num_features] = feature;
        }
        let scores = self.program.run(state, batch).iter();
        all.into_iter().zip(scores).map(|(placement, &score)| ScoredPlacement { placement, score }).collect()
    }
}

/// The state in which the current piece is placed.
fn state(sight: &Sight<'_>) -> State {
    let Sight { piece, next, held, lines, pieces, .. } = *sight;
    State { lines, pieces, current: piece, next: next.first().copied(), held }
}

/// A formula prepared for straight drops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropScorer<'a> {
    program: &'a Program,
    extractor: &'a Extractor,
    terminal_value: TerminalValue,
}

impl DropScorer<'_> {
    /// Whether the scores depend on the piece that follows.
    pub(crate) fn knows_next(&self) -> bool {
        self.program.knows_next()
    }

    /// Chooses a placement in a game of straight drops.
    #[inline(always)]
    pub(crate) fn place<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &LaneBounds<L>,
        rules: &Rules,
        game: &Game<C, N>,
        (current, next): (Piece, Option<Piece>),
        batch: &mut Batch,
    ) -> Placement {
        let state = State { lines: game.lines, pieces: game.pieces, current, next, held: None };
        let (scores, ending) = self.scores(size, rules, &game.playfield, &state, batch);
        let (mut best, mut highest) = (0, f64::NEG_INFINITY);
        for (at, &score) in (0..).zip(scores) {
            if score > highest && ending >> at & 1 == 0 {
                (best, highest) = (at, score);
            }
        }
        drops(rules, &game.playfield, current).nth(best).expect("a piece that can be played")
    }

    /// The scores of all placements of a piece, in ascending action order, and the placements that the formula avoids
    /// because they end the game, bit n for placement n.
    #[inline(always)]
    fn scores<'a, C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &LaneBounds<L>,
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        state: &State,
        batch: &'a mut Batch,
    ) -> (&'a [f64], u128) {
        let count = drops(rules, playfield, state.current).len() as usize;
        batch.resize(self.program.num_columns(), count);
        let (cells, stride) = batch.cells_mut();
        let mut columns = PlacementColumns::new(cells, stride);
        self.extractor.append(size, playfield, rules.shapes(state.current), rules.top_out, &mut columns);
        let avoided = if self.terminal_value == TerminalValue::Avoid { columns.terminated() } else { 0 };
        (L::apart(RunProgram { program: self.program, state, batch }), avoided)
    }
}

/// A program, run in a function that is compiled for the machine.
struct RunProgram<'a, 'b> {
    program: &'b Program,
    state: &'b State,
    batch: &'a mut Batch,
}

impl<'a> Apart for RunProgram<'a, '_> {
    type Output = &'a [f64];

    #[inline(always)]
    fn run(self) -> &'a [f64] {
        self.program.run(self.state, self.batch)
    }
}

/// The scores of all straight drops of one piece.
struct AllDrops<'a> {
    scorer: DropScorer<'a>,
    sight: &'a Sight<'a>,
    batch: &'a mut Batch,
}

impl LaneWork for AllDrops<'_> {
    type Output = Vec<ScoredPlacement>;

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> Vec<ScoredPlacement> {
        let AllDrops { scorer, sight, batch } = self;
        let Sight { rules, playfield, piece, .. } = *sight;
        let size = LaneBounds::<L>::new(rules.width, rules.height);
        let playfield: PlayfieldOf<C, N> = playfield.resized();
        let (scores, avoided) = scorer.scores(&size, rules, &playfield, &state(sight), batch);
        let mut choices = Vec::with_capacity(scores.len());
        for ((at, placement), &score) in drops(rules, &playfield, piece).iter().enumerate().zip(scores) {
            if avoided >> at & 1 == 0 {
                choices.push(ScoredPlacement { placement, score });
            }
        }
        choices
    }
}
