//! The page at `/` as browsers get it: its files, their headers, and who may have them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use serde_json::Value;
use tetrion::engine::Tetromino;
use tetrion::picture::{ColourScheme, Ink};

use crate::documents::documents;
use crate::server::Process;
use crate::support::Command;
use crate::train::empty_folder;

/// An answer of plain HTTP.
struct Answer {
    status: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// Asks for a file with these lines in the head of the request, each with its line break.
fn ask(process: &Process, method: &str, path: &str, lines: &str) -> Answer {
    let host = if lines.contains("host:") { "" } else { "host: localhost\r\n" };
    let request = format!("{method} {path} HTTP/1.1\r\n{host}{lines}connection: close\r\n\r\n");
    let answer = process.http(request.as_bytes());
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let head = std::str::from_utf8(&answer[..end]).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().to_owned();
    let headers = lines.map(|line| line.split_once(": ").unwrap());
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Answer { status, headers, body: answer[end + 4..].to_vec() }
}

const FILES: [(&str, &str, &str); 6] = [
    ("/", "src/server/page/index.html", "text/html; charset=utf-8"),
    ("/page.js", "src/server/page/page.js", "text/javascript; charset=utf-8"),
    ("/document.js", "src/server/page/document.js", "text/javascript; charset=utf-8"),
    ("/page.css", "src/server/page/page.css", "text/css; charset=utf-8"),
    ("/icon.svg", "src/server/page/icon.svg", "image/svg+xml"),
    ("/docs/game.gif", "docs/game.gif", "image/gif"),
];

fn file(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

#[test]
fn every_file_comes_as_it_is_or_compressed() {
    let process = Process::start(&[]);
    for (path, name, kind) in FILES {
        let plain = ask(&process, "GET", path, "");
        assert_eq!(plain.status, "HTTP/1.1 200 OK", "{path}");
        assert_eq!(plain.body, file(name), "{path}");
        assert_eq!(plain.header("content-type"), Some(kind));
        assert_eq!(plain.header("content-encoding"), None);
        let gzip = ask(&process, "GET", path, "accept-encoding: deflate, gzip;q=0.8, br\r\n");
        assert_eq!(gzip.header("content-encoding"), Some("gzip"), "{path}");
        assert_eq!(gzip.header("content-type"), Some(kind));
        let mut read = Vec::new();
        GzDecoder::new(gzip.body.as_slice()).read_to_end(&mut read).unwrap();
        assert_eq!(read, plain.body, "{path}");
        for answer in [&plain, &gzip] {
            assert_eq!(answer.header("vary"), Some("accept-encoding"), "caches keep the two apart");
            assert_eq!(answer.header("content-length"), Some(answer.body.len().to_string().as_str()));
        }
        for refused in ["gzip;q=0", "br", "identity", "gzipped", "gzip;q=nonsense"] {
            let answer = ask(&process, "GET", path, &format!("accept-encoding: {refused}\r\n"));
            assert_eq!(answer.header("content-encoding"), None, "{refused}");
        }
        let head = ask(&process, "HEAD", path, "");
        assert_eq!(head.status, "HTTP/1.1 200 OK");
        assert_eq!(head.body, b"", "{path}");
        assert_eq!(head.header("content-length"), plain.header("content-length"));
        let post = ask(&process, "POST", path, "content-length: 0\r\n");
        assert_eq!(post.status, "HTTP/1.1 405 Method Not Allowed", "{path}");
    }
}

#[test]
fn a_file_that_a_browser_has_is_not_sent_again() {
    let process = Process::start(&[]);
    let mut tags = Vec::new();
    for (path, ..) in FILES {
        for encoding in ["", "accept-encoding: gzip\r\n"] {
            let first = ask(&process, "GET", path, encoding);
            let tag = first.header("etag").unwrap().to_owned();
            assert_eq!(first.header("cache-control"), Some("no-cache"), "it is asked for each time");
            for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
                let again = ask(&process, "GET", path, &format!("{encoding}if-none-match: {known}\r\n"));
                assert_eq!(again.status, "HTTP/1.1 304 Not Modified", "{path} {known}");
                assert_eq!(again.body, b"");
                assert_eq!(again.header("etag"), Some(tag.as_str()));
                assert_eq!(again.header("content-security-policy"), first.header("content-security-policy"));
            }
            let other = ask(&process, "GET", path, &format!("{encoding}if-none-match: \"other\"\r\n"));
            assert_eq!(other.status, "HTTP/1.1 200 OK");
            assert!(!tags.contains(&tag), "{path} has the tag of another answer");
            tags.push(tag);
        }
    }
}

#[test]
fn the_page_may_do_little() {
    let process = Process::start(&[]);
    for (path, ..) in FILES {
        let answer = ask(&process, "GET", path, "");
        let policy = answer.header("content-security-policy").unwrap();
        let rules: Vec<&str> = policy.split("; ").collect();
        for rule in
            ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]
        {
            assert!(rules.contains(&rule), "{rule} is not in {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    // What the policy forbids is not in the page to begin with.
    let html = String::from_utf8(file("src/server/page/index.html")).unwrap();
    assert!(!html.contains("style=") && !html.contains("<style") && !html.contains("onclick"), "{html}");
    assert_eq!(html.matches("<script").count(), 1, "{html}");
    for attribute in ["src=\"", "href=\""] {
        for (at, _) in html.match_indices(attribute) {
            let address = html[at + attribute.len()..].split('"').next().unwrap();
            let is_here =
                address.starts_with('#') || (address.starts_with('/') && !address.starts_with("//"));
            assert!(is_here, "{address} is elsewhere");
        }
    }
}

/// The values of an attribute.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let before = format!(" {attribute}=\"");
    html.split(&before).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn every_link_of_a_document_leads_to_something_served() {
    let process = Process::start(&[]);
    let policy = ask(&process, "GET", "/", "").header("content-security-policy").unwrap().to_owned();
    let about = String::from_utf8(file("clients/typescript/page/about.ts")).unwrap();
    let (_, listed) = about.split_once("const DOCUMENTS = [").unwrap();
    let listed = listed.split("] as const").next().unwrap().split('"').filter(|text| text.ends_with(".md"));
    let served = |document: &str| format!("/{}", document.replace(".md", ".html"));
    let mut waiting: Vec<String> = listed.map(served).collect();
    assert!(waiting.len() > 5, "{waiting:?}");
    let (mut found, mut links) = (BTreeMap::new(), Vec::new());
    while let Some(path) = waiting.pop() {
        if found.contains_key(&path) {
            continue;
        }
        let answer = ask(&process, "GET", &path, "");
        assert_eq!(answer.status, "HTTP/1.1 200 OK", "{path}");
        assert_eq!(answer.header("content-security-policy"), Some(policy.as_str()), "{path}");
        let mut anchors = BTreeSet::new();
        if path.ends_with(".html") {
            assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
            let html = answer.text();
            assert!(html.contains("<h1 id=\"") && !html.contains(" style=\"text-align"), "{path}: {html}");
            anchors.extend(values(html, "id").into_iter().map(str::to_owned));
            let links_and_pictures = [values(html, "href"), values(html, "src")].concat();
            for link in links_and_pictures.into_iter().filter(|link| !link.contains("://")) {
                let (to, anchor) = link.split_once('#').unwrap_or((link, ""));
                let to = if to.is_empty() { path.clone() } else { to.to_owned() };
                waiting.push(to.clone());
                links.push((path.clone(), to, anchor.to_owned()));
            }
        }
        found.insert(path, anchors);
    }
    for (from, to, anchor) in &links {
        assert!(anchor.is_empty() || found[to].contains(anchor), "{from}: {to} has no #{anchor}");
    }
    let missing: Vec<String> =
        documents().into_iter().filter(|name| !found.contains_key(&served(name))).collect();
    assert!(missing.is_empty(), "the page leads to no {missing:?}");
    assert!(found.contains_key("/docs/page.png") && found.contains_key("/docs/players.svg"), "{found:?}");
}

#[test]
fn only_the_names_of_this_machine_reach_it() {
    let process = Process::start(&[]);
    for (path, ..) in FILES {
        let stranger = ask(&process, "GET", path, "host: page.example\r\n");
        assert_eq!(stranger.status, "HTTP/1.1 421 Misdirected Request", "{path}");
        assert_eq!(ask(&process, "GET", path, "host: 127.0.0.1:1\r\n").status, "HTTP/1.1 200 OK", "{path}");
    }
    let missing = ask(&process, "GET", "/page.js.map", "");
    assert_eq!(missing.status, "HTTP/1.1 404 Not Found");
}

#[test]
fn its_files_need_no_token_and_its_calls_do() {
    let process = Process::start(&["--token", "open sesame"]);
    for (path, ..) in FILES {
        assert_eq!(ask(&process, "GET", path, "").status, "HTTP/1.1 200 OK", "{path}");
    }
    let call = |token: &str| {
        let request = format!(
            "POST /tetrion.v1.EnvironmentService/GetServerInfo HTTP/1.1\r\nhost: localhost\r\n{token}\
             content-type: application/grpc-web+proto\r\ncontent-length: 5\r\nconnection: close\r\n\r\n"
        );
        let answer = process.http(&[request.as_bytes(), &[0; 5]].concat());
        String::from_utf8_lossy(&answer).into_owned()
    };
    assert!(call("").contains("grpc-status: 16"), "UNAUTHENTICATED");
    assert!(call("authorization: Bearer open sesame\r\n").contains("grpc-status:0"));
    assert_eq!(ask(&process, "GET", "/training", "").status, "HTTP/1.1 401 Unauthorized");
    let known = ask(&process, "GET", "/training", "authorization: Bearer open sesame\r\n");
    assert_eq!(known.status, "HTTP/1.1 204 No Content", "no training runs in this process");
}

#[test]
fn a_server_can_do_without_it() {
    let process = Process::start(&["--no-page"]);
    for (path, ..) in FILES.into_iter().chain([("/training", "", ""), ("/README.html", "", "")]) {
        assert_eq!(ask(&process, "GET", path, "").status, "HTTP/1.1 404 Not Found", "{path}");
    }
    assert!(ask(&process, "GET", "/metrics", "").text().contains("tetrion_"));
}

#[test]
fn pieces_have_the_colours_of_pictures() {
    let script = String::from_utf8(file("src/server/page/page.js")).unwrap();
    for scheme in [ColourScheme::Usual, ColourScheme::ColourBlind] {
        let colours = Tetromino::ALL.into_iter().map(|tetromino| {
            let [red, green, blue] = scheme.rgb(Ink::Body(tetromino.into()));
            format!("\"#{red:02x}{green:02x}{blue:02x}\"")
        });
        let colours = colours.collect::<Vec<String>>().join(",");
        assert!(script.contains(&colours), "the page has other colours than {scheme:?}: {colours}");
    }
}

#[test]
fn a_training_shows_its_curve() {
    shows_its_curve("page", &[]);
}

/// The curve is that of the program that trains, wherever its games are played.
#[test]
fn a_training_on_servers_shows_its_curve() {
    let process = Process::start(&["--no-page"]);
    shows_its_curve("page_of_trainer", &["--server", &process.address.to_string()]);
}

fn shows_its_curve(test: &str, flags: &[&str]) {
    let folder = empty_folder(test);
    let mut training =
        crate::evaluate::tetrion(&["train", "--height", "8", "--generations", "200", "--population", "8"])
            .args(["--games", "1", "--check-games", "2", "--max-pieces", "200", "--seed", "5", "--out"])
            .arg(&folder)
            .args(flags)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    let mut stderr = std::io::BufReader::new(training.stderr.take().unwrap());
    let address = loop {
        let mut line = String::new();
        assert!(std::io::BufRead::read_line(&mut stderr, &mut line).unwrap() > 0, "it says no address");
        if let Some(page) = line.trim_end().strip_prefix("its learning curve grows at http://") {
            break page.strip_suffix("/#training").unwrap().to_owned();
        }
    };
    std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    let began = Instant::now();
    let curve: Value = loop {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let request = format!("GET /training HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        let curve: Value = serde_json::from_str(body).unwrap();
        if curve["done"].as_u64().unwrap() >= 2 {
            break curve;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "two generations took too long: {curve}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let killed = Command::new("kill").args(["-INT", &training.id().to_string()]).status().unwrap();
    assert!(killed.success());
    training.wait().unwrap();
    assert_eq!(curve["generations"], 200);
    assert_eq!(curve["y_label"], "lines per game");
    let done = curve["done"].as_u64().unwrap() as usize;
    // The same numbers as in the folder of the run.
    let kept = fs::read_to_string(folder.join("generations.jsonl")).unwrap();
    let kept: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let points = curve["lines"][0]["points"].as_array().unwrap();
    assert_eq!(points.len(), done);
    for (point, kept) in points.iter().zip(&kept) {
        let check = &kept["check"];
        let (low, high) = (&check["ci95_low"], &check["ci95_high"]);
        // No band goes below 0 lines.
        let low = low.as_f64().unwrap().max(0.0);
        let number = kept["generation"].as_f64().unwrap() + 1.0;
        assert_eq!(point, &serde_json::json!([number, check["mean"], low, high]));
    }
    for line in curve["lines"].as_array().unwrap() {
        let points = line["points"].as_array().unwrap();
        assert!(
            points.iter().all(|point| point.get(2).is_none_or(|low| low.as_f64().unwrap() >= 0.0)),
            "{line}"
        );
    }
    let weights = &curve["weights"];
    assert_eq!(weights["means"].as_array().unwrap().len(), done);
    assert_eq!(weights["means"][0], kept[0]["mean"]);
    assert_eq!(weights["deviations"][done - 1], kept[done - 1]["std"]);
    assert_eq!(weights["features"].as_array().unwrap().len(), kept[0]["mean"].as_array().unwrap().len());
}

#[test]
fn a_training_on_servers_says_where_their_pages_are() {
    let small = ["train", "--height", "6", "--generations", "1", "--population", "8", "--games", "1"];
    let few = ["--check-games", "2", "--final-games", "2", "--max-pieces", "100", "--server"];
    let said = |folder: &Path, servers: String| {
        let flags = [&small[..], &few, &[servers.as_str(), "--out"]].concat();
        let output = crate::evaluate::tetrion(&flags).arg(folder).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
        stderr
    };
    let (one, other, hidden) = (Process::start(&[]), Process::start(&[]), Process::start(&["--no-page"]));
    let text =
        said(&empty_folder("pages"), format!("{},{},http://{}", one.address, hidden.address, other.address));
    let expected = format!("pages of the servers: http://{}/, http://{}/\n", one.address, other.address);
    assert!(text.contains(&expected), "{text}");
    let text = said(&empty_folder("hidden"), hidden.address.to_string());
    assert!(!text.contains("the pages of"), "{text}");
}
