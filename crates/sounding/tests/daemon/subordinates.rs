//! A user that has thousands of user numbers, as /etc/subuid gives them to users for their
//! containers: in a user namespace, and outside of it by files with the set-user-id bit.

use std::io::{self, BufRead as _, BufReader};
use std::net::{SocketAddrV4, TcpListener};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value as Json;
use sounding_bpf::{Sharing, Subordinates};
use sounding_testdata::{Running, steadily};
use sounding_units::Rate;

use crate::rig::skipped;
use crate::sharing::{LINK, Scene};
use crate::users::{STRANGER, UsersFlow};

/// Numbers that no machine assigns.
const FIRST: u32 = 1_900_000_000;
const NUMBERS: u32 = 40;
/// The rate that each flow really sends.
const NEXT_TO_NOTHING: u32 = 2_000;

fn checked(result: libc::c_long) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as libc::c_int) }
}

/// A user namespace made by the stranger, in which other numbers are its own too, and the process
/// that keeps it. `None`, with a reported skip, if users may make none.
fn namespace() -> Option<(OwnedFd, Running)> {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    let enter = || {
        let user = libc::c_long::from(STRANGER);
        // SAFETY: plain system calls on integers.
        checked(unsafe { libc::syscall(libc::SYS_setresuid, user, user, user) })?;
        // SAFETY: the same.
        checked(unsafe { libc::syscall(libc::SYS_unshare, libc::CLONE_NEWUSER) })?;
        Ok(())
    };
    // SAFETY: system calls alone, after the fork.
    unsafe { command.pre_exec(enter) };
    let holder = match command.spawn() {
        Ok(child) => Running(child),
        Err(error) => {
            sounding_testdata::skip(
                sounding_testdata::Need::Kernel,
                format_args!("no user namespaces here: {error}"),
            );
            return None;
        }
    };
    let folder = format!("/proc/{}", holder.0.id());
    // The privilege of newuidmap(1), which any such user may run.
    fs::write(format!("{folder}/uid_map"), format!("0 {STRANGER} 1\n1 {FIRST} {NUMBERS}\n"))
        .expect("a map of numbers");
    let file = fs::File::open(format!("{folder}/ns/user")).expect("a namespace");
    Some((file.into(), holder))
}

/// A flow of one of the numbers, that asks for all it can get.
fn flow(scene: &Scene, namespace: &OwnedFd, number: u32) -> (Running, std::net::TcpStream) {
    let far = scene.emulation.far_address();
    let listener = scene.emulation.far().enter(|| TcpListener::bind((far, 0)));
    let listener = listener.expect("the namespace is there").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*SocketAddrV4::new(far, port).ip()).to_be() },
        sin_zero: [0; 8],
    };
    let name: Vec<u8> = scene.instance.name().into();
    let namespace = namespace.as_raw_fd();
    let connect = move || {
        let number = libc::c_long::from(number);
        // SAFETY: system calls on integers, and on values that live through them, with their sizes.
        unsafe {
            checked(libc::setns(namespace, libc::CLONE_NEWUSER).into())?;
            checked(libc::syscall(libc::SYS_setresuid, number, number, number))?;
            let socket = checked(libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0).into())?;
            let option = |level, option, value: *const libc::c_void, len: usize| {
                checked(
                    libc::setsockopt(socket, level, option, value, len as libc::socklen_t).into(),
                )
            };
            let most = NEXT_TO_NOTHING;
            option(
                libc::SOL_SOCKET,
                libc::SO_MAX_PACING_RATE,
                (&raw const most).cast(),
                size_of_val(&most),
            )?;
            option(libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_ptr().cast(), name.len())?;
            let len = size_of_val(&address) as libc::socklen_t;
            checked(libc::connect(socket, (&raw const address).cast(), len).into())?;
            checked(libc::dup2(socket, 1).into())?;
        }
        Ok(())
    };
    let mut command = Command::new("cat");
    command.arg("/dev/zero").stdin(Stdio::null()).stderr(Stdio::null());
    scene.emulation.near().bring_in(&mut command);
    // SAFETY: system calls alone, after the fork.
    unsafe { command.pre_exec(connect) };
    let child = Running(command.spawn().expect("it connects"));
    // Data stays in the buffer, which has space for more than comes.
    let (sink, _) = listener.accept().expect("somebody connected");
    (child, sink)
}

