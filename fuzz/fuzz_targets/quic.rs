#![no_main]

#[path = "../../crates/quic/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::quic(data);
});
