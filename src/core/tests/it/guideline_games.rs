//! Games that another engine played under the rules of modern Tetris are replayed, placement for placement.

use std::collections::BTreeMap;

use tetrion_core::engine::{
    Dealer, EpisodeEnd, Game, Hand, Placement, Rules, Spin, Tetromino, is_blocked, parse_sequence,
};

const GAMES: &str = include_str!("../data/guideline_games.txt");

/// A move as the other engine writes it: the orientation, column and row of the centre, and the spin.
type Move = (u8, u8, u8, Spin);

fn moved(rules: &Rules, piece: Tetromino, placement: Placement) -> Move {
    let shape = placement.shape(rules, piece).unwrap();
    let spot = placement.spot.expect("pieces turn on their way");
    (placement.orientation, placement.column + shape.anchor_column, spot.row + shape.anchor_row, spot.spin)
}

/// The sum at the head of the file.
fn sum(moves: &[Move]) -> u32 {
    let hash = |(orientation, column, row, spin): &Move| {
        [*orientation, *column, *row, *spin as u8]
            .into_iter()
            .fold(2_166_136_261u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619))
    };
    moves.iter().map(hash).fold(0, u32::wrapping_add)
}

/// Whether the current piece is held, the piece that is placed, and the move.
fn parsed(text: &str) -> (bool, char, Move) {
    let (hold, text) = text.strip_prefix("hold").map_or((false, text), |rest| (true, rest));
    let (column, row) = text[2..text.len() - 1].split_once(',').unwrap();
    let orientation = "NESW".find(&text[1..2]).unwrap() as u8;
    let spin = Spin::ALL["-mf".find(&text[text.len() - 1..]).unwrap()];
    let piece = text.chars().next().unwrap();
    (hold, piece, (orientation, column.parse().unwrap(), row.parse().unwrap(), spin))
}

/// What of the rules the games have come to.
#[derive(Debug, Default)]
struct Seen {
    placements: u32,
    ends: BTreeMap<String, u32>,
    holds: u32,
    blocked_in_hold: u32,
    /// Placements that there were to choose from, by spin.
    spins: [u32; 3],
    /// Placements of a stack that makes pieces appear among its cells or just above them.
    high: u32,
    /// Where a cell of the piece has a full cell above it.
    under: u32,
}

#[test]
fn games_of_cobra_movegen_are_replayed_placement_for_placement() {
    let rules = Rules::preset("guideline").unwrap();
    let mut seen = Seen::default();
    let mut lines = GAMES.lines().filter(|line| !line.starts_with('#'));
    let mut num_games = 0;
    while let Some(head) = lines.next() {
        let mut words = head.split(' ').skip(1);
        let number = words.next().unwrap();
        let pieces = parse_sequence(words.next().unwrap()).unwrap();
        let mut dealer = Dealer::sequence(pieces.into());
        let mut game: Game<u64, 32> = Game::new(&rules);
        let mut held = None;
        num_games += 1;
        loop {
            let line = lines.next().unwrap();
            let at = format!("game {number}, placement {}: {line}\n{}", game.pieces, game.playfield);
            if let Some(end) = line.strip_prefix("end ") {
                *seen.ends.entry(end.to_owned()).or_default() += 1;
                match end {
                    "cut" => assert!(game.end.is_none() && game.pieces == 100, "{at}"),
                    "locked_out" => assert_eq!(game.end, Some(EpisodeEnd::ToppedOut), "{at}"),
                    _ => {
                        assert_eq!((game.end, end), (None, "blocked"), "{at}");
                        assert_eq!(game.deal(&rules, &mut dealer), None, "{at}");
                        assert_eq!(game.end, Some(EpisodeEnd::ToppedOut), "{at}");
                    }
                }
                break;
            }
            assert_eq!(game.end, None, "{at}");
            let current = game.deal(&rules, &mut dealer).unwrap_or_else(|| panic!("blocked: {at}"));
            let next = dealer.clone().deal();
            let hand = Hand::new(&rules, current, held, next);
            let all = hand.placements(&rules, &game.playfield);
            let word: Vec<&str> = line.split(' ').collect();
            for (hold, count, expected) in [(false, word[0], word[1]), (true, word[2], word[3])] {
                let moves = all.iter().filter(|(_, placement)| placement.hold == hold);
                let moves: Vec<Move> = moves.map(|(piece, place)| moved(&rules, *piece, *place)).collect();
                if count == "-" {
                    assert!(moves.is_empty() && hand.other.is_none(), "{at}");
                } else {
                    assert_eq!(moves.len().to_string(), count, "hold {hold}, {at}\n{moves:?}");
                    assert_eq!(format!("{:08x}", sum(&moves)), expected, "hold {hold}, {at}\n{moves:?}");
                }
            }
            let (hold, letter, wanted) = parsed(word[4]);
            let is_wanted = |(piece, placement): &&(Tetromino, Placement)| {
                placement.hold == hold && moved(&rules, *piece, *placement) == wanted
            };
            let (piece, placement) = *all.iter().find(is_wanted).unwrap_or_else(|| panic!("{at}"));
            assert_eq!(piece.letter(), letter, "{at}");
            seen.look(&rules, &game, &hand, piece, placement);
            if hold && held.replace(current).is_none() {
                dealer.deal();
            }
            let before = game.lines;
            game.place(&rules, piece, placement);
            assert_eq!((game.lines - before).to_string(), word[5], "{at}");
            let columns: Vec<String> =
                game.playfield.columns().iter().map(|column| format!("{column:x}")).collect();
            assert_eq!(columns.join("."), word[6], "{at}");
        }
    }
    // The games are worth their name only if they come to what is hard.
    assert_eq!((num_games, seen.placements), (24, 1747));
    assert_eq!(seen.ends.keys().collect::<Vec<_>>(), ["blocked", "cut", "locked_out"]);
    let Seen { holds, blocked_in_hold, spins, high, under, .. } = seen;
    assert!(holds > 400 && blocked_in_hold > 0, "{seen:?}");
    assert!(spins[1] > 200 && spins[2] > 10, "{seen:?}");
    assert!(high > 40 && under > 90, "{seen:?}");
}

impl Seen {
    fn look(
        &mut self,
        rules: &Rules,
        game: &Game<u64, 32>,
        hand: &Hand,
        piece: Tetromino,
        placement: Placement,
    ) {
        let playfield = &game.playfield;
        self.placements += 1;
        self.holds += u32::from(placement.hold);
        self.blocked_in_hold +=
            u32::from(hand.other.is_some_and(|other| is_blocked(rules, playfield, other)));
        for (_, placement) in hand.placements(rules, playfield) {
            self.spins[placement.spin() as usize] += 1;
        }
        self.high += u32::from(playfield.occupied_rows() >> 16 != 0);
        let shape = placement.shape(rules, piece).unwrap();
        let row = placement.spot.unwrap().row;
        self.under += u32::from(playfield.landing_row(shape, placement.column) != row);
    }
}
