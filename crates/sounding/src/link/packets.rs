//! When packets arrived, from a pcap of their receiver.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::Path;

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sounding_units::HostInstant;

/// Magic numbers of a pcap with times in microseconds and in nanoseconds (draft-ietf-opsawg-pcap §4).
const MICROS: u32 = 0xA1B2_C3D4;
const NANOS: u32 = 0xA1B2_3C4D;
/// The first word of a pcapng.
const PCAPNG: u32 = 0x0A0D_0D0A;
/// The rest of the header behind the magic number, and the header of a packet.
const REST: usize = 20;
const PACKET: usize = 16;
/// Packets that are read; a longer flow shows the shift of two clocks no better.
const MOST: usize = 4_000_000;

/// The arrivals of a pcap, in order of time, on the receiver's clock since 1970.
pub(super) fn arrivals(path: &Path) -> Result<Vec<HostInstant>> {
    let named = || path.display().to_string();
    let file = File::open(path).into_diagnostic().wrap_err_with(named)?;
    read(BufReader::new(file)).wrap_err_with(named)
}

fn read(mut file: impl Read) -> Result<Vec<HostInstant>> {
    let mut magic = [0; 4];
    file.read_exact(&mut magic).into_diagnostic()?;
    let [little, big] = [u32::from_le_bytes(magic), u32::from_be_bytes(magic)];
    let (is_big, nanos_per_part) = match (little, big) {
        (MICROS, _) => (false, 1_000),
        (NANOS, _) => (false, 1),
        (_, MICROS) => (true, 1_000),
        (_, NANOS) => (true, 1),
        (PCAPNG, _) => {
            return Err(miette!("a pcapng: `editcap -F pcap` makes a pcap of it"));
        }
        _ => return Err(miette!("no pcap: it begins with {little:#010x}")),
    };
    let word = |bytes: &[u8; PACKET], at: usize| {
        let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    };
    skip(&mut file, REST as u64).into_diagnostic()?;
    let mut found = Vec::new();
    let mut head = [0; PACKET];
    while found.len() < MOST {
        match file.read_exact(&mut head) {
            Ok(()) => {}
            // The last packet may be cut while the capture is still written.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(error).into_diagnostic(),
        }
        let (seconds, part) = (u64::from(word(&head, 0)), u64::from(word(&head, 4)));
        found.push(HostInstant::from_nanos(seconds * 1_000_000_000 + part * nanos_per_part));
        skip(&mut file, word(&head, 8).into()).into_diagnostic()?;
    }
    // Several queues of a network card are captured out of order.
    found.sort_unstable();
    Ok(found)
}

fn skip(file: &mut impl Read, bytes: u64) -> io::Result<()> {
    io::copy(&mut file.take(bytes), &mut io::sink()).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pcap(magic: [u8; 4], word: fn(u32) -> [u8; 4]) -> Vec<u8> {
        let mut file = [&magic[..], &[0; REST]].concat();
        for (seconds, part, len) in [(1_700_000_000, 5, 3), (1_700_000_000, 7, 0)] {
            for number in [seconds, part, len, len] {
                file.extend(word(number));
            }
            file.extend(vec![9; len as usize]);
        }
        file
    }

    #[test]
    fn times_are_read_in_either_order_of_bytes_and_either_unit() {
        let at = |nanos| HostInstant::from_nanos(1_700_000_000_000_000_000 + nanos);
        let micros = pcap(MICROS.to_le_bytes(), u32::to_le_bytes);
        assert_eq!(read(&micros[..]).unwrap(), [at(5_000), at(7_000)]);
        let nanos = pcap(NANOS.to_be_bytes(), u32::to_be_bytes);
        assert_eq!(read(&nanos[..]).unwrap(), [at(5), at(7)]);
        // Cut in the second packet's header.
        assert_eq!(read(&nanos[..nanos.len() - 1]).unwrap(), [at(5)]);
    }

    #[test]
    fn other_files_are_refused() {
        for (file, said) in [(&b"\x0a\x0d\x0d\x0a...."[..], "editcap"), (b"text", "no pcap")] {
            assert!(read(file).unwrap_err().to_string().contains(said));
        }
        assert!(read(&b""[..]).is_err());
    }
}
