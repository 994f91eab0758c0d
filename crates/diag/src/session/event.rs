use alloc::string::String;
use alloc::vec::Vec;

use super::Step;
use crate::LogCode;
use crate::command::Refusal;

/// The session's progress, one event at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// No answer. Records may come all the same, and are used.
    Mute,
    /// No answer, but the port sends each request back: it is not a modem's Diag, but its AT
    /// commands.
    Echoes,
    /// The modem answers.
    Answers(Identity),
    /// The log mask is set. The modem's other output does not change.
    Ready {
        /// Log codes that are on.
        codes: usize,
        /// Log codes that the modem's ranges have no room for.
        missing: Vec<LogCode>,
        /// Equipments whose log mask does not change, because the modem does not report it.
        kept: Vec<u8>,
        /// Events that are on.
        events: u32,
        /// Subsystems whose messages are on.
        messages: u32,
    },
    /// A request was not answered, three times.
    Unanswered(Step),
    /// A request was refused.
    Refused {
        /// Which.
        step: Step,
        /// Why, in the modem's words.
        why: Reason,
    },
    /// More came than the budget allows, and these log codes were switched off.
    OverBudget {
        /// The received rate.
        bytes_per_sec: u64,
        /// The limit.
        budget_bytes_per_sec: u64,
        /// The codes that were switched off, most important first. Empty if log records are not
        /// the cause.
        off: Vec<LogCode>,
        /// The part that is no log record: messages and events that another program switched on.
        others_per_sec: u64,
    },
    /// The modem still has log masks of a killed session; those that it had found are restored at
    /// the end.
    Recalled,
    /// Another port is gone, so the log mask that an earlier session found there cannot be
    /// restored.
    Forgone {
        /// Its name.
        port: String,
    },
    /// The found masks cannot be saved for the next session: if this one is killed, the modem keeps
    /// the mask that it was given.
    Unkept {
        /// The reason.
        why: String,
    },
    /// The old log mask is restored.
    Restored,
    /// These codes stay on, because the modem did not tell its log mask before they were set.
    Stays {
        /// The codes.
        codes: Vec<LogCode>,
    },
    /// Another process reads the modem, and says this.
    Beside(Beside),
}

/// What the process that reads the modem tells a reader beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Beside {
    /// These of the wanted codes are not on.
    Lacks {
        /// They do not fit into that process's budget.
        budget: Vec<LogCode>,
        /// The modem has no room for them.
        unknown: Vec<LogCode>,
        /// That process does not set the log mask that they are in.
        kept: Vec<LogCode>,
    },
    /// So many records did not reach this reader, because it read too slowly.
    Lost {
        /// Since it was last told.
        records: u64,
    },
    /// The port closed, and that process waits for it.
    Closed,
    /// The port is open again.
    Reopened,
}

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// An answer that is an error.
    #[error(transparent)]
    Error(#[from] Refusal),
    /// Status of a log request: 1 invalid equipment, others not public.
    #[error("the modem answers with status {0}")]
    Status(u32),
}

/// The modem's identity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// When its software was compiled, as in `Apr  2 2015 21:45:40`.
    pub compiled: Option<String>,
    /// Its software, as in `MPSS.DI.2.0.1.c2-00062`.
    pub build: Option<String>,
    /// The Diag protocol version.
    pub protocol: Option<u16>,
}
