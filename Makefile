# Two commands are enough: `make demo` and `make test`. Both install what they need on Debian.

.PHONY: demo test test-long test-kernel test-python build soundingd wheel setup check thorough agreement bench fuzz loom timings coverage release install clean

TARGET := target

# SOUNDING=FILE runs that program, and builds none.
demo:
	@scripts/demo

# Without a network there may be no busybox, promtool or SRT: their tests are skipped then, or fail by SOUNDING_REQUIRE.
test:
	@scripts/setup test
	@scripts/setup busybox || echo "tests do without busybox"
	@scripts/setup promtool || echo "tests do without promtool"
	@scripts/setup srt || echo "tests do without SRT"
	scripts/test

# Tests that take too long for every change. A release needs them: .ci/release.
test-long:
	@scripts/setup test
	@scripts/setup uml
	@scripts/setup gstreamer
	scripts/test-long

# The kernel part on Debian 12's kernel, emulated: minutes. KERNEL=FILE names another kernel's package.
test-kernel:
	@scripts/setup kernel
	scripts/test-kernel $(KERNEL)

test-python: setup
	scripts/test-python

build: setup
	cargo build --release --locked --package sounding

# The small daemon for routers, static, of each machine: target/soundingd/MACHINE/soundingd.
MACHINES := x86_64 aarch64
soundingd: setup
	scripts/soundingd $(MACHINES)

# The Python package for each of the same machines, without a need of a compiler: target/wheels.
wheel: setup
	scripts/wheel $(MACHINES)

setup:
	@scripts/setup

# With a third law nothing may fail to compile: what differs between laws stands in their table.
# Fuzz targets take a nightly compiler to build; whether their lock file is up to date shows without one.
check: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- --deny warnings
	cargo clippy --package sounding --no-default-features --locked -- --deny warnings
	cargo clippy --workspace --features sounding-bpf/third-law --bin sounding --test promises --test third_law --locked -- --deny warnings
	RUSTDOCFLAGS='--deny warnings' cargo doc --quiet --workspace --lib --no-deps --locked
	cargo xtask check
	cargo fmt --check --manifest-path python/Cargo.toml
	cargo clippy --manifest-path python/Cargo.toml --target-dir target --all-targets -- --deny warnings
	cargo fmt --check --manifest-path examples/controller/Cargo.toml
	cargo clippy --manifest-path examples/controller/Cargo.toml --target-dir target --all-targets -- --deny warnings
	cargo update --quiet --workspace --locked --manifest-path fuzz/Cargo.toml

# Every field of the shared captures beside an independent reader's, counted by log code.
agreement: setup
	cargo test --quiet --locked --release --package sounding-diag --test captures -- --ignored --nocapture agreement

bench: setup
	cargo bench --locked --package sounding-diag --package sounding-kpi --package sounding-phy --package sounding-baselines \
		--package sounding-sim

# Fuzzes everything that reads input from a modem, a file or a program: a minute per target by default. TARGETS='hdlc
# rrc' selects some. Needs a nightly compiler.
SECONDS := 60
fuzz: setup
	scripts/fuzz $(SECONDS) $(TARGETS)

# The board's protocol under a model checker: a minute of compiling, a second of checking.
loom: setup
	scripts/loom

# What takes longer than a change needs: every feature alone, the model checker, five seconds of each fuzz target, Miri. Steps
# whose compiler this machine lacks are left out, and printed.
thorough: setup
	scripts/thorough

# The slowest tests, and the compiler's report of where the time of a build goes.
timings: setup
	scripts/timings

# Which lines of the crates that decode and decide are run by their tests. CRATES='rrc nas' selects others.
coverage: setup
	scripts/coverage $(CRATES)

# The installation tree of a release, its archive, bill of materials and checksums. VERIFY=--verify makes it twice and compares.
release: setup
	@scripts/setup package
	scripts/release $(VERIFY)

# The binary with its manual pages and completions, its unit for systemd, libOD with its header and pkg-config file, and the
# licences of all that is in them. DESTDIR stages it for a package.
PREFIX ?= /usr/local
# The libraries that a build makes from C have a `make install` of their own, which must not see this one's places.
MAKEOVERRIDES =
unexport DESTDIR PREFIX TARGET
BINARY := $(TARGET)/release/sounding
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

install: build
	cargo build --release --locked --package sounding-libod
	cargo xtask notices > $(TARGET)/release/THIRD-PARTY-NOTICES
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/sounding
	install -d $(DESTDIR)$(PREFIX)/share/doc/sounding
	install -m 644 LICENSE-MIT LICENSE-APACHE $(TARGET)/release/THIRD-PARTY-NOTICES $(DESTDIR)$(PREFIX)/share/doc/sounding
	install -d $(DESTDIR)$(PREFIX)/share/doc/sounding/examples
	install -m 644 dist/examples/*.toml $(DESTDIR)$(PREFIX)/share/doc/sounding/examples
	install -m 755 $(BINARY) $(DESTDIR)$(PREFIX)/bin/sounding
	env -u SUDO_UID -u SUDO_GID $(BINARY) manual $(DESTDIR)$(PREFIX)/share/man
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions
	install -d $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(BINARY) completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/sounding
	$(BINARY) completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_sounding
	$(BINARY) completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/sounding.fish
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system $(DESTDIR)$(PREFIX)/lib/sysusers.d
	sed -e 's|@PREFIX@|$(PREFIX)|' dist/systemd/sounding@.service.in \
		> $(DESTDIR)$(PREFIX)/lib/systemd/system/sounding@.service
	install -m 644 dist/systemd/sounding.sysusers.conf $(DESTDIR)$(PREFIX)/lib/sysusers.d/sounding.conf
	install -m 755 $(TARGET)/release/libod.so $(DESTDIR)$(PREFIX)/lib/libod.so.1
	ln -sf libod.so.1 $(DESTDIR)$(PREFIX)/lib/libod.so
	install -m 644 $(TARGET)/release/libod.a $(DESTDIR)$(PREFIX)/lib/libod.a
	install -m 644 crates/libod/include/sounding/od.h $(DESTDIR)$(PREFIX)/include/sounding/od.h
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' crates/libod/libod.pc.in \
		> $(DESTDIR)$(PREFIX)/lib/pkgconfig/libod.pc

clean:
	cargo clean
	cargo clean --manifest-path python/Cargo.toml
