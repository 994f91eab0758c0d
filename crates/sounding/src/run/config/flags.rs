//! What the command line says.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use sounding_modem::SnifferSource;
use sounding_units::Rate;

use super::shape::ShapeFlags;
use crate::cli_types::{
    BoundWord, CcWord, DirectionWord, FallbackWord, LACKS_KERNEL, MethodWord, RouterUser,
    SnifferUser, UntoldMask,
};
use crate::run::downlink;
use crate::run::share::{ApplicationWord, ShareWord};

/// The flags of `sounding run`. They win over the file.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Flags {
    /// Source of the modem's Diag: a device such as /dev/ttyUSB0, /dev/wwan0qcdm0 or /dev/diag,
    /// tcp:HOST:PORT, router[:NAME], vendor-router[:NAME], or - for a stream on standard
    /// input; with non-hdlc: before it if the modem has the HDLC framing switched off
    #[arg(long, short, value_name = "SOURCE")]
    pub(super) device: Option<String>,
    #[command(flatten)]
    pub(super) router: RouterUser,
    /// Leave the modem's log mask unchanged, and read the records that come
    #[arg(long)]
    pub(super) no_mask: bool,
    #[command(flatten)]
    pub(super) untold: UntoldMask,
    /// Limit of the modem's records; above it the least important ones are switched off. 0bit is
    /// no limit
    #[arg(long, value_name = "RATE")]
    pub(super) budget: Option<Rate>,
    /// Which way the flows of this machine send: uplink on the device itself
    #[arg(long, value_enum)]
    pub(super) direction: Option<DirectionWord>,
    /// How granted bytes are counted
    #[arg(long, value_enum)]
    pub(super) method: Option<MethodWord>,
    /// A sniffer of the cell, for --method cell: udp:ADDRESS:PORT (NG-Scope's service),
    /// dcilog:FILE (NG-Scope), falcon:FILE or nr-scope:FILE, read while it grows; once for
    /// each carrier, in their order
    #[arg(long, value_name = "SNIFFER")]
    pub(super) sniffer: Vec<SnifferSource>,
    #[command(flatten)]
    pub(super) sniffer_user: SnifferUser,
    /// With --method cqi: keep what is learnt of each cell's rates in this file, and begin with
    /// what it has
    #[arg(long, value_name = "FILE")]
    pub(super) cqi_rates: Option<PathBuf>,
    /// Span of time that grants are summed over; by default 100ms, but 30ms for the law of
    /// sounding and for --downlink window, but not for --downlink both
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(super) window: Option<Duration>,
    /// Meaning of an estimate: `auto` judges it; `capacity` is right if the link is made from the
    /// capture itself
    #[arg(long, value_enum)]
    pub(super) bound: Option<BoundWord>,
    /// Algorithm that sets the window; several, as --law biscay,sounding, are loaded side by side,
    /// each under its name
    #[arg(long, value_enum, value_delimiter = ',', value_name = "LAW", hide = LACKS_KERNEL)]
    pub(super) law: Vec<CcWord>,
    /// The same as --law copa: Copa, as `copa_gandalf`. The modem reports how much of the delay is
    /// radio, not queue: waits for grants and retransmissions. With --peers the devices at the
    /// other ends say what their radio adds to downloads. Without either, and while it is
    /// silent, it is plain Copa
    #[arg(long, hide = LACKS_KERNEL)]
    pub(super) copa: bool,
    /// The same as --law background: for transfers that use what the cell leaves over; no modem is
    /// needed. Every user may then choose it for a socket, and `sounding background` needs no
    /// rights. With --cgroup all sockets of a cgroup get it
    #[arg(long, hide = LACKS_KERNEL)]
    pub(super) background: bool,
    /// Algorithm for the window while the path is narrower than the radio, or while there is no
    /// usable estimate
    #[arg(long, value_enum, hide = LACKS_KERNEL)]
    pub(super) fallback: Option<FallbackWord>,
    /// Name of the congestion control in this kernel, up to 15 characters; without it, the law's.
    /// Of several laws, --name, --default and --route are about the first
    #[arg(long, value_name = "NAME", hide = LACKS_KERNEL)]
    pub(super) name: Option<String>,
    /// With --law biscay: queue that the window has room for above the path's own round-trip time
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration, hide = LACKS_KERNEL)]
    pub(super) allowance: Option<Duration>,
    /// With --law biscay: pacing rate over the flow's share of the link, 1 to 4
    #[arg(long, value_name = "FACTOR", hide = LACKS_KERNEL)]
    pub(super) pacing_gain: Option<f64>,
    /// How its flows share the link
    #[arg(long, value_enum, hide = LACKS_KERNEL)]
    pub(super) share: Option<ShareWord>,
    /// With --share app: the kind of application
    #[arg(long, value_enum, hide = LACKS_KERNEL)]
    pub(super) application: Option<ApplicationWord>,
    /// With --share weighted: owners that weigh more or less than 1, as port:443=2, user:1000=0.5
    /// or cgroup:/sys/fs/cgroup/system.slice/backup.service=3
    #[arg(long, value_name = "OWNER=FACTOR", hide = LACKS_KERNEL)]
    pub(super) weight: Vec<String>,
    /// The modem's network device, as wwan0: only flows that leave by it share its link, UDP and
    /// TCP of other algorithms too, and with --downlink only sockets that receive over it are
    /// held. Without it, the device that belongs to the port's own hardware, or where none
    /// does, every one but loopback; the daemon prints its choice
    #[arg(long, value_name = "NAME")]
    pub(super) interface: Vec<String>,
    /// Make it this namespace's default for new flows, until the daemon ends
    #[arg(long, hide = LACKS_KERNEL)]
    pub(super) default: bool,
    /// Use it for new flows over the route to exactly this prefix, until the daemon ends
    #[arg(long, value_name = "PREFIX", hide = LACKS_KERNEL)]
    pub(super) route: Vec<String>,
    /// Publish KPIs in shared memory under this name, as `sounding board` does
    #[arg(long, value_name = "NAME")]
    pub(super) board: Option<String>,
    /// Give live senders a rate to take, as lines on the socket /run/sounding/NAME.rate;
    /// `sounding watch NAME` shows them
    #[arg(long, value_name = "NAME")]
    pub(super) feed: Option<String>,
    /// Show what is known over HTTP at this address, as 127.0.0.1:8080: a page, the feed, metrics.
    /// It asks for the token of a file, which is printed at the start
    #[arg(long, value_name = "ADDRESS")]
    pub(super) serve: Option<String>,
    /// Correct, as `sounding link --arrivals` does, when packets of media come by this network
    /// device
    #[arg(long, value_name = "NAME", hide = LACKS_KERNEL)]
    pub(super) arrivals: Option<String>,
    /// Send lines about the radio's delays to a call's receiver, as `sounding link --feed` does;
    /// it may start later
    #[arg(long, value_name = "SOCKET")]
    pub(super) calls: Option<PathBuf>,
    /// With --board: names of KPIs, or `all`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(super) kpi: Vec<String>,
    /// Let no processor sleep so deep that it takes longer to wake, as 0us or 20us: estimates come
    /// sooner, and the machine needs more power, until the daemon ends
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub(super) cpu_latency: Option<Duration>,
    #[command(flatten)]
    pub(super) downlink: downlink::Flags,
    /// Those of `sounding shape`.
    #[arg(skip)]
    pub(super) shape: Option<ShapeFlags>,
}

impl Flags {
    /// A modem, and shapers as its only output.
    pub(crate) fn of_shapers(
        device: Option<String>,
        router: RouterUser,
        (no_mask, untold): (bool, UntoldMask),
        budget: Option<Rate>,
        cpu_latency: Option<Duration>,
        shape: ShapeFlags,
    ) -> Self {
        let (shape, law) = (Some(shape), vec![CcWord::None]);
        Self { law, device, router, no_mask, untold, budget, cpu_latency, shape, ..Self::default() }
    }
}
