//! One episode: pieces are dealt, an agent chooses, they land, until the rules end it.
//!
//! There are two ways of playing on. A linear controller in a game of placements plays whole slices inside one kernel: that
//! is where evaluations spend their time. Every other agent plays by [`Turn`]s, a bit at a time: it weighs a placement or
//! presses a key, so that it can stop anywhere.
//!
//! Under rules of key presses an agent that thinks in placements chooses when a piece appears and then presses the keys
//! towards its choice. It may not get there: the piece lands where it ends.

use super::record::{Actions, GameRecord};
use crate::agents::{Agent, AgentRng, Decision, ExpectationAgent, Kernel, Sight, Thought};
use crate::engine::rules::MAX_PREVIEW;
use crate::engine::{
    ActionModel, Column, Dealer, FallingPiece, Game, Incoming, Key, Landed, Piece, Placement, PlayfieldOf,
    Rules, SteeredPiece, TopOut,
};
use crate::features::kernel::{
    Ahead, Chooser, Foresight, LaneBounds, LaneWork, Lanes, Scorer, dispatch, rows_for,
};

/// The work between two looks at the stop flag, in pieces of a linear controller on a kernel: one or a few milliseconds.
pub const SLICE: u64 = 4096;

/// An episode that is being played.
#[derive(Clone, Debug)]
pub struct Episode {
    /// The game as it stands, without the piece that falls.
    pub game: Game<u64, 32>,
    dealer: Dealer,
    rng: AgentRng,
    /// The piece that is held.
    held: Option<Piece>,
    /// The garbage that waits.
    incoming: Incoming,
    /// The piece that has been dealt and has not landed yet, between two slices.
    turn: Option<Turn>,
    /// Steps taken so far: keys pressed where the rules have keys, else pieces.
    pub steps: u64,
    /// What was done so far, if it is to be recorded.
    notes: Option<Notes>,
}

/// What was done in an episode, and the lines of its landings.
#[derive(Clone, Debug)]
struct Notes {
    actions: Actions,
    landing_lines: Vec<u8>,
}

/// Where an episode is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// After this many pieces.
    pub pieces: u64,
    /// After this many steps.
    pub steps: u64,
    /// Between two pieces, when its stack is not as high as this.
    pub lowest_stack: u32,
    /// Between two pieces, when its stack is higher than this.
    pub highest_stack: u32,
}

impl Bounds {
    /// Those of a whole game, whatever its stack is.
    pub const fn of_game(pieces: u64, steps: u64) -> Bounds {
        Bounds { pieces, steps, lowest_stack: 0, highest_stack: u32::MAX }
    }

    fn leave_out(&self, stack: u32) -> bool {
        !(self.lowest_stack..=self.highest_stack).contains(&stack)
    }
}

/// What is going on with a piece that has been dealt.
#[derive(Clone, Debug)]
enum Turn {
    /// Its agent thinks.
    Choosing(Piece, Thought),
    /// It falls, and keys are pressed as its agent decided.
    Falling(FallingPiece, Decision),
    /// The same where keys steer it.
    Steered(SteeredPiece, Decision),
}

impl Episode {
    /// An episode at its beginning: an empty playfield, a dealer, and the random numbers that its agent may draw.
    pub fn new(rules: &Rules, dealer: Dealer, rng: AgentRng) -> Episode {
        Episode {
            game: Game::new(rules),
            dealer,
            rng,
            held: None,
            incoming: Incoming::default(),
            turn: None,
            steps: 0,
            notes: None,
        }
    }

    /// Makes an episode record its actions and landings from here on.
    #[must_use]
    pub fn recorded(self, rules: &Rules) -> Episode {
        let notes = Notes { actions: Actions::new(rules), landing_lines: Vec::new() };
        Episode { notes: Some(notes), ..self }
    }

    /// The game as it stands, with other pieces to come and other random numbers, both from this seed. Nothing of it is
    /// recorded.
    ///
    /// # Panics
    /// In the middle of a piece.
    #[must_use]
    pub fn reseeded(&self, seed: u64) -> Episode {
        assert!(self.turn.is_none(), "the last piece has landed");
        let mut episode = Episode { rng: AgentRng::new(seed), notes: None, ..self.clone() };
        episode.dealer.reseed(seed);
        episode
    }

    /// The height of its stack.
    pub fn stack(&self) -> u32 {
        self.game.playfield.occupied_rows().top()
    }

