//! Bytes as states, or the reason why they are none. The layout stands at the head of [`super`].
//!
//! Every field is checked by itself, and then against those before it: a piece must be able to lie, fall or be dealt where
//! the bytes say it does.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::engine::randomizer::{DealerSource, DealerState};
use crate::engine::rules::MAX_PREVIEW;
use crate::engine::steered::{MAX_HEIGHT_ABOVE, MAX_LIFTS, can_rest};
use crate::engine::{
    ActionModel, Arrival, Chain, Dealer, FallingPiece, Garbage, Hand, Incoming, Landed, NamedChoice, Piece,
    PieceSet, Placement, Playfield, RULES_VERSION, Resting, Rules, Scoring, Spin, SteeredPiece, Tetromino,
    Timing, is_blocked, lock, place, settle,
};
use crate::env::columns::{
    EpisodeIndex, EpisodeStatistics, InvalidActions, LastLanding, MAX_COUNT, Rest, Visible,
};
use crate::env::state::EnvState;

use super::sequences::SharedSequences;
use super::{
    GARBAGE_FORMAT, MAGIC, MODERN_FORMAT, NO_PIECE, NO_ROW, PIECES_FORMAT, PLAIN_FORMAT, STEERED_FORMAT,
};

/// Why bytes are not a state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Not a snapshot, or one that was damaged or made up.
    #[error("the snapshot is damaged: {0}")]
    Corrupt(&'static str),
    /// A layout of bytes that this program does not know.
    #[error("the snapshot has format {0}, expected {PLAIN_FORMAT}..={PIECES_FORMAT}")]
    UnknownFormat(u16),
    /// Taken where equal actions could give another game.
    #[error("the snapshot has rules version {found:?}, expected {RULES_VERSION:?}")]
    OtherRulesVersion {
        /// The version it names.
        found: String,
    },
}

use SnapshotError::Corrupt;

impl EnvState {
    /// The state of a snapshot.
    ///
    /// # Errors
    /// [`SnapshotError`] for anything but a snapshot that this program, or another of the same rules version, could have
    /// made. What passes can be played without harm.
    pub fn from_bytes(bytes: &[u8]) -> Result<EnvState, SnapshotError> {
        EnvState::decode(bytes, &SharedSequences::default())
    }

    /// The state of a snapshot whose explicit sequence is one of `shared`.
    ///
    /// # Errors
    /// As [`EnvState::from_bytes`].
    pub fn from_bytes_sharing(bytes: &[u8], shared: &SharedSequences) -> Result<EnvState, SnapshotError> {
        EnvState::decode(bytes, shared)
    }

    fn decode(bytes: &[u8], shared: &SharedSequences) -> Result<EnvState, SnapshotError> {
        let Some((content, checksum)) = bytes.split_last_chunk() else {
            return Err(Corrupt("it is too short"));
        };
        let Some(bytes) = content.strip_prefix(&MAGIC) else {
            return Err(Corrupt("it does not begin as one"));
        };
        if xxh3_64(content) != u64::from_le_bytes(*checksum) {
            return Err(Corrupt("its checksum is wrong"));
        }
        let mut reader = Reader { bytes, shared };
        let format = u16::from_le_bytes(reader.array()?);
        if !matches!(format, PLAIN_FORMAT..=PIECES_FORMAT) {
            return Err(SnapshotError::UnknownFormat(format));
        }
        let length = reader.byte()?.into();
        let version = reader.take(length)?;
        if version != RULES_VERSION.as_bytes() {
            let found = String::from_utf8_lossy(version).into_owned();
            return Err(SnapshotError::OtherRulesVersion { found });
        }
        let state = reader.state(format)?;
        if !reader.bytes.is_empty() {
            return Err(Corrupt("it is too long"));
        }
        Ok(state)
    }
}

