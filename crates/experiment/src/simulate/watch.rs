//! Kept data of flows while they run: each packet, and a series of bins.

use std::collections::BTreeMap;
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use sounding_export::figures::{Cell, Kind};
use sounding_sim::world::{Event, Observer};
use sounding_sim::{PathConfig, Port};
use sounding_trace::{OPPORTUNITY_PAYLOAD, Trace, mahimahi};
use sounding_units::{Bytes, HostInstant, Rate};

use super::keep::{Failed, Files, Keep, Output, Table};
use super::way;
use crate::plan::{Actors, Plan, Run, Wrong, given, offered};

const PACKETS: [(&str, Kind); 9] = [
    ("flow", Kind::Int),
    ("name", Kind::Text),
    ("device", Kind::Text),
    ("direction", Kind::Text),
    ("size_bytes", Kind::Int),
    ("entered_ns", Kind::Int),
    // Behind others in front of the bottleneck and through it.
    ("queueing_ns", Kind::Int),
    ("arrived_ns", Kind::Int),
    ("dropped_ns", Kind::Int),
];

const SERIES: [(&str, Kind); 16] = [
    ("flow", Kind::Int),
    ("name", Kind::Text),
    ("device", Kind::Text),
    ("direction", Kind::Text),
    ("from_s", Kind::Real),
    ("throughput_mbit_per_sec", Kind::Real),
    ("packets", Kind::Int),
    ("dropped", Kind::Int),
    ("one_way_mean_ms", Kind::Real),
    ("one_way_max_ms", Kind::Real),
    ("queueing_mean_ms", Kind::Real),
    ("cwnd_bytes", Kind::Int),
    ("pacing_mbit_per_sec", Kind::Real),
    ("state", Kind::Text),
    ("estimate_mbit_per_sec", Kind::Real),
    // Capacity of the link that the flow shares with others of its device and direction; unknown
    // for a modelled cell.
    ("capacity_mbit_per_sec", Kind::Real),
];

/// Looks at the flows of a run.
pub(super) struct Watch {
    /// Name, device and direction of each flow.
    flows: Vec<[String; 3]>,
    packets: Option<Table>,
    series: Option<Series>,
    traces: Vec<Deliveries>,
    error: Option<Failed>,
}

struct Series {
    table: Table,
    width: Duration,
    begins: HostInstant,
    bins: Vec<Bin>,
    /// The given links of each flow.
    links: Vec<Rc<[PathConfig]>>,
}

/// The deliveries of one flow, as a trace.
struct Deliveries {
    name: String,
    out: Output,
    /// When it begins.
    from: HostInstant,
    /// Bytes that are less than an opportunity so far.
    credit: u64,
    millis: Vec<u32>,
}

/// One flow's bin.
#[derive(Clone, Debug, Default)]
struct Bin {
    carried: Bytes,
    packets: u64,
    dropped: u64,
    one_way: Duration,
    one_way_max: Duration,
    queueing: Duration,
    /// State after the newest acknowledgement and estimate, valid until the next.
    cwnd: Option<u64>,
    pacing: Option<f64>,
    state: Option<&'static str>,
    estimate: Option<f64>,
}

impl Watch {
    pub(super) fn open(
        plan: &Plan,
        actors: &Actors,
        keep: &Keep,
        about: &[(String, String)],
        files: &mut dyn Files,
    ) -> Result<Self, Failed> {
        let flows: Vec<_> = actors
            .flows
            .iter()
            .map(|actor| {
                let label = plan.flows[actor.plan].label().to_owned();
                [label, actors.name_of(actor.port.device), way(actor.port.direction).into()]
            })
            .collect();
        let packets =
            keep.packets.then(|| Table::create(files, "packets.parquet", &PACKETS, about));
        let packets = packets.transpose()?;
        let series = keep.series.map(|width| {
            let table = Table::create(files, "series.parquet", &SERIES, about)?;
            let width = width.max(Duration::from_micros(1));
            let bins = vec![Bin::default(); flows.len()];
            let links = vec![Rc::from([]); flows.len()];
            Ok(Series { table, width, begins: HostInstant::default(), bins, links })
        });
        let series = series.transpose()?;
        let mut traces = Vec::new();
        for (at, [name, device, direction]) in flows.iter().enumerate().filter(|_| keep.traces) {
            let name = format!("{at}-{name}-{device}-{direction}.trace");
            let out = files.create(&name).map_err(|error| (name.clone(), error.into()))?;
            let from = HostInstant::default() + plan.warmup;
            traces.push(Deliveries { name, out, from, credit: 0, millis: Vec::new() });
        }
        Ok(Self { flows, packets, series, traces, error: None })
    }

    /// Adds the capacity of the plan's links to the series.
    pub(super) fn measure_against(&mut self, run: &Run, actors: &Actors) -> Result<(), Wrong> {
        let Some(series) = &mut self.series else { return Ok(()) };
        let mut known: BTreeMap<Port, Rc<[PathConfig]>> = BTreeMap::new();
        for (link, actor) in series.links.iter_mut().zip(&actors.flows) {
            *link = match known.get(&actor.port) {
                Some(link) => link.clone(),
                None => Rc::from(given(run, actor.port)?),
            };
            known.insert(actor.port, link.clone());
        }
        Ok(())
    }

    /// The first failure.
    pub(super) fn error(&mut self) -> Result<(), Failed> {
        self.error.take().map_or(Ok(()), Err)
    }

