//! User ids that count as other users'.

use serde_json::json;
use sounding_bpf::BadLine;

use super::Events;
use crate::skipped::counted;

/// Lines that one event names.
const NAMED: usize = 8;

/// What was read of `/etc/subuid`.
#[derive(Debug)]
pub(in crate::run) struct Subids {
    /// Ranges of ids that count as their users.
    pub(in crate::run) ranges: usize,
    pub(in crate::run) left_out: Vec<BadLine>,
    /// Why what was known before goes on to count.
    pub(in crate::run) failed: Option<String>,
}

impl Events {
    /// Which ids of users count as other users'.
    pub(in crate::run) fn subordinates(&mut self, found: &Subids) {
        let named = found.left_out.iter().take(NAMED);
        let named: Vec<_> =
            named.map(|bad| json!({ "line": bad.line, "reason": bad.why })).collect();
        let event = json!({
            "event": "subordinates",
            "ranges": found.ranges,
            "lines_left_out": found.left_out.len(),
            "left_out": named,
            "failed": found.failed,
        });
        self.say(&event, || match (&found.failed, &found.left_out[..]) {
            (Some(why), _) => Some(format!("user ids of /etc/subuid count as before: {why}")),
            (None, []) => None,
            (None, [first, ..]) => Some(format!(
                "/etc/subuid: line {} is left out: {}; {} left out in all",
                first.line,
                first.why,
                counted(found.left_out.len() as u64, "line", "lines")
            )),
        });
    }
}
