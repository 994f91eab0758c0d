#![no_main]

#[path = "../../crates/trace/tests/dci_targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::dci(data);
});
