#![no_main]

#[path = "../../crates/modem/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::modem(data);
});
