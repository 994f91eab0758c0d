//! The header of an RTP packet, which SRTP leaves readable (RFC 3550, §5.1; RFC 8285; RFC 3711,
//! §3.1).

use core::time::Duration;

use sounding_units::HostInstant;

/// The name of the absolute send time in a session description.
pub const SEND_TIME_NAME: &str = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time";
/// One-byte headers of extensions, and the first of sixteen values for two-byte headers (RFC 8285,
/// §4.2 and §4.3).
const ONE_BYTE: u16 = 0xBEDE;
const TWO_BYTES: u16 = 0x1000;
const FIXED: usize = 12;

/// A checked view of a packet's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtpHeader<'a> {
    fixed: [u8; FIXED],
    /// The profile of the extension, and its bytes.
    extension: Option<(u16, &'a [u8])>,
}

impl<'a> RtpHeader<'a> {
    /// The header of a datagram; `None` if it is no RTP packet, but RTCP, DTLS or STUN (RFC 7983;
    /// RFC 5761, §4), or if it is cut.
    pub fn parse(datagram: &'a [u8]) -> Option<Self> {
        let (fixed, rest) = datagram.split_first_chunk::<FIXED>()?;
        if fixed[0] >> 6 != 2 || (192..=223).contains(&fixed[1]) {
            return None;
        }
        let sources = usize::from(fixed[0] & 0xF) * 4;
        let rest = rest.get(sources..)?;
        let mut extension = None;
        if fixed[0] & 0x10 != 0 {
            let (&[p0, p1, l0, l1], rest) = rest.split_first_chunk::<4>()?;
            let length = usize::from(u16::from_be_bytes([l0, l1])) * 4;
            extension = Some((u16::from_be_bytes([p0, p1]), rest.get(..length)?));
        }
        Some(Self { fixed: *fixed, extension })
    }

    /// The source of the stream.
    pub fn source(&self) -> u32 {
        let [.., a, b, c, d] = self.fixed;
        u32::from_be_bytes([a, b, c, d])
    }

    /// The sequence number within the stream.
    pub fn sequence(&self) -> u16 {
        u16::from_be_bytes([self.fixed[2], self.fixed[3]])
    }

    /// The value of the header extension with this number in the session.
    pub fn extension(&self, wanted: u8) -> Option<&'a [u8]> {
        let (profile, mut rest) = self.extension?;
        let is_short = profile == ONE_BYTE;
        if !is_short && profile & 0xFFF0 != TWO_BYTES {
            return None;
        }
        while let Some((&first, after)) = rest.split_first() {
            if first == 0 {
                // Padding.
                rest = after;
                continue;
            }
            let (id, length, after) = if is_short {
                (first >> 4, usize::from(first & 0xF) + 1, after)
            } else {
                let (&length, after) = after.split_first()?;
                (first, usize::from(length), after)
            };
            if is_short && id == 15 {
                return None;
            }
            let value = after.get(..length)?;
            if id == wanted {
                return Some(value);
            }
            rest = &after[length..];
        }
        None
    }

    /// When the packet was sent, from the extension with this number; `near` is a later time within
    /// 32 s, on the same clock, such as that of its arrival.
    ///
    /// The extension counts 2⁻¹⁸ s modulo 64 s. libwebrtc takes the sender's monotonic clock.
    pub fn sent(&self, extension: u8, near: HostInstant) -> Option<HostInstant> {
        let &[a, b, c] = self.extension(extension)?.first_chunk::<3>()?;
        let stamp = u64::from(u32::from_be_bytes([0, a, b, c]));
        let round = 64_000_000_000_u64;
        let within = (stamp * 1_000_000_000) >> 18;
        let ago = (near.as_nanos() % round + round - within) % round;
        // A stamp a little ahead: the clocks, or their roundings, differ.
        let sent = if ago < round / 2 {
            near.saturating_before(Duration::from_nanos(ago))
        } else {
            near + Duration::from_nanos(round - ago)
        };
        Some(sent)
    }
}

