//! `tetrion watch --session`: the screen of a session that another client steps, driven by keys and simulated time, and the
//! whole program on a terminal, with servers that stop and start.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratatui::crossterm::event::KeyCode;
use tetrion::client::session::{PieceSource, Session, SessionRequest};
use tetrion::client::{Client, ClientError, ConnectOptions, RulesChoice, WatchedFrame, WatchedSession};
use tetrion::viewers::{FrameHistory, LinkState, Palette, SessionViewer, TerminalProgram};
use tokio_util::sync::DropGuard;

use crate::evaluate::tetrion;
use crate::server::Process;
use crate::terminal::{Terminal, afterwards};
use crate::watch::{press, refused, screen};
use tetrion_service_testing::servers::start;

/// A session, and the client that has it.
struct Learner {
    client: Client,
    session: Session,
    _guard: DropGuard,
}

impl Learner {
    async fn new(num_envs: u32, (width, height): (u32, u32), preview: u32) -> Learner {
        let (address, guard) = start().await;
        let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
        let rules = RulesChoice::of_size(width, height).with("preview", preview).unwrap();
        let request = SessionRequest {
            rules,
            num_envs,
            seeding: Some(PieceSource::Seed(5)),
            ..SessionRequest::default()
        };
        let session = client.create_session(&request).await.unwrap();
        Learner { client, session, _guard: guard }
    }

    /// The newest frame, as a viewer gets it that begins now.
    async fn frame(&self) -> (WatchedSession, WatchedFrame) {
        let mut watching = self.client.watch_session(self.session.name(), None).await.unwrap();
        let frame = watching.next().await.unwrap();
        (watching.session().clone(), frame)
    }
}

/// A viewer of what a session looks like now, and where its frames are kept.
fn viewer((session, frame): (WatchedSession, WatchedFrame)) -> (SessionViewer, Arc<Mutex<FrameHistory>>) {
    let kept = Arc::new(Mutex::new(FrameHistory::new(frame)));
    (SessionViewer::new(session, kept.clone(), Palette::Ascii, false), kept)
}

#[tokio::test]
async fn a_session_is_drawn_as_a_game_is() {
    let mut learner = Learner::new(1, (4, 12), 3).await;
    let (session, frame) = learner.frame().await;
    assert_eq!((session.num_envs, session.env_ids.as_slice(), session.rules.height), (1, &[0][..], 12));
    let (not_begun, _) = viewer((session, frame));
    assert!(screen(&not_begun, 40, 16).contains("+--------+ not begun\nlive, call 0, "));

    learner.session.reset(None, Some(&PieceSource::PieceSequences(vec!["OISZT".to_owned()]))).await.unwrap();
    let mut watching = learner.client.watch_session(learner.session.name(), Some(&[0])).await.unwrap();
    assert_eq!(watching.next().await.unwrap().sequence_number, 1);
    learner.session.step(&[0], None).await.unwrap();
    let frame = watching.next().await.unwrap();
    let (viewer, _) = viewer((watching.session().clone(), frame));
    // The O has landed while a viewer watched, so its cells are known.
    let expected = "\
+ env 0 -+ piece        I
| . .## .| lines        0
| . . . .| pieces       1
| . . . .|
| . . . .| next
| . . . .|     ####
| . . . .|   ####
| . . . .|
| . . . .|   ####
| . . . .|     ####
| . . . .|
|{}{} . .| then         T
|{}{} . .|
+--------+ episode 0
live, call 2, episode 0, return 0
space pause  left/right frame  q quit
";
    assert_eq!(screen(&viewer, 40, 16), expected);
    assert!(viewer.report().contains(" on 4 x 12, call 2\nenv 0: episode 0, 0 lines, 1 piece, return 0\n"));
}

