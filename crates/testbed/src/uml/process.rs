//! The process that is a guest: its command, its console, and its end.

use std::io::{self, BufRead, BufReader, Read};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use sounding_emu::Netns;
use sounding_host::tool;

use super::Image;
use crate::cpu::{last_processor, stay_on};

/// Memory of a guest in MiB.
const MEMORY: u32 = 192;

/// The listener of the guest, on a device that carries commands only.
pub(super) const PORT: u16 = 1023;
pub(super) const GUEST: Ipv4Addr = Ipv4Addr::new(10, 254, 0, 2);

/// What a router needs of the kernel, in the order of loading.
const MODULES: [&str; 6] = [
    "net/sched/sch_cake",
    "net/sched/sch_fq_codel",
    "drivers/net/ifb",
    "net/sched/sch_ingress",
    "net/sched/cls_matchall",
    "net/sched/act_mirred",
];

/// The guest's first process.
const INIT: &str = include_str!("init.sh");

/// Makes room for the guest's files that goes with its processes, and becomes its kernel.
const START: &str = r#"mount -t tmpfs -o mode=700 tmpfs /run && printf %s "$1" >/run/init &&
chmod 700 /run/init && preload=$2 && shift 2 &&
LD_PRELOAD=$preload TMPDIR=/run HOME=/run exec "$@""#;

/// The name of a device's other end while the guest makes it.
pub(super) fn tap(number: usize) -> String {
    format!("uml{number}")
}

/// The command that becomes the guest's kernel.
pub(super) fn command(
    image: &Image,
    devices: &[Ipv4Addr],
    route: Ipv4Addr,
    control: &Netns,
) -> Command {
    let mut command = control.command(tool("sh"));
    command.args(["-c", START, "sh", INIT]).arg(image.preload()).arg(image.kernel());
    command.args(["rootfstype=hostfs", "rootflags=/", "ro", "init=/run/init", "uml_dir=/run/"]);
    command.args(["con0=null,fd:1", "con=null", "ssl=null"]).arg(format!("mem={MEMORY}M"));
    // The guest's first process opens them by their places: the one for commands last.
    for number in 0..=devices.len() {
        let place = if number == 0 { devices.len() } else { number - 1 };
        let tap = tap(number);
        command.arg(format!("vec{place}:transport=tap,ifname={tap},depth=128,gro=0"));
    }
    let addresses = devices.iter().copied().chain([GUEST]);
    let addresses = addresses.map(|address| format!("{address}/24")).collect::<Vec<_>>();
    let modules = MODULES.map(|name| image.module(name).display().to_string());
    let shown = |path: PathBuf| path.display().to_string();
    for (name, value) in [
        ("busybox", shown(image.busybox())),
        ("path", shown(image.tools())),
        ("modules", modules.join(",")),
        ("addresses", addresses.join(",")),
        ("route", route.to_string()),
        ("port", PORT.to_string()),
    ] {
        command.arg(format!("sounding_{name}={value}"));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Starts the guest on one processor, and waits for its end, or for the word to end it.
pub(super) fn keep(
    mut command: Command,
    console: &Arc<Mutex<String>>,
    told: &Sender<io::Result<u32>>,
    stopped: &Receiver<()>,
    end: &Sender<()>,
) {
    // Its kernel switches between its processes by ptrace. From one processor to another, a switch
    // takes so long that a program in bash is seconds late. The guest inherits this thread's.
    if let Some(processor) = last_processor() {
        stay_on(processor);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let _ = told.send(Err(error));
            return;
        }
    };
    let reader = child.stdout.take().map(|output| {
        let console = console.clone();
        thread::Builder::new().name("guest-console".into()).spawn(move || note(output, &console))
    });
    let _ = told.send(Ok(child.id()));
    while matches!(stopped.recv_timeout(Duration::from_millis(50)), Err(e) if e == mpsc::RecvTimeoutError::Timeout)
    {
        if has_ended(&mut child) {
            break;
        }
    }
    // The first process of the namespace dies with this one, and all others with the first.
    let _ = child.kill();
    let _ = child.wait();
    let _ = end.send(());
    // Without a reader the guest has no console that is kept.
    if let Some(Ok(reader)) = reader {
        let _ = reader.join();
    }
}

fn has_ended(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

/// Keeps the end of the console.
fn note(output: impl Read, console: &Mutex<String>) {
    const KEPT: usize = 40;
    for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
        let mut console = console.lock().unwrap_or_else(PoisonError::into_inner);
        console.push_str(String::from_utf8_lossy(&line).trim_end());
        console.push('\n');
        let lines = console.lines().count();
        if lines > KEPT {
            *console = console.lines().skip(lines - KEPT).map(|line| format!("{line}\n")).collect();
        }
    }
}
