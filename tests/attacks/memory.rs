//! Mixes of calls that nobody has thought of, against servers of several sizes: the memory of the process stays below
//! `--memory`, and goes back when the callers have left.
//!
//! The seed decides everything about a mix, so `--seed` repeats it. `--long` makes it last for half a minute.

use std::future::{Future, poll_fn};
use std::task::Poll;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use prost::Message;
use tetrion::protocol::limits::MAX_RESPONSE_BYTES;
use tetrion::protocol::pb::RenderFormat;
use tetrion::protocol::pb::enumerate_placements_request::Source;
use tetrion::protocol::policies::Policy;
use tetrion::protocol::tensor;
use tetrion::protocol::{features, pb, positions, seeding};

use crate::arena::{Arena, Dice, Fight};
use crate::bystander::{connect, session, step};
use crate::http2::{Connection, INITIAL_WINDOW_SIZE, call};
use crate::messages::{PLACEMENTS, RENDER, RESET, RESTORE, SAVE, STEP};
use crate::requests::compressed;
use crate::{answers, connections, evaluations, requests};

/// Time after which the memory of callers that have left must be back.
const RETURN: Duration = Duration::from_secs(20);

/// Something that a caller does, again and again.
type Move = for<'a> fn(&'a Arena, Dice) -> Fight<'a>;

const MOVES: &[Move] = &[
    |arena, dice| Box::pin(unread_calls(arena, dice)),
    |arena, dice| Box::pin(unread_calls(arena, dice)),
    |arena, dice| Box::pin(unread_calls(arena, dice)),
    |arena, dice| Box::pin(packed(arena, dice)),
    |arena, _| Box::pin(answers::with_no_window(arena)),
    |arena, _| Box::pin(answers::with_a_full_socket(arena)),
    |arena, _| Box::pin(answers::of_streams(arena)),
    |arena, _| Box::pin(answers::pages(arena, 5)),
    |arena, _| Box::pin(requests::sequences(arena)),
    |arena, _| Box::pin(requests::withheld(arena)),
    |arena, _| Box::pin(requests::compressed_streams(arena)),
    |arena, _| Box::pin(requests::bombs(arena)),
    |arena, _| Box::pin(requests::sessions(arena)),
    |arena, _| Box::pin(requests::headers(arena, 4)),
    |arena, _| Box::pin(requests::windows(arena, 10)),
    |arena, _| Box::pin(evaluations::unread(arena)),
    |arena, _| Box::pin(connections::unfinished(arena, 10)),
];

/// A mix against a server of 256 MiB.
pub async fn of_256(arena: &Arena) -> Result<()> {
    mix(arena, 256).await
}

/// A mix against a server of 1 GiB.
pub async fn of_1024(arena: &Arena) -> Result<()> {
    mix(arena, 1024).await
}

/// A mix against a server of 4 GiB.
pub async fn of_4096(arena: &Arena) -> Result<()> {
    mix(arena, 4096).await
}

