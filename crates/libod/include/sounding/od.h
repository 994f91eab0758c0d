/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * libOD: what a modem knows about its radio link, by name, as it comes.
 *
 *     int od = od_open("modem");                     a board of `sounding board` or `sounding run`
 *     int tbs = od_subscribe(od, "lte.pusch.tbs");   `sounding kpi list` names them all
 *     struct pollfd wait = { od_poll_fd(od), POLLIN, 0 };
 *     struct od_sample samples[16];
 *     ssize_t n;
 *
 *     while (poll(&wait, 1, -1) >= 0)
 *         while ((n = od_read(od, samples, 16)) > 0)
 *             ...
 *     od_close(od);
 *
 * A function that fails returns -1 and sets errno; od_error() says in words what went wrong.
 * Handles are numbers, as file descriptors are: one that was closed, or never opened, is EBADF. Any
 * thread may use any handle; two that read the same handle at the same time share its samples.
 * Nothing here blocks but od_open, which waits for a device or a file to open, and od_close, which
 * gives a modem up to a second to take its old masks back. Handles do not outlive fork(): open
 * after it.
 */
#ifndef SOUNDING_OD_H
#define SOUNDING_OD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes only when programs have to be compiled anew. */
#define OD_ABI 1u

#define OD_NAME_MAX 64
#define OD_UNIT_MAX 16

/* The source has been silent for a second or is gone: the sample is the last there was, and age_ns
 * says how old. */
#define OD_STALE 1u

/* One value of one KPI. */
struct od_sample {
	/* In the unit of the KPI; whole numbers are exact up to 2^53. */
	double value;
	/* All values so far added up, in the same unit: the difference between two reads lacks
	 * nothing, however many were missed. */
	double total;
	/* How many values there have been, this one included. */
	uint64_t sequence;
	/* Which item of its record it belongs to: 16 bits for each level of lists, the outermost
	 * highest, counted from 1;
	 * 0 below the last. Samples of one record with equal items describe the same thing. */
	uint64_t item;
	/* When the modem stamped the record: nanoseconds since 1970, by the modem's clock; 0 if it
	 * stamped no time. */
	uint64_t modem_unix_ns;
	/* When the record arrived at this machine: nanoseconds of CLOCK_MONOTONIC; 0 in a capture,
	 * which does not say. */
	uint64_t received_ns;
	/* How long ago that was when the sample was read; 0 in a capture. */
	uint64_t age_ns;
	/* The number that od_subscribe() returned for it. */
	uint32_t kpi;
	/* OD_STALE or 0. */
	uint32_t flags;
};

/* One KPI that there is. */
struct od_kpi {
	char name[OD_NAME_MAX];
	char unit[OD_UNIT_MAX];
	/* The smallest value that it can have, in its unit. */
	double least;
	/* The largest, in its unit. */
	double most;
	/* The log code of its record. */
	uint32_t code;
	uint32_t reserved;
};

/* Directions, seen from the device. */
#define OD_UPLINK 0
#define OD_DOWNLINK 1

/* Which numbers of a line are known; the others are 0. */
#define OD_HAS_ADVICE 1u
#define OD_HAS_RATE 2u
#define OD_HAS_AGE 4u
#define OD_HAS_BACKLOG 8u
#define OD_HAS_USERS 16u
#define OD_HAS_GRANTED 32u
#define OD_HAS_FAIR_SHARE 64u

/* One direction of one modem, as the rate feed said it last: docs/reference/feed.md; or a row of a
 * capture's link, 100 ms long. Rates are of IP packets. A stale line has numbers and words no
 * more. */
struct od_line {
	/* Counts the lines of this modem and direction, or the rows, from 1. */
	uint64_t number;
	/* The rate that a sender should take now. */
	uint64_t advice_bits_per_sec;
	/* The rate that the radio granted. */
	uint64_t rate_bits_per_sec;
	/* Bytes that wait in the modem; uplinks only. */
	uint64_t backlog_bytes;
	/* How long ago the newest record behind the rate had come when the line was read. */
	uint64_t age_ns;
	/* When the line was made: nanoseconds of CLOCK_MONOTONIC; 0 in a capture, as the next
	 * two. */
	uint64_t made_ns;
	/* How long ago that was when the line was read. */
	uint64_t line_age_ns;
	/* From this age on the line is stale: the daemon is dead, or it is late. */
	uint64_t valid_for_ns;
	/* Of captures alone; a feed's lines have 0 in these five, and in `carriers`. The end of the
	 * row: nanoseconds since 1970, by the modem's clock. */
	uint64_t modem_unix_ns;
	/* Its end since the capture's first record. */
	uint64_t time_ns;
	/* Its length. It is longer than 100 ms where no record came for ten seconds. */
	uint64_t span_ns;
	/* Bytes of the blocks that the network granted in it. */
	uint64_t granted_bytes;
	/* The device's part of an equal division of the cells among their users. */
	uint64_t fair_share_bits_per_sec;
	/* Users of the cell with data, this device included. */
	uint32_t users;
	/* Carriers of the fair share. */
	uint32_t carriers;
	/* OD_HAS_* of the numbers that are known. */
	uint32_t has;
	/* OD_STALE or 0. */
	uint32_t flags;
	uint32_t reserved;
	char modem[OD_NAME_MAX];
	/* Words; empty is unknown. Why the advice is what it is; "capacity" or "floor"; the state
	 * of the link; the method behind the rate. */
	char cause[OD_UNIT_MAX];
	char bound[OD_UNIT_MAX];
	char state[OD_UNIT_MAX];
	char source[OD_UNIT_MAX];
};