#[test]
fn a_user_gains_nothing_by_the_numbers_that_it_has_in_a_user_namespace() {
    steadily(|| {
        let Some(scene) = Scene::new("subs", Sharing::default()) else { return };
        let Some((namespace, _holder)) = namespace() else { return };
        let bulk = scene.upload();
        let crowd: Vec<_> = (1..=NUMBERS).map(|number| flow(&scene, &namespace, number)).collect();
        thread::sleep(Duration::from_secs(2));
        let shares: Vec<Rate> = (0..200)
            .map(|_| {
                thread::sleep(Duration::from_millis(10));
                scene.flow(&bulk).share
            })
            .collect();
        let seen = scene.flow(&bulk).flows;
        drop(crowd);
        let least = shares.iter().min().expect("some");
        println!("a part of {least} at least beside {seen} flows of {NUMBERS} numbers");
        assert!(seen > NUMBERS, "{seen} flows");
        assert!(*least >= LINK.scaled(1, 2), "{least}");
        bulk.stop().expect("it ends in good order");
    });
}

/// The least part of a bulk flow beside a crowd of other users' flows, each of another number.
fn part_beside_a_crowd(scene: &Scene) -> Rate {
    let slow = Rate::from_bytes_per_sec(NEXT_TO_NOTHING.into());
    let bulk = scene.upload();
    let crowd: Vec<_> = (0..CROWD)
        .map(|at| UsersFlow::idling(&scene.emulation, FIRST + at, scene.instance.name(), slow))
        .collect();
    thread::sleep(Duration::from_secs(2));
    let share = || {
        thread::sleep(Duration::from_millis(10));
        scene.flow(&bulk).share
    };
    let least = std::iter::repeat_with(share).take(100).min().expect("some");
    let seen = scene.flow(&bulk).flows;
    drop(crowd);
    bulk.stop().expect("it ends in good order");
    println!("a part of {least} at least beside {seen} flows");
    assert!(seen > CROWD, "{seen} flows");
    least
}

const CROWD: u32 = 60;

#[test]
fn a_user_gains_nothing_by_the_numbers_that_it_has_outside_of_a_namespace() {
    steadily(|| {
        let Some(scene) = Scene::new("subid", Sharing::default()) else { return };
        // As of sixty users that have nothing to do with each other.
        assert!(part_beside_a_crowd(&scene) <= LINK.scaled(1, 30));
        drop(scene);
        let Some(scene) = Scene::new("subid", Sharing::default()) else { return };
        let text = format!("{STRANGER}:{FIRST}:65536\n");
        let (ids, bad) = Subordinates::parse(text.as_bytes(), b"", |_| None);
        assert_eq!((ids.ranges(), bad.len()), (1, 0));
        let mut map = scene.instance.subordinates().expect("a map");
        map.set(&ids).expect("it is written");
        assert!(part_beside_a_crowd(&scene) >= LINK.scaled(1, 2));
    });
}

#[test]
fn a_daemon_reads_etc_subuid_at_its_start_and_when_it_changes() {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    fs::copy("/etc/passwd", place("passwd")).expect("it is there");
    fs::write(place("subuid"), "root:1900000000:65536\nroot:1\n").expect("room");
    // No other process sees this /etc.
    let script = format!(
        "mount --bind {} /etc && exec \"$0\" run --peers --json --name {}_su",
        folder.path().display(),
        std::process::id() % 1_000_000
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", &script, env!("CARGO_BIN_EXE_sounding")]);
    let mut daemon = Running(command.stdout(Stdio::piped()).spawn().expect("it starts"));
    let lines = BufReader::new(daemon.stdout.take().expect("asked for")).lines();
    let (said, events) = mpsc::channel();
    thread::spawn(move || {
        let events = lines.map_while(Result::ok).map(|line| serde_json::from_str::<Json>(&line));
        events.map(|event| event.expect("JSON")).try_for_each(|event| said.send(event))
    });
    let next = || loop {
        let event = events.recv_timeout(Duration::from_secs(20)).expect("it tells of the file");
        if event["event"] == "subordinates" {
            return event;
        }
    };
    let first = next();
    assert_eq!((&first["ranges"], &first["lines_left_out"]), (&1.into(), &1.into()), "{first}");
    assert_eq!(first["left_out"][0]["line"], 2, "{first}");
    fs::write(place("subuid"), "root:1900000000:65536\n7:1900065536:65536\n").expect("room");
    let second = next();
    assert_eq!((&second["ranges"], &second["failed"]), (&2.into(), &Json::Null), "{second}");
    kill(Pid::from_raw(daemon.0.id().cast_signed()), Signal::SIGINT).expect("it is there");
    assert!(daemon.0.wait().expect("it ended").success());
}