    /// Takes what was recorded, if anything was.
    pub fn take_record(&mut self, rules: &Rules) -> Option<GameRecord> {
        let Notes { actions, landing_lines } = self.notes.take()?;
        let mut game = self.game;
        if game.end.is_none() && self.turn.is_none() {
            // A game that is cut after a landing may be over all the same.
            game.deal(rules, &mut self.dealer.clone());
        }
        Some(GameRecord { actions, landing_lines, game })
    }

    /// Whether there is nothing left to play.
    pub fn is_over(&self, bounds: Bounds) -> bool {
        self.game.end.is_some()
            || self.game.pieces >= bounds.pieces
            || self.steps >= bounds.steps
            || self.turn.is_none() && bounds.leave_out(self.stack())
    }

    /// Plays on until it is over.
    pub fn play(&mut self, rules: &Rules, agent: &Agent, kernel: Kernel, bounds: Bounds) {
        while !self.is_over(bounds) {
            self.advance(rules, agent, kernel, bounds, SLICE);
        }
    }

    /// Plays on for a slice: about this much work, in pieces of a linear controller on a kernel.
    ///
    /// # Panics
    /// When the agent cannot play by these rules: see [`Agent::plays`].
    pub fn advance(&mut self, rules: &Rules, agent: &Agent, kernel: Kernel, bounds: Bounds, work: u64) {
        let left = bounds.pieces.min(bounds.steps).saturating_sub(self.game.pieces);
        match Fast::of(agent, rules) {
            Some(Fast::Linear(scorer)) => {
                return self.play_slice(rules, scorer, kernel, bounds, left.min(work));
            }
            Some(Fast::Foreseeing(player)) => {
                let pieces = (work / player.agent.work_of_a_piece(rules)).max(1);
                return self.play_slice(rules, player, kernel, bounds, left.min(pieces));
            }
            None => {}
        }
        let cost = agent.cost(rules);
        let mut done = 0;
        while done < work && !self.is_over(bounds) {
            done += match self.turn.take() {
                None => {
                    self.turn = self.deal(rules);
                    1
                }
                Some(Turn::Choosing(piece, thought)) => {
                    self.think(rules, agent, kernel, piece, thought);
                    cost
                }
                Some(Turn::Falling(piece, decision)) => {
                    self.press(rules, piece, decision);
                    1
                }
                Some(Turn::Steered(piece, decision)) => {
                    self.steer(rules, piece, decision);
                    match decision {
                        Decision::Place(_) => WAY,
                        Decision::Press(_) => 1,
                    }
                }
            }
        }
    }

    /// Lets a controller place this many pieces in a game of placements, or as many as its stack stays within the bounds.
    fn play_slice<P: Player>(
        &mut self,
        rules: &Rules,
        player: P,
        kernel: Kernel,
        bounds: Bounds,
        pieces: u64,
    ) {
        let end = self.game.pieces + pieces;
        while self.game.pieces < end && self.game.end.is_none() && !bounds.leave_out(self.stack()) {
            let rows = rows_for(rules.width, rules.height, self.stack() + player.rows_ahead());
            dispatch(kernel, rules.width, rows, Slice { episode: self, rules, player, bounds, end, rows });
        }
        // A step is a piece.
        self.steps = self.game.pieces;
    }

    /// The turn of the next piece, unless there is none or it cannot appear.
    fn deal(&mut self, rules: &Rules) -> Option<Turn> {
        let piece = self.game.deal(rules, &mut self.dealer)?;
        Some(Turn::Choosing(piece, Thought::default()))
    }

    /// The agent thinks, and plays if it has made its choice.
    fn think(&mut self, rules: &Rules, agent: &Agent, kernel: Kernel, piece: Piece, mut thought: Thought) {
        let mut shown = [piece; MAX_PREVIEW as usize];
        let Ahead { shown: next, odds } = ahead(&self.dealer, rules, &mut shown);
        let Game { playfield, lines, .. } = &self.game;
        let sight = Sight { rules, playfield, piece, next, held: self.held, odds, lines: *lines };
        let Some(decision) = agent.think(kernel, &sight, &mut thought, &mut self.rng) else {
            self.turn = Some(Turn::Choosing(piece, thought));
            return;
        };
        match (decision, rules.action_model) {
            (Decision::Place(placement), ActionModel::Placement) => {
                let placed = if placement.hold { self.hold(piece) } else { piece };
                let landed = self.game.place(rules, placed, placement);
                self.rise(rules, landed);
                self.steps += 1;
                self.note(placement.action(rules), Some(landed.0));
            }
            _ if rules.steers() => {
                let piece = SteeredPiece::spawn(rules, playfield, piece);
                self.turn = Some(Turn::Steered(piece, decision));
            }
            _ => {
                let piece = FallingPiece::spawn(piece, rules.width, rules.height);
                self.turn = Some(Turn::Falling(piece, decision));
            }
        }
    }

