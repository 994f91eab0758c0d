//! A replayed modem's answers to the requests of a reader. Masks are accepted and have no effect:
//! the capture does not change.

use std::io;
use std::time::Duration;

use sounding_diag::hdlc::{Deframer, encode};

use crate::Pty;
use crate::sim::Answers;

/// Answers requests that arrive on a pty.
#[derive(Debug)]
pub(crate) struct Answerer {
    deframer: Deframer,
    answers: Answers,
}

impl Default for Answerer {
    fn default() -> Self {
        Self { deframer: Deframer::new(), answers: Answers::new("sounding-replay") }
    }
}

impl Answerer {
    /// Reads the host's requests and answers each. Returns the number of answers.
    pub(crate) fn serve(&mut self, pty: &mut Pty, patience: Duration) -> io::Result<u64> {
        let mut buffer = [0; 4096];
        let count = pty.read(&mut buffer)?;
        let mut input = &buffer[..count];
        let mut answers = Vec::new();
        let mut answered = 0;
        while let Some(frame) = self.deframer.poll_frame(&mut input) {
            if let Ok(frame) = frame {
                let mut answer = Vec::new();
                self.answers.answer(frame.payload, &mut answer);
                encode(&answer, &mut answers);
                answered += 1;
            }
        }
        pty.write(&answers, patience)?;
        Ok(answered)
    }
}
