//! Snapshots with changed bytes.

use tetrion_core::env::{EnvBatch, EnvConfig, EnvState, Field, Restored, Seeding};
use xxhash_rust::xxh3::xxh3_64;

use crate::Dice;

/// A snapshot with this content.
pub fn with_checksum(mut content: Vec<u8>) -> Vec<u8> {
    content.extend(xxh3_64(&content).to_le_bytes());
    content
}

/// A random action that exists for each environment; 0 for those that wait for a reset. `below` draws a number below
/// its argument.
pub fn random_actions(batch: &EnvBatch, mut below: impl FnMut(usize) -> usize) -> Vec<i32> {
    let mut mask = Vec::new();
    batch.observe(Field::ActionMask, None, &mut mask);
    let random = |mask: &[u8]| {
        let allowed: Vec<i32> =
            (0..).zip(mask).filter(|&(_, &bit)| bit == 1).map(|(action, _)| action).collect();
        allowed[below(allowed.len())]
    };
    mask.chunks(batch.config().rules.num_actions() as usize).map(random).collect()
}

/// Changes every byte of the first environment's snapshot: what is still read is played on by actions that exist, and every state
/// on the way can be written and read.
pub fn no_changed_byte_is_unsafe(batch: &EnvBatch) {
    let dice = &mut Dice(6, 0);
    let bytes = batch.state(0).to_bytes();
    let content = &bytes[..bytes.len() - 8];
    let (mut taken, mut refused) = (0, 0);
    for at in 0..content.len() {
        for change in [1, 2, 4, 0x80, 0xff] {
            let mut changed = content.to_vec();
            changed[at] ^= change;
            match EnvState::from_bytes(&with_checksum(changed)) {
                Err(_) => refused += 1,
                Ok(state) => {
                    taken += 1;
                    assert_eq!(EnvState::from_bytes(&state.to_bytes()).as_ref(), Ok(&state));
                    let config = EnvConfig { rules: *state.rules(), ..batch.config().clone() };
                    let mut batch = EnvBatch::new(config, &Seeding::Seed(8)).unwrap();
                    batch.restore(None, Restored::States(&[state]), None).unwrap();
                    for _ in 0..12 {
                        let actions = random_actions(&batch, |bound| dice.below(bound));
                        batch.step(&actions, None).unwrap();
                        let state = batch.state(0);
                        assert_eq!(EnvState::from_bytes(&state.to_bytes()), Ok(state));
                    }
                }
            }
        }
    }
    assert!(taken > 100 && refused > 100, "{taken} taken, {refused} refused");
}
