//! The reference agent: trains controllers as a client of a server, and saves its results in folders.
//!
//! This room knows no terminals and no flags: its caller prints results and shows progress.
//!
//! | module | is |
//! | --- | --- |
//! | [`search`], [`rounds`], [`record`] | a search in progress, by the cross-entropy method or a genetic algorithm |
//! | [`learning`], [`lessons`], [`learner`], [`seen_playfields`] | learning from every step, by temporal differences |
//! | [`settings`], [`unit`](mod@unit) | everything that decides the results of a run |
//! | [`run`], [`run_folder`], [`curve`] | the parts that all runs share, and their files |
//! | [`weights`] | `weights.json` |
//! | [`score`], [`games`], [`rules`] | the results of games, recordings of them, and their rules in words |
//! | [`trained_weights`] | weights of a run or a file, to play with |

pub mod curve;
pub mod error;
pub mod games;
pub mod learner;
pub mod learning;
pub mod lessons;
pub mod record;
pub mod rounds;
pub mod rules;
pub mod run;
pub mod run_folder;
pub mod score;
pub mod search;
pub mod seen_playfields;
pub mod settings;
pub mod trained_weights;
pub mod unit;
pub mod weights;
