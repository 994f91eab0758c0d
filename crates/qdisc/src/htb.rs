//! The options of HTB and of its classes.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sounding_units::Rate;

use crate::message::{Attributes, Message, u32_at};
use crate::numbers::{
    HTB_VERSION, LINKLAYER_ETHERNET, TCA_HTB_CEIL64, TCA_HTB_INIT, TCA_HTB_PARMS, TCA_HTB_RATE64,
};

/// `struct tc_htb_opt`: two of `struct tc_ratespec`, and five numbers.
const PARAMETERS_BYTES: usize = 44;
/// Places in it: of the link layer and the rate in each specification, and of both bursts.
const LINK_LAYERS: [usize; 2] = [1, 13];
const RATES: [usize; 2] = [8, 20];
const BURSTS: [usize; 2] = [24, 28];
const QUANTUM: usize = 32;

/// Nanoseconds of a tick, the unit of a burst (`PSCHED_SHIFT` of `net/pkt_sched.h`).
const TICK_NS: u128 = 64;
/// A burst lets the timer of HTB be this late. Chosen; it is what SQM sets.
const BURST: Duration = Duration::from_millis(1);
/// The smallest burst, in bytes: a packet with all headers, as `tc` takes it.
const SMALLEST_BURST: u64 = 1600;
/// The turn of a class, which says nothing where there is one class: a full packet.
const QUANTUM_BYTES: u32 = 1514;

/// The options of a class: its rate, its bursts and all else, as the kernel lists them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Options {
    /// In bytes a second: what it may send, and what it may send with what others leave.
    rates_bytes_per_sec: [u64; 2],
    /// The kernel's structure.
    parameters: Vec<u8>,
}

impl Options {
    pub(crate) fn read(options: &[u8]) -> Option<Self> {
        let attributes = Attributes(options);
        let parameters = attributes.get(TCA_HTB_PARMS)?.get(..PARAMETERS_BYTES)?.to_vec();
        let large = [TCA_HTB_RATE64, TCA_HTB_CEIL64].map(|kind| attributes.u64(kind));
        let small = RATES.map(|at| u32_at(&parameters, at).unwrap_or_default());
        let rate = |at: usize| large[at].unwrap_or(small[at].into());
        Some(Self { rates_bytes_per_sec: [rate(0), rate(1)], parameters })
    }

    /// The options of a new class.
    pub(crate) fn new(rate: Rate) -> Self {
        let mut parameters = vec![0; PARAMETERS_BYTES];
        put(&mut parameters, QUANTUM, QUANTUM_BYTES);
        Self { rates_bytes_per_sec: [0; 2], parameters }.with(rate)
    }

    /// The rate, if it is the same alone and with what others leave.
    pub(crate) fn rate(&self) -> Option<Rate> {
        let [rate, ceiling] = self.rates_bytes_per_sec;
        (rate == ceiling).then_some(Rate::from_bytes_per_sec(rate))
    }

    /// The same with another rate. The bursts keep their bytes, but for what the rate needs more.
    pub(crate) fn with(&self, rate: Rate) -> Self {
        let mut new = self.clone();
        let bytes_per_sec = rate.bytes_per_sec().max(1);
        new.rates_bytes_per_sec = [bytes_per_sec; 2];
        for (burst, before) in BURSTS.into_iter().zip(self.rates_bytes_per_sec) {
            let ticks = u32_at(&self.parameters, burst).unwrap_or_default();
            let least = bytes_per_sec / (1000 / BURST.as_millis().max(1)) as u64;
            let bytes = bytes_in(ticks, before).max(least).max(SMALLEST_BURST);
            put(&mut new.parameters, burst, ticks_of(bytes, bytes_per_sec));
        }
        for at in RATES {
            let small = u32::try_from(bytes_per_sec).unwrap_or(u32::MAX);
            put(&mut new.parameters, at, small);
        }
        new
    }

