//! What the proto files say in prose is true: the tests read their tables out of the files and play them against the engine,
//! and everything in them has a word of explanation.

use std::collections::BTreeSet;
use std::path::Path;

use prost::Message;
use prost_types::FileDescriptorSet;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto};
use tetrion_core::agents::{TerminalValue, Terms};
use tetrion_core::engine::rng::{Tag, below, word};
use tetrion_core::engine::{
    ActionModel, Dealer, EpisodeEnd, NamedChoice, OrientationTable, Randomizer, Reach, Rules, Shape,
    Tetromino, TopOut, episode_seed,
};
use tetrion_core::env::{FIELDS, Role};
use tetrion_protocol::{FILE_DESCRIPTOR_SET, pb};

const RULES_PROTO: &str = include_str!("../../../../proto/tetrion/v1/rules.proto");

/// The words of the comment lines that follow the one that starts with `heading`, up to an empty one.
fn table_under(heading: &str) -> Vec<Vec<&'static str>> {
    let words = |line: &'static str| -> Vec<&str> {
        line.trim_start().trim_start_matches("//").split_whitespace().collect()
    };
    let heading: Vec<&str> = heading.split_whitespace().collect();
    let mut lines = RULES_PROTO.lines().map(words).skip_while(|line| !line.starts_with(&heading));
    assert!(lines.next().is_some(), "rules.proto has no line {heading:?}");
    lines.take_while(|line| !line.is_empty()).collect()
}

fn deal(randomizer: Randomizer, seed: u64, num_pieces: usize) -> String {
    let mut dealer = Dealer::seeded(randomizer, seed);
    (0..num_pieces).map(|_| dealer.deal().expect("a seed never runs out").letter()).collect()
}

/// `balanced`, as the proto file describes it.
fn deal_balanced(seed: u64, num_pieces: usize) -> String {
    let mut counts = [0_u64; 7];
    let mut draw = |n: u64| {
        let most = counts.iter().max().expect("seven counts");
        let weights = counts.map(|count| 5 + most - count);
        let r = below(word(seed, Tag::Pieces, n), weights.iter().sum());
        let piece = (0..7).find(|&k| weights[..=k].iter().sum::<u64>() > r).expect("r is below the sum");
        counts[piece] += 1;
        Tetromino::ALL[piece].letter()
    };
    (0..num_pieces as u64).map(&mut draw).collect()
}

/// `nes`, as the proto file describes it.
fn deal_nes(seed: u64, num_pieces: usize) -> String {
    let mut letters = String::new();
    for n in 0..num_pieces as u64 {
        let r = below(word(seed, Tag::Pieces, n), 56) as usize;
        let letter = |index: usize| "IOTZSJL".chars().nth(index);
        let first = letter(r / 7).filter(|first| !letters.ends_with(*first));
        letters.push(first.unwrap_or(letter(r % 7).expect("one of seven")));
    }
    letters
}

/// A shape as the proto files draw it: rows from the top, `/` between them.
fn drawing(shape: &Shape) -> String {
    let row = |row: u8| -> String {
        let full = |column: u8| shape.column_bits(column.into()) >> row & 1 == 1;
        (0..shape.width).map(|column| if full(column) { '#' } else { '.' }).collect()
    };
    (0..shape.height).rev().map(row).collect::<Vec<_>>().join("/")
}

#[test]
fn the_words_of_seed_42_are_as_written() {
    let tags = [
        Tag::Pieces,
        Tag::Environment,
        Tag::Episode,
        Tag::Game,
        Tag::Agent,
        Tag::Reseed,
        Tag::Garbage,
        Tag::Hole,
    ];
    let rows = table_under("tag  n = 0");
    assert_eq!(rows.len(), tags.len());
    for (tag, row) in tags.into_iter().zip(rows) {
        let expected = [tag as u64, word(42, tag, 0), word(42, tag, 1), word(42, tag, 2)];
        assert_eq!(row, expected.map(|number| number.to_string()), "{tag:?}");
    }
}

#[test]
fn the_pieces_of_the_example_seeds_are_as_written() {
    let rows = table_under("x  uniform");
    assert_eq!(rows.len(), 3);
    for row in rows {
        let [seed, uniform, first_bag, second_bag, balanced, nes] = row[..] else {
            panic!("a row is a seed, twenty pieces, two bags, and twice twenty pieces, not {row:?}");
        };
        let seed: u64 = seed.parse().unwrap();
        assert_eq!(deal(Randomizer::Uniform, seed, 20), uniform, "seed {seed}");
        assert_eq!(deal(Randomizer::Bag7, seed, 14), format!("{first_bag}{second_bag}"), "seed {seed}");
        assert_eq!(deal(Randomizer::Balanced, seed, 20), balanced, "seed {seed}");
        assert_eq!(deal(Randomizer::Nes, seed, 20), nes, "seed {seed}");
        assert_eq!(deal(Randomizer::Nes, seed, 5_000), deal_nes(seed, 5_000), "seed {seed}");
        // At length: the file's formula, which counts from the beginning.
        assert_eq!(deal(Randomizer::Balanced, seed, 5_000), deal_balanced(seed, 5_000), "seed {seed}");
    }
}

