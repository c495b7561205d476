//! The keys that players press, by number. [`keypress`](super::keypress) defines their effect on a piece that falls with
//! every key, [`steered`](super::steered) their effect in modern Tetris, which has more keys. [`paths`](super::paths)
//! finds the keys that lead to a placement.

/// A key press: an action in games with keys, and a step on the way to a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Key {
    /// No key: time passes.
    Idle = 0,
    /// Move one column to the left.
    Left = 1,
    /// Move one column to the right.
    Right = 2,
    /// Turn a quarter counter-clockwise.
    TurnLeft = 3,
    /// Turn a quarter clockwise.
    TurnRight = 4,
    /// Drop to the ground and lock.
    HardDrop = 5,
    /// Move one row down. Modern Tetris only.
    SoftDrop = 6,
    /// Drop to the ground without locking. Modern Tetris only.
    SonicDrop = 7,
    /// Turn by 180 degrees. Modern Tetris only.
    TurnHalf = 8,
    /// Hold the piece and bring another one into play. Modern Tetris only.
    Hold = 9,
    /// Move to the left until something is in the way, like a key held down. Exists only in lists of keys, not as an
    /// action.
    FarLeft = 10,
    /// Move to the right until something is in the way. Exists only in lists of keys, not as an action.
    FarRight = 11,
}

impl Key {
    /// All keys, in ascending order of their numbers.
    pub const ALL: [Key; 12] = [
        Key::Idle,
        Key::Left,
        Key::Right,
        Key::TurnLeft,
        Key::TurnRight,
        Key::HardDrop,
        Key::SoftDrop,
        Key::SonicDrop,
        Key::TurnHalf,
        Key::Hold,
        Key::FarLeft,
        Key::FarRight,
    ];

    /// The keys of games in which a piece falls with every key.
    pub(crate) const FALLING: &[Key] = Key::ALL.split_at(6).0;

    /// The keys of modern Tetris that are actions.
    pub(crate) const STEERING: &[Key] = Key::ALL.split_at(10).0;

    /// The key's name in descriptions, errors and prompts, such as `turn_left`.
    pub const fn name(self) -> &'static str {
        match self {
            Key::Idle => "idle",
            Key::Left => "left",
            Key::Right => "right",
            Key::TurnLeft => "turn_left",
            Key::TurnRight => "turn_right",
            Key::HardDrop => "hard_drop",
            Key::SoftDrop => "soft_drop",
            Key::SonicDrop => "sonic_drop",
            Key::TurnHalf => "turn_half",
            Key::Hold => "hold",
            Key::FarLeft => "far_left",
            Key::FarRight => "far_right",
        }
    }

    /// Quarter turns clockwise; 0 for a key that does not turn the piece.
    pub(crate) const fn quarter_turns(self) -> usize {
        match self {
            Key::TurnRight => 1,
            Key::TurnHalf => 2,
            Key::TurnLeft => 3,
            _ => 0,
        }
    }

    /// The action that starts the key's effect: for a key held down, one press of it.
    pub(crate) const fn action(self) -> Key {
        match self {
            Key::FarLeft => Key::Left,
            Key::FarRight => Key::Right,
            key => key,
        }
    }
}
