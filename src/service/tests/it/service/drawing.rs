use bytes::Bytes;
use prost::Message;
use tetrion_core::engine::Rules;
use tetrion_protocol::limits::DEFAULT_RESPONSE_BYTES;
use tetrion_protocol::{pb, positions, seeding};
use tetrion_toolkit::picture::{CELL_SIZES, Layout};
use tonic::Code;

use crate::support::{restore, save, start};
use tetrion_service_testing::{Client, config, create, only, refused, reset, step};

/// Two games of four columns and six rows that deal O I T.
fn games(keep_colors: bool) -> pb::SessionConfig {
    pb::SessionConfig {
        rules: Some(pb::Rules { width: 4, height: 6, preview: Some(1), ..Default::default() }),
        seeding: Some(seeding::from_sequences(vec!["OITTT".to_owned()])),
        autoreset_mode: pb::AutoresetMode::Disabled.into(),
        keep_colors,
        ..config(2, 0)
    }
}

fn render(session: &str, format: pb::RenderFormat) -> pb::RenderRequest {
    pb::RenderRequest { session: session.to_owned(), format: format.into(), ..Default::default() }
}

/// The playfield of the first environment in letters, without its empty rows.
async fn letters(client: &mut Client, session: &str) -> Vec<String> {
    let request = pb::RenderRequest { envs: only([0]), ..render(session, pb::RenderFormat::Letters) };
    let text = client.render(request).await.unwrap().into_inner().frames.remove(0);
    let rows = text.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    rows.filter(|row| *row != "....").map(str::to_owned).collect()
}

/// A session after an O on the left and a lying I, whose lines are not full.
async fn played(client: &mut Client, keep_colors: bool) -> String {
    let name = create(client, games(keep_colors)).await.name;
    client.reset(reset(&name)).await.unwrap();
    client.step(step(&name, &[0, 0])).await.unwrap();
    name
}

#[tokio::test]
async fn cells_show_the_piece_that_they_came_from() {
    let server = start().await;
    let mut client = server.client().await;
    let name = played(&mut client, true).await;
    assert_eq!(letters(&mut client, &name).await, ["oo..", "oo.."], "the last piece in small letters");
    let drawn = client.render(render(&name, pb::RenderFormat::Letters)).await.unwrap().into_inner();
    let beside: Vec<&str> =
        drawn.frames[1].lines().filter_map(|line| line.split_once("  ")).map(|(_, words)| words).collect();
    assert_eq!(beside, ["piece  I", "next   T", "lines  0", "pieces 1", "points 0"]);
    // An I upright in the third column: under these rules the first actions of I are upright.
    client.step(step(&name, &[2, 3])).await.unwrap();
    assert_eq!(letters(&mut client, &name).await, ["..i.", "..i.", "OOi.", "OOi."]);
    let drawn = client.render(render(&name, pb::RenderFormat::Ansi)).await.unwrap().into_inner();
    // Yellow for O in the background, and cyan for I with brackets.
    assert!(
        drawn.frames[0]
            .contains("|\x1b[48;5;221m  \x1b[0m\x1b[48;5;221m  \x1b[0m\x1b[1;30;48;5;44m[]\x1b[0m ."),
        "{}",
        drawn.frames[0]
    );
    let other = pb::RenderRequest {
        palette: pb::Palette::ColorBlind.into(),
        ..render(&name, pb::RenderFormat::Ansi)
    };
    assert_ne!(client.render(other).await.unwrap().into_inner().frames, drawn.frames);

    let plain = played(&mut client, false).await;
    assert_eq!(letters(&mut client, &plain).await, ["##..", "##.."], "a session that keeps no colors");
}