#[tokio::test]
async fn a_viewer_goes_back_and_on_again() {
    let mut learner = Learner::new(1, (6, 20), 0).await;
    let (mut viewer, kept) = viewer(learner.frame().await);
    learner.session.reset(None, None).await.unwrap();
    for second in 1..=5 {
        if second > 1 {
            learner.session.step(&[0], None).await.unwrap();
        }
        let frame = learner.frame().await.1;
        let mut kept = kept.lock().unwrap();
        kept.push(Duration::from_secs(second), frame.clone());
        // The same frame once more says that the session is still there.
        kept.push(Duration::from_millis(1000 * second + 500), frame);
    }
    assert_eq!(kept.lock().unwrap().newest(), 5);
    #[track_caller]
    fn check(viewer: &SessionViewer, expected: &str) {
        let drawn = screen(viewer, 80, 24);
        assert!(drawn.contains(&format!("\n{expected}, episode 0, ")), "{expected}: {drawn}");
    }
    check(&viewer, "live, call 5");
    press(&mut viewer, &[KeyCode::Left, KeyCode::Left]);
    check(&viewer, "paused, 2.0 s back, call 3");
    press(&mut viewer, &[KeyCode::Right]);
    viewer.pass(Duration::from_secs(9));
    check(&viewer, "paused, 1.0 s back, call 4");
    press(&mut viewer, &[KeyCode::Home]);
    check(&viewer, "paused, 5.0 s back, call 0");
    press(&mut viewer, &[KeyCode::Char(' ')]);
    viewer.pass(Duration::from_millis(2_500));
    check(&viewer, "replay, 3.0 s back, call 2");
    viewer.pass(Duration::from_millis(600));
    check(&viewer, "replay, 2.0 s back, call 3");
    viewer.pass(Duration::from_secs(9));
    check(&viewer, "live, call 5");
    press(&mut viewer, &[KeyCode::PageUp]);
    check(&viewer, "paused, 5.0 s back, call 0");
    press(&mut viewer, &[KeyCode::PageDown]);
    check(&viewer, "paused, call 5");
    learner.session.step(&[0], None).await.unwrap();
    let frame = learner.frame().await.1;
    kept.lock().unwrap().push(Duration::from_secs(8), frame);
    check(&viewer, "paused, 3.0 s back, call 5");
    press(&mut viewer, &[KeyCode::End]);
    check(&viewer, "live, call 6");
    kept.lock().unwrap().link = LinkState::Down("lost the server at there: it is gone".to_owned());
    check(&viewer, "lost the server at there: it is gone; trying again, call 6");
    let frame = learner.frame().await.1;
    kept.lock().unwrap().push(Duration::from_secs(9), frame);
    check(&viewer, "live, call 6");
    kept.lock().unwrap().link = LinkState::Over("it has ended".to_owned());
    press(&mut viewer, &[KeyCode::Left]);
    check(&viewer, "it has ended, paused, 3.0 s back, call 5");
    assert!(viewer.report().ends_with("\nit has ended\n"), "{}", viewer.report());
}

#[tokio::test]
async fn only_the_newest_frames_are_kept() {
    let mut learner = Learner::new(2, (4, 20), 0).await;
    let (session, first) = learner.frame().await;
    learner.session.reset(None, None).await.unwrap();
    // Room for some three frames.
    let mut kept = FrameHistory::within(first, 2_200);
    for second in 1..=6 {
        learner.session.step(&[0, 1], None).await.unwrap();
        kept.push(Duration::from_secs(second), learner.frame().await.1);
    }
    let (oldest, newest) = (kept.oldest(), kept.newest());
    assert!(newest == 6 && (3..6).contains(&oldest), "{oldest} to {newest}");
    assert_eq!(kept.get(0), kept.get(oldest));
    assert_eq!(kept.get(newest).frame.sequence_number, 7);
    let mut viewer = SessionViewer::new(session, Arc::new(Mutex::new(kept)), Palette::Ascii, true);
    assert_eq!(viewer.number(), oldest, "it was paused at a frame that is gone");
    press(&mut viewer, &[KeyCode::Left]);
    assert_eq!(viewer.number(), oldest);
}

#[tokio::test]
async fn many_environments_are_paged() {
    let learner = Learner::new(8, (8, 8), 0).await;
    let (mut viewer, _) = viewer(learner.frame().await);
    #[track_caller]
    fn check(viewer: &SessionViewer, envs: std::ops::Range<u32>) {
        let drawn = screen(viewer, 80, 24);
        let shown = (0..8).filter(|env| drawn.contains(&format!("+ env {env} -"))).collect::<Vec<u32>>();
        assert_eq!(shown, envs.clone().collect::<Vec<u32>>(), "{drawn}");
        if envs.len() > 1 {
            assert!(
                drawn.contains(&format!("environments {} to {} of 8", envs.start, envs.end - 1)),
                "{drawn}"
            );
        }
    }
    check(&viewer, 0..4);
    press(&mut viewer, &[KeyCode::Tab]);
    check(&viewer, 4..8);
    press(&mut viewer, &[KeyCode::Tab]);
    check(&viewer, 0..4);
    press(&mut viewer, &[KeyCode::BackTab]);
    check(&viewer, 4..8);
    press(&mut viewer, &[KeyCode::Char('3')]);
    check(&viewer, 4..7);
    press(&mut viewer, &[KeyCode::Tab]);
    check(&viewer, 7..8);
    press(&mut viewer, &[KeyCode::Char('1')]);
    check(&viewer, 7..8);
    press(&mut viewer, &[KeyCode::BackTab]);
    check(&viewer, 6..7);
    press(&mut viewer, &[KeyCode::Char('0')]);
    check(&viewer, 6..8);
    for (width, height) in [(0, 0), (5, 3), (20, 24), (300, 80)] {
        screen(&viewer, width, height);
    }
}

