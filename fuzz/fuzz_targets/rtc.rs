#![no_main]

#[path = "../../crates/rtc/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::rtc(data);
});