/* A delay that the radio itself made, and no queue: docs/glossary.md. */
struct od_delay {
	/* Counts the events, from 1: of the capture, or of this modem and direction in a feed,
	 * where a gap is events that were missed. */
	uint64_t number;
	/* In a capture its begin and end: nanoseconds since 1970, by the modem's clock. */
	uint64_t from_modem_unix_ns;
	uint64_t to_modem_unix_ns;
	/* From a feed its begin and end: nanoseconds of CLOCK_MONOTONIC. */
	uint64_t from_ns;
	uint64_t to_ns;
	/* In a capture its end since the first record. */
	uint64_t time_ns;
	/* The part of the time between begin and end that no queue made. */
	uint64_t amount_ns;
	/* From the end until the record came that shows it. */
	uint64_t age_ns;
	/* A code: OD_UPLINK or OD_DOWNLINK. */
	int32_t direction;
	uint32_t reserved;
	/* The modem's name; empty in a capture. */
	char modem[OD_NAME_MAX];
	/* "harq": a block was sent again. "rlc": RLC sent data again. "scheduling": uplink data
	 * waited for a report and a grant. */
	char kind[OD_UNIT_MAX];
	/* "decoded": both ends are in records. "inferred": one follows from others. */
	char confidence[OD_UNIT_MAX];
};

/*
 * Opens a source and returns its handle:
 *
 *     NAME, board:NAME     a board, which needs no rights; its KPIs are those it was started with
 *     device:SOURCE        a modem for this process alone: a tty, /dev/wwan*, /dev/diag,
 *                          tcp:HOST:PORT or router; non-hdlc: before it says that the modem has
 *                          the HDLC framing switched off
 *     capture:FILE         a recorded stream, of any kind that `sounding decode` reads, not packed
 *     feed:NAME            the rate feed of a daemon, for od_link() and od_delays() alone
 *
 * EFAULT null; EINVAL not a source; ENOENT no such board, device, file or feed; EACCES no right to
 * it; EBUSY held by another program; EPIPE a board whose writer is gone; EMFILE too many handles;
 * EIO anything else.
 */
int od_open(const char *source);

/*
 * Asks for a KPI by name and returns its number, counted from 0 for each handle; the same again for
 * the same name.
 *
 * ENOENT no KPI of that name, or not on this board; EBUSY reading a device or capture has begun;
 * EBADF; EFAULT.
 */
int od_subscribe(int od, const char *kpi);

/*
 * Takes samples that have come since the last call, at most `count`, and returns how many. From a
 * board or a device each KPI's newest at most once; `sequence` and `total` tell of those between.
 * From a capture every one, in order. 0 at the end: of a capture, or of a source that ended in good
 * order.
 *
 * EAGAIN nothing has come, poll and read again; EPIPE the source is gone otherwise; EUSERS nothing
 * has come, and the board wakes no more readers (64, 16 of them of one user): it lives, but poll()
 * does not wait for it, and od_latest() reads it; EINVAL count is 0 or nothing is subscribed;
 * EBADF; EFAULT.
 */
ssize_t od_read(int od, struct od_sample *samples, size_t count);

/*
 * The newest sample of a KPI, whether or not it was read before; for a capture, the last that
 * od_read() gave. Returns 0.
 *
 * EAGAIN there has been none; EINVAL no such number; EBADF; EFAULT.
 */
int od_latest(int od, int kpi, struct od_sample *sample);

/*
 * The newest line of a direction (OD_UPLINK, OD_DOWNLINK) of a modem, by its name; null is the
 * feed's only modem. Returns 0. A sender takes `advice_bits_per_sec` while `has` has OD_HAS_ADVICE,
 * and goes on by its own rules otherwise.
 *
 * In a capture each call gives the next row of a direction, and the name is null. ENODATA is the
 * end. The rows are those of Python's sounding.link().
 *
 * EAGAIN no such line yet; EPIPE the daemon is gone: the call connects again, every half second at
 * most, and poll() does not wait for that; ENOENT the feed has no such modem; ENODATA the capture
 * has no more rows; EINVAL a board or a device, no direction, a name with a capture, or null where
 * the feed has several modems; EBADF; EFAULT.
 */
int od_link(int od, const char *modem, int direction, struct od_line *line);

/*
 * Takes delays of both directions that no call took before, at most `count`, and returns how many.
 * From a capture every one, in the order in which records show them: the rows of Python's
 * sounding.delays(). 0 at its end. From a feed those of all modems that came since the last call,
 * the newest thousand at most; the daemon's [feed] needs `delays = true`. A later event of the same
 * modem, direction, kind and begin replaces an earlier one.
 *
 * EAGAIN nothing has come, poll and take again; EPIPE the daemon is gone, as for od_link(); EINVAL
 * count is 0, or a board or a device; EBADF; EFAULT.
 */
ssize_t od_delays(int od, struct od_delay *delays, size_t count);

/*
 * A descriptor for poll(): readable when samples may have come or the source has ended. Read until
 * EAGAIN before polling again. It belongs to the handle: neither read nor close it.
 *
 * EINVAL nothing is subscribed on a device or capture; EBADF.
 */
int od_poll_fd(int od);

/* Closes a handle, and puts a modem's log mask back. EBADF. */
int od_close(int od);

/* Describes the KPI number `index` of all there are; returns 0. ENOENT past the last; EFAULT. */
int od_kpi_info(size_t index, struct od_kpi *kpi);

/* What went wrong in this thread's last call that failed; valid until its next call that does.
 * Never null. */
const char *od_error(void);

/* OD_ABI of the library that is loaded. */
unsigned int od_abi(void);

#ifdef __cplusplus
}
#endif

#endif