/// Callers that each make one of the moves, chosen by lot, until the time is up; then they leave.
async fn mix(arena: &Arena, mib: u64) -> Result<()> {
    let mut dice = Dice::new(arena.seed ^ mib);
    let duration = Duration::from_secs(arena.times(4, 30) as u64);
    let moves: Vec<Move> = (0..3 + dice.below(4)).map(|_| MOVES[dice.below(MOVES.len())]).collect();
    let mut callers: Vec<_> = moves
        .into_iter()
        .map(|make| {
            let mut dice = Dice::new(dice.word());
            Box::pin(async move {
                loop {
                    // A server that has enough refuses calls and closes connections: that is what is wanted.
                    let _ = make(arena, Dice::new(dice.word())).await;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            })
        })
        .collect();
    let all = poll_fn(|cx| {
        for caller in &mut callers {
            let _ = caller.as_mut().poll(cx);
        }
        Poll::<()>::Pending
    });
    let _ = tokio::time::timeout(duration, all).await;
    drop(callers);
    arena.serves_newcomers().await?;
    arena.release();
    goes_back(arena, mib / 3).await
}

/// Waits until the server holds less than so many MiB, because everybody has left.
pub async fn goes_back(arena: &Arena, mib: u64) -> Result<()> {
    let left = Instant::now();
    loop {
        let now = arena.victim.memory().0 >> 20;
        if now < mib {
            return Ok(());
        }
        ensure!(left.elapsed() < RETURN, "{now} MiB are kept {RETURN:?} after everybody has left, not {mib}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The calls of a report: 120 lists of placements, with a policy, of a session whose 65,536 episodes have ended, on one
/// connection that reads nothing.
pub async fn ended_episodes(arena: &Arena) -> Result<()> {
    let config = pb::SessionConfig {
        num_envs: 65_536,
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        max_episode_steps: 1,
        seeding: Some(seeding::from_seed(1)),
        max_response_bytes: MAX_RESPONSE_BYTES,
        ..Default::default()
    };
    let channel = connect(arena.address).await?;
    let name = session(&channel, config).await?;
    let mut connection = Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
    connection.send(&call(1, STEP, &step(&name, 65_536).encode_to_vec())).await?;
    for number in 1..=120 {
        let request = pb::EnumeratePlacementsRequest {
            source: Some(Source::SessionEnvs(pb::SessionEnvs { session: name.clone(), envs: None })),
            policy: Some(Policy::named("bcts").encode()),
            ..Default::default()
        };
        connection.send(&call(2 * number + 1, PLACEMENTS, &request.encode_to_vec())).await?;
    }
    connection.settle().await?;
    arena.hold(connection);
    answers::until_idle(arena).await
}

/// One of these at random.
fn one_of<T: Copy>(dice: &mut Dice, items: &[T]) -> T {
    items[dice.below(items.len())]
}

fn coin(dice: &mut Dice) -> bool {
    dice.below(2) == 0
}

/// Calls of every kind on a session of any size, from a caller that reads nothing and leaves at some point.
async fn unread_calls(arena: &Arena, mut dice: Dice) -> Result<()> {
    let dice = &mut dice;
    let num_envs = one_of(dice, &[16, 256, 4096, 16_384, 65_536]);
    let (width, height) = one_of(dice, &[(10, 20), (4, 4), (10, 10), (32, 40)]);
    let preset = one_of(dice, &["", "", "guideline"]).to_owned();
    let is_modern = !preset.is_empty();
    let config = pb::SessionConfig {
        num_envs,
        rules: Some(pb::Rules {
            preset,
            width: if is_modern { 0 } else { width },
            height: if is_modern { 0 } else { height },
            ..Default::default()
        }),
        autoreset_mode: one_of(
            dice,
            &[pb::AutoresetMode::Disabled, pb::AutoresetMode::SameStep, pb::AutoresetMode::NextStep],
        )
        .into(),
        max_episode_steps: one_of(dice, &[0, 1, 10]),
        seeding: Some(seeding::from_seed(dice.word())),
        keep_colors: coin(dice),
        max_response_bytes: one_of(dice, &[0, MAX_RESPONSE_BYTES]),
        ..Default::default()
    };
    let channel = connect(arena.address).await?;
    let name = session(&channel, config).await?;
    let mut connection =
        Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, one_of(dice, &[0, 65_535, 0x7FFF_FFFF]))])
            .await?;
    for number in 0..one_of(dice, &[1, 10, 120]) {
        let (path, bytes) = match dice.below(6) {
            0 => (STEP, step(&name, num_envs).encode_to_vec()),
            1 => (RESET, pb::ResetRequest { session: name.clone(), ..Default::default() }.encode_to_vec()),
            2 => (SAVE, pb::SaveStateRequest { session: name.clone(), envs: None }.encode_to_vec()),
            3 => {
                let format =
                    one_of(dice, &[RenderFormat::Letters, RenderFormat::Ansi, RenderFormat::PromptActions])
                        .into();
                let request = pb::RenderRequest { session: name.clone(), format, ..Default::default() };
                (RENDER, request.encode_to_vec())
            }
            _ => {
                let envs = pb::SessionEnvs { session: name.clone(), envs: None };
                (PLACEMENTS, listing(dice, Source::SessionEnvs(envs)).encode_to_vec())
            }
        };
        connection.send(&call(2 * number + 1, path, &bytes)).await?;
    }
    tokio::time::sleep(Duration::from_millis(dice.below(2000) as u64)).await;
    if coin(dice) {
        arena.hold(connection);
    }
    Ok(())
}

/// A list of placements with random columns.
fn listing(dice: &mut Dice, source: Source) -> pb::EnumeratePlacementsRequest {
    pb::EnumeratePlacementsRequest {
        source: Some(source),
        features: coin(dice).then(|| features::from_set("bcts")),
        include_afterstates: coin(dice),
        include_anchors: coin(dice),
        include_cells: coin(dice),
        policy: coin(dice).then(|| Policy::named("bcts").encode()),
        max_response_bytes: one_of(dice, &[0, MAX_RESPONSE_BYTES]),
        ..Default::default()
    }
}

/// Positions in requests that are small on their way: packed playfields to list, or to restore.
async fn packed(arena: &Arena, mut dice: Dice) -> Result<()> {
    let dice = &mut dice;
    let (width, height) = one_of(dice, &[(4, 4), (10, 20), (32, 40)]);
    let count = one_of(dice, &[100, 10_000, 65_536]) as u32;
    let rows = vec![0_u16; (count * height) as usize];
    let wide = vec![0_u32; if width > 16 { rows.len() } else { 0 }];
    let boards = if width > 16 {
        tensor::encode(vec![count, height], &wide)
    } else {
        tensor::encode(vec![count, height], &rows)
    };
    let packed = pb::PackedPositions {
        boards: Some(boards),
        pieces: Some(tensor::encode(vec![count], &vec![0_u8; count as usize])),
        queues: None,
        held: None,
    };
    let rules = Some(pb::Rules { width, height, ..Default::default() });
    let positions = pb::Positions { rules, ..positions::from_packed(packed) };
    let (path, bytes) = if coin(dice) {
        (PLACEMENTS, listing(dice, Source::Positions(positions)).encode_to_vec())
    } else {
        let config = pb::SessionConfig {
            num_envs: count,
            rules: positions.rules.clone(),
            max_response_bytes: MAX_RESPONSE_BYTES,
            ..Default::default()
        };
        let name = session(&connect(arena.address).await?, config).await?;
        let request =
            pb::RestoreStateRequest { session: name, positions: Some(positions), ..Default::default() };
        (RESTORE, request.encode_to_vec())
    };
    let bytes = zstd::encode_all(&bytes[..], 3)?;
    let mut connection = Connection::open(arena.address, &[(INITIAL_WINDOW_SIZE, 0)]).await?;
    for number in 0..one_of(dice, &[1, 10, 60]) {
        connection
            .push(&compressed(2 * number + 1, path, "zstd", &bytes, true), Duration::from_secs(2))
            .await;
    }
    if coin(dice) {
        arena.hold(connection);
    }
    Ok(())
}