/// What is left to read.
struct Reader<'a> {
    bytes: &'a [u8],
    shared: &'a SharedSequences,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], SnapshotError> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(Corrupt("it is too short"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const L: usize>(&mut self) -> Result<[u8; L], SnapshotError> {
        Ok(self.take(L)?.try_into().expect("as long as was taken"))
    }

    fn byte(&mut self) -> Result<u8, SnapshotError> {
        Ok(self.array::<1>()?[0])
    }

    fn flag(&mut self) -> Result<bool, SnapshotError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Corrupt("a flag is neither 0 nor 1")),
        }
    }

    fn u64(&mut self) -> Result<u64, SnapshotError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn u16(&mut self) -> Result<u16, SnapshotError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn count(&mut self) -> Result<u64, SnapshotError> {
        let count = self.u64()?;
        if count <= MAX_COUNT { Ok(count) } else { Err(Corrupt("a counter is beyond reach")) }
    }

    fn f64(&mut self) -> Result<f64, SnapshotError> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    fn choice<C: NamedChoice>(&mut self) -> Result<C, SnapshotError> {
        let number = self.byte()?.checked_add(1);
        number.and_then(C::from_number).ok_or(Corrupt("its rules name something unknown"))
    }

    fn state(&mut self, format: u16) -> Result<EnvState, SnapshotError> {
        let rules = self.rules(format)?;
        let ended = self.flag()?;
        let (playfield, last_landing, just_risen) = self.playfields(&rules, format)?;
        let visible = self.visible(&rules)?;
        let held = if rules.hold { self.held(&rules)? } else { None };
        let chain = if rules.keeps_chain() { self.chain()? } else { Default::default() };
        let falling = self.falling(&rules, &playfield, &visible, ended)?;
        let steered = self.steered(&rules, &playfield, &visible, held, ended)?;
        let incoming = self.incoming(&rules, just_risen)?;
        let episode = EpisodeIndex { env_seed: self.u64()?, index: self.u64()? };
        let statistics = self.statistics()?;
        let invalid_actions = match format {
            PLAIN_FORMAT => InvalidActions::default(),
            MODERN_FORMAT.. => self.any_invalid_actions(&statistics)?,
            _ => self.invalid_actions(&statistics)?,
        };
        let dealer = self.dealer(&rules)?;
        if !ended {
            let piece = visible.current().ok_or(Corrupt("there is no piece to go on with"))?;
            if is_blocked(&rules, &playfield, piece) {
                return Err(Corrupt("the game goes on, but its piece cannot come into play"));
            }
        }
        if visible.pieces().count() <= rules.preview.into() && dealer.clone().deal().is_some() {
            return Err(Corrupt("a piece is missing that could have been dealt"));
        }
        Ok(EnvState {
            rules,
            playfield,
            last_landing,
            visible,
            falling,
            steered,
            held,
            chain,
            incoming,
            dealer,
            ended,
            episode,
            statistics,
            invalid_actions,
        })
    }

    fn rules(&mut self, format: u16) -> Result<Rules, SnapshotError> {
        let [width, height] = self.array()?;
        let mut rules = Rules {
            width,
            height,
            randomizer: self.choice()?,
            action_model: self.choice()?,
            top_out: self.choice()?,
            orientations: self.choice()?,
            reach: self.choice()?,
            preview: self.byte()?,
            scoring: Scoring {
                piece: self.f64()?,
                lines: [self.f64()?, self.f64()?, self.f64()?, self.f64()?],
                game_end: self.f64()?,
            },
            ..Rules::default()
        };
        if format >= MODERN_FORMAT {
            rules = Rules {
                rows_above: self.byte()?,
                rotation: self.choice()?,
                half_turns: self.choice()?,
                spins: self.choice()?,
                hold: self.flag()?,
                clear_points: self.choice()?,
                attack: self.choice()?,
                ..rules
            };
        }
        if format == PIECES_FORMAT {
            rules.pieces = self.pieces()?;
        }
        if format == STEERED_FORMAT || format >= GARBAGE_FORMAT && rules.steers() {
            let [gravity, lock_delay, lock_resets] = self.array()?;
            rules.timing = Some(Timing { gravity, lock_delay, lock_resets });
        }
        if format >= GARBAGE_FORMAT {
            rules.spawn_row = Some(self.byte()?).filter(|&row| row != NO_ROW);
            if self.flag()? {
                let (lines_per_piece, hole_moves) = (self.f64()?, self.f64()?);
                rules.garbage = Some(Garbage { lines_per_piece, hole_moves, delay: self.byte()? });
            }
        }
        rules.check().map_err(|_| Corrupt("its rules cannot be played"))?;
        Ok(rules)
    }

    /// A set of other pieces than the tetrominoes, in the one way in which it is written.
    fn pieces(&mut self) -> Result<PieceSet, SnapshotError> {
        let length = self.u16()?.into();
        let text = std::str::from_utf8(self.take(length)?).ok();
        let pieces = text.and_then(|text| PieceSet::parse(text).ok().filter(|set| set.to_string() == text));
        pieces.filter(|set| !set.is_tetrominoes()).ok_or(Corrupt("its pieces are none"))
    }

    /// The present playfield, the landing that led to it, and what rose then: how many rows, and the column of the last hole.
    #[allow(clippy::type_complexity)] // said once
    fn playfields(
        &mut self,
        rules: &Rules,
        format: u16,
    ) -> Result<(Playfield, Option<LastLanding<u64, 32>>, Option<(u8, u8)>), SnapshotError> {
        let has_landed = self.flag()?;
        let playfield = self.playfield(rules)?;
        if !has_landed {
            return Ok((playfield, None, None));
        }
        let piece = self.piece(rules)?;
        let (mut afterstate, nowhere) = (playfield, Corrupt("a piece landed where it cannot"));
        let (rest, landed) = match rules.action_model {
            ActionModel::Placement => {
                let action = if format >= MODERN_FORMAT { self.u16()? } else { self.byte()?.into() };
                if u32::from(action) >= rules.num_placements() {
                    return Err(nowhere);
                }
                let placement = Placement::from_action(action.into(), rules);
                if rules.names_spots() {
                    Hand::only(piece).can_place(rules, &playfield, placement).ok_or(nowhere)?;
                } else {
                    // A walk may have been blocked by rows that have gone since.
                    placement.shape(rules, piece).ok_or(nowhere)?;
                }
                let landed = place(rules, &mut afterstate, piece, placement);
                (Rest::Placed { piece, action }, landed)
            }
            ActionModel::Keypress if rules.steers() => {
                let [orientation, column, row, spin] = self.array()?;
                let Some(&spin) = Spin::ALL.get(usize::from(spin)) else { return Err(nowhere) };
                let resting = Resting { orientation, column, row, spin };
                if !can_rest(rules, &playfield, piece, resting) {
                    return Err(nowhere);
                }
                let landed = lock(rules, &mut afterstate, resting.shape(piece), row, column);
                (Rest::Steered { piece, resting }, landed)
            }
            ActionModel::Keypress => {
                let fallen = self.pose(piece)?;
                if !fallen.is_free(&playfield) || !fallen.rests_on(&playfield) {
                    return Err(nowhere);
                }
                let landed = settle(rules, &mut afterstate, fallen);
                (Rest::Fallen(fallen), landed)
            }
        };
        let risen = if rules.garbage.is_some() { self.risen(rules, &mut afterstate, landed)? } else { None };
        Ok((afterstate, Some(LastLanding { before: playfield, rest }), risen))
    }

    /// Lets the rows rise that rose after a landing, into the playfield that it led to.
    fn risen(
        &mut self,
        rules: &Rules,
        playfield: &mut Playfield,
        landed: Landed,
    ) -> Result<Option<(u8, u8)>, SnapshotError> {
        let count = self.byte()?;
        if count > rules.height {
            return Err(Corrupt("more rows rose than there are"));
        }
        if count > 0 && (landed.lines > 0 || landed.terminal) {
            return Err(Corrupt("rows rose that a landing held back"));
        }
        let holes = self.take(count.into())?;
        for &hole in holes {
            if hole >= rules.width {
                return Err(Corrupt("a row that rose has no hole"));
            }
            playfield.raise(hole);
        }
        Ok(holes.last().map(|&hole| (count, hole)))
    }

    fn incoming(&mut self, rules: &Rules, risen: Option<(u8, u8)>) -> Result<Incoming, SnapshotError> {
        let Some(Garbage { delay, .. }) = rules.garbage else { return Ok(Incoming::default()) };
        let mut incoming = Incoming::default();
        incoming.lines[..=usize::from(delay)].copy_from_slice(self.take(usize::from(delay) + 1)?);
        (incoming.risen, incoming.hole) = (self.count()?, self.byte()?);
        if incoming.waiting() > rules.height.into() {
            return Err(Corrupt("more garbage waits than there are rows"));
        }
        if incoming.hole >= rules.width || incoming.risen == 0 && incoming.hole > 0 {
            return Err(Corrupt("the last row that rose has no hole"));
        }
        if let Some((count, hole)) = risen {
            if incoming.risen < count.into() || incoming.hole != hole {
                return Err(Corrupt("the rows that rose are not those of the episode"));
            }
            incoming.just_risen = count;
        }
        Ok(incoming)
    }

    /// The current piece on its way down: on it, or where it has just appeared.
    fn falling(
        &mut self,
        rules: &Rules,
        playfield: &Playfield,
        visible: &Visible,
        ended: bool,
    ) -> Result<Option<FallingPiece>, SnapshotError> {
        let (ActionModel::Keypress, Some(piece)) = (rules.action_model, visible.current()) else {
            return Ok(None);
        };
        if rules.steers() {
            return Ok(None);
        }
        let falling = self.pose(piece)?;
        let has_appeared = falling == FallingPiece::spawn(piece, rules.width, rules.height);
        let falls = falling.is_free(playfield) && !falling.rests_on(playfield);
        // Whether one that has just appeared may overlap the playfield is a question of whether the game goes on.
        if falls || has_appeared && (ended || falling.is_free(playfield)) {
            Ok(Some(falling))
        } else {
            Err(Corrupt("the falling piece is where it cannot be"))
        }
    }

    /// The current piece where keys steer it: on its way, or where it has just appeared.
    fn steered(
        &mut self,
        rules: &Rules,
        playfield: &Playfield,
        visible: &Visible,
        held: Option<Tetromino>,
        ended: bool,
    ) -> Result<Option<SteeredPiece>, SnapshotError> {
        let (Some(timing), Some(tetromino)) = (rules.timing, visible.current()) else { return Ok(None) };
        let [turns, column, row, arrival] = self.array()?;
        let arrival = *Arrival::ALL.get(usize::from(arrival)).ok_or(Corrupt("a piece came from nowhere"))?;
        let is_swapped = self.flag()?;
        let [steps_in_air, steps_on_ground, lock_resets, lifts, lowest_row] = self.array()?;
        let piece = SteeredPiece {
            tetromino,
            turns,
            column,
            row,
            arrival,
            is_swapped,
            steps_in_air,
            steps_on_ground,
            lock_resets,
            lifts,
            lowest_row,
        };
        let is_turned = turns <= if tetromino == Tetromino::O { 0 } else { 3 };
        if !is_turned || !arrival.is_of(rules.spins, tetromino) || is_swapped && held.is_none() {
            return Err(Corrupt("the falling piece is as it cannot be"));
        }
        if ended && piece == SteeredPiece::spawn(rules, playfield, tetromino) {
            return Ok(Some(piece));
        }
        let highest = rules.height + MAX_HEIGHT_ABOVE;
        if row > highest || !piece.is_free(rules, playfield) {
            return Err(Corrupt("the falling piece is where it cannot be"));
        }
        let low = piece.cells()[0].0;
        let Timing { gravity, lock_delay, lock_resets: most } = timing;
        let has_time = steps_in_air < gravity && steps_on_ground < lock_delay;
        if !has_time || lock_resets > most || lifts > MAX_LIFTS || lowest_row > low {
            return Err(Corrupt("the falling piece has been in play for too long"));
        }
        Ok(Some(piece))
    }

    fn pose(&mut self, tetromino: Tetromino) -> Result<FallingPiece, SnapshotError> {
        let [turns, column, row] = self.array()?;
        if turns > 3 {
            return Err(Corrupt("a piece is turned by more than three quarters"));
        }
        Ok(FallingPiece { tetromino, turns, column, row })
    }

    fn playfield(&mut self, rules: &Rules) -> Result<Playfield, SnapshotError> {
        let mut columns = [0; 32];
        for column in &mut columns[..rules.width.into()] {
            *column = self.u64()?;
            if *column >> rules.height != 0 {
                return Err(Corrupt("a cell lies above the playfield"));
            }
        }
        Ok(Playfield::from_columns(rules.width, rules.height, &columns))
    }

    fn piece(&mut self, rules: &Rules) -> Result<Piece, SnapshotError> {
        rules.pieces.piece(self.byte()?).ok_or(Corrupt("there is no such piece"))
    }

    fn visible(&mut self, rules: &Rules) -> Result<Visible, SnapshotError> {
        let mut pieces = [None; MAX_PREVIEW as usize + 1];
        let mut past_end = false;
        for slot in &mut pieces[..=usize::from(rules.preview)] {
            match self.byte()? {
                NO_PIECE => past_end = true,
                _ if past_end => return Err(Corrupt("there are pieces past the end of a sequence")),
                number => *slot = Some(rules.pieces.piece(number).ok_or(Corrupt("there is no such piece"))?),
            }
        }
        Ok(Visible(pieces))
    }

    fn held(&mut self, rules: &Rules) -> Result<Option<Piece>, SnapshotError> {
        match self.byte()? {
            NO_PIECE => Ok(None),
            number => rules.pieces.piece(number).map(Some).ok_or(Corrupt("there is no such piece")),
        }
    }

    fn chain(&mut self) -> Result<(Chain, u64), SnapshotError> {
        let chain = Chain { clears: self.u16()?, back_to_back: self.flag()? };
        Ok((chain, self.count()?))
    }

    fn statistics(&mut self) -> Result<EpisodeStatistics, SnapshotError> {
        let [lines, pieces, length] = [self.count()?, self.count()?, self.count()?];
        let episode_return = self.f64()?;
        if !episode_return.is_finite() {
            return Err(Corrupt("its return is not a number"));
        }
        Ok(EpisodeStatistics { lines, pieces, length, episode_return })
    }

    /// The same where there may have been none.
    fn any_invalid_actions(
        &mut self,
        statistics: &EpisodeStatistics,
    ) -> Result<InvalidActions, SnapshotError> {
        if self.bytes.starts_with(&[0; 16]) {
            self.take(16)?;
            return Ok(InvalidActions::default());
        }
        self.invalid_actions(statistics)
    }

    fn invalid_actions(&mut self, statistics: &EpisodeStatistics) -> Result<InvalidActions, SnapshotError> {
        let [count, last_step] = [self.u64()?, self.u64()?];
        if 0 < count && count <= last_step && last_step <= statistics.length {
            Ok(InvalidActions { count, last_step })
        } else {
            Err(Corrupt("its actions that did not exist do not fit its steps"))
        }
    }

    fn dealer(&mut self, rules: &Rules) -> Result<Dealer, SnapshotError> {
        let dealt = self.u64()?;
        let source = match self.byte()? {
            0 if !rules.pieces.is_tetrominoes() => self.other_seed(rules)?,
            0 => self.seed(rules)?,
            1 => self.sequence(rules, dealt)?,
            2 => self.shared_sequence(rules, dealt)?,
            _ => return Err(Corrupt("its pieces come from nowhere")),
        };
        Ok(Dealer::from_state(rules.randomizer, DealerState { dealt, source }))
    }

    fn other_seed(&mut self, rules: &Rules) -> Result<DealerSource, SnapshotError> {
        let seed = self.u64()?;
        let bag: Vec<Piece> = rules.pieces.iter().map(|_| self.piece(rules)).collect::<Result<_, _>>()?;
        if !rules.pieces.iter().all(|piece| bag.contains(&piece)) {
            return Err(Corrupt("a bag does not hold all pieces"));
        }
        Ok(DealerSource::OtherSeed { seed, bag })
    }

    fn seed(&mut self, rules: &Rules) -> Result<DealerSource, SnapshotError> {
        let seed = self.u64()?;
        let mut bag = Tetromino::ALL;
        for piece in &mut bag {
            *piece = self.piece(rules)?;
        }
        if !Tetromino::ALL.iter().all(|piece| bag.contains(piece)) {
            return Err(Corrupt("a bag does not hold all seven"));
        }
        let mut behind = [0; 7];
        for behind in &mut behind {
            *behind = u16::from_le_bytes(self.array()?);
        }
        if !behind.contains(&0) {
            return Err(Corrupt("no piece came most often"));
        }
        Ok(DealerSource::Seed { seed, bag, behind })
    }

    fn shared_sequence(&mut self, rules: &Rules, dealt: u64) -> Result<DealerSource, SnapshotError> {
        let number = u32::from_le_bytes(self.array()?);
        match self.shared.get(number) {
            Some(pieces) if pieces.iter().any(|piece| piece.index() >= rules.pieces.len()) => {
                Err(Corrupt("there is no such piece"))
            }
            Some(pieces) if dealt <= pieces.len() as u64 => Ok(DealerSource::Sequence(pieces.clone())),
            Some(_) => Err(Corrupt("more was dealt than there is")),
            None => Err(Corrupt("its sequence is kept elsewhere")),
        }
    }

    fn sequence(&mut self, rules: &Rules, dealt: u64) -> Result<DealerSource, SnapshotError> {
        let length = u32::from_le_bytes(self.array()?);
        if length == 0 || dealt > length.into() {
            return Err(Corrupt("more was dealt than there is"));
        }
        // Checks that the bytes are there before it takes memory for them.
        let mut rest = Reader { bytes: self.take(length as usize)?, shared: self.shared };
        let pieces: Result<Arc<[Piece]>, _> = (0..length).map(|_| rest.piece(rules)).collect();
        Ok(DealerSource::Sequence(pieces?))
    }
}
