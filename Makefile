# Two commands are enough: `make demo` and `make test`. Both install what they need on Debian.

.PHONY: demo test test-python build setup check bench clean

# Namespaces, TUN and BPF need root. Everything is built by the caller; only the run itself is raised.
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
SOUNDING := target/release/sounding

demo: build
	$(AS_ROOT) $(SOUNDING) demo

test: setup
	scripts/test

test-python: setup
	scripts/test-python

build: setup
	cargo build --release --locked --package sounding

setup:
	@scripts/setup

check: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- --deny warnings
	cargo xtask check
	cargo fmt --check --manifest-path python/Cargo.toml
	cargo clippy --manifest-path python/Cargo.toml --all-targets -- --deny warnings

bench: setup
	cargo bench --locked --package sounding-diag

clean:
	cargo clean
	cargo clean --manifest-path python/Cargo.toml