#[test]
fn the_episodes_of_the_example_session_are_as_written() {
    let environment = word(42, Tag::Environment, 0);
    let second = episode_seed(environment, 1);
    for said in [
        environment.to_string(),
        deal(Randomizer::Uniform, environment, 10),
        second.to_string(),
        deal(Randomizer::Uniform, second, 10),
    ] {
        assert!(RULES_PROTO.contains(&said), "rules.proto does not say {said}");
    }
}

#[test]
fn the_orientations_are_as_drawn() {
    for (heading, orientations) in [
        ("The drawings of the research literature", OrientationTable::Literature),
        ("As created, turned right", OrientationTable::Lab),
        ("Lying, T pointing down, then", OrientationTable::Survey),
        ("Lying, T, J and L pointing down", OrientationTable::Leiden),
    ] {
        // The sentence, an empty line, the drawings.
        let start = RULES_PROTO.find(heading).expect(heading);
        let drawings: Vec<&str> = RULES_PROTO[start..]
            .lines()
            .skip(2)
            .take(7)
            .map(|line| line.trim_start_matches([' ', '/']))
            .collect();
        let rules = Rules { orientations, ..Rules::default() };
        for (tetromino, line) in Tetromino::ALL.into_iter().zip(drawings) {
            let mut words = line.split_whitespace();
            assert_eq!(words.next(), Some(tetromino.to_string().as_str()), "{orientations:?}");
            let drawn: Vec<String> = words.map(|word| word.replace('@', "#")).collect();
            let shapes: Vec<String> = rules.shapes(tetromino).iter().map(drawing).collect();
            assert_eq!(drawn, shapes, "{orientations:?} {tetromino}");
        }
    }
}

#[test]
fn the_choices_have_the_numbers_and_names_of_their_enums() {
    #[track_caller]
    fn check<C: NamedChoice + Default + std::fmt::Debug>(
        name_in_proto: impl Fn(i32) -> Option<&'static str>,
    ) {
        let prefix = C::FIELD.to_uppercase();
        assert_eq!(name_in_proto(0), Some(format!("{prefix}_UNSPECIFIED").as_str()));
        for number in 1..=u8::MAX {
            let ours =
                C::from_number(number).map(|value| format!("{prefix}_{}", value.name().to_uppercase()));
            assert_eq!(ours.as_deref(), name_in_proto(number.into()), "{}, {number}", C::FIELD);
        }
        assert_eq!(C::from_number(0), None);
        assert_eq!(C::default().number(), 1);
        for value in C::ALL {
            assert_eq!(C::from_name(&value.name().to_uppercase()), Some(*value));
            assert!(value.meaning().ends_with('.'), "{value:?} has no sentence");
        }
    }
    check::<Randomizer>(|number| Some(pb::Randomizer::try_from(number).ok()?.as_str_name()));
    check::<ActionModel>(|number| Some(pb::ActionModel::try_from(number).ok()?.as_str_name()));
    check::<TopOut>(|number| Some(pb::TopOut::try_from(number).ok()?.as_str_name()));
    check::<OrientationTable>(|number| Some(pb::OrientationTable::try_from(number).ok()?.as_str_name()));
    check::<Reach>(|number| Some(pb::Reach::try_from(number).ok()?.as_str_name()));
    check::<TerminalValue>(|number| Some(pb::TerminalValue::try_from(number).ok()?.as_str_name()));
    check::<Terms>(|number| {
        pb::ExpectationTerms::try_from(number).ok()?.as_str_name().strip_prefix("EXPECTATION_")
    });
}

#[test]
fn the_ends_of_episodes_have_the_numbers_and_names_of_their_enum() {
    for end in (0..=u8::MAX).filter_map(EpisodeEnd::with_number) {
        let in_proto = pb::EpisodeEnd::try_from(i32::from(EpisodeEnd::number(end))).unwrap().as_str_name();
        assert_eq!(format!("EPISODE_END_{}", EpisodeEnd::name(end).to_uppercase()), in_proto);
    }
}

/// Everything in a file that should have a comment, as descriptor paths, whose numbers
/// `google/protobuf/descriptor.proto` defines.
fn documentable(file: &FileDescriptorProto) -> BTreeSet<Vec<i32>> {
    fn of_enum(path: &[i32], declared: &EnumDescriptorProto, all: &mut BTreeSet<Vec<i32>>) {
        all.insert(path.to_vec());
        all.extend((0..declared.value.len() as i32).map(|i| [path, &[2, i]].concat()));
    }
    fn of_message(path: &[i32], declared: &DescriptorProto, all: &mut BTreeSet<Vec<i32>>) {
        all.insert(path.to_vec());
        all.extend((0..declared.field.len() as i32).map(|i| [path, &[2, i]].concat()));
        for (i, nested) in declared.nested_type.iter().enumerate() {
            of_message(&[path, &[3, i as i32]].concat(), nested, all);
        }
    }
    let mut all = BTreeSet::new();
    for (i, message) in file.message_type.iter().enumerate() {
        of_message(&[4, i as i32], message, &mut all);
    }
    for (i, declared) in file.enum_type.iter().enumerate() {
        of_enum(&[5, i as i32], declared, &mut all);
    }
    for (i, service) in file.service.iter().enumerate() {
        all.insert(vec![6, i as i32]);
        all.extend((0..service.method.len() as i32).map(|method| vec![6, i as i32, 2, method]));
    }
    all
}

