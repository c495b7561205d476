//! Plays the files of the kit, one call after the other.

use std::collections::VecDeque;
use std::fmt;

use prost_reflect::{MessageDescriptor, MethodDescriptor};
use serde_json::{Value, json};

use super::compare::{Mismatch, Names};
use super::script::{Expected, Request, Script, ScriptLine, ScriptStep};
use super::{form, order};
use tetrion_client::{RawCall, RawClient, RawFailure, code_name};

/// Most messages of an evaluation, reports of progress aside.
const MAX_MESSAGES: usize = 1000;
/// Most mebibytes of the answers to one call.
const MAX_MEBIBYTES: usize = 64;
/// Lost calls in a row after which the run stops.
const MAX_LOST: usize = 2;

/// A part of an answer that is not as expected.
#[derive(Clone, Debug)]
pub struct LineMismatch {
    /// Name of the file without its ending.
    pub file: String,
    /// Number of the line in its file, from 1.
    pub line: usize,
    /// The part and its values.
    pub mismatch: Mismatch,
}

impl fmt::Display for LineMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "conformance/{}.txt:{}: {}", self.file, self.line, self.mismatch)
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, Default)]
pub struct ConformanceReport {
    pub num_calls: usize,
    /// Lines that the transport cannot carry.
    pub num_skipped: usize,
    /// Everything that is not as expected, in the order of the files.
    pub differences: Vec<LineMismatch>,
}

/// What a server did where a line expects something.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerEvent {
    Message(Value),
    /// The status of a failed call.
    Refusal(Value),
    /// The end of a complete answer.
    End,
    /// Something that is no answer, in words.
    Wrong(String),
}

/// Plays these files. `has_streams` says whether the transport carries calls of many requests; `on_event` sees what came
/// for each line of a file, with the names of its case.
pub async fn run(
    client: &RawClient,
    scripts: &[Script],
    has_streams: bool,
    mut on_event: impl FnMut(&Script, &ScriptLine, &ServerEvent, &Names),
) -> ConformanceReport {
    let mut report = ConformanceReport::default();
    let mut num_lost = 0;
    for script in scripts {
        for lines in &script.cases {
            let mut case = CaseRun {
                client,
                script,
                has_streams,
                report: &mut report,
                names: Names::default(),
                sessions: Vec::new(),
                call: None,
                stream: None,
                is_lost: false,
            };
            case.play(lines, &mut on_event).await;
            num_lost = if case.is_lost { num_lost + 1 } else { 0 };
            if num_lost == MAX_LOST {
                let number = lines[0].number;
                let text = "not run, nor is the rest of the kit: the server does not answer";
                case.differs(number, Mismatch::note(text));
                return report;
            }
            case.end().await;
        }
    }
    report
}

/// The state of a case, whose calls share sessions and names.
struct CaseRun<'a> {
    client: &'a RawClient,
    script: &'a Script,
    has_streams: bool,
    report: &'a mut ConformanceReport,
    names: Names,
    /// Names of the sessions that the case has created.
    sessions: Vec<Value>,
    /// The last call that is not a stream.
    call: Option<Open>,
    /// The last stream, open or ended.
    stream: Option<Open>,
    /// Whether the connection is lost.
    is_lost: bool,
}

/// A call and the events that its lines have not compared yet.
struct Open {
    method: MethodDescriptor,
    /// Id that the call was made with.
    id: String,
    call: Option<RawCall>,
    /// Bytes of the messages that have come.
    num_bytes: usize,
    /// Events that have come and that no line has taken.
    events: VecDeque<ServerEvent>,
}

