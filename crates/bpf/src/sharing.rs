//! How the flows of this machine share what the link carries.

use sounding_cc::sharing::Policy;

/// By what weight flows share, and which of them are seen. Fixed at load. Every user of the machine
/// has its part first, and its flows share that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// Default: all flows of a user alike.
    pub policy: Policy,
    /// Whose a flow is under [`Policy::Applications`].
    pub application: Application,
    /// Under [`Policy::Weights`], the owners that weigh more or less than an ordinary flow, in
    /// 1/256 of it. A flow that several entries are about goes by its port, else by its
    /// cgroup, else by its user.
    pub weights: Vec<(Owner, u32)>,
    /// Whether [`Instance::count_on`](crate::Instance::count_on) will be called: it takes another
    /// program in the kernel.
    pub others: bool,
}

/// What makes flows those of one application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Application {
    /// The user that opened the socket: on Android, each application is one.
    #[default]
    User,
    /// The cgroup (version 2) in which the socket was opened: under systemd, each service or
    /// application has one.
    Cgroup,
}

/// The owner of a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// All flows of a user, by number.
    User(u32),
    /// All flows of a cgroup (version 2), by the number of its folder's inode.
    Cgroup(u64),
    /// All flows to or from a port.
    Port(u16),
}

/// Most entries of [`Sharing::weights`], as the map has room for.
pub const MAX_WEIGHTS: usize = 1024;
