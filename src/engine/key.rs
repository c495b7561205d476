//! The keys of the keypress action model. [`keypress`](super::keypress) says what they do to a falling piece.

/// What can be pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Key {
    /// Nothing: it falls.
    Idle = 0,
    /// One column to the left.
    Left = 1,
    /// One column to the right.
    Right = 2,
    /// A quarter turn counter-clockwise.
    RotateLeft = 3,
    /// A quarter turn clockwise.
    RotateRight = 4,
    /// All the way down.
    Drop = 5,
}

impl Key {
    /// All six, by number.
    pub const ALL: [Key; 6] =
        [Key::Idle, Key::Left, Key::Right, Key::RotateLeft, Key::RotateRight, Key::Drop];

    /// The key with this number, or `None` from 6 on.
    pub const fn from_action(action: u32) -> Option<Key> {
        if action < 6 { Some(Key::ALL[action as usize]) } else { None }
    }
}
