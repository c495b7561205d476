//! The keys of the keypress action model, by number. [`keypress`](super::keypress) says what they do to a piece that only
//! falls, [`steered`](super::steered) what they do in modern Tetris, which has more of them.

/// What can be pressed.
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
    RotateLeft = 3,
    /// A quarter turn clockwise.
    RotateRight = 4,
    /// All the way down, and locked.
    Drop = 5,
    /// One row down; in modern Tetris only, as all that follow.
    SoftDrop = 6,
    /// All the way down, without locking.
    SonicDrop = 7,
    /// Half a turn.
    RotateHalf = 8,
    /// The piece is put aside, and another one appears.
    Hold = 9,
}

impl Key {
    /// All of them, by number.
    pub const ALL: [Key; 10] = [
        Key::Idle,
        Key::Left,
        Key::Right,
        Key::RotateLeft,
        Key::RotateRight,
        Key::Drop,
        Key::SoftDrop,
        Key::SonicDrop,
        Key::RotateHalf,
        Key::Hold,
    ];

    /// The key with this number, or `None` from 10 on.
    pub const fn from_action(action: u32) -> Option<Key> {
        if action < Key::ALL.len() as u32 { Some(Key::ALL[action as usize]) } else { None }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Key::Idle => "idle",
            Key::Left => "left",
            Key::Right => "right",
            Key::RotateLeft => "rotate left",
            Key::RotateRight => "rotate right",
            Key::Drop => "drop",
            Key::SoftDrop => "soft drop",
            Key::SonicDrop => "sonic drop",
            Key::RotateHalf => "rotate half",
            Key::Hold => "hold",
        }
    }
}
