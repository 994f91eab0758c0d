use sounding_units::HostInstant;

/// The earliest of several times; `None` if there is none. Called at every step of a world.
#[inline]
pub(crate) fn soonest<const N: usize>(moments: [Option<HostInstant>; N]) -> Option<HostInstant> {
    let earlier = |before: Option<HostInstant>, at: Option<HostInstant>| match (before, at) {
        (Some(before), Some(at)) => Some(before.min(at)),
        (before, at) => before.or(at),
    };
    moments.into_iter().fold(None, earlier)
}
