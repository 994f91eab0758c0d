//! Who is let in.

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use sounding_testdata::as_stranger;

use crate::rig::{Rig, command};

#[test]
fn a_token_is_asked_for_on_loopback_and_other_sites_are_refused() {
    let rig = Rig::usual();
    let (address, token) = (rig.address, rig.token());
    let status = |answer: String| answer.split(' ').nth(1).unwrap().to_owned();
    for path in ["/", "/feed", "/status.json", "/history.json", "/metrics", "/page.js", "/none"] {
        assert_eq!(status(rig.ask(path, "")), "401", "{path}");
    }
    assert!(rig.ask("/", "").contains("<form>"), "a browser is asked for it");
    assert_eq!(status(rig.ask("/", "Authorization: Bearer 0123456789abcdef\r\n")), "401");
    let bearer = rig.bearer();
    assert_eq!(status(rig.ask("/status.json", &bearer)), "200");
    assert_eq!(status(rig.ask(&format!("/status.json?token={token}"), "")), "200");
    let cookie = format!("Cookie: sounding-{}={token}\r\n", address.port());
    assert_eq!(status(rig.ask("/status.json", &cookie)), "200");
    for host in ["evil.example", "evil.example:80", "127.0.0.1", &format!("localhost:{}", 1)] {
        let request = format!("GET /status.json HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\n");
        assert_eq!(status(rig.send(&request)), "421", "{host}");
    }
    let local = format!("GET / HTTP/1.1\r\nHost: localhost:{}\r\n{bearer}\r\n", address.port());
    assert_eq!(status(rig.send(&local)), "200");
    for origin in ["http://evil.example", "null", "https://127.0.0.1"] {
        let lines = format!("{bearer}Origin: {origin}\r\n");
        assert_eq!(status(rig.ask("/status.json", &lines)), "403", "{origin}");
    }
    let own = format!("{bearer}Origin: http://{address}\r\n");
    assert_eq!(status(rig.ask("/status.json", &own)), "200");
    let post = format!("POST / HTTP/1.1\r\nHost: {address}\r\n{bearer}\r\n");
    assert_eq!(status(rig.send(&post)), "405");
}

#[test]
fn clients_without_the_token_cannot_take_the_place_of_one_that_has_it() {
    let rig = Rig::usual();
    for _ in 0..5 {
        let _held: Vec<TcpStream> =
            (0..100).map(|_| TcpStream::connect(rig.address).unwrap()).collect();
        assert!(rig.get("/metrics").contains("sounding_"));
    }
}

#[test]
fn another_user_cannot_read_the_token() {
    let rig = Rig::usual();
    let file = rig.token_file();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    for folder in file.ancestors().skip(1).take(2) {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    if let Some(error) = as_stranger(move || fs::read(file).err()) {
        let kind = error.map(|error| error.kind());
        assert_eq!(kind, Some(std::io::ErrorKind::PermissionDenied));
    }
}

#[test]
fn an_open_server_asks_for_no_token_and_makes_none() {
    let rig = Rig::new("open = true\nhosts = ['router.lan']", "");
    assert!(rig.ask("/", "").starts_with("HTTP/1.1 200 "));
    assert!(!rig.token_file().exists());
    let named = format!("GET / HTTP/1.1\r\nHost: router.lan:{}\r\n\r\n", rig.address.port());
    assert!(rig.send(&named).starts_with("HTTP/1.1 200 "));
    assert!(rig.send("GET / HTTP/1.1\r\nHost: evil.lan\r\n\r\n").starts_with("HTTP/1.1 421 "));
}

#[test]
fn the_file_names_what_is_wrong_with_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("modem.toml");
    for (section, why) in [
        ("address = 'localhost:80'", "serve.address"),
        ("address = '127.0.0.1'", "serve.address"),
        ("token = '/tmp/token'", "serve.address"),
        ("address = '127.0.0.1:80'\nopen = true\ntoken = '/tmp/token'", "serve.open"),
        ("address = '127.0.0.1:80'\nhosts = ['a:80']", "serve.hosts"),
        ("address = '127.0.0.1:80'\nopened = true", "unknown field"),
    ] {
        let text = format!("[modem]\ndevice = '-'\n[cc]\nlaw = 'none'\n[serve]\n{section}\n");
        fs::write(&file, text).unwrap();
        let output = command(folder.path())
            .args(["run", "--check-config", "--config"])
            .arg(&file)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(why), "{why}: {said}");
    }
    let printed = command(folder.path())
        .args(["run", "--device", "-", "--law", "none", "--serve", "[::1]:8080", "--print-config"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(said.contains("[serve]\naddress = \"[::1]:8080\""), "{said}");
}
