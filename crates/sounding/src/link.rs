mod delays;
mod feed;
mod live;
mod missing;
mod packets;
mod print;
mod rows;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use miette::{IntoDiagnostic, Result, miette};
use sounding_host::monotonic_now;
use sounding_kpi::Direction;
use sounding_link::{Arrival, Config, Counts, Method, Sounder};
use sounding_modem::{Bytes, Sniffer, SnifferSource, Source};
use sounding_units::HostInstant;

use crate::cli_types::{
    DirectionWord, MethodWord, RouterUser, SnifferUser, UntoldMask, source_parser,
};
use crate::cqi_rates;
use crate::kpi::is_recorded;
use crate::skipped::{Records, Skipped};
use crate::sniffer;
use crate::{input, say, signals};
use live::Reader;
use missing::Needs;
use print::Printer;
use rows::Rows;

/// Prints the rate of the link over time, from the records of a capture or of a live modem
#[derive(Args, Debug)]
#[command(after_help = "\
A row has two numbers for each direction. `granted` is the grants within the bin: bytes of transport \
blocks, each block once. `rate` is the estimate that a controller would receive at the end of the bin: of IP packets, a mean over \
--window. `capacity` says that the device had more to send than it was granted; `floor`, that the rate is only what it asked \
for. `age` is that of the newest record. Time is the modem's. A dash is an unknown value: before the first grant, during a \
handover, and where no record came for 200 ms (`stale`). After ten seconds without a record the rest of the pause is one row. A record \
without a time, or with one far from the others', is counted and not used.

Several records list the same blocks. 0xB139 counts in LTE's uplink; where it does not come, 0xB064 does. In the downlink it is \
0xB173, then 0xB063, then 0xB126; in NR 0xB883, then 0xB872, and 0xB887, then 0xB857.

A live modem is asked for the records that this needs, until Ctrl-C, and then given back the log mask it had. Its rows come 1.5 s \
late, because records may still add to the grants. While `sounding run` holds the modem, its records are read beside the daemon.

With --method cell and a sniffer the rate includes a share of the idle resource blocks; without a sniffer it is a floor unless \
the device was backlogged. Rows then also have the fair share, which is the device's part of an equal division of the cells, the users with \
data and the carriers. JSON rows have the age of the sniffer's last message, the idle part, and as a ceiling the rate of the most \
resource blocks that the device ever had. A live modem takes a sniffer that is live: a log that grows, or udp:ADDRESS:PORT.

With --delays a row is an event: a block that was sent again (`harq`), data that RLC sent again because HARQ had given it up (`rlc`), or \
uplink data that waited for a report and a grant (`scheduling`). It has the held data, the time that no queue made, and the delay of \
the record that shows it, from the event's end.

With --packets a row is a packet of an upload. Its receiver's clock is not the modem's: a repeat shows in packets as a time without any and \
then several at once. The difference of the clocks is the one at which most of the modem's repeats end so. Below 0.6 of them, or with \
less than 20, nothing is printed. Of packets that came at once the first is late by the whole event. Later ones are by less: by sent_s \
if the file has it, and otherwise as if sent evenly.

With --feed the receiver of a WebRTC call, sounding-rtc-peer, reads the uplink's events of a live modem as they come, and takes them \
out of what it reports to the sender. When the receiver ends, this command ends.

With --arrivals the receiver is any program on this machine that asks the kernel when packets came, as libwebrtc does. A program in \
the kernel sets these times back by what the radio added lately, on average: records come after the packets that they explain. It does \
so at the network device, for UDP packets that begin as RTP does, and stops 100 ms after the modem's last record. Ctrl-C removes it. \
So --feed is for what this device sends, and --arrivals for what it receives. The latter needs root.

Examples:
  sounding link drive.mi2log
  sounding link drive.mi2log --delays
  sounding link drive.mi2log --delays --packets server.pcap
  sounding link /dev/ttyUSB0 --delays --feed /run/peer
  sounding link /dev/ttyUSB0 --delays --arrivals wwan0
  sounding link drive.mi2log --direction uplink --method formula --bin 50ms
  sounding link drive.mi2log --direction downlink --method cqi --window 200ms
  sounding link drive.mi2log --direction downlink --method cell --window 40ms --sniffer dcilog:cell.dciLog
  sounding link /dev/ttyUSB0 --direction uplink
  sounding link /dev/ttyUSB0 --direction downlink --method cell --sniffer udp:127.0.0.1:6767
  sounding link drive.mi2log --json | jq 'select(.bound == \"capacity\") | .rate_bits_per_sec'
  sounding link drive.mi2log --bin 1s --csv > rates.csv
  sounding link drive.mi2log --json --bin 1s | jq '[.time_s, .direction, .granted_bytes]'")]
