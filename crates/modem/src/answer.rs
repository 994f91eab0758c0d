//! A modem's answers to the few requests that a reader of log records sends.

use std::io;
use std::time::Duration;

use sounding_diag::hdlc::{Deframer, encode};

use crate::Pty;

/// Answers requests that arrive on a pty.
#[derive(Debug, Default)]
pub(crate) struct Answerer {
    deframer: Deframer,
}

/// Commands (docs/diag.md, transport).
mod command {
    pub(super) const VERSION: u8 = 0x00;
    pub(super) const BAD_COMMAND: u8 = 0x13;
    pub(super) const LOG_CONFIG: u8 = 0x73;
    pub(super) const BUILD_ID: u8 = 0x7C;
}

impl Answerer {
    /// Reads what the host sent and answers each request; how many were answered.
    pub(crate) fn serve(&mut self, pty: &mut Pty, patience: Duration) -> io::Result<u64> {
        let mut buffer = [0; 512];
        let count = pty.read(&mut buffer)?;
        let mut input = &buffer[..count];
        let mut answers = Vec::new();
        let mut answered = 0;
        while let Some(frame) = self.deframer.poll_frame(&mut input) {
            if let Ok(frame) = frame {
                encode(&answer(frame.payload), &mut answers);
                answered += 1;
            }
        }
        pty.write(&answers, patience)?;
        Ok(answered)
    }
}

fn answer(request: &[u8]) -> Vec<u8> {
    match request.first() {
        Some(&command::VERSION) => {
            // Compile date and time, release date and time, then the model: text of fixed width.
            let mut answer = vec![command::VERSION];
            answer.extend(b"Jan 01 2026".iter());
            answer.extend(b"00:00:00");
            answer.extend(b"Jan 01 2026");
            answer.extend(b"00:00:00");
            answer.extend(b"replay  ");
            answer.extend([0; 8]);
            answer
        }
        Some(&command::BUILD_ID) => {
            let mut answer = vec![command::BUILD_ID, 0, 0, 0];
            answer.extend([0; 8]);
            answer.extend(b"sounding-replay\0");
            answer
        }
        Some(&command::LOG_CONFIG) if request.len() >= 8 => {
            // Operation and status 0, then what was asked for, as the modem repeats it.
            let mut answer = vec![command::LOG_CONFIG, 0, 0, 0];
            answer.extend(&request[4..8]);
            answer.extend([0; 4]);
            answer.extend(&request[8..]);
            answer
        }
        _ => {
            let mut answer = vec![command::BAD_COMMAND];
            answer.extend(request);
            answer
        }
    }
}
