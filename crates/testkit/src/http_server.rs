//! A loopback server that stores values by GET and PUT, and misbehaves as configured. For tests of the shared cache.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How to answer a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Correctly.
    Right,
    Status(u16),
    /// With a redirect to this address.
    Redirect(String),
    /// Close the connection without an answer.
    Close,
    /// With bytes that are not HTTP.
    Garbage,
    /// With one bit of the value flipped.
    BitFlip(usize),
    /// With a truncated value, but the length of the whole.
    Truncated,
    /// With a truncated value and its actual length.
    Short,
    /// With the value of another name.
    Other,
    /// With an enormous declared length, sending until the client closes.
    Huge,
    Empty,
    /// With endless headers.
    LongHeader,
    /// Correctly, but after a delay.
    Slow(Duration),
}

/// A request as the server received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRequest {
    pub method: String,
    pub path: String,
    pub authorization: Option<String>,
}

type Plan = Box<dyn FnMut(&ServedRequest) -> Reply + Send>;

struct ServerState {
    values: Mutex<BTreeMap<String, Vec<u8>>>,
    requests: Mutex<Vec<ServedRequest>>,
    plan: Mutex<Plan>,
    stopped: AtomicBool,
}

/// A running server, which stops when it is dropped.
pub struct HttpServer {
    address: SocketAddr,
    state: Arc<ServerState>,
    thread: Option<JoinHandle<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HttpServer {
    /// Starts a server on a free port.
    ///
    /// # Panics
    /// If there is no loopback interface.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let state = Arc::new(ServerState {
            values: Mutex::default(),
            requests: Mutex::default(),
            plan: Mutex::new(Box::new(|_| Reply::Right)),
            stopped: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.stopped.load(Ordering::Relaxed) {
                    break;
                }
                let state = Arc::clone(&shared);
                if let Ok(stream) = stream {
                    std::thread::spawn(move || serve(&state, stream));
                }
            }
        });
        Self { address, state, thread: Some(thread) }
    }

    /// The base address of values.
    pub fn url(&self) -> String {
        format!("http://{}/cache", self.address)
    }

    /// Sets the function that decides how to answer further requests.
    pub fn plan(&self, plan: impl FnMut(&ServedRequest) -> Reply + Send + 'static) {
        *lock(&self.state.plan) = Box::new(plan);
    }

    /// Returns all requests so far and clears the list.
    pub fn take_requests(&self) -> Vec<ServedRequest> {
        std::mem::take(&mut *lock(&self.state.requests))
    }

    /// The stored values by path.
    pub fn values(&self) -> BTreeMap<String, Vec<u8>> {
        lock(&self.state.values).clone()
    }

    pub fn set_values(&self, values: BTreeMap<String, Vec<u8>>) {
        *lock(&self.state.values) = values;
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::Relaxed);
        // Wakes up the thread that waits in `accept`.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves one connection until it is closed or an answer is not `Right`.
fn serve(state: &ServerState, stream: TcpStream) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
    let Ok(mut writer) = stream.try_clone() else { return };
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    while let Some((request, body)) = read_request(&mut reader) {
        lock(&state.requests).push(request.clone());
        let reply = (lock(&state.plan))(&request);
        if !answer(state, &mut writer, &request, body, reply) {
            break;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<(ServedRequest, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut request = ServedRequest { method, path, authorization: None };
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => request.authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body).ok()?;
    Some((request, body))
}

/// Sends an answer. Returns whether the connection stays open.
fn answer(state: &ServerState, out: &mut TcpStream, request: &ServedRequest, body: Vec<u8>, reply: Reply) -> bool {
    if let Reply::Slow(time) = reply {
        std::thread::sleep(time);
        return answer(state, out, request, body, Reply::Right);
    }
    if request.method == "PUT" && matches!(reply, Reply::Right) {
        lock(&state.values).insert(request.path.clone(), body);
        return send(out, "201 Created", b"");
    }
    let value = lock(&state.values).get(&request.path).cloned();
    match (reply, value) {
        (Reply::Right, Some(value)) => send(out, "200 OK", &value),
        (Reply::Right, None) => send(out, "404 Not Found", b""),
        (Reply::Status(status), _) => send(out, &format!("{status} Whatever"), b"no"),
        (Reply::Redirect(to), _) => {
            let _ = write!(out, "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
            false
        }
        (Reply::Garbage, _) => {
            let _ = out.write_all(b"\0\xff SSH-2.0 nonsense\r\n\r\n");
            false
        }
        (Reply::BitFlip(at), Some(mut value)) => {
            let length = value.len().max(1);
            if let Some(byte) = value.get_mut(at / 8 % length) {
                *byte ^= 1 << (at % 8);
            }
            send(out, "200 OK", &value)
        }
        (Reply::Truncated, Some(value)) => {
            let _ = write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", value.len());
            let _ = out.write_all(value.get(..value.len() / 2).unwrap_or_default());
            false
        }
        (Reply::Short, Some(value)) => send(out, "200 OK", value.get(..value.len() / 2).unwrap_or_default()),
        (Reply::Other, _) => {
            let other = lock(&state.values).iter().find(|(path, _)| **path != request.path).map(|(_, v)| v.clone());
            send(out, "200 OK", &other.unwrap_or_default())
        }
        (Reply::Huge, _) => {
            let _ = write!(out, "HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n");
            let piece = vec![7; 1 << 20];
            while out.write_all(&piece).is_ok() && !state.stopped.load(Ordering::Relaxed) {}
            false
        }
        (Reply::LongHeader, _) => {
            let _ = out.write_all(b"HTTP/1.1 200 OK\r\n");
            let line = format!("X-Filler: {}\r\n", "x".repeat(8000));
            while out.write_all(line.as_bytes()).is_ok() && !state.stopped.load(Ordering::Relaxed) {}
            false
        }
        (Reply::Empty, _) => send(out, "200 OK", b""),
        _ => false,
    }
}

fn send(out: &mut TcpStream, status: &str, body: &[u8]) -> bool {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
    out.write_all(&[head.as_bytes(), body].concat()).is_ok()
}