    /// Holds a piece, and returns the one that is placed in its place: the one that was held, or the next one.
    fn hold(&mut self, piece: Piece) -> Piece {
        let next = || self.dealer.deal().expect("a piece that was shown");
        self.held.replace(piece).unwrap_or_else(next)
    }

    /// What garbage does after a landing.
    fn rise(&mut self, rules: &Rules, landed: (Landed, u32)) {
        let seed = self.dealer.garbage_seed();
        self.game.rise(rules, seed, landed, &mut self.incoming);
    }

    #[inline(always)]
    fn note(&mut self, action: u32, landed: Option<Landed>) {
        if let Some(notes) = &mut self.notes {
            notes.actions.push(action);
            notes.landing_lines.extend(landed.map(|landed| landed.lines));
        }
    }

    /// One key.
    fn press(&mut self, rules: &Rules, piece: FallingPiece, decision: Decision) {
        let key = match decision {
            Decision::Place(target) => piece.key_towards(target, rules.width),
            Decision::Press(agent) => agent.press(rules.keys(), &mut self.rng),
        };
        let fall = piece.step(key, &self.game.playfield);
        self.steps += 1;
        let mut landing = None;
        if fall.rests {
            let landed = self.game.settle(rules, fall.piece);
            self.rise(rules, landed);
            landing = Some(landed.0);
        } else {
            self.turn = Some(Turn::Falling(fall.piece, decision));
        }
        self.note(key as u32, landing);
    }

    /// One key where keys steer pieces.
    fn steer(&mut self, rules: &Rules, piece: SteeredPiece, decision: Decision) {
        let playfield = &self.game.playfield;
        let mut dealer = self.dealer.clone();
        let next = if rules.hold && self.held.is_none() { dealer.deal() } else { None };
        let key = match decision {
            Decision::Place(target) => piece.key_towards(rules, playfield, target),
            Decision::Press(agent) => {
                let keys = rules.keys().iter().copied();
                let keys = keys.filter(|key| piece.has_key(rules, playfield, *key, self.held, next));
                agent.press(&keys.collect::<Vec<_>>(), &mut self.rng)
            }
        };
        self.steps += 1;
        if key == Key::Hold {
            self.note(key as u32, None);
            let playfield = &self.game.playfield;
            let swapped =
                piece.swapped(rules, playfield, self.held, next).expect("a key that can be pressed");
            self.hold(piece.tetromino);
            self.turn = Some(Turn::Steered(swapped, decision));
            return;
        }
        let steered = piece.step(rules, &self.game.playfield, key);
        let landing = match steered.resting {
            Some(resting) => {
                let landed = self.game.rest(rules, piece.tetromino, resting);
                self.rise(rules, landed);
                Some(landed.0)
            }
            None => {
                self.turn = Some(Turn::Steered(steered.piece, decision));
                None
            }
        };
        self.note(key as u32, landing);
    }
}

/// About how long it takes to find the way to a placement, in pieces of a kernel's own loop.
const WAY: u64 = 64;

/// What is known of the pieces after the current one: those that the rules show, in the room given, fewer at the end of a
/// written sequence; and the odds of the one after them.
#[inline]
fn ahead<'a>(dealer: &Dealer, rules: &Rules, room: &'a mut [Piece; MAX_PREVIEW as usize]) -> Ahead<'a> {
    if rules.preview == 0 {
        return Ahead { shown: &[], odds: dealer.odds() };
    }
    let mut dealer = dealer.clone();
    let mut shown = 0;
    while shown < usize::from(rules.preview)
        && let Some(piece) = dealer.deal()
    {
        room[shown] = piece;
        shown += 1;
    }
    Ahead { shown: &room[..shown], odds: dealer.odds() }
}

/// A controller that plays whole slices in a kernel.
enum Fast<'a> {
    Linear(&'a Scorer),
    Foreseeing(Foreseeing<'a>),
}

impl Fast<'_> {
    /// That of an agent, if the kernels know all that it looks at and all that happens. In slices no garbage rises.
    fn of<'a>(agent: &'a Agent, rules: &Rules) -> Option<Fast<'a>> {
        match agent {
            _ if rules.action_model != ActionModel::Placement || rules.garbage.is_some() => None,
            Agent::Linear(agent) => agent.scorer_under(rules).map(Fast::Linear),
            Agent::Expectation(agent) => {
                let foreseeing = |scorer| Fast::Foreseeing(Foreseeing { agent, scorer });
                agent.linear().scorer_under(rules).map(foreseeing)
            }
            _ => None,
        }
    }
}

