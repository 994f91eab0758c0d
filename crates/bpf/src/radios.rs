//! The network devices of modems, as the kernel's programs keep them (`radio.h`).

use std::io;

use crate::netns;

/// So many network devices may be a modem's.
pub const MAX_RADIOS: usize = 8;
/// So many modems may feed the flows of a machine.
pub const MAX_MODEMS: usize = 4;

/// Entries of the kernel's table: a row for each modem.
pub(crate) const NUMBERS: usize = MAX_MODEMS * MAX_RADIOS;

/// Which flows leave by which modem: its network devices in this thread's network namespace, by
/// their numbers.
///
/// Of one modem without known devices, every device but loopback is the modem's. Its flows of other
/// namespaces count too, because their packets may be forwarded. Of several modems only a known
/// device says which one a flow leaves by; flows of other devices and of other namespaces go on as
/// without a modem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Radios {
    numbers: [u32; NUMBERS],
    are_named: bool,
    /// The place of the modem that other flows leave by.
    unnamed: usize,
}

impl Radios {
    /// The devices of the only modem, at the first place. The number of a device that is gone is 0.
    ///
    /// # Errors
    ///
    /// An error if there are more than [`MAX_RADIOS`].
    pub fn of_one(devices: &[u32]) -> io::Result<Self> {
        Self::of(&[(0, devices)])
    }

    /// The devices of each modem, by its place.
    ///
    /// # Errors
    ///
    /// An error if a modem has more than [`MAX_RADIOS`] devices, or a place is not below
    /// [`MAX_MODEMS`].
    pub fn of(modems: &[(usize, &[u32])]) -> io::Result<Self> {
        let mut numbers = [0; NUMBERS];
        for (place, devices) in modems {
            let row = numbers.chunks_exact_mut(MAX_RADIOS).nth(*place);
            let row = row.and_then(|row| row.get_mut(..devices.len()));
            let wrong = || {
                let most = "at most 4 modems with 8 network devices each";
                io::Error::other(format!("modem {place} with {} devices: {most}", devices.len()))
            };
            row.ok_or_else(wrong)?.copy_from_slice(devices);
        }
        Ok(match modems {
            [] => Self { numbers, are_named: false, unnamed: 0 },
            [(place, devices)] => Self { numbers, are_named: !devices.is_empty(), unnamed: *place },
            _ => Self { numbers, are_named: true, unnamed: MAX_MODEMS },
        })
    }

    /// The number of the namespace in which the devices' numbers count; 0 where none is named.
    pub(crate) fn netns_cookie(&self) -> io::Result<u64> {
        match netns::cookie() {
            _ if !self.are_named => Ok(0),
            // Before Linux 5.14 namespaces have no number. Of several modems no flow is then any's.
            Err(_) if self.unnamed == MAX_MODEMS => Ok(u64::MAX),
            cookie => cookie,
        }
    }

    pub(crate) fn numbers(&self) -> [u32; NUMBERS] {
        self.numbers
    }

    pub(crate) fn unnamed(&self) -> u32 {
        self.unnamed as u32
    }
}

/// Writes them where an object's programs look. Each object has a type of its own there.
macro_rules! set_radios {
    ($table:expr, $radios:expr, $netns_cookie:expr) => {{
        let (table, radios) = (&mut $table, $radios);
        table.unnamed = radios.unnamed();
        table.numbers = radios.numbers();
        table.netns_cookie = $netns_cookie;
    }};
}
pub(crate) use set_radios;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_modem_has_a_row_and_other_devices_are_those_of_the_only_one() {
        let one = Radios::of_one(&[7, 0, 9]).unwrap();
        assert_eq!(one.numbers()[..4], [7, 0, 9, 0]);
        assert_eq!((one.unnamed(), one.are_named), (0, true));
        let any = Radios::of(&[(2, &[])]).unwrap();
        assert_eq!((any.unnamed(), any.netns_cookie().unwrap()), (2, 0));
        let several = Radios::of(&[(0, &[7]), (3, &[])]).unwrap();
        assert_eq!((several.unnamed() as usize, several.are_named), (MAX_MODEMS, true));
        let second = Radios::of(&[(1, &[5]), (0, &[])]).unwrap();
        assert_eq!(second.numbers()[MAX_RADIOS], 5);
    }

    #[test]
    fn more_than_there_is_room_for_is_an_error() {
        assert!(Radios::of_one(&[1; 9]).is_err());
        assert!(Radios::of(&[(4, &[1])]).unwrap_err().to_string().contains("at most 4 modems"));
    }
}
