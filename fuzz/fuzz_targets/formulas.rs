//! Formulas: the first byte chooses the rules, the rest is the text. What is accepted scores every placement of an empty
//! playfield, alike on every kernel.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tetrion::agents::{FormulaAgent, Kernel, Sight, TerminalValue};
use tetrion::engine::{Playfield, Rules, Tetromino};
use tetrion::formula::{Formula, compile};
use tetrion_fuzz::outcome;

fuzz_target!(|input: &[u8]| {
    let Some((choice, text)) = input.split_first() else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let rules = match choice % 3 {
        0 => Rules::simplified(10, 20),
        1 => Rules { preview: 1, hold: true, ..Rules::simplified(4, 8) },
        _ => Rules { width: 32, ..Rules::preset("guideline").expect("a preset") },
    };
    let formula = compile(text, &rules);
    outcome(&formula);
    let program = match formula {
        Err(_) => return,
        Ok(Formula::Weights(set, weights)) => return assert_eq!(set.len(), weights.len()),
        Ok(Formula::Program(program)) => program,
    };
    let agent = FormulaAgent::new(program, TerminalValue::Avoid);
    let playfield = Playfield::empty(rules.width, rules.height);
    let next = [Tetromino::L; 6];
    let next = &next[..rules.preview.into()];
    let sight = Sight { next, lines: 3, pieces: 9, ..Sight::of(&rules, &playfield, Tetromino::T) };
    let scores = |kernel| agent.scores_of_hand(kernel, &sight);
    let portable = scores(Kernel::Portable);
    assert!(portable.iter().all(|choice| choice.score.is_finite()));
    assert_eq!(portable, scores(Kernel::best()));
});