#[tokio::test]
async fn snapshots_bring_the_colors_back() {
    let server = start().await;
    let mut client = server.client().await;
    let (name, other, plain) =
        (played(&mut client, true).await, played(&mut client, true).await, played(&mut client, false).await);
    let colored = client.save_state(save(&name)).await.unwrap().into_inner().states;
    let uncolored = client.save_state(save(&plain)).await.unwrap().into_inner().states;
    assert!(colored[0].ends_with(&[2, 2, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    let (snapshot, cells) = colored[0].split_at(colored[0].len() - 24);
    assert_eq!(
        snapshot[8..],
        uncolored[0],
        "the snapshot of a session that keeps no colors, and a byte per cell"
    );

    client.step(step(&name, &[2, 3])).await.unwrap();
    for session in [&name, &other] {
        client.restore_state(restore(session, positions::from_snapshots(colored.clone()))).await.unwrap();
        assert_eq!(letters(&mut client, session).await, ["oo..", "oo.."]);
    }
    client.restore_state(restore(&plain, positions::from_snapshots(colored.clone()))).await.unwrap();
    assert_eq!(letters(&mut client, &plain).await, ["##..", "##.."]);
    // One state for the second environment only; then one without colors for both.
    let second = pb::RestoreStateRequest {
        envs: only([1]),
        ..restore(&name, positions::from_snapshots(vec![uncolored[0].clone()]))
    };
    client.restore_state(second).await.unwrap();
    assert_eq!(letters(&mut client, &name).await, ["oo..", "oo.."]);
    client
        .restore_state(restore(&name, positions::from_snapshots(vec![uncolored[0].clone()])))
        .await
        .unwrap();
    assert_eq!(letters(&mut client, &name).await, ["##..", "##.."]);

    // Colors that are damaged or made up are refused, or do no harm.
    let with = |snapshot: &[u8], cells: &[u8]| Bytes::from([snapshot, cells].concat());
    for (state, problem) in [
        (with(snapshot, &cells[1..]), "colors: has 23 bytes, expected 24"),
        (with(snapshot, &[9; 24]), "colors: has a byte 9, expected 0 to 8"),
        (Bytes::copy_from_slice(&snapshot[..snapshot.len() - 1]), "the snapshot is damaged: it is too short"),
        (Bytes::copy_from_slice(&snapshot[..6]), "the snapshot is damaged: it is too short"),
    ] {
        let got = client.restore_state(restore(&name, positions::from_snapshots(vec![state]))).await;
        let message = got.unwrap_err().message().to_owned();
        assert!(message.contains(problem), "{message}");
    }
    assert_eq!(letters(&mut client, &name).await, ["##..", "##.."], "a refused call changes nothing");
    let false_colors = with(snapshot, &[1; 24]);
    client.restore_state(restore(&name, positions::from_snapshots(vec![false_colors]))).await.unwrap();
    assert_eq!(letters(&mut client, &name).await, ["ii..", "ii.."], "the playfield counts");
}

#[tokio::test]
async fn pictures_are_pixels_in_the_colors_of_the_pieces() {
    let server = start().await;
    let mut client = server.client().await;
    let name = played(&mut client, true).await;
    let rules = Rules { preview: 1, ..Rules::simplified(4, 6) };
    for cell in [0, 4, 27, 64] {
        let layout = Layout::standing(&rules, if cell == 0 { 16 } else { cell }, false);
        let request =
            pb::RenderRequest { cell_pixels: cell, envs: only([1]), ..render(&name, pb::RenderFormat::Rgb) };
        let answer = client.render(request).await.unwrap().into_inner();
        let pixels = answer.pixels.unwrap();
        assert_eq!(pixels.shape, [1, layout.height, layout.width, 3]);
        assert_eq!((pixels.dtype, answer.frames.len()), (pb::DataType::Uint8 as i32, 0));
        let at = |x: u32, y: u32| &pixels.data[3 * (y * layout.width + x) as usize..][..3];
        let middle = layout.cell / 2;
        assert_eq!(at(layout.x(0) + middle, layout.y(0) + middle), [0xf2, 0xcf, 0x3c], "O is yellow");
        assert_eq!(at(layout.x(3) + middle, layout.y(0) + middle), [0x11, 0x13, 0x19], "an empty cell");
    }
}

#[tokio::test]
async fn wrong_sizes_and_palettes_are_refused() {
    let server = start().await;
    let mut client = server.client().await;
    let name = played(&mut client, true).await;
    let rgb = || render(&name, pb::RenderFormat::Rgb);
    for (request, field) in [
        (pb::RenderRequest { cell_pixels: CELL_SIZES.start() - 1, ..rgb() }, "cell_pixels"),
        (pb::RenderRequest { cell_pixels: CELL_SIZES.end() + 1, ..rgb() }, "cell_pixels"),
        (pb::RenderRequest { cell_pixels: 16, ..render(&name, pb::RenderFormat::Ansi) }, "cell_pixels"),
        (pb::RenderRequest { palette: 3, ..rgb() }, "palette"),
        (pb::RenderRequest { format: 11, ..rgb() }, "format"),
    ] {
        let reported = refused(client.render(request).await, Code::InvalidArgument, "INVALID_FIELD");
        assert_eq!(reported.fields(), [field]);
    }
}

/// As many pictures as an answer has room for, and one more.
#[tokio::test]
async fn pictures_fill_an_answer_up_to_its_limit() {
    let server = start().await;
    let mut client = server.client().await;
    let name = create(&mut client, config(100, 0)).await.name;
    client.reset(reset(&name)).await.unwrap();
    let some = |count| pb::RenderRequest { envs: only(0..count), ..render(&name, pb::RenderFormat::Rgb) };
    let reported = refused(client.render(some(100)).await, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
    let max_rows: u32 = reported.metadata("max_rows").parse().unwrap();
    let drawn = client.render(some(max_rows)).await.expect("as many as fit").into_inner();
    let (bytes, most) = (drawn.encoded_len(), DEFAULT_RESPONSE_BYTES as usize);
    assert!((most - bytes) < bytes / max_rows as usize, "{bytes} bytes");
    refused(client.render(some(max_rows + 1)).await, Code::InvalidArgument, "RESPONSE_TOO_LARGE");
}
