//! A board of KPIs in shared memory, which any program may read.

use miette::Result;
use sounding_board::Publisher;
use sounding_diag::LogRecord;
use sounding_host::monotonic_now;
use sounding_kpi::Subscription;
use sounding_units::HostInstant;

use crate::board;
use crate::run::events::Events;
use crate::run::output::{Needs, Output, Section};

/// `[board]` with a name.
#[derive(Clone, Debug)]
pub(in crate::run) struct BoardSection {
    pub(in crate::run) name: String,
    /// Names of KPIs; the usual ones if none is named.
    pub(in crate::run) kpis: Vec<String>,
}

impl Section for BoardSection {
    fn name(&self) -> String {
        format!("board {}", self.name)
    }

    fn needs(&self) -> Needs {
        let subscription = board::subscription(&self.kpis);
        let codes = subscription.map(|subscription| subscription.codes().collect());
        Needs { codes: codes.unwrap_or_default(), ..Needs::default() }
    }

    fn start(&self) -> Result<Box<dyn Output>> {
        let subscription = board::subscription(&self.kpis)?;
        let publisher = board::publisher(&self.name, subscription.kpis())?;
        Ok(Box::new(BoardOutput { subscription, publisher }))
    }
}

struct BoardOutput {
    subscription: Subscription,
    publisher: Publisher,
}

impl Output for BoardOutput {
    fn handle_record(&mut self, now: HostInstant, record: &LogRecord<'_>) {
        // A record that cannot be read is counted.
        let _ = self.subscription.handle(record, |reading| self.publisher.handle(&reading, now));
    }

    fn handle_read(&mut self) {
        self.publisher.post(monotonic_now());
    }

    fn attend(&mut self, now: HostInstant, _events: &mut Events) -> Result<()> {
        self.publisher.heartbeat(now);
        Ok(())
    }
}
