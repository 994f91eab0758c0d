#![no_main]

#[path = "../../crates/nas/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::nas(data);
});
