//! Makes what the page at `/` serves: its files, the documents as HTML, and the pictures in these. It compresses all, as
//! most browsers want them, and writes their table, which `page.rs` includes.
//!
//! Links lead to the documents, from the list of all: a file that no document links to is not served. A document keeps
//! its path in the project, with `.html` instead of `.md`. A link to anything else in the project becomes plain text.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, error::Error, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// The document that lists all others.
const LIST: &str = "docs/README.md";

/// Kinds of files, by the endings of their names.
const KINDS: [(&str, &str); 6] = [
    (".html", "text/html; charset=utf-8"),
    (".js", "text/javascript; charset=utf-8"),
    (".css", "text/css; charset=utf-8"),
    (".svg", "image/svg+xml"),
    (".png", "image/png"),
    (".gif", "image/gif"),
];

/// What is written differently in documents. The security policy forbids styles in markup; what is too wide scrolls, also
/// with the keyboard.
const MARKUP: [(&str, &str); 4] = [
    (" style=\"text-align: right\"", " class=\"right\""),
    ("<table>", "<div class=\"scroll\" tabindex=\"0\"><table>"),
    ("</table>", "</table></div>"),
    ("<pre>", "<pre tabindex=\"0\">"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=page");
    let mut files = BTreeMap::new();
    for entry in fs::read_dir("page")? {
        let path = entry?.path();
        let name = path.file_name().ok_or("a file without a name")?.to_string_lossy().into_owned();
        files.insert(name, fs::read(&path)?);
    }
    let shell = String::from_utf8(files["index.html"].clone())?;
    let mut found = vec![LIST.to_owned()];
    let mut num_read = 0;
    while let Some(name) = found.get(num_read).cloned() {
        num_read += 1;
        let path = format!("../../{name}");
        println!("cargo:rerun-if-changed={path}");
        let mut bytes = fs::read(path).map_err(|error| format!("{name}: {error}"))?;
        if name.ends_with(".md") {
            let (title, content) = rendered(&name, &String::from_utf8(bytes)?, &mut found);
            bytes = document(&shell, &title, &content)?.into_bytes();
        }
        files.insert(served_name(&name), bytes);
    }
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut table = String::from("vec![\n");
    for (name, bytes) in files {
        let path = out.join(name.clone() + ".gz");
        fs::create_dir_all(path.parent().ok_or("a file without a folder")?)?;
        let mut gzip = GzEncoder::new(fs::File::create(path)?, Compression::best());
        gzip.write_all(&bytes)?;
        gzip.finish()?;
        let path = if name == "index.html" { "" } else { &name };
        let kind = KINDS.iter().find(|(ending, _)| name.ends_with(ending));
        let (_, kind) = kind.ok_or_else(|| format!("{name} has no content type"))?;
        table += &format!("asset!(\"/{path}\", \"{name}\", \"{kind}\"),\n");
    }
    Ok(fs::write(out.join("assets.rs"), table + "]")?)
}

/// The path at which a document or a picture is served.
fn served_name(name: &str) -> String {
    name.strip_suffix(".md").map_or_else(|| name.to_owned(), |name| format!("{name}.html"))
}

/// The title of a document and its HTML. Adds the files to which it leads.
fn rendered(name: &str, text: &str, found: &mut Vec<String>) -> (String, String) {
    let mut events: Vec<Event> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let mut headings = Vec::new();
    for at in 0..events.len() {
        let (event, rest) = events[at..].split_first_mut().expect("an event");
        if let Event::Start(Tag::Heading { id, .. }) = event {
            let inside = rest.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
            let words = inside.filter_map(|event| match event {
                Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
                _ => None,
            });
            let heading: String = words.collect();
            let num_equal = headings.iter().filter(|other| **other == heading).count();
            *id = Some(anchor(&heading, num_equal).into());
            headings.push(heading);
        }
    }
    let mut is_kept = Vec::new();
    let events = events.into_iter().filter_map(|mut event| match &mut event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            let target = target(name, dest_url, found);
            is_kept.push(target.is_some());
            *dest_url = target?.into();
            Some(event)
        }
        Event::End(TagEnd::Link | TagEnd::Image) => is_kept.pop()?.then_some(event),
        _ => Some(event),
    });
    let mut html = String::new();
    html::push_html(&mut html, events);
    let html = MARKUP.iter().fold(html, |html, (from, to)| html.replace(from, to));
    (headings.into_iter().next().unwrap_or_else(|| name.to_owned()), html)
}

/// The anchor of a heading, as GitHub makes it after so many equal headings.
fn anchor(heading: &str, num_equal: usize) -> String {
    let words = heading.to_lowercase().replace(' ', "-");
    let words: String = words.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
    if num_equal == 0 { words } else { format!("{words}-{num_equal}") }
}

/// Where a link of a document leads, on this server or elsewhere. None if the file is not served.
fn target(document: &str, link: &str, found: &mut Vec<String>) -> Option<String> {
    if link.starts_with('#') || link.contains("://") {
        return Some(link.to_owned());
    }
    let (file, anchor) = link.split_at(link.find('#').unwrap_or(link.len()));
    let mut path = Path::new(document).parent()?.to_path_buf();
    for part in file.split('/') {
        if part == ".." {
            path.pop();
        } else {
            path.push(part);
        }
    }
    let name = path.to_str()?.replace('\\', "/");
    if ![".md", ".svg", ".png", ".gif"].iter().any(|ending| name.ends_with(ending)) {
        return None;
    }
    let target = format!("/{}{anchor}", served_name(&name));
    if !found.contains(&name) {
        found.push(name);
    }
    Some(target)
}

/// A document in the frame of the page.
fn document(shell: &str, title: &str, content: &str) -> Result<String, String> {
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    let (head, rest) = shell.split_once("<noscript>").ok_or("index.html has no <noscript>")?;
    let (_, foot) = rest.split_once("</noscript>").ok_or("index.html has no </noscript>")?;
    let list = served_name(LIST);
    let changes = [
        ("<title>", format!("<title>{title} · ")),
        ("<script type=\"module\" src=\"/page.js\">", "<script src=\"/document.js\">".to_owned()),
        ("href=\"#home\"", "href=\"/\"".to_owned()),
        (
            "<nav id=\"views\" aria-label=\"Views\">",
            format!("<nav aria-label=\"Documents\"><a href=\"/{list}\">All documents</a>"),
        ),
    ];
    let mut page = format!("{head}<article class=\"card document\">\n{content}</article>{foot}");
    for (from, to) in changes {
        if !page.contains(from) {
            return Err(format!("index.html has no {from}"));
        }
        page = page.replacen(from, &to, 1);
    }
    Ok(page)
}
