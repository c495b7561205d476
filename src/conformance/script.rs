//! The files of the kit: calls and expected answers as text.
//!
//! ```text
//! # Words for people; a blank line ends a case, with its sessions and names.
//! > CreateSession {"config": {"seeding": {"seed": "42"}}}
//! < {"session": {"name": "$session"}}
//! > Step {"session": "$session"}
//! ! {"code": "FAILED_PRECONDITION", "reason": "NOT_RESET"}
//! ```
//!
//! A line that starts with a blank continues the line before.

use serde_json::Value;

/// A file of the kit.
#[derive(Clone, Debug)]
pub struct Script {
    /// Name of the file without its ending.
    pub name: String,
    /// Groups of lines that depend on each other and on nothing else.
    pub cases: Vec<Vec<ScriptLine>>,
}

/// A line with the lines that continue it.
#[derive(Clone, Debug)]
pub struct ScriptLine {
    /// Number of the line in its file, from 1.
    pub number: usize,
    /// Number of lines that continue it.
    pub num_more: usize,
    pub step: ScriptStep,
}

/// The meaning of a line: a call, a further request, or an expected event.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptStep {
    /// `>` starts a call with its first request.
    Call {
        method: String,
        /// The first or only request of the call.
        request: Request,
    },
    /// `>>` sends a further request on the open stream.
    Send(Request),
    Expect(Expected),
}

/// The content of a request, valid or not.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    Message(Value),
    /// `hex` and bytes, for requests that are no messages.
    Bytes(Vec<u8>),
}

/// The event that must come next; the mark of a line selects its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// `<`: the answer of the call.
    Answer(Value),
    /// `!`: the failure of the call.
    Refusal(Value),
    /// `<<`: the next answer of the open stream.
    Next(Value),
    /// `!!`: the failure of the open stream.
    Break(Value),
    /// `<< end`: the end of the open stream, after which no more requests come.
    End,
}

/// A line that cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("conformance/{file}.txt:{line}: {problem}")]
pub struct ScriptError {
    file: String,
    line: usize,
    problem: String,
}

impl Script {
    /// Reads a file.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn parse(name: &str, text: &str) -> Result<Script, ScriptError> {
        let mut cases = vec![Vec::new()];
        let lines: Vec<&str> = text.lines().collect();
        let mut at = 0;
        while at < lines.len() {
            let num_more = lines[at + 1..].iter().take_while(|line| line.starts_with(' ')).count();
            let whole = lines[at..=at + num_more].join("\n");
            if whole.is_empty() {
                cases.push(Vec::new());
            } else if !whole.starts_with('#') {
                let error = |problem| ScriptError { file: name.to_owned(), line: at + 1, problem };
                let step = step(&whole).map_err(error)?;
                cases.last_mut().expect("one at least").push(ScriptLine { number: at + 1, num_more, step });
            }
            at += 1 + num_more;
        }
        cases.retain(|case| !case.is_empty());
        Ok(Script { name: name.to_owned(), cases })
    }
}

fn step(line: &str) -> Result<ScriptStep, String> {
    let (sign, rest) = line.split_once(' ').unwrap_or((line, ""));
    let step = match sign {
        ">" => {
            let (method, request) = rest.split_once(char::is_whitespace).unwrap_or((rest, "{}"));
            ScriptStep::Call { method: method.to_owned(), request: self::request(request)? }
        }
        ">>" => ScriptStep::Send(request(rest)?),
        "<" => ScriptStep::Expect(Expected::Answer(value(rest)?)),
        "!" => ScriptStep::Expect(Expected::Refusal(value(rest)?)),
        "<<" if rest == "end" => ScriptStep::Expect(Expected::End),
        "<<" => ScriptStep::Expect(Expected::Next(value(rest)?)),
        "!!" => ScriptStep::Expect(Expected::Break(value(rest)?)),
        _ => return Err(format!("{sign:?}, expected #, >, >>, <, <<, ! or !!")),
    };
    Ok(step)
}

fn request(text: &str) -> Result<Request, String> {
    let Some(hex) = text.strip_prefix("hex") else { return Ok(Request::Message(value(text)?)) };
    let byte = |digits: &[u8]| {
        std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok())
    };
    let bytes = hex.trim().as_bytes().chunks(2).map(byte).collect::<Option<_>>();
    bytes.map(Request::Bytes).ok_or_else(|| "hex, expected two digits per byte".to_owned())
}

/// Reads JSON. An empty text becomes `null`, which equals no answer.
fn value(text: &str) -> Result<Value, String> {
    if text.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}