    fn observe(&mut self, now: HostInstant, event: &Event<'_>) -> Result<(), Failed> {
        let flows = &self.flows;
        if let Some(series) = &mut self.series {
            series.reach(now, flows)?;
            series.count(event);
        }
        if let Event::Arrived { flow, packet } = event
            && let Some(deliveries) = self.traces.get_mut(flow.0 as usize)
        {
            deliveries.count(packet.exits, packet.size);
        }
        let Some(packets) = &mut self.packets else { return Ok(()) };
        let (flow, size, entered, queueing, arrived, dropped) = match event {
            Event::Arrived { flow, packet } => {
                let queueing = Some(Cell::from((packet.left - packet.joined).as_nanos() as u64));
                (flow, packet.size, packet.entered, queueing, Some(packet.exits), None)
            }
            Event::Dropped { flow, packet } => {
                (flow, packet.size, packet.entered, None, None, Some(packet.dropped))
            }
            _ => return Ok(()),
        };
        let when = |at: Option<HostInstant>| at.map(|at| Cell::from(at.as_nanos()));
        let [name, device, direction] = &flows[flow.0 as usize];
        packets.push([
            Some(u64::from(flow.0).into()),
            Some(name.as_str().into()),
            Some(device.as_str().into()),
            Some(direction.as_str().into()),
            Some(size.count().into()),
            when(Some(entered)),
            queueing,
            when(arrived),
            when(dropped),
        ])
    }

    /// Writes the last bin, and the ends of the files.
    pub(super) fn finish(mut self, end: HostInstant) -> Result<(), Failed> {
        self.error()?;
        if let Some(mut series) = self.series {
            series.reach(end, &self.flows)?;
            series.table.finish()?;
        }
        for deliveries in self.traces {
            deliveries.finish()?;
        }
        self.packets.map_or(Ok(()), Table::finish)
    }
}

impl Observer for Watch {
    fn handle_event(&mut self, now: HostInstant, event: &Event<'_>) {
        if self.error.is_none()
            && let Err(failed) = self.observe(now, event)
        {
            self.error = Some(failed);
        }
    }
}

impl Deliveries {
    fn count(&mut self, at: HostInstant, size: Bytes) {
        if at < self.from {
            return;
        }
        self.credit += size.count();
        let millis = (at - self.from).as_millis();
        while self.credit >= OPPORTUNITY_PAYLOAD.count() {
            self.credit -= OPPORTUNITY_PAYLOAD.count();
            self.millis.push(u32::try_from(millis).unwrap_or(u32::MAX));
        }
    }

    /// A flow without deliveries leaves an empty file, because a trace cannot be empty.
    fn finish(mut self) -> Result<(), Failed> {
        let mut text = String::new();
        if let Ok(trace) = Trace::from_millis(self.millis) {
            // Writing into a string cannot fail.
            let _ = mahimahi::write(&trace, &mut text);
        }
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        written.map_err(|error| (self.name, error.into()))
    }
}

impl Series {
    /// Writes the bins that have ended by `now`.
    fn reach(&mut self, now: HostInstant, flows: &[[String; 3]]) -> Result<(), Failed> {
        while self.begins + self.width <= now {
            let from = self.begins - HostInstant::default();
            for (flow, bin) in self.bins.iter_mut().enumerate() {
                let [name, device, direction] = &flows[flow];
                let ms = |total: Duration| {
                    let mean = total.as_secs_f64() * 1e3 / bin.packets as f64;
                    (bin.packets > 0).then(|| Cell::from(mean))
                };
                let max = Cell::from(bin.one_way_max.as_secs_f64() * 1e3);
                let mbit = bin.carried.per(self.width).mbit_per_sec();
                self.table.push([
                    Some((flow as u64).into()),
                    Some(name.as_str().into()),
                    Some(device.as_str().into()),
                    Some(direction.as_str().into()),
                    Some((self.begins.as_nanos() as f64 * 1e-9).into()),
                    Some(mbit.into()),
                    Some(bin.packets.into()),
                    Some(bin.dropped.into()),
                    ms(bin.one_way),
                    (bin.packets > 0).then_some(max),
                    ms(bin.queueing),
                    bin.cwnd.map(Cell::from),
                    bin.pacing.map(Cell::from),
                    bin.state.map(Cell::from),
                    bin.estimate.map(Cell::from),
                    offered(&self.links[flow], (from, from + self.width))
                        .map(|bytes| bytes.per(self.width).mbit_per_sec().into()),
                ])?;
                let Bin { cwnd, pacing, state, estimate, .. } = *bin;
                *bin = Bin { cwnd, pacing, state, estimate, ..Bin::default() };
            }
            self.begins = self.begins + self.width;
        }
        Ok(())
    }

    fn count(&mut self, event: &Event<'_>) {
        match event {
            Event::Arrived { flow, packet } => {
                let bin = &mut self.bins[flow.0 as usize];
                let one_way = packet.exits - packet.entered;
                bin.carried += packet.size;
                bin.packets += 1;
                bin.one_way += one_way;
                bin.one_way_max = bin.one_way_max.max(one_way);
                bin.queueing += packet.left - packet.joined;
            }
            Event::Dropped { flow, .. } => self.bins[flow.0 as usize].dropped += 1,
            Event::Acked { flow, controller, .. } => {
                let bin = &mut self.bins[flow.0 as usize];
                bin.cwnd = Some(controller.cwnd().count());
                bin.pacing = controller.pacing_rate().map(Rate::mbit_per_sec);
                bin.state = Some(controller.state());
            }
            Event::Told { flow, estimate } => {
                let usable = estimate.is_usable().then(|| estimate.rate.mbit_per_sec());
                self.bins[flow.0 as usize].estimate = usable;
            }
        }
    }
}
