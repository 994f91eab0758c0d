//! This program killed: the command goes on, its connections stay background, and nothing is left
//! behind in the end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::Duration;

use sounding_bpf::inventory::{self, Object};
use sounding_testdata::steadily;

use crate::rig::{Rig, cgroups, eventually, is_registered, skipped};

/// Connects, says its algorithm, and sends as long as its input is open; a line of input makes
/// another connection.
const PROGRAM: &str = "
import os, socket, sys, threading
def connect():
    s = socket.create_connection((os.environ['FAR'], int(os.environ['PORT'])))
    def send():
        try:
            while True: s.sendall(bytes(65536))
        except OSError: pass
    threading.Thread(target=send, daemon=True).start()
    print(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).split(b'\\0')[0].decode(), flush=True)
connect()
for line in sys.stdin: connect()
os._exit(0)
";

#[test]
fn a_killed_loader_leaves_the_flow_background_and_in_the_end_nothing() {
    if skipped() {
        return;
    }
    steadily(|| {
        let cgroups_before = cgroups();
        let rig = Rig::start();
        let mut child = rig
            .sounding()
            .args(["background", "--", "python3", "-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut read = || {
            let mut line = String::new();
            said.read_line(&mut line).unwrap();
            line.trim().to_owned()
        };
        let name = read();
        assert!(name.starts_with("bg_"), "{name}");
        let mut input = child.stdin.take().unwrap();
        let is_link = |object: &Object| matches!(object, Object::Link(_));
        let mut links = inventory::held_by(child.id());
        links.retain(is_link);
        assert_eq!(links.len(), 3, "the algorithm's, the cgroup's, and that of all traffic");
        child.kill().unwrap();
        child.wait().unwrap();
        // The flow goes on, and a new connection of the command is background too.
        std::thread::sleep(Duration::from_millis(300));
        let arrived = rig.received();
        eventually("data after the kill", || rig.received() > arrived + 500_000);
        writeln!(input).unwrap();
        assert_eq!(read(), name);
        assert!(cgroups().len() > cgroups_before.len(), "the check below would prove nothing");
        drop(input);
        eventually("the cgroup to go", || cgroups() == cgroups_before);
        eventually("the name to go", || !is_registered(&name));
        // Programs and maps go with the last of the sockets.
        eventually("the links to go", || inventory::alive().is_disjoint(&links));
    });
}
