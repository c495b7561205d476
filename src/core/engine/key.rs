//! The keys that players press, by number. [`keypress`](super::keypress) says what they do to a piece that only falls,
//! [`steered`](super::steered) what they do in modern Tetris, which has more of them, and [`paths`](super::paths) which of
//! them lead to a placement.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Key {
    /// Nothing: time passes.
    Idle = 0,
    /// One column to the left.
    Left = 1,
    /// One column to the right.
    Right = 2,
    /// A quarter turn counter-clockwise.
    TurnLeft = 3,
    /// A quarter turn clockwise.
    TurnRight = 4,
    /// All the way down, and locked.
    HardDrop = 5,
    /// One row down. Modern Tetris only.
    SoftDrop = 6,
    /// All the way down, without locking. Modern Tetris only.
    SonicDrop = 7,
    /// Half a turn. Modern Tetris only.
    TurnHalf = 8,
    /// The piece is held, and the other one appears. Modern Tetris only.
    Hold = 9,
    /// To the left until something is in the way, as a key that is held down does. In lists of keys only: it is no action.
    FarLeft = 10,
    /// To the right until something is in the way. In lists of keys only: it is no action.
    FarRight = 11,
}

impl Key {
    /// All keys, by number.
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

    /// The keys of the game in which a piece only falls.
    pub const FALLING: &[Key] = Key::ALL.split_at(6).0;

    /// The keys of modern Tetris: those that are actions.
    pub const STEERING: &[Key] = Key::ALL.split_at(10).0;

    /// The key's name.
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
    pub const fn quarter_turns(self) -> usize {
        match self {
            Key::TurnRight => 1,
            Key::TurnHalf => 2,
            Key::TurnLeft => 3,
            _ => 0,
        }
    }

    /// The action that begins what the key does: for a key that is held down, one press of it.
    pub const fn action(self) -> Key {
        match self {
            Key::FarLeft => Key::Left,
            Key::FarRight => Key::Right,
            key => key,
        }
    }
}