/// One that plays slices on playfields of any size.
trait Player: Copy {
    /// The rows that the pieces need which it places in thought.
    fn rows_ahead(self) -> u32;
    /// Prepares it for some rules and one size.
    fn on<L: Lanes>(self, rules: &Rules, size: LaneBounds<L>) -> impl Placer<L>;
}

/// One that is prepared for a size. Its function must be `#[inline(always)]`, as that of a [`LaneWork`].
trait Placer<L: Lanes> {
    /// Places the piece that was dealt last.
    fn place<const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<L::Word, N>,
        piece: Piece,
        dealer: &Dealer,
    ) -> Placement;
}

impl Player for &Scorer {
    fn rows_ahead(self) -> u32 {
        0
    }

    #[inline(always)]
    fn on<L: Lanes>(self, _: &Rules, size: LaneBounds<L>) -> impl Placer<L> {
        Scorer::on(self, size)
    }
}

impl<L: Lanes> Placer<L> for Chooser<'_, L> {
    #[inline(always)]
    fn place<const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<L::Word, N>,
        piece: Piece,
        _: &Dealer,
    ) -> Placement {
        Chooser::place(self, playfield, rules.shapes(piece), rules.top_out)
    }
}

/// A controller that weighs the pieces to come.
#[derive(Clone, Copy)]
struct Foreseeing<'a> {
    agent: &'a ExpectationAgent,
    scorer: &'a Scorer,
}

impl Player for Foreseeing<'_> {
    fn rows_ahead(self) -> u32 {
        4 * u32::from(self.agent.expectation().pieces)
    }

    #[inline(always)]
    fn on<L: Lanes>(self, rules: &Rules, size: LaneBounds<L>) -> impl Placer<L> {
        Foresight::new(self.scorer.on(size), rules, self.agent.expectation(), self.agent.lost())
    }
}

impl<L: Lanes> Placer<L> for Foresight<'_, L> {
    #[inline(always)]
    fn place<const N: usize>(
        &self,
        rules: &Rules,
        playfield: &PlayfieldOf<L::Word, N>,
        piece: Piece,
        dealer: &Dealer,
    ) -> Placement {
        let mut room = [piece; MAX_PREVIEW as usize];
        Foresight::place(self, rules, playfield, piece, &ahead(dealer, rules, &mut room))
    }
}

/// Playing on with a controller on one kernel, as long as the stack stays about as high as it is: the loop where evaluations
/// spend their time.
///
/// A stack is low most of the time, and so the upper rows of the playfield are empty. They are left out then, so that the
/// others fit into shorter words.
struct Slice<'a, P> {
    episode: &'a mut Episode,
    rules: &'a Rules,
    player: P,
    bounds: Bounds,
    end: u64,
    rows: u8,
}

impl<P: Player> LaneWork for Slice<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) {
        let Slice { episode, rules, player, bounds, end, rows } = self;
        let mut game: Game<C, N> = episode.game.with_height(rows);
        // Where rows are left out, nothing can end.
        let is_lowered = rows < rules.height;
        let top_out = if is_lowered { TopOut::Overflow } else { rules.top_out };
        let lowered = Rules { height: rows, top_out, ..*rules };
        let placer = player.on(&lowered, LaneBounds::<L>::lowered(rules.width, rules.height, rows));
        let highest = if is_lowered { u32::from(rows) - 4 - player.rows_ahead() } else { u32::MAX };
        let highest = highest.min(bounds.highest_stack);
        let lowest = lowest_stack(rules, rows, player.rows_ahead()).max(bounds.lowest_stack);
        while game.pieces < end {
            let Some(piece) = game.deal(&lowered, &mut episode.dealer) else { break };
            let placement = placer.place(&lowered, &game.playfield, piece, &episode.dealer);
            let (landed, _) = game.place(&lowered, piece, placement);
            episode.note(placement.action(rules), Some(landed));
            let stack = game.playfield.occupied_rows().top();
            if game.end.is_some() || stack > highest || stack < lowest {
                break;
            }
        }
        episode.game = game.with_height(rules.height);
    }
}

/// The stack under which fewer rows would do. Two rows under the highest one of which that is true, so that a stack that
/// goes up and down does not change the words with every piece.
fn lowest_stack(rules: &Rules, rows: u8, rows_ahead: u32) -> u32 {
    (0..u32::from(rows))
        .rev()
        .find(|&stack| rows_for(rules.width, rules.height, stack + rows_ahead) < rows)
        .map_or(0, |stack| stack.saturating_sub(2))
}
