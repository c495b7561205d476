//! Tasks in words, for language models.

use super::formula::{FormulaTask, GAMES};
use super::play::{Goal, PlayTask};
use crate::prompts::{Detail, ObservedState, observation};

const RULES: &str = "A piece falls straight down in the orientation and the columns that you choose. Full rows vanish, and \
                     the rows above them move down. The game is lost when a cell of a landed piece is above the top row.";

/// Rules, position, goal, and the form of an answer.
pub(super) fn of_play(task: &PlayTask) -> String {
    let PlayTask { rules, start, goal, .. } = task;
    let num = start.pieces.len();
    let pieces = if num == 1 { "1 piece".to_owned() } else { format!("{num} pieces") };
    let goal = match goal {
        Goal::Value if num == 1 => "Goal: choose the placement after which the best player would clear the most lines on \
                                    average until the game is lost. Later pieces are random, each tetromino equally likely."
            .to_owned(),
        Goal::Value => format!(
            "Goal: place {pieces}. Choose each time the placement after which the best player would clear the most lines on \
             average until the game is lost. Later pieces are random, each tetromino equally likely."
        ),
        Goal::Lines(1) => format!("Goal: clear a line within {pieces}."),
        Goal::Lines(lines) => format!("Goal: clear {lines} lines within {pieces}."),
        Goal::Survive => format!("Goal: place {pieces} without losing the game."),
        Goal::Dig(1) => format!("Goal: clear the lowest row within {pieces}."),
        Goal::Dig(rows) => format!("Goal: clear the lowest {rows} rows of the start within {pieces}."),
        Goal::PerfectClear => format!("Goal: empty the playfield within {pieces}."),
    };
    let state = ObservedState::new(&start.batch(rules), 0);
    format!(
        "You play Tetris on a playfield of {} columns and {} rows. {RULES}\n\n{goal}\n\n{}\n\nAnswer with the letter of an \
         action, or its name.",
        rules.width,
        rules.height,
        observation(Detail::Actions, &state)
    )
}

/// Rules, goal, and what a formula can say.
pub(super) fn of_formula(task: &FormulaTask) -> String {
    let FormulaTask { rules, max_pieces, .. } = task;
    format!(
        "Write a formula that plays Tetris on a playfield of {} columns and {} rows. {RULES} Each tetromino is equally \
         likely, and only the current one is known.\n\nThe formula gives each placement of the current piece a score, and \
         the placement with the largest score is played. It is an arithmetic expression of features of the placement, with \
         + - * / ^, min, max, abs, exp, ln, comparisons, `if condition then a else b` and `let name = a; b`. Some features: \
         landing_height, eroded_piece_cells, row_transitions, column_transitions, holes, cumulative_wells, hole_depth, \
         rows_with_holes, max_height, bumpiness, total_height, column_height[0]. An example: -holes - 0.5 * \
         max_height.\n\nGoal: clear as many lines per game as you can, in {GAMES} games of at most {max_pieces} pieces. The \
         score is the logarithm of the lines, 0 for random play and 1 for our best controller.\n\nAnswer with the formula \
         only.",
        rules.width, rules.height
    )
}