pub(crate) struct Link {
    /// Capture file (.qmdl, .qmdl2, .mi2log, .hdf, .dlf, also .gz or .zst), - for standard input,
    /// or a modem: a device, tcp:HOST:PORT, router:NAME, vendor-router:NAME
    #[arg(value_parser = source_parser())]
    source: Source,
    #[command(flatten)]
    router: RouterUser,
    #[command(flatten)]
    untold: UntoldMask,
    /// One direction only; with --method cqi it is the downlink
    #[arg(long, value_enum)]
    direction: Option<DirectionWord>,
    /// Source of the rate
    #[arg(long, value_enum, default_value_t = MethodWord::Grants)]
    method: MethodWord,
    /// A sniffer of the cell, for --method cell: a log dcilog:FILE (NG-Scope), falcon:FILE or
    /// nr-scope:FILE, and beside a live modem also udp:ADDRESS:PORT (NG-Scope's service); once
    /// for each carrier, in their order
    #[arg(long, value_name = "SNIFFER")]
    sniffer: Vec<SnifferSource>,
    #[command(flatten)]
    sniffer_user: SnifferUser,
    /// For --method cqi: keeps what is learnt of each cell's rates in this file, a line for each
    /// cell, and begins with what it has
    #[arg(long, value_name = "FILE")]
    cqi_rates: Option<PathBuf>,
    /// Span of time that a rate is an average of; below 100ms it may still be 100ms where grants
    /// come in bursts
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = humantime::parse_duration)]
    window: Duration,
    /// Time between rows
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = humantime::parse_duration)]
    bin: Duration,
    /// One JSON object a row
    #[arg(long)]
    json: bool,
    /// Instead of rates the delays that the radio itself made, one event a row; of captures, or
    /// with --feed or --arrivals
    #[arg(long, conflicts_with_all = ["method", "sniffer", "window", "bin"])]
    delays: bool,
    /// Comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// With --delays of a capture: what the radio added to each packet of an upload. The file says
    /// when its receiver got them: pcap, pcapng, or comma-separated values with the columns
    /// time_s, and if known bytes, flow and sent_s
    #[arg(long, value_name = "FILE", requires = "delays", conflicts_with_all = ["feed", "arrivals", "direction"])]
    packets: Option<PathBuf>,
    /// With --packets: the only flow with a name that contains this, instead of the one with the
    /// most bytes
    #[arg(long, value_name = "TEXT", requires = "packets")]
    flow: Option<String>,
    /// With --packets: how far the packets' clock is ahead of the modem's, within two minutes; a
    /// modem counts without leap seconds
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "packets",
        default_value_t = 0.0,
        allow_hyphen_values = true
    )]
    offset: f64,
    /// With --delays of a live modem: the receiver of a call reads them at this UNIX socket, as
    /// lines of JSON; `-` is standard output
    #[arg(long, value_name = "SOCKET", requires = "delays", conflicts_with_all = ["json", "csv", "direction"])]
    feed: Option<PathBuf>,
    /// With --delays of a live modem: receivers of calls on this machine read when packets came at
    /// this network device without what the radio added lately
    #[arg(long, value_name = "DEVICE", requires = "delays", conflicts_with_all = ["json", "csv", "direction", "feed"], hide = cfg!(not(feature = "kernel")))]
    arrivals: Option<String>,
}

/// How rows or events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Table,
    Json,
    Csv,
}

impl Format {
    fn of(args: &Link) -> Self {
        match (args.json, args.csv) {
            (true, _) => Self::Json,
            (false, true) => Self::Csv,
            (false, false) => Self::Table,
        }
    }
}

