//! One run of a plan in virtual time with everything observed that an item may want: packets,
//! states, reports, and what only the simulator knows of the cell.

use std::time::Duration;

use sounding_cell::Event as CellEvent;
use sounding_experiment::observe::{Observation, Packets, Setup as Shows, Sink, States};
use sounding_experiment::plan::{Actors, Run, Wrong, populate};
use sounding_kpi::Direction;
use sounding_link::{Arrival as Came, CellView, Config, LinkEstimate, Method, Sounder};
use sounding_sim::world::{Event, Flow, Listening, MakeController};
use sounding_sim::{Device, Diag, Port};
use sounding_trace::dci::Heard;
use sounding_units::{HostInstant, Rate};

/// How often the first device's own view of its cells is noted.
const VIEW_EVERY: Duration = Duration::from_millis(10);

/// What is observed besides packets and states, and what is different from the plan.
#[derive(Default)]
pub(super) struct Setup {
    /// What the cell reports.
    pub(super) shows: Shows,
    /// The reports that reached senders.
    pub(super) reports: bool,
    /// What the first sender did upon each acknowledgement.
    pub(super) paces: bool,
    /// The cells as the first device's monitor sees them, every 10 ms.
    pub(super) views: bool,
    /// The first device has one download under this controller, which receives what PBE-CC does,
    /// instead of the plan's flows.
    pub(super) instead: Option<MakeController>,
}

impl Setup {
    /// What the cell reports, and nothing else.
    pub(super) fn of(shows: Shows) -> Self {
        Self { shows, ..Self::default() }
    }
}

/// What a sender did upon an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) at: Duration,
    /// Payload, Mbit/s.
    pub(super) sends: f64,
    pub(super) state: &'static str,
}

/// What was observed.
#[derive(Default)]
pub(super) struct Observed {
    pub(super) packets: Packets,
    pub(super) states: States,
    /// When a sender received what.
    pub(super) reports: Vec<(Duration, LinkEstimate)>,
    /// Of the first flow.
    pub(super) paces: Vec<Pace>,
    /// In order of time.
    pub(super) cell: Vec<CellEvent>,
    /// When the monitor saw what.
    pub(super) views: Vec<(Duration, Option<CellView>)>,
    /// How long the run was.
    pub(super) span: Duration,
    keeps: [bool; 2],
    /// The first device's monitor, and when it is next asked.
    monitor: Option<(Sounder, HostInstant)>,
}

impl Sink for Observed {
    fn handle_radio(&mut self, event: &CellEvent) {
        self.cell.push(event.clone());
    }

    fn handle_time(&mut self, now: HostInstant) {
        let Some((sounder, next)) = &mut self.monitor else { return };
        while *next <= now {
            self.views.push((*next - HostInstant::default(), sounder.cell(*next)));
            *next = *next + VIEW_EVERY;
        }
    }

    fn handle_heard(&mut self, at: HostInstant, heard: &Heard) {
        if let Some((sounder, _)) = &mut self.monitor {
            sounder.handle_heard(at, heard);
        }
    }

    fn handle_diag(&mut self, diag: &Diag) {
        if let Some((sounder, _)) = self.monitor.as_mut().filter(|_| diag.device == Device(0)) {
            sounder.handle_bytes(Came::At(diag.at), &diag.bytes, |_, _| {});
        }
    }

    fn handle_event(&mut self, now: HostInstant, event: &Event<'_>) {
        self.packets.handle_event(now, event);
        self.states.handle_event(now, event);
        let (at, [reports, paces]) = (now - HostInstant::default(), self.keeps);
        match event {
            Event::Acked { controller, flow, .. } if paces && flow.0 == 0 => {
                let sends = controller.pacing_rate().map_or(f64::INFINITY, Rate::mbit_per_sec);
                self.paces.push(Pace { at, sends, state: controller.state() });
            }
            Event::Told { estimate, .. } if reports => self.reports.push((at, **estimate)),
            _ => {}
        }
    }
}

/// Makes a run.
pub(super) fn observe(run: &Run, setup: Setup) -> Result<Observed, Wrong> {
    let actors = Actors::new(&run.plan)?;
    let monitor = setup.views.then(|| {
        let config = Config { method: Method::Cell, ..Config::new(Direction::Downlink) };
        (Sounder::new(config), HostInstant::default() + VIEW_EVERY)
    });
    let keeps = [setup.reports, setup.paces];
    let observed = Observed { span: run.plan.duration, keeps, monitor, ..Observed::default() };
    let mut made = Observation::without_flows(run, &actors, setup.shows, observed)?;
    match setup.instead {
        Some(make) => {
            let port = Port::down(Device(0));
            let mut listening = Listening::new(port).told([sounding_baselines::needs("pbe-cc")]);
            listening.sniffs = true;
            made.world.listen(listening);
            made.world.add_flow(Flow::bulk(port, make));
        }
        None => {
            populate(&mut made.world, run, &actors);
        }
    }
    made.pass_until(run.plan.duration);
    Ok(made.end())
}
