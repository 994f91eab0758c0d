//! Names the shared library for the linker's sake: programs ask for its ABI, not for its file.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libod.so.1");
}