#[tokio::test]
async fn the_call_ends_with_the_reason() {
    let learner = Learner::new(2, (4, 8), 0).await;
    let Learner { client, session, _guard } = learner;
    let reason = |error: ClientError| match error {
        ClientError::Refused { reason, .. } => reason,
        error => panic!("{error:?}"),
    };
    let unknown = client.watch_session("sessions/0123456789abcdef", None).await.map(drop);
    assert_eq!(reason(unknown.unwrap_err()), "SESSION_NOT_FOUND");
    let beyond = client.watch_session(session.name(), Some(&[0, 2])).await.map(drop);
    assert_eq!(reason(beyond.unwrap_err()), "INVALID_FIELD");
    let mut watching = client.watch_session(session.name(), Some(&[1])).await.unwrap();
    assert_eq!(watching.session().env_ids, [1]);
    assert_eq!(watching.next().await.unwrap().envs[0].env_id, 1);
    session.delete().await.unwrap();
    assert_eq!(reason(watching.next().await.unwrap_err()), "SESSION_NOT_FOUND");
}

/// A session on a server that is a process.
async fn learner(server: &Process) -> Session {
    let address = server.address.to_string();
    let client = Client::connect(&[address], ConnectOptions::default()).await.unwrap();
    let request =
        SessionRequest { num_envs: 3, seeding: Some(PieceSource::Seed(5)), ..SessionRequest::default() };
    let mut session = client.create_session(&request).await.unwrap();
    session.reset(None, None).await.unwrap();
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_watches_until_the_session_ends() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched");
    let _ = std::fs::remove_dir_all(&folder);
    let state = ["--state", folder.to_str().unwrap()];
    let server = Process::start(&state);
    let mut session = learner(&server).await;
    let address = server.address.to_string();
    let args = format!("watch --session {} --server {address} --envs 2,0", session.name());
    let mut terminal = Terminal::open((120, 30), &args, &[]);
    terminal.wait_to_see("live, call 1, environments 2 to 0 of 3");
    assert!(terminal.screen().contains(" env 2 ─"), "{}", terminal.screen());
    session.step(&[0, 0, 0], None).await.unwrap();
    terminal.wait_to_see("live, call 2, ");
    let screen = terminal.screen();
    assert!(screen.contains("pieces       1") && terminal_has_colours(&terminal), "{screen}");

    server.terminate();
    terminal.wait_to_see(&format!("lost the server at {address}: "));
    assert!(terminal.screen().contains("; trying again, call 2"), "{}", terminal.screen());
    server.wait();
    let server = Process::spawn(tetrion(&["serve", "--listen", &address]).args(state));
    terminal.wait_to_see("live, call 2, ");
    session.step(&[1, 1, 1], None).await.unwrap();
    terminal.wait_to_see("live, call 3, ");
    session.delete().await.unwrap();
    terminal.wait_to_see("the session has ended: the server no longer has it, call 3");
    terminal.press("q");
    let (written, code) = terminal.end();
    let after = afterwards(&written);
    assert_eq!(code, Some(0), "{after:?}");
    assert!(
        after.contains(" on 10 x 20, call 3\r\nenv 2: episode 0, 0 lines, 2 pieces, return 0\r\n"),
        "{after:?}"
    );
    assert!(after.ends_with("the session has ended: the server no longer has it\r\n"), "{after:?}");
    drop(server);
}