    /// As the options of a message. The kernel computes with the rate itself, so there is no table.
    pub(crate) fn write(&self, message: Message) -> Message {
        let mut parameters = self.parameters.clone();
        for at in LINK_LAYERS {
            // A table would be needed for an unknown one.
            if let Some(layer @ 0) = parameters.get_mut(at) {
                *layer = LINKLAYER_ETHERNET;
            }
        }
        let message = message.attribute(TCA_HTB_PARMS, &parameters);
        let large = [TCA_HTB_RATE64, TCA_HTB_CEIL64].into_iter().zip(self.rates_bytes_per_sec);
        large
            .filter(|(_, rate)| *rate > u32::MAX.into())
            .fold(message, |message, (kind, rate)| message.attribute(kind, &rate.to_ne_bytes()))
    }
}

/// The options of a new root, whose packets go to the class of this number.
pub(crate) fn root(message: Message, class: u16) -> Message {
    // Version, divisor of rates for quanta, class, and two that only the kernel sets.
    let numbers = [HTB_VERSION, 10, class.into(), 0, 0];
    message.attribute(TCA_HTB_INIT, numbers.map(u32::to_ne_bytes).as_flattened())
}

fn put(parameters: &mut [u8], at: usize, value: u32) {
    if let Some(place) = parameters.get_mut(at..at + 4) {
        place.copy_from_slice(&value.to_ne_bytes());
    }
}

fn ticks_of(bytes: u64, bytes_per_sec: u64) -> u32 {
    let nanoseconds = u128::from(bytes) * 1_000_000_000;
    let ticks = nanoseconds.div_ceil(u128::from(bytes_per_sec.max(1)) * TICK_NS);
    u32::try_from(ticks).unwrap_or(u32::MAX)
}

fn bytes_in(ticks: u32, bytes_per_sec: u64) -> u64 {
    let bytes = u128::from(ticks) * TICK_NS * u128::from(bytes_per_sec) / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(options: &Options) -> Vec<u8> {
        let bytes = options.write(Message::new(0, 0)).finish(0);
        bytes[crate::numbers::HEADER_BYTES..].to_vec()
    }

    fn hex(text: &str) -> Vec<u8> {
        let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hex");
        (0..text.len()).step_by(2).map(byte).collect()
    }

    /// `htb rate 10mbit burst 2000 cburst 2000` as tc of iproute2 6.1 sends it, without the tables.
    const OF_TC: &str = "3000010003010000ffff0000d012130003010000ffff0000d0121300\
                         a8610000a8610000000000000000000000000000";

    #[test]
    fn options_of_tc_are_read() {
        let options = Options::read(&hex(OF_TC)).expect("they are whole");
        assert_eq!(options.rate(), Some(Rate::from_bits_per_sec(10_000_000)));
        assert_eq!(bytes_in(0x61a8, 1_250_000), 2000);
    }

    #[test]
    fn another_rate_changes_rates_and_bursts_alone() {
        let rate = Rate::from_bits_per_sec(20_000_000);
        let options = Options::read(&hex(OF_TC)).expect("they are whole").with(rate);
        // 20 Mbit/s need 2500 bytes for a millisecond: as many ticks as before.
        let expected = OF_TC.replace("d0121300", "a0252600").replace("a8610000", "093d0000");
        assert_eq!(written(&options), hex(&expected));
    }

    #[test]
    fn a_rate_beyond_32_bit_has_its_own_attribute() {
        let rate = Rate::from_bits_per_sec(80_000_000_000);
        let options = Options::new(rate);
        assert_eq!(options.rate(), Some(rate));
        let again = Options::read(&written(&options)).expect("they are whole");
        assert_eq!(again.rate(), Some(rate));
    }

    proptest! {
        #[test]
        fn no_options_and_no_rate_make_it_panic(bytes: Vec<u8>, bits: u64) {
            let rate = Rate::from_bits_per_sec(bits);
            let options = Options::read(&bytes).unwrap_or_else(|| Options::new(rate)).with(rate);
            let bytes_per_sec = rate.bytes_per_sec().max(1);
            prop_assert_eq!(options.rate(), Some(Rate::from_bytes_per_sec(bytes_per_sec)));
        }
    }
}
