//! Turns the 3GPP tables in `tables/` into constant arrays, so that the numbers stay readable,
//! diffable CSV and the crate still reads no file.

mod awgn;
mod channel;
mod csv;
mod hspa;
mod lte;
mod nr;

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=tables");
    println!("cargo::rerun-if-changed=build");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let write = |file: &str, code: String| {
        fs::write(Path::new(&out).join(file), code).expect("OUT_DIR can be written");
    };
    write("lte.rs", lte::tables());
    write("nr.rs", nr::tables());
    write("hspa.rs", hspa::tables());
    write("awgn.rs", awgn::tables());
    write("channel.rs", channel::tables());
}