/// The number of an extension in a session description: `a=extmap:NUMBER NAME`, with an optional
/// direction.
pub fn extension_number(description: &str, name: &str) -> Option<u8> {
    description.lines().find_map(|line| {
        let mut words = line.trim_end().strip_prefix("a=extmap:")?.split(' ');
        let number = words.next()?.split('/').next()?.parse().ok()?;
        (words.next()? == name).then_some(number)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(profile: u16, extension: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x91, 0x60, 1, 2, 0, 0, 0, 9, 0, 0, 0, 7, 5, 5, 5, 5];
        bytes.extend(profile.to_be_bytes());
        bytes.extend(u16::try_from(extension.len() / 4).expect("it is short").to_be_bytes());
        bytes.extend(extension);
        bytes
    }

    #[test]
    fn extensions_are_found_behind_others_and_behind_padding() {
        let short = packet(ONE_BYTE, &[0x10, 9, 0, 0x22, 1, 2, 3, 0]);
        let header = RtpHeader::parse(&short).expect("it is whole");
        assert_eq!((header.source(), header.sequence()), (7, 0x0102));
        assert_eq!(header.extension(2), Some(&[1, 2, 3][..]));
        assert_eq!((header.extension(1), header.extension(3)), (Some(&[9][..]), None));
        let long = packet(0x1003, &[4, 0, 2, 3, 1, 2, 3, 0]);
        let header = RtpHeader::parse(&long).expect("it is whole");
        assert_eq!(
            (header.extension(4), header.extension(2)),
            (Some(&[][..]), Some(&[1, 2, 3][..]))
        );
        let cut = packet(ONE_BYTE, &[0x2F, 1, 2, 3]);
        assert_eq!(RtpHeader::parse(&cut).expect("it is whole").extension(2), None);
        let foreign = packet(0xABCD, &[0x22, 1, 2, 3]);
        assert_eq!(RtpHeader::parse(&foreign).expect("it is whole").extension(2), None);
        assert_eq!(RtpHeader::parse(&short[..short.len() - 1]), None);
    }

    #[test]
    fn packets_of_other_protocols_are_not_rtp() {
        let mut bytes = packet(ONE_BYTE, &[]);
        bytes[1] = 200;
        assert_eq!(RtpHeader::parse(&bytes), None);
        bytes[0] = 22;
        assert_eq!(RtpHeader::parse(&bytes), None);
    }

    #[test]
    fn the_send_time_is_unwrapped_around_the_arrival() {
        let near = HostInstant::from_nanos(640_000_000_000 + 5_000_000);
        for before in [0_u64, 4_000_000, 20_000_000, 30_000_000_000] {
            let sent = near.saturating_before(Duration::from_nanos(before));
            let stamp = (u128::from(sent.as_nanos()) << 18).div_euclid(1_000_000_000) % (1 << 24);
            let [_, stamp @ ..] = u32::try_from(stamp).expect("24 bits").to_be_bytes();
            let bytes = packet(ONE_BYTE, &[&[0x32][..], &stamp].concat());
            let found = RtpHeader::parse(&bytes).expect("it is whole").sent(3, near);
            let found = found.expect("it has the extension");
            // A step is 3.8 µs.
            assert!(sent - found <= Duration::from_micros(4) && found <= sent, "{before}");
        }
    }

    #[test]
    fn an_extension_has_its_number_in_the_description() {
        let text = "v=0\r\na=extmap:1 urn:x\r\na=extmap:14/sendonly urn:y\r\na=extmap:x urn:z\r\n";
        assert_eq!(extension_number(text, "urn:y"), Some(14));
        assert_eq!((extension_number(text, "urn:z"), extension_number(text, "x")), (None, None));
    }

    proptest! {
        #[test]
        fn whatever_arrives_is_a_header_or_is_not(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..80),
            extension: u8,
        ) {
            if let Some(first) = bytes.first_mut() {
                *first = *first & 0x3F | 0x80;
            }
            if let Some(header) = RtpHeader::parse(&bytes) {
                header.sent(extension, HostInstant::from_nanos(1 << 40));
            }
        }
    }
}