#[test]
fn everything_in_the_contract_has_a_comment_and_reflection_carries_it() {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let ours: Vec<_> = set.file.iter().filter(|file| file.package() == "tetrion.v1").collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto/tetrion/v1");
    assert_eq!(ours.len(), std::fs::read_dir(folder).unwrap().count(), "each file of the folder is compiled");
    for file in ours {
        let locations = &file.source_code_info.as_ref().expect("comments are kept").location;
        let commented: BTreeSet<Vec<i32>> = locations
            .iter()
            .filter(|location| !location.leading_comments().trim().is_empty())
            .map(|location| location.path.clone())
            .collect();
        let silent: Vec<_> = documentable(file).difference(&commented).cloned().collect();
        assert!(silent.is_empty(), "{}: no comment at the paths {silent:?}", file.name());
        let head = locations.iter().find(|location| location.path == [12]).expect("a syntax line");
        assert!(head.leading_comments().len() > 500, "{}: the head explains the file", file.name());
    }
}

/// Once clients have stubs, another value of one of these breaks all of them.
#[test]
fn the_names_that_generators_use_stay() {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    for file in &set.file {
        let (java, go, csharp, ruby, php, objc) = match file.package() {
            "tetrion.v1" => (
                "dev.tetrion.v1",
                "tetrion.dev/proto/tetrion/v1;tetrionv1",
                "Tetrion.V1",
                "Tetrion::V1",
                "Tetrion\\V1",
                "TTN",
            ),
            // Files of other projects have names of their own.
            package => {
                assert!(["google.rpc", "google.protobuf"].contains(&package), "{package}");
                assert!(file.options.as_ref().is_some_and(|options| !options.go_package().is_empty()));
                continue;
            }
        };
        let options = file.options.as_ref().unwrap_or_else(|| panic!("{} has no options", file.name()));
        let reported = (
            options.java_package(),
            options.go_package(),
            options.csharp_namespace(),
            options.ruby_package(),
            options.php_namespace(),
            options.objc_class_prefix(),
        );
        assert_eq!(reported, (java, go, csharp, ruby, php, objc), "{}", file.name());
        assert_eq!(options.php_metadata_namespace(), format!("{php}\\GPBMetadata"), "{}", file.name());
        assert!(options.java_multiple_files(), "{}", file.name());
        // `rules.proto`: `RulesProto`, which no message is called.
        let stem = file.name().rsplit('/').next().unwrap().trim_end_matches(".proto");
        let words = stem.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
        assert_eq!(options.java_outer_classname(), words.collect::<String>() + "Proto");
    }
}

/// The names of the files below a folder, with `/` between their parts.
fn files_below(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.extend(files_below(&entry.path()).into_iter().map(|below| format!("{name}/{below}")));
        } else {
            names.insert(name);
        }
    }
    names
}

/// The build script reads nothing but this folder; and every file in it serves a service.
#[test]
fn the_folder_holds_the_files_that_a_generator_needs_and_no_others() {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let needed: BTreeSet<String> = set.file.iter().map(|file| file.name().to_owned()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    assert_eq!(files_below(&folder), needed);
}

/// The page on stubs names every file that stubs are made from, and no other.
#[test]
fn the_page_on_stubs_names_the_files() {
    let page = include_str!("../../../../docs/languages.md");
    let (_, list) = page.split_once("```text\nproto/\n").expect("the list of files");
    let (list, _) = list.split_once("```").unwrap();
    let named: BTreeSet<String> =
        list.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto");
    assert_eq!(named, files_below(&folder));
}

/// Every field has a line in the list of the protocol and in the types of the TypeScript client.
#[test]
fn every_field_is_described_where_clients_read() {
    let protocol = include_str!("../../../../proto/tetrion/v1/environment_service.proto");
    let typescript = include_str!("../../../../clients/typescript/src/session.ts");
    let has_line = |text: &str, start: &[&str]| {
        text.lines().any(|line| {
            line.split_whitespace()
                .map(|word| word.trim_matches(','))
                .take(start.len())
                .eq(start.iter().copied())
        })
    };
    for info in &FIELDS {
        if info.role != Role::Mask {
            let dtype = format!("{:?}", info.dtype).to_lowercase();
            assert!(has_line(protocol, &["//", info.name, &dtype]), "{}", info.name);
            assert!(has_line(typescript, &["readonly", &format!("{}?:", info.name)]), "{}", info.name);
        }
    }
}
