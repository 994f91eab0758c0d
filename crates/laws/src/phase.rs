use core::fmt;

/// Where a law believes the bottleneck to be, and what it does. Rust, C (`enum flow_phase` of
/// `intf.h`), events, plans' results and documents use these names.
/// [`Law::phases`](crate::Law::phases) has those of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// There is no usable estimate: the stock algorithm controls the flow.
    NoEstimate,
    /// The radio grants all it has: the flow's share of it sets the window.
    RadioLimited,
    /// The radio grants every request: the window grows until there is a backlog.
    Probing,
    /// A queue, a loss or a mark ended the growth.
    Hold,
    /// The window is smaller than before, to see whether the RTT shrinks with it.
    QueueTest,
    /// The device is on the way to another cell: the window does not change.
    Handover,
    /// The queue is not at the radio: the stock algorithm controls the flow.
    BottleneckElsewhere,
    /// The path drops what the estimate allows, or much less arrives: the stock algorithm controls
    /// the flow.
    EstimateTooHigh,
    /// The rate grows in a line to the flow's fair share of the cells.
    Ramp,
    /// The flow sends half of the path's rate, so that a queue drains.
    Drain,
}

impl Phase {
    /// All of them, by their numbers in the kernel.
    pub const ALL: [Self; 10] = [
        Self::NoEstimate,
        Self::RadioLimited,
        Self::Probing,
        Self::Hold,
        Self::QueueTest,
        Self::Handover,
        Self::BottleneckElsewhere,
        Self::EstimateTooHigh,
        Self::Ramp,
        Self::Drain,
    ];

    /// Those of the law of `sounding`: all but the last two, which are PBE-CC's.
    pub(crate) const OF_SOUNDING: &[Self] = Self::ALL.split_at(8).0;

    /// Those of PBE-CC's.
    pub(crate) const OF_PBE_CC: &[Self] = &[
        Self::NoEstimate,
        Self::Ramp,
        Self::RadioLimited,
        Self::Probing,
        Self::Handover,
        Self::Drain,
        Self::BottleneckElsewhere,
        Self::EstimateTooHigh,
    ];

    /// Its name in events, results and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoEstimate => "no-estimate",
            Self::RadioLimited => "radio-limited",
            Self::Probing => "probing",
            Self::Hold => "hold",
            Self::QueueTest => "queue-test",
            Self::Handover => "handover",
            Self::BottleneckElsewhere => "bottleneck-elsewhere",
            Self::EstimateTooHigh => "estimate-too-high",
            Self::Ramp => "ramp",
            Self::Drain => "drain",
        }
    }

    /// The phase of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }

    /// Whether the law controls the flow, and not the stock algorithm.
    pub const fn law_controls(self) -> bool {
        !matches!(self, Self::NoEstimate | Self::BottleneckElsewhere | Self::EstimateTooHigh)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
