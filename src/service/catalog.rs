//! GetCatalog: everything that this server supports, read from the tables that the rest of the program uses.

use tetrion_core::engine::{NamedPieceSet, PIECE_SETS, PRESETS, PieceSet, WIDTHS};
use tetrion_core::env::Role;
use tetrion_core::features::{FEATURE_SETS, FEATURES, Feature, Measure, NamedSet};
use tetrion_protocol::rules::ResolvedRules;
use tetrion_protocol::{fields, pb};

use super::policies::{self, features_at};
use super::refusal::Refusal;

/// Builds the answer of GetCatalog from the program's tables. Refuses a width that no rules allow.
pub(super) fn catalog(request: &pb::GetCatalogRequest) -> Result<pb::GetCatalogResponse, Refusal> {
    let width = match u8::try_from(request.width) {
        Ok(0) => PRESETS[0].rules.width,
        Ok(width) if WIDTHS.contains(&width) => width,
        _ => {
            let (min, max) = (WIDTHS.start(), WIDTHS.end());
            let problem = format!("is {}, expected {min} to {max}, or 0", request.width);
            return Err(Refusal::field("width", problem));
        }
    };
    Ok(pb::GetCatalogResponse {
        rules_presets: PRESETS.iter().map(rules_preset).collect(),
        piece_sets: PIECE_SETS.iter().map(piece_set).collect(),
        features: FEATURES.iter().flat_map(forms).collect(),
        feature_sets: FEATURE_SETS.iter().map(|set| feature_set(set, width)).collect(),
        observation_fields: fields::infos(Role::Observation),
        info_fields: fields::infos(Role::Info),
        policies: policies::all(),
    })
}

fn rules_preset(preset: &tetrion_core::engine::Preset) -> pb::RulesPreset {
    let resolved = ResolvedRules { preset: preset.name, rules: preset.rules };
    pb::RulesPreset {
        name: preset.name.to_owned(),
        source: preset.source.to_owned(),
        rules: Some(pb::Rules::from(&resolved)),
    }
}

fn piece_set(row: &NamedPieceSet) -> pb::PieceSet {
    let set = PieceSet::named(row.name).expect("a row of the table");
    pb::PieceSet { name: row.name.to_owned(), source: row.source.to_owned(), pieces: set.drawings() }
}

/// All named forms of a feature. A feature of playfields has one measured after clearing, and one before with
/// `_preclear`.
fn forms(feature: &Feature) -> Vec<pb::Feature> {
    let (family, size) = match feature.measure {
        Measure::Landing(_) | Measure::Playfield(_) | Measure::Search(_) => (pb::FeatureFamily::Single, 0),
        Measure::Column(_) => (pb::FeatureFamily::Columns, 0),
        Measure::Pair(_) => (pb::FeatureFamily::ColumnPairs, 0),
        Measure::Seven(_) | Measure::LandingSeven(_) => (pb::FeatureFamily::Fixed, 7),
    };
    let form = |name: String, stage: pb::FeatureStage| pb::Feature {
        name,
        formula: feature.formula.to_owned(),
        source: feature.source.to_owned(),
        stage: stage.into(),
        family: family.into(),
        size,
    };
    let plain = feature.name.to_owned();
    if feature.is_of_landing() {
        return vec![form(plain, pb::FeatureStage::Landing)];
    }
    let preclear = format!("{plain}_preclear");
    vec![form(plain, pb::FeatureStage::AfterClearing), form(preclear, pb::FeatureStage::BeforeClearing)]
}

fn feature_set(set: &NamedSet, width: u8) -> pb::FeatureSet {
    pb::FeatureSet {
        name: set.name.to_owned(),
        version: set.version.to_string(),
        source: set.source.to_owned(),
        features: set.members.iter().map(|member| member.replace("[i]", "")).collect(),
        columns: features_at(set.name, width).names(),
    }
}
