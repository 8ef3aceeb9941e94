//! The server of the shared cache: moto from PyPI, which speaks S3, in its own process, whose time is not counted.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;
use crate::fetch::{Store, succeed};

const VERSION: &str = "5.2.5";
const BUCKET: &str = "stan-facts";
/// Python and its libraries start slowly on a busy machine.
const MAX_START: Duration = Duration::from_secs(60);

/// Stopped on drop.
pub(super) struct Server {
    child: Child,
    port: u16,
}

impl Server {
    pub(super) fn start(store: &Store) -> Result<Self> {
        let program = install(store)?;
        // Another process may bind the port first; the server then fails to start, and the error is reported.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let server = Server { child, port };
        let started = Instant::now();
        while !server.make_bucket() {
            if started.elapsed() > MAX_START {
                return Err("moto does not answer".into());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(server)
    }

    fn make_bucket(&self) -> bool {
        let request = format!(
            "PUT /{BUCKET} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            self.port
        );
        let answer = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_read_timeout(Some(Duration::from_secs(10)))?;
            stream.write_all(request.as_bytes())?;
            let mut answer = String::new();
            stream.take(4096).read_to_string(&mut answer)?;
            Ok(answer)
        };
        answer().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
    }

    /// The value of `--cache-url` and its environment variables. A new `folder` is an empty cache.
    pub(super) fn place(&self, folder: &str, by_s3: bool) -> (String, Vec<(String, String)>) {
        let address = format!("http://127.0.0.1:{}", self.port);
        let variables: Vec<(&str, String)> = if by_s3 {
            vec![
                ("AWS_ACCESS_KEY_ID", "bench".to_owned()),
                ("AWS_SECRET_ACCESS_KEY", "bench".to_owned()),
                ("AWS_ENDPOINT_URL_S3", address.clone()),
            ]
        } else {
            // moto accepts any credential without checking it.
            let header =
                "AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
            vec![("STAN_CACHE_AUTHORIZATION", header.to_owned())]
        };
        let url = if by_s3 { format!("s3://{BUCKET}/{folder}") } else { format!("{address}/{BUCKET}/{folder}") };
        (url, variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Installs the server into its own virtual environment.
fn install(store: &Store) -> Result<PathBuf> {
    let folder = store.folder("moto");
    let program = folder.join("bin/moto_server");
    let marker = folder.join(".complete");
    if std::fs::read_to_string(&marker).is_ok_and(|text| text == VERSION) {
        return Ok(program);
    }
    eprintln!("fetch moto {VERSION}");
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    succeed(pip.arg(format!("moto[server]=={VERSION}")))?;
    std::fs::write(marker, VERSION)?;
    Ok(program)
}
