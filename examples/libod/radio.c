/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Prints what is known of a radio link, as comma-separated values. An unknown value is empty.
 *
 *     cc radio.c $(pkg-config --cflags --libs libod) -o radio
 *     ./radio uplink capture:drive.mi2log                    rows of 100 ms
 *     ./radio downlink capture:drive.mi2log
 *     ./radio delays capture:drive.mi2log                    the delays that the radio itself made
 *     ./radio delays feed:modem                              those of a daemon, until it ends
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sounding/od.h>

static void number(uint64_t value, int is_known)
{
	if (is_known)
		printf("%" PRIu64, value);
	putchar(',');
}

static int link_rows(int od, int direction)
{
	struct od_line line;

	puts("modem_unix_ns,time_ns,span_ns,granted_bytes,rate_bits_per_sec,age_ns,backlog_bytes,"
	     "fair_share_bits_per_sec,users,carriers,bound,state,source");
	while (od_link(od, NULL, direction, &line) == 0) {
		int is_shared = (line.has & OD_HAS_FAIR_SHARE) != 0;

		number(line.modem_unix_ns, 1);
		number(line.time_ns, 1);
		number(line.span_ns, 1);
		number(line.granted_bytes, line.has & OD_HAS_GRANTED);
		number(line.rate_bits_per_sec, line.has & OD_HAS_RATE);
		number(line.age_ns, line.has & OD_HAS_AGE);
		number(line.backlog_bytes, line.has & OD_HAS_BACKLOG);
		number(line.fair_share_bits_per_sec, is_shared);
		number(line.users, line.has & OD_HAS_USERS);
		number(line.carriers, is_shared);
		printf("%s,%s,%s\n", line.bound, line.state, line.source);
	}
	return errno == ENODATA;
}

static int delays(int od)
{
	struct pollfd wait = { .fd = -1, .events = POLLIN };
	struct od_delay found[64];
	ssize_t n, i;

	puts("modem,number,direction,kind,from_ns,to_ns,time_ns,amount_ns,age_ns,confidence");
	while ((n = od_delays(od, found, 64)) != 0) {
		if (n < 0 && errno != EAGAIN)
			return 0;
		for (i = 0; i < n; i++) {
			const struct od_delay *one = &found[i];
			int is_live = one->modem[0] != 0;

			printf("%s,%" PRIu64 ",%s,%s,", one->modem, one->number,
			       one->direction == OD_UPLINK ? "uplink" : "downlink", one->kind);
			number(is_live ? one->from_ns : one->from_modem_unix_ns, 1);
			number(is_live ? one->to_ns : one->to_modem_unix_ns, 1);
			number(one->time_ns, !is_live);
			number(one->amount_ns, 1);
			number(one->age_ns, 1);
			puts(one->confidence);
		}
		fflush(stdout);
		if (n < 0) {
			/* Of a feed alone: a capture has each or ends. */
			wait.fd = od_poll_fd(od);
			poll(&wait, 1, 100);
		}
	}
	return 1;
}

int main(int argc, char **argv)
{
	int od = argc == 3 ? od_open(argv[2]) : -1;
	int is_whole = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: %s uplink|downlink|delays SOURCE\n", argv[0]);
		return 2;
	}
	if (od >= 0 && strcmp(argv[1], "delays") == 0)
		is_whole = delays(od);
	else if (od >= 0)
		is_whole = link_rows(od, strcmp(argv[1], "uplink") == 0 ? OD_UPLINK : OD_DOWNLINK);
	if (!is_whole) {
		fprintf(stderr, "%s: %s\n", argv[2], od_error());
		return EXIT_FAILURE;
	}
	return od_close(od) ? EXIT_FAILURE : EXIT_SUCCESS;
}