impl CaseRun<'_> {
    async fn play(
        &mut self,
        lines: &[ScriptLine],
        on_event: &mut impl FnMut(&Script, &ScriptLine, &ServerEvent, &Names),
    ) {
        for line in lines {
            let played = match &line.step {
                ScriptStep::Call { method, request } => self.call(line.number, method, request).await,
                ScriptStep::Send(request) => self.send(request),
                ScriptStep::Expect(expected) => match self.next(expected).await {
                    Ok(event) => {
                        self.check(line.number, expected, &event);
                        on_event(self.script, line, &event, &self.names);
                        if self.is_lost {
                            return;
                        }
                        Ok(())
                    }
                    Err(stop) => Err(stop),
                },
            };
            match played {
                Ok(()) => {}
                Err(Stop::Skipped) => {
                    self.report.num_skipped +=
                        lines.iter().filter(|other| other.number >= line.number).count();
                    return;
                }
                Err(Stop::Unplayable(problem)) => {
                    self.differs(line.number, Mismatch::note(format!("not run: {problem}")));
                    return;
                }
            }
        }
    }

    /// Deletes the sessions of the case.
    async fn end(mut self) {
        (self.call, self.stream) = (None, None);
        let Some(method) = form::methods().find(|method| method.name() == "DeleteSession") else { return };
        for name in std::mem::take(&mut self.sessions) {
            let request = json!({"name": name, "allowMissing": true});
            let Ok(message) = form::from_value(method.input(), &request) else { continue };
            let request = form::encode(&message).into();
            if let Ok(mut call) = self.client.call(&path(&method), "", request, false).await {
                let _ = call.next().await; // its end is not part of the kit
            }
        }
    }

    async fn call(&mut self, line: usize, name: &str, request: &Request) -> Result<(), Stop> {
        let unknown = || Stop::Unplayable(format!("the protocol has no call {name}"));
        let method = form::methods().find(|method| method.name() == name).ok_or_else(unknown)?;
        if method.is_client_streaming() && !self.has_streams {
            return Err(Stop::Skipped);
        }
        let bytes = self.bytes(&method.input(), request)?;
        self.report.num_calls += 1;
        let id = format!("conformance/{}.txt:{line}", self.script.name);
        let called = self.client.call(&path(&method), &id, bytes.into(), method.is_client_streaming()).await;
        let is_stream = method.is_client_streaming() || method.is_server_streaming();
        let mut open = Open { method, id, call: None, num_bytes: 0, events: VecDeque::new() };
        match called {
            Ok(call) => {
                if call.request_id.as_deref() != Some(&open.id) {
                    let found = call.request_id.as_deref().map(Value::from);
                    let expected = Value::from(&*open.id);
                    self.differs(
                        line,
                        Mismatch::new("metadata x-request-id", Some(&expected), found.as_ref()),
                    );
                }
                open.call = Some(call);
            }
            Err(failure) => {
                let event = self.failed(&open, &failure);
                open.events.push_back(event);
            }
        }
        *(if is_stream { &mut self.stream } else { &mut self.call }) = Some(open);
        Ok(())
    }

    fn send(&mut self, request: &Request) -> Result<(), Stop> {
        let Some(open) = &self.stream else { return Err(Stop::Unplayable("no stream is open".to_owned())) };
        let bytes = self.bytes(&open.method.input(), request)?;
        if let Some(call) = self.stream.as_mut().and_then(|open| open.call.as_mut()) {
            call.send(bytes.into());
        }
        Ok(())
    }

    /// The bytes of a request.
    fn bytes(&self, descriptor: &MessageDescriptor, request: &Request) -> Result<Vec<u8>, Stop> {
        match request {
            Request::Bytes(bytes) => Ok(bytes.clone()),
            Request::Message(value) => {
                let missing = |name| format!("no answer has given {name}");
                let value = self.names.resolve(value).map_err(|name| Stop::Unplayable(missing(name)))?;
                let message = form::from_value(descriptor.clone(), &value).map_err(Stop::Unplayable)?;
                Ok(form::encode(&message))
            }
        }
    }

    /// The event for a line.
    async fn next(&mut self, expected: &Expected) -> Result<ServerEvent, Stop> {
        let is_answer = matches!(expected, Expected::Answer(_) | Expected::Refusal(_));
        let open = if is_answer { self.call.take() } else { self.stream.take() };
        let Some(mut open) = open else { return Err(Stop::Unplayable("no call is open".to_owned())) };
        if *expected == Expected::End
            && let Some(call) = &mut open.call
        {
            call.finish();
        }
        if open.method.name() == "EvaluatePolicies" && open.call.is_some() {
            self.read_all(&mut open).await;
        }
        let event = match open.events.pop_front() {
            Some(event) => event,
            None => self.receive(&mut open).await,
        };
        if is_answer {
            let event = self.alone(&mut open, event).await;
            return Ok(event);
        }
        self.stream = Some(open);
        Ok(event)
    }

    /// The only answer of a call: one message and the end, or a failure.
    async fn alone(&mut self, open: &mut Open, event: ServerEvent) -> ServerEvent {
        let ServerEvent::Message(value) = event else { return event };
        if open.method.name() == "CreateSession" {
            self.sessions.push(value["session"]["name"].clone());
        }
        match self.receive(open).await {
            ServerEvent::End => ServerEvent::Message(value),
            ServerEvent::Refusal(refusal) => ServerEvent::Refusal(refusal),
            ServerEvent::Message(_) => ServerEvent::Wrong("more than one answer".to_owned()),
            ServerEvent::Wrong(problem) => ServerEvent::Wrong(problem),
        }
    }

    /// Reads all messages of an evaluation, without the progress between others, and puts them into one order.
    async fn read_all(&mut self, open: &mut Open) {
        let mut messages = Vec::new();
        let last = loop {
            match self.receive(open).await {
                ServerEvent::Message(value) => {
                    let is_between = messages.len() > 1 && value.get("summary").is_none();
                    messages.pop_if(|last| is_between && is_progress(last));
                    messages.push(value);
                }
                last => break last,
            }
            if messages.len() > MAX_MESSAGES {
                messages.pop();
                break ServerEvent::Wrong(format!("more than {MAX_MESSAGES} messages"));
            }
        };
        open.call = None;
        open.events.extend(order::ordered(messages).into_iter().map(ServerEvent::Message));
        open.events.push_back(last);
    }

    /// Waits for the next event of a call.
    async fn receive(&mut self, open: &mut Open) -> ServerEvent {
        let Some(call) = &mut open.call else { return ServerEvent::End };
        match call.next().await {
            Ok(Some(bytes)) => {
                open.num_bytes += bytes.len();
                if open.num_bytes > MAX_MEBIBYTES << 20 {
                    open.call = None;
                    return ServerEvent::Wrong(format!("more than {MAX_MEBIBYTES} MiB"));
                }
                let descriptor = open.method.output();
                let name = descriptor.name().to_owned();
                match form::decode(descriptor, &bytes).map(|message| form::to_value(&message)) {
                    Ok(Ok(value)) => ServerEvent::Message(of_call(&value, &open.id)),
                    Ok(Err(problem)) => {
                        ServerEvent::Wrong(format!("a {name} without a JSON form: {problem}"))
                    }
                    Err(_) => ServerEvent::Wrong(format!("bytes that are no {name}")),
                }
            }
            Ok(None) => ServerEvent::End,
            Err(failure) => {
                open.call = None;
                self.failed(open, &failure)
            }
        }
    }

    fn failed(&mut self, open: &Open, failure: &RawFailure) -> ServerEvent {
        self.is_lost |= failure.is_lost;
        let refusal = form::to_refusal(failure.code(), failure.details());
        let unreadable = |problem| json!({"code": code_name(failure.code()), "#details": problem});
        let mut refusal = refusal.unwrap_or_else(unreadable);
        if failure.details().is_empty() {
            refusal["#message"] = failure.message().into(); // for people only: our servers always give details
        } else if failure.message().is_empty() {
            refusal["#message"] = "no text for people".into();
        }
        ServerEvent::Refusal(with_id(refusal, &open.id))
    }

    /// Compares an event with the expected one.
    fn check(&mut self, line: usize, expected: &Expected, event: &ServerEvent) {
        let mismatches = match (expected, event) {
            (Expected::Answer(expected) | Expected::Next(expected), ServerEvent::Message(found))
            | (Expected::Refusal(expected) | Expected::Break(expected), ServerEvent::Refusal(found)) => {
                self.names.compare(expected, found)
            }
            (Expected::End, ServerEvent::End) => Vec::new(),
            (expected, event) => {
                let wanted = match expected {
                    Expected::Answer(_) | Expected::Next(_) => "an answer",
                    Expected::Refusal(_) | Expected::Break(_) => "a refusal",
                    Expected::End => "the end of the stream",
                };
                let found = match event {
                    ServerEvent::Message(value) => value.clone(),
                    ServerEvent::Refusal(value) => value.clone(),
                    ServerEvent::End => "the end of the stream".into(),
                    ServerEvent::Wrong(problem) => problem.as_str().into(),
                };
                vec![Mismatch::new("", Some(&wanted.into()), Some(&found))]
            }
        };
        for mismatch in mismatches {
            self.differs(line, mismatch);
        }
    }

    fn differs(&mut self, line: usize, mismatch: Mismatch) {
        self.report.differences.push(LineMismatch { file: self.script.name.clone(), line, mismatch });
    }
}

/// Why the rest of a case is not played.
enum Stop {
    /// The transport has no streams of requests.
    Skipped,
    /// A line cannot be played.
    Unplayable(String),
}

fn path(method: &MethodDescriptor) -> String {
    format!("/{}/{}", method.parent_service().full_name(), method.name())
}

/// Whether a message of an evaluation is a report of progress and nothing else.
fn is_progress(message: &Value) -> bool {
    message.as_object().is_some_and(|fields| fields.len() == 1 && fields.contains_key("progress"))
}

/// An answer whose error, if it is one, is of the call with this id.
fn of_call(value: &Value, id: &str) -> Value {
    let mut value = value.clone();
    if let Some(error) = value.get_mut("error") {
        *error = with_id(error.take(), id);
    }
    value
}

/// A refusal without the id of the call, which the server must repeat. An error of the transport has no id.
fn with_id(mut refusal: Value, id: &str) -> Value {
    if refusal["requestId"] == id {
        refusal.as_object_mut().map(|fields| fields.remove("requestId"));
    } else if refusal.get("reason").is_some() {
        refusal["requestId"] = format!("{} instead of {id:?}", refusal["requestId"]).into();
    }
    refusal
}
