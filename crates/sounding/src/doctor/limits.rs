//! Resource limits of this process. Their errors look like other problems.

use std::fs::File;
use std::io;
use std::thread;

use super::{Check, check};

/// An emulation of a few devices opens about half as many. Chosen.
const DESCRIPTORS: usize = 64;

/// Whether the limits allow the files and processes of a verb. If not, later checks may fail for
/// this reason.
pub(super) fn checks() -> [Check; 2] {
    [
        limit("descriptors", descriptors(), "more files can be opened"),
        limit("processes", thread(), "more processes can be started"),
    ]
}

fn limit(name: &str, tried: io::Result<()>, good: &str) -> Check {
    let cure = cure_of(&tried, "`ulimit -a` lists the limits of this process");
    let found = tried.map(|()| good.into()).map_err(|error| error.to_string());
    check("machine", name, found, &cure)
}

fn descriptors() -> io::Result<()> {
    let open = |_| File::open("/dev/null");
    (0..DESCRIPTORS).map(open).collect::<io::Result<Vec<File>>>().map(drop)
}

fn thread() -> io::Result<()> {
    // One that ends at once.
    thread::Builder::new().spawn(|| {}).map(|thread| drop(thread.join()))
}

/// Whether an error means an exhausted resource rather than a fault of the request.
pub(super) fn is_one(error: &io::Error) -> bool {
    advice(error).is_some()
}

/// The cure of an error: that of the limit if the limit is the cause, else the usual one.
pub(super) fn cure(error: &io::Error, usual: &str) -> String {
    advice(error).unwrap_or(usual).into()
}

/// The same for an outcome that may be a success.
pub(super) fn cure_of<T>(outcome: &io::Result<T>, usual: &str) -> String {
    outcome.as_ref().map_or_else(|error| cure(error, usual), |_| String::new())
}

fn advice(error: &io::Error) -> Option<&'static str> {
    match error.raw_os_error()? {
        libc::EMFILE => Some(
            "this process may open no more files: raise `ulimit -n`, in a unit of systemd LimitNOFILE=",
        ),
        libc::ENFILE => {
            Some("the machine has no room for more open files: end programs, or raise fs.file-max")
        }
        libc::EAGAIN => Some(
            "this user may start no more processes: raise `ulimit -u`, in a unit of systemd LimitNPROC= and TasksMax=",
        ),
        libc::ENOMEM => Some("the machine has no memory left: end programs"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_out_is_named_and_what_does_not_keeps_its_cure() {
        let cure = |code| cure(&io::Error::from_raw_os_error(code), "usual");
        assert!(cure(libc::EMFILE).contains("ulimit -n"));
        assert!(cure(libc::EAGAIN).contains("ulimit -u"));
        assert_eq!(cure(libc::EACCES), "usual");
        assert_eq!(cure_of(&Ok(()), "usual"), "");
    }

    #[test]
    fn here_is_room() {
        assert!(checks().iter().all(|check| check.ok));
    }
}
