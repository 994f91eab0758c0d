//! The figures, each with the value of a paper or of a real stack, and the range that counts as
//! agreement. Of the stack's figures medians agree within a fifth, other delays within a quarter,
//! and parts within ten points.

/// A figure of a paper, or of a real stack's logs.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its name here.
    pub id: &'static str,
    /// Its meaning.
    pub what: &'static str,
    /// The paper's value, as written there; if it gives none, a value that follows from its text.
    /// The stack's, as read from its logs.
    pub paper: &'static str,
    /// Its section.
    pub source: &'static str,
    /// The unit of the model's value.
    pub unit: &'static str,
    /// Ours agrees from here
    pub least: f64,
    /// to here.
    pub most: f64,
    /// How the model's value is computed, and why it differs.
    pub why: &'static str,
}

/// A row for each line: name | what | paper | source | unit | least | most | why.
macro_rules! figures {
    ($($id:literal $what:literal $paper:literal $source:literal $unit:literal $least:literal $most:literal $why:literal;)*) => {
        &[$(Figure {
            id: $id, what: $what, paper: $paper, source: $source, unit: $unit,
            least: $least, most: $most, why: $why,
        }),*]
    };
}

/// All figures, in the order of the table.
pub const FIGURES: &[Figure] = figures! {
"mper.down" "MAC packet error rate, NR down" "5.54 % median" "Gandalf Fig. 5"
    "%" 4.0 7.0 "the outer loop's target; fading between reports adds to it";
"mper.up" "MAC packet error rate, NR up" "8.00 % median" "Gandalf Fig. 5"
    "%" 6.5 9.5 "the outer loop's target; fading between measurements adds to it";
"mper.lte.down" "MAC packet error rate, LTE down" "not given" "as NR's"
    "%" 3.0 9.0 "the same target as for NR; srsRAN's channel hardly fades";
"mper.lte.up" "MAC packet error rate, LTE up" "not given" "as NR's"
    "%" 5.0 11.0 "the same target as for NR";
"harq.lte.down" "HARQ delay, LTE FDD down" "8 ms" "Gandalf §B.3.1"
    "ms" 8.0 8.0 "K1 + Kd; a repeat goes before new blocks";
"harq.lte.up" "HARQ delay, LTE FDD up" "8 ms" "Gandalf §B.3.1"
    "ms" 8.0 8.0 "K2 + Ku";
"harq.nr.a" "HARQ delay by slot, DDDSUDDSUU" "9 slots' values" "Gandalf Tables 4, 6a"
    "% of slots equal" 100.0 100.0 "K1, Kd, K2, Ku as measured";
"harq.nr.b" "HARQ delay by slot, DDDDDDDSUU" "10 slots' values" "Gandalf Tables 5, 6b"
    "% of slots equal" 100.0 100.0 "K1, Kd, K2, Ku as measured";
"rough.held" "repeats of HARQ among all transmissions, LTE up, preset `rough`" "not given" "of captures"
    "%" 11.0 14.0 "link adaptation aims at more errors, and repeats are lost too";
"rough.twice" "of them a block's second repeat or later, preset `rough`" "not given" "of captures"
    "%" 20.0 28.0 "a repeat often meets the fade of the block";
"rough.thrice" "its third repeat or later, preset `rough`" "not given" "of captures"
    "%" 6.0 10.0 "a second repeat more often than a first";
"rough.ms" "delay of a repeat, mean, preset `rough`" "not given" "of captures"
    "ms" 10.0 13.0 "8 ms each, from the block's first transmission on";
"rough.rlc" "RLC's repeats in a minute of upload, preset `rough`" "not given" "of captures"
    "" 10.0 16.0 "HARQ gives up after six transmissions";
"rlc.lte.few" "RLC retransmission delay, LTE, 10th percentile" "60 to 100 ms" "Gandalf Fig. 4"
    "ms" 60.0 100.0 "t-Reordering is 45 ms, as in most captures, and the status and the repeat take 8 ms at least; at 60 ms it is within";
"rlc.lte.median" "RLC retransmission delay, LTE, median" "60 to 100 ms" "Gandalf Fig. 4"
    "ms" 60.0 100.0 "as above";
"rlc.lte.most" "RLC retransmission delay, LTE, 90th percentile" "60 to 100 ms" "Gandalf Fig. 4"
    "ms" 60.0 100.0 "as above";
"rlc.lte.long.few" "the same with a t-Reordering of 60 ms, 10th percentile" "60 to 100 ms" "Gandalf Fig. 4"
    "ms" 60.0 100.0 "the timers of the captures that show repeats in the uplink; the timer alone makes the difference";
"rlc.lte.long.median" "the same with a t-Reordering of 60 ms, median" "60 to 100 ms" "Gandalf Fig. 4"
    "ms" 60.0 100.0 "as above";
"rlc.lte.long.most" "the same with a t-Reordering of 60 ms, 90th percentile" "60 to 100 ms" "Gandalf Fig. 4"
    "ms" 60.0 100.0 "as above";
"rlc.nr.few" "RLC retransmission delay, NR, 10th percentile" "60 to 120 ms" "Gandalf Fig. 4"
    "ms" 60.0 120.0 "as in LTE; the one network of NR in captures has a t-Reassembly of 40 ms";
"rlc.nr.median" "RLC retransmission delay, NR, median" "60 to 120 ms" "Gandalf Fig. 4"
    "ms" 60.0 120.0 "as above";
"rlc.nr.most" "RLC retransmission delay, NR, 90th percentile" "60 to 120 ms" "Gandalf Fig. 4"
    "ms" 60.0 120.0 "as above";
"rlc.nr.long.few" "the same with a t-Reassembly of 60 ms, 10th percentile" "60 to 120 ms" "Gandalf Fig. 4"
    "ms" 60.0 120.0 "as in LTE";
"rlc.nr.long.median" "the same with a t-Reassembly of 60 ms, median" "60 to 120 ms" "Gandalf Fig. 4"
    "ms" 60.0 120.0 "as above";
"rlc.nr.long.most" "the same with a t-Reassembly of 60 ms, 90th percentile" "60 to 120 ms" "Gandalf Fig. 4"
    "ms" 60.0 120.0 "as above";
"answer.lte" "from a report to what it asked for, LTE, median" "5 to 10 ms, 1 to 2 intervals" "Gandalf Equation 4"
    "ms" 5.0 10.0 "decoded in 2.5 ms and granted 4 ms ahead; of a stream, with the next report but one";
"buffer.lte.least" "uplink buffer delay, LTE, 1st percentile" "0 intervals of reports" "Gandalf §3.2.2"
    "T_bsr" 0.0 0.5 "bytes counted twice let some packets go at once";
"buffer.lte.median" "uplink buffer delay, LTE, median" "1.5 to 2.5 intervals" "Gandalf Equations 3, 4"
    "T_bsr" 1.5 2.5 "t_b, half an interval, and t_r + K2, two in captures too; the takeaway's 1 to 2 is where that is one";
"buffer.lte.most" "uplink buffer delay, LTE, 90th percentile" "1.9 to 2.9 intervals" "Gandalf Equations 3, 4"
    "T_bsr" 1.9 2.9 "as above";
"buffer.nr.least" "uplink buffer delay, NR, 1st percentile" "0 intervals of reports" "Gandalf §3.2.2"
    "T_bsr" 0.0 0.5 "bytes counted twice let some packets go at once";
"buffer.nr.median" "uplink buffer delay, NR, median" "1 to 2 intervals" "Gandalf §3.2.1"
    "T_bsr" 1.0 2.0 "to the report, then t_r + K2 of one interval";
"buffer.nr.most" "uplink buffer delay, NR, 90th percentile" "2 intervals" "Gandalf §3.2.1"
    "T_bsr" 1.5 2.3 "as above";
"bsr.lte.ms" "time between reports, LTE, median" "T_bsr: 5 ms" "Gandalf §4.3.2"
    "ms" 5.0 5.0 "periodicBSR-Timer, met by a grant each time";
"bsr.nr.ms" "time between reports, NR, median" "T_bsr: 5 ms" "Gandalf §4.3.2"
    "ms" 5.0 5.0 "as in LTE";
"bsr.lte.zero" "reports of an empty buffer, LTE" "sporadic" "Gandalf Fig. 8"
    "%" 0.2 20.0 "reports are rounded up, and some bytes are granted twice";
"bsr.lte.zero.stream" "the same of a stream of 1.4 Mbit/s" "56.9 %" "captures, more than 512 kbit/s up"
    "%" 46.9 66.9 "why captures of fast uploads have so many is not known";
"bsr.lte.zero.acks" "the same under a download's ACKs" "41.7 %" "captures, 64 to 512 kbit/s up"
    "%" 31.7 51.7 "ACKs come one by one, and a grant for a report is often more than they need";
"bsr.lte.zero.pings" "the same of pings" "80.1 %" "captures, up to 64 kbit/s up"
    "%" 70.1 90.1 "each packet alone: its block empties the buffer; captures have some longer bursts";
"bsr.nr.zero" "reports of an empty buffer, NR" "sporadic" "Gandalf Fig. 8"
    "%" 0.2 20.0 "as in LTE, with coarser steps";
"peak.lte.first" "strongest peak of the delay's spectrum, LTE" "200 Hz, 1/T_bsr" "Gandalf Fig. 16c"
    "Hz" 195.0 205.0 "packets wait for the next report: a sawtooth";
"peak.lte.second" "second peak, LTE" "400 Hz" "Gandalf Fig. 16c"
    "Hz" 395.0 405.0 "the sawtooth's first harmonic";
"peak.nr.first" "strongest peak of the delay's spectrum, NR" "200 Hz, 1/T_bsr" "Gandalf Fig. 16c"
    "Hz" 195.0 205.0 "as in LTE; the pattern of slots repeats as often";
"peak.nr.second" "second peak, NR" "400 Hz" "Gandalf Fig. 16c"
    "Hz" 395.0 405.0 "as in LTE";
"peak.lte.slow" "strongest peak with reports every 10 ms, LTE" "100 Hz, 1/T_bsr" "follows from Gandalf §4.3.2"
    "Hz" 95.0 105.0 "the peak goes where the reports go";
"rtt.lte" "round trips at 2 Mbit/s, 95th less 5th percentile, LTE" "30.5 ms" "Gandalf Fig. 9"
    "ms" 24.0 37.0 "requests, reports and repeats; nothing is congested";
"rtt.nr" "round trips at 2 Mbit/s, 95th less 5th percentile, NR" "19.1 ms" "Gandalf Fig. 9"
    "ms" 15.0 24.0 "as in LTE, in shorter slots";
"stack.5.stream.p5" "uplink delay of a stream of 1,250-byte packets, timer of 5 ms, 5th percentile" "6 ms" "srsRAN a5"
    "ms" 4.5 7.5 "a packet that comes right before a block that was granted for others";
"stack.5.stream.p50" "uplink delay of a stream of 1,250-byte packets, timer of 5 ms, median" "15 ms" "srsRAN a5"
    "ms" 12.0 18.0 "a request goes out as soon as the emptied buffer refills, and each report is answered 9 ms later";
"stack.5.stream.p95" "uplink delay of a stream of 1,250-byte packets, timer of 5 ms, 95th percentile" "25 ms" "srsRAN a5"
    "ms" 18.75 31.25 "as above";
"stack.5.stream.p99" "uplink delay of a stream of 1,250-byte packets, timer of 5 ms, 99th percentile" "34 ms" "srsRAN a5"
    "ms" 25.5 42.5 "as above";
"stack.5.stream.empty" "reports of an empty buffer, the same stream, timer of 5 ms" "35 %" "srsRAN a5"
    "%" 25.0 45.0 "the network grants again what a block has brought until its report counts, and more after a block without one";
"stack.5.acks.p5" "uplink delay of a download's ACKs, timer of 5 ms, 5th percentile" "5 ms" "srsRAN a5"
    "ms" 3.75 6.25 "a packet that comes right before a block that was granted for others";
"stack.5.acks.p50" "uplink delay of a download's ACKs, timer of 5 ms, median" "13 ms" "srsRAN a5"
    "ms" 10.4 15.6 "a request goes out as soon as the emptied buffer refills, and each report is answered 9 ms later";
"stack.5.acks.p95" "uplink delay of a download's ACKs, timer of 5 ms, 95th percentile" "22 ms" "srsRAN a5"
    "ms" 16.5 27.5 "as above";
"stack.5.acks.p99" "uplink delay of a download's ACKs, timer of 5 ms, 99th percentile" "29 ms" "srsRAN a5"
    "ms" 21.75 36.25 "as above";
"stack.5.acks.empty" "reports of an empty buffer, under those ACKs, timer of 5 ms" "38 %" "srsRAN a5"
    "%" 28.0 48.0 "the network grants again what a block has brought until its report counts, and more after a block without one";
"stack.5.answer" "from a request to the next grant, stream and ACKs, timer of 5 ms, median" "3 to 10 ms" "srsRAN a5"
    "ms" 3.0 10.0 "8 ms, or sooner with a grant that was under way";
"stack.5.pings.p50" "round trips of pings while idle, timer of 5 ms, median" "28 ms" "srsRAN a5"
    "ms" 22.4 33.6 "the wait for a request's turn, one grant, and back";
"stack.5.pings.p95" "round trips of pings while idle, timer of 5 ms, 95th percentile" "39 ms" "srsRAN a5"
    "ms" 29.25 48.75 "the wait for a request's turn, one grant, and back";
"stack.20.stream.p5" "uplink delay of a stream of 1,250-byte packets, timer of 20 ms, 5th percentile" "6 ms" "srsRAN a20"
    "ms" 4.5 7.5 "a packet that comes right before a block that was granted for others";
"stack.20.stream.p50" "uplink delay of a stream of 1,250-byte packets, timer of 20 ms, median" "18 ms" "srsRAN a20"
    "ms" 14.4 21.6 "a request goes out as soon as the emptied buffer refills, and each report is answered 9 ms later";
"stack.20.stream.p95" "uplink delay of a stream of 1,250-byte packets, timer of 20 ms, 95th percentile" "31 ms" "srsRAN a20"
    "ms" 23.25 38.75 "as above";
"stack.20.stream.p99" "uplink delay of a stream of 1,250-byte packets, timer of 20 ms, 99th percentile" "37 ms" "srsRAN a20"
    "ms" 27.75 46.25 "as above";
"stack.20.stream.empty" "reports of an empty buffer, the same stream, timer of 20 ms" "66 %" "srsRAN a20"
    "%" 56.0 76.0 "the network grants again what a block has brought until its report counts, and more after a block without one";
"stack.20.acks.p5" "uplink delay of a download's ACKs, timer of 20 ms, 5th percentile" "5 ms" "srsRAN a20"
    "ms" 3.75 6.25 "a packet that comes right before a block that was granted for others";
"stack.20.acks.p50" "uplink delay of a download's ACKs, timer of 20 ms, median" "13 ms" "srsRAN a20"
    "ms" 10.4 15.6 "a request goes out as soon as the emptied buffer refills, and each report is answered 9 ms later";
"stack.20.acks.p95" "uplink delay of a download's ACKs, timer of 20 ms, 95th percentile" "22 ms" "srsRAN a20"
    "ms" 16.5 27.5 "as above";
"stack.20.acks.p99" "uplink delay of a download's ACKs, timer of 20 ms, 99th percentile" "27 ms" "srsRAN a20"
    "ms" 20.25 33.75 "as above";
"stack.20.acks.empty" "reports of an empty buffer, under those ACKs, timer of 20 ms" "59 %" "srsRAN a20"
    "%" 49.0 69.0 "the network grants again what a block has brought until its report counts, and more after a block without one";
"stack.20.answer" "from a request to the next grant, stream and ACKs, timer of 20 ms, median" "3 to 10 ms" "srsRAN a20"
    "ms" 3.0 10.0 "8 ms, or sooner with a grant that was under way";
"users.mean" "users in 40 ms, mean" "15.8" "PBE-CC §4.2.1, Fig. 7"
    "" 14.0 17.5 "the scenario's rate of control users, and those with data";
"users.most" "users in 40 ms, most" "28" "PBE-CC §4.2.1, Fig. 7"
    "" 24.0 34.0 "users come independently; the paper's most comes from five hours";
"users.usual" "users of four resource blocks and one subframe" "68.2 %" "PBE-CC §4.2.1, Fig. 7"
    "%" 64.0 73.0 "drawn so; users on the edge of two windows count twice";
"users.data.mean" "users with data in 40 ms, mean" "1.3" "PBE-CC §4.2.1, Fig. 7"
    "" 0.8 1.8 "what passes PBE-CC's filter of the scenario's ten users";
"users.data.most" "users with data in 40 ms, most" "7" "PBE-CC §4.2.1, Fig. 7"
    "" 4.0 9.0 "as above";
"ca.first" "first block on a second carrier, after 40 Mbit/s began" "0.13 s" "PBE-CC Fig. 2"
    "s" 0.1 0.16 "a queue for 80 ms, then MAC's command and its 24 to 34 ms";
"ca.drained" "queue of one carrier gone" "0.6 s" "PBE-CC Fig. 2"
    "s" 0.2 0.7 "what two carriers hold beyond 40 Mbit/s";
"ca.last" "last block on the second carrier, after the rate fell" "deactivated" "PBE-CC Fig. 2"
    "s" -0.5 1.5 "sCellDeactivationTimer, once the queue is gone";
};
