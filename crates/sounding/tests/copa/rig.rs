//! What drills share.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use sounding_bpf::{CopaFlow, CopaFlows, copa_preflight};
use sounding_host::monotonic_now;
use sounding_testbed::flow::RunningTcp;
use sounding_testdata::may_emulate;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_sounding");

/// Whether this machine can run such a test, said where it cannot.
pub(crate) fn skipped() -> bool {
    let missing = copa_preflight("copa_test").into_iter().find(|check| !check.ok);
    if let Some(check) = &missing {
        let why = format_args!("{}: {}", check.name, check.detail);
        sounding_testdata::skip(sounding_testdata::Need::Kernel, why);
    }
    missing.is_some() || !may_emulate()
}

/// The socket of a flow that runs.
pub(crate) fn socket(flow: &RunningTcp) -> BorrowedFd<'_> {
    // SAFETY: the socket is open until the transfer is waited for, which takes the flow.
    unsafe { BorrowedFd::borrow_raw(flow.sender_socket()) }
}

/// What is kept of a flow.
pub(crate) fn state(flows: &CopaFlows, flow: &RunningTcp) -> Option<CopaFlow> {
    flows.flow(socket(flow))
}

pub(crate) fn sleep(span: Duration) {
    std::thread::sleep(span);
}

/// Waits until `found` has something, at most ten seconds.
pub(crate) fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let began = monotonic_now();
    while monotonic_now() - began < Duration::from_secs(10) {
        if let Some(value) = found() {
            return value;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("waited ten seconds for {what}");
}
