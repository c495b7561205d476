//! The flags for how controllers play: their search, and the value of a game-ending placement.
//!
//! Every subcommand that lets a controller play has these flags.

use std::fmt::Write;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use tetrion_core::agents::{
    BEAM_SETTINGS, Beam, EXPECTATION_SETTINGS, Expectation, LOOKAHEAD_SETTINGS, PlayChoice, Search,
    SearchSetting, TerminalValue,
};
use tetrion_core::engine::{ChoiceValue, NamedChoice};

/// The way controllers play. For absent flags, the controller decides.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct SearchArgs {
    /// How controllers and formulas use the next pieces: greedy, lookahead, expectation or beam, with settings such
    /// as beam,width=32 [default: the search of the controller or the weights]
    #[arg(long, value_name = "METHOD[,SETTING=VALUE]...", value_parser = str::parse::<Search>, long_help = methods())]
    pub search: Option<Search>,

    /// Value of a game-ending placement, for controllers and formulas [default: as in the weights or the controller;
    /// avoid for plain numbers and formulas]
    #[arg(long, value_name = "HOW", value_parser = terminal_value())]
    pub terminal_value: Option<TerminalValue>,
}

impl SearchArgs {
    /// The parts of [`Play`](tetrion_core::agents::Play) that the flags choose.
    pub fn choice(&self) -> PlayChoice {
        PlayChoice { terminal_value: self.terminal_value, search: self.search }
    }
}

/// The help of `--search` with every setting.
fn methods() -> String {
    let mut text = "How controllers and formulas use the next pieces [default: the search of the controller or the weights]\n\n\
         greedy: not at all\n\n\
         lookahead: add the best scores of shown pieces; evaluate and train take 2 of them at most"
        .to_owned();
    append_settings(&mut text, &LOOKAHEAD_SETTINGS, &1);
    text +=
        "\n\nexpectation: expectimax; use the next piece if it is shown, else the exact mean over all pieces";
    append_settings(&mut text, &EXPECTATION_SETTINGS, &Expectation::DEFAULT);
    text += "\n\nbeam: follow many sequences of placements of the known pieces at once";
    append_settings(&mut text, &BEAM_SETTINGS, &Beam::DEFAULT);
    text
}

fn append_settings<S>(text: &mut String, table: &[SearchSetting<S>], defaults: &S) {
    for setting in table {
        let (expects, default) = (setting.expects(), setting.value(defaults));
        let _ = write!(text, "\n- {}={expects}: {} [default: {default}]", setting.name, setting.about);
    }
}

/// The parser of the value of a game-ending placement.
fn terminal_value() -> impl TypedValueParser<Value = TerminalValue> {
    let about = |value: &ChoiceValue| value.meaning.trim_end_matches('.');
    let values = <TerminalValue as NamedChoice>::VALUES;
    let names = values.iter().map(|value| PossibleValue::new(value.name).help(about(value)));
    PossibleValuesParser::new(names).map(|name| TerminalValue::from_name(&name).expect("one of the names"))
}