/// Prints delays instead of rates.
fn run_delays(args: &Link) -> Result<ExitCode> {
    let readers = (&args.feed, &args.arrivals);
    match (readers, is_recorded(&args.source)) {
        ((None, None), true) => {}
        ((None, None), false) => {
            return Err(miette!(
                "--delays of a live modem needs --feed or --arrivals: who reads them?"
            ));
        }
        ((Some(_), _), true) => {
            return Err(miette!("--feed is for live modems: a capture is too late"));
        }
        ((None, Some(_)), true) => {
            return Err(miette!("--arrivals is for live modems: a capture is too late"));
        }
        ((feed, device), false) => {
            let source = args.router.of(args.source.clone()).into_diagnostic()?;
            let read = match (feed, device) {
                (Some(receiver), _) => feed::feed(&source, args.untold, receiver),
                (None, Some(device)) => feed::correct(&source, args.untold, device),
                (None, None) => Ok(()),
            };
            return match read {
                Ok(()) => Ok(ExitCode::SUCCESS),
                Err(Stopped::Output(error)) => Err(say::failed(error)),
                Err(Stopped::Input(report)) => Err(report),
            };
        }
    }
    let format = Format::of(args);
    let printed = match &args.packets {
        Some(file) => {
            let flow = args.flow.as_deref();
            let wanted = packets::Wanted { packets: file, flow, offset: args.offset, format };
            packets::print(&args.source, &wanted)
        }
        None => delays::print(&args.source, args.direction.map(Into::into), format),
    };
    match printed {
        Ok(skipped) => skipped.tell(),
        Err(Stopped::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(Stopped::Output(error)) => return Err(say::failed(error)),
        Err(Stopped::Input(report)) => return Err(report),
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn run(args: &Link) -> Result<ExitCode> {
    if args.delays {
        return run_delays(args);
    }
    if args.bin < Duration::from_millis(1) || args.window < Duration::from_millis(1) {
        return Err(miette!("--bin and --window are at least 1ms"));
    }
    if !args.sniffer.is_empty() && args.method != MethodWord::Cell {
        return Err(miette!("--sniffer is for --method cell: no other method listens"));
    }
    if args.cqi_rates.is_some() && args.method != MethodWord::Cqi {
        return Err(miette!(
            "--cqi-rates is for --method cqi: no other method learns rates of cells"
        ));
    }
    if !args.sniffer.is_empty() && args.direction.is_none() {
        return Err(miette!(
            "--sniffer needs --direction: a log has one direction, or its users differ by it"
        ));
    }
    let directions = match (args.direction, args.method) {
        (Some(DirectionWord::Uplink), MethodWord::Cqi) => {
            return Err(miette!(
                "--method cqi is for --direction downlink: no device reports a CQI of what it sends"
            ));
        }
        (Some(word), _) => vec![word.into()],
        (None, MethodWord::Cqi) => vec![Direction::Downlink],
        (None, _) => vec![Direction::Uplink, Direction::Downlink],
    };
    let live = args.router.of(args.source.clone()).into_diagnostic()?;
    let configs = directions.iter().map(|&direction| Config {
        method: args.method.into(),
        window: args.window,
        ..Config::new(direction)
    });
    let named = args.sniffer_user.of(args.sniffer.clone(), None).into_diagnostic()?;
    let (mut log, mut sniffers) = (Vec::new(), Vec::new());
    match args.direction {
        Some(word) if is_recorded(&args.source) => log = sniffer::read(&named, word.into())?,
        Some(word) => {
            let start = |(cell, source)| Sniffer::start(source, cell, word.into());
            sniffers = (0..).zip(&named).map(start).collect::<io::Result<_>>().into_diagnostic()?;
        }
        None => {}
    }
    let mut sounder = configs.clone().skip(1).fold(
        Sounder::new(configs.clone().next().unwrap_or(Config::new(Direction::Uplink))),
        Sounder::beside,
    );
    if let Some(file) = &args.cqi_rates {
        sounder.keep_rates(cqi_rates::read(file)?);
    }
    let needs = configs.map(|config| Needs::new(config.direction, config.method)).collect();
    let rows = Rows::new(
        args.bin,
        &sounder,
        needs,
        Printer::new(Format::of(args), args.bin, args.method == MethodWord::Cell)
            .map_err(say::failed)?,
    );
    let mut reading = Reading { sounder: sounder.hearing(log), rows, sniffers };
    let outcome = if is_recorded(&args.source) {
        reading.read_recorded(&args.source, &directions)
    } else {
        reading.read_live(&live, args.untold, &directions, args.method.into())
    };
    if let Some(file) = &args.cqi_rates {
        cqi_rates::write(file, reading.sounder.rates())?;
    }
    match outcome.and_then(|skipped| reading.finish(&skipped).map_err(Stopped::Output)) {
        Err(Stopped::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Err(Stopped::Output(error)) => return Err(say::failed(error)),
        Err(Stopped::Input(report)) => return Err(report),
        Ok(()) => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// The reason why the output ends.
enum Stopped {
    Input(miette::Report),
    Output(io::Error),
}

/// The chain from bytes to rows.
struct Reading {
    sounder: Sounder,
    rows: Rows,
    /// Beside a live modem.
    sniffers: Vec<Sniffer>,
}

impl Reading {
    fn read_recorded(
        &mut self,
        source: &Source,
        directions: &[Direction],
    ) -> Result<Skipped, Stopped> {
        let failed = |error: input::CaptureError| Stopped::Input(error.into());
        let mut capture = input::Source::of(source).map_err(failed)?;
        self.rows.printer.head(directions).map_err(Stopped::Output)?;
        self.sounder.read(capture.kind());
        let Self { sounder, rows, .. } = self;
        while let Some(chunk) = capture.next_chunk().map_err(failed)? {
            sounder.handle_bytes(Arrival::AsStamped, chunk, |sounder, seen| {
                rows.handle_seen(sounder, &seen);
            });
            rows.check().and_then(|()| rows.printer.flush()).map_err(Stopped::Output)?;
        }
        sounder.handle_end(Arrival::AsStamped, |sounder, seen| rows.handle_seen(sounder, &seen));
        let counts = self.sounder.counts();
        Ok(Skipped { records: records(&counts), ..capture.skipped(counts.stream) })
    }

    /// Writes the last rows, and reports the skipped parts, also to a program that reads the rows.
    fn finish(&mut self, skipped: &Skipped) -> io::Result<()> {
        self.rows.finish(&self.sounder)?;
        let printer = &mut self.rows.printer;
        printer.last(self.rows.notes.json())?;
        printer.last(skipped.json())?;
        printer.flush()?;
        for sentence in self.rows.notes.sentences() {
            eprintln!("sounding: {}: {sentence}", skipped.name);
        }
        skipped.tell();
        Ok(())
    }

    /// Reads until an interrupt or the final end of the source.
    fn read_live(
        &mut self,
        source: &Source,
        untold: UntoldMask,
        directions: &[Direction],
        method: Method,
    ) -> Result<Skipped, Stopped> {
        let codes = directions.iter().flat_map(|&direction| sounding_kpi::codes(direction));
        let codes = codes.chain(method.channel_codes()).copied();
        self.rows.stop = Some(
            signals::stop_flag()
                .map_err(|error| Stopped::Input(miette!("no signal can be awaited: {error}")))?,
        );
        let mut reader = LiveRows { reading: self, directions };
        let dropped = live::read(source, untold, codes, &mut reader)?;
        let counts = self.sounder.counts();
        let records = records(&counts);
        Ok(Skipped {
            name: source.to_string(),
            stream: counts.stream,
            records,
            dropped,
            ..Skipped::default()
        })
    }

    /// What the sniffers heard, on the clock of the records.
    fn hear(&mut self) {
        if self.rows.modem_time(monotonic_now()).is_none() {
            return;
        }
        for sniffer in &mut self.sniffers {
            while let Some((at, heard)) = sniffer.poll() {
                if let Some(clock) = self.rows.modem_time(at) {
                    self.sounder.handle_heard(HostInstant::from_nanos(clock.as_nanos()), &heard);
                }
            }
        }
    }

    fn handle_live(&mut self, read: Bytes<'_>) {
        let Bytes { now, framing, bytes, mut session } = read;
        let Self { sounder, rows, .. } = self;
        sounder.handle_read(framing, Arrival::Stamped(now), bytes, |sounder, seen| {
            seen.packet().iter().for_each(|packet| session.handle(packet));
            rows.handle_seen(sounder, &seen);
        });
    }
}

/// Rows of a live modem.
struct LiveRows<'a> {
    reading: &'a mut Reading,
    directions: &'a [Direction],
}

impl Reader for LiveRows<'_> {
    fn begin(&mut self) -> Result<(), Stopped> {
        self.reading.rows.printer.head(self.directions).map_err(Stopped::Output)
    }

    fn handle(&mut self, read: Option<Bytes<'_>>) -> Result<(), Stopped> {
        if let Some(read) = read {
            self.reading.handle_live(read);
        }
        self.reading.hear();
        let Reading { sounder, rows, .. } = &mut *self.reading;
        rows.handle_host_time(sounder, monotonic_now());
        rows.check().and_then(|()| rows.printer.flush()).map_err(Stopped::Output)
    }
}

/// The records that a rate needs, and those whose time is not known.
pub(crate) fn records(counts: &Counts) -> Records {
    let &Counts { records: read, untimed, misdated, .. } = counts;
    Records { read, untimed, misdated, ..Records::default() }
}