fn terminal_has_colours(terminal: &Terminal) -> bool {
    terminal.written().contains("48;5;")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_come_back_is_reported() {
    let server = Process::start(&[]);
    let session = learner(&server).await;
    let args = format!("watch --session {} --server {} --patience 0", session.name(), server.address);
    let mut terminal = Terminal::open((80, 24), &args, &[("NO_COLOR", "1")]);
    terminal.wait_to_see("live, call 1");
    server.terminate();
    terminal.wait_to_see("the server is going down");
    assert!(!terminal.screen().contains("trying again"), "{}", terminal.screen());
    terminal.press("q");
    let (written, code) = terminal.end();
    assert_eq!(code, Some(0));
    assert!(afterwards(&written).contains("the server is going down"), "{written:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_only_session_need_not_be_named() {
    let server = Process::start(&[]);
    let args = format!("watch --server {} --session", server.address);
    let (written, code) = Terminal::open((80, 24), &args, &[]).end();
    assert_eq!(code, Some(1), "{written:?}");
    assert!(written.contains("the server has no session of this caller"), "{written:?}");

    let first = learner(&server).await;
    let mut terminal = Terminal::open((80, 24), &args, &[("NO_COLOR", "1")]);
    terminal.wait_to_see("live, call 1");
    terminal.press("q");
    let (written, _) = terminal.end();
    assert!(afterwards(&written).contains(&format!("{} on 10 x 20, call 1", first.name())), "{written:?}");

    let second = learner(&server).await;
    let (written, code) = Terminal::open((200, 24), &args, &[]).end();
    assert_eq!(code, Some(2), "{written:?}");
    let line =
        |session: &Session| format!("\r\n  {}: 3 environments, simplified 10 x 20, 1 call", session.name());
    let expected =
        format!("the server has 2 learners' sessions, choose one:{}{}", line(&second), line(&first));
    assert!(written.contains(&expected), "{written:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_chosen_by_its_label_and_a_persons_game_never_by_itself() {
    let server = Process::start(&[]);
    let address = server.address.to_string();
    let client = Client::connect(std::slice::from_ref(&address), ConnectOptions::default()).await.unwrap();
    let begin = async |label: &str, interactive: bool| {
        let mut request = SessionRequest::default();
        (request.label, request.interactive) = (label.to_owned(), interactive);
        client.create_session(&request).await.unwrap()
    };
    let line = |session: &Session, label: &str, person: &str| {
        format!("\r\n  {} ({label}): 1 environment, simplified 10 x 20, 0 calls{person}", session.name())
    };
    let args = |label: &str| format!("watch --server {address} --session {label}");
    #[track_caller]
    fn shows(args: &str, session: &Session, label: &str) {
        let mut terminal = Terminal::open((80, 24), args, &[("NO_COLOR", "1")]);
        terminal.wait_to_see("live, call 0");
        terminal.press("q");
        let (written, code) = terminal.end();
        let expected = format!("{} ({label}) on 10 x 20, call 0", session.name());
        assert!(code == Some(0) && afterwards(&written).contains(&expected), "{written:?}");
    }
    #[track_caller]
    fn refuses(args: &str, expected: &str) {
        let (written, code) = Terminal::open((200, 24), args, &[]).end();
        assert!(code == Some(2) && written.contains(expected), "{expected:?}: {written:?}");
    }
    let game = begin("Play", true).await;
    let expected = line(&game, "Play", ", a person's");
    refuses(&args(""), &format!("the server has no learner's session, choose one of the others:{expected}"));
    shows(&args("Play"), &game, "Play");

    let ppo = begin("ppo-3e-4", false).await;
    begin("Race", true).await;
    shows(&args(""), &ppo, "ppo-3e-4");
    let dqn = begin("dqn", false).await;
    shows(&args("dqn"), &dqn, "dqn");
    shows(&args("ppo-3e-4"), &ppo, "ppo-3e-4");
    let expected = line(&dqn, "dqn", "") + &line(&ppo, "ppo-3e-4", "");
    refuses(&args(""), &format!("the server has 2 learners' sessions, choose one:{expected}"));
    refuses(&args("ppo"), &format!("no session has the label \"ppo\", choose one:{expected}"));
    let other = begin("dqn", false).await;
    let expected = line(&other, "dqn", "") + &line(&dqn, "dqn", "");
    refuses(&args("dqn"), &format!("2 sessions have the label \"dqn\", choose one by its name:{expected}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_session_is_refused() {
    let server = Process::start(&[]);
    let args = format!("watch --session sessions/none --server {}", server.address);
    let (written, code) = Terminal::open((80, 24), &args, &[]).end();
    assert_eq!(code, Some(1), "{written:?}");
    assert!(written.contains("there is no session \"sessions/none\""), "{written:?}");
    assert!(!written.contains("\x1b[?1049h"), "{written:?}");

    #[track_caller]
    fn check(args: &[&str], why: &str) {
        let error = refused(&[&["watch"], args].concat());
        assert!(error.contains(why), "{error}");
    }
    check(&["--session", "sessions/a"], "--server has 0 addresses, expected one");
    check(&["--session", "sessions/a", "--server", "a:1,b:1"], "--server has 2 addresses, expected one");
    check(&["--session", "sessions/a", "--server", "a:1"], "this needs a terminal, but stdin is not one");
    check(&["bcts", "--server", "a:1"], "this needs a terminal, but stdin is not one");
    check(&["bcts", "--envs", "1"], "--session");
    for args in
        [&["bcts"][..], &["--width", "8"], &["--seed", "2"], &["--record", "x"], &["--search", "expectation"]]
    {
        let args = [&["--session", "sessions/a", "--server", "a:1"], args].concat();
        check(&args, "cannot be used with");
    }
}
