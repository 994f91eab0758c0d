/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Prints the advice for a live sender when it changes, and says when there is none:
 *
 *     cc advice.c $(pkg-config --cflags --libs libod) -o advice
 *     ./advice feed:modem                                    of the feed's only modem
 *     ./advice feed:modem wwan0                              of one of several
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <sounding/od.h>

int main(int argc, char **argv)
{
	struct pollfd wait = { .events = POLLIN };
	struct od_line line;
	long long last = -1;
	int od;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: %s feed:NAME [MODEM]\n", argv[0]);
		return 2;
	}
	od = od_open(argv[1]);
	if (od < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], od_error());
		return EXIT_FAILURE;
	}
	wait.fd = od_poll_fd(od);
	for (;;) {
		long long advice = 0;
		const char *why = "no advice";

		if (od_link(od, argv[2], OD_UPLINK, &line) == 0) {
			if (line.has & OD_HAS_ADVICE) {
				advice = (long long)line.advice_bits_per_sec;
				why = line.cause;
			}
		} else if (errno == EPIPE) {
			why = "the feed is dead";
		} else if (errno != EAGAIN) {
			fprintf(stderr, "%s: %s\n", argv[1], od_error());
			return EXIT_FAILURE;
		}
		if (advice != last)
			printf("%lld bit/s: %s\n", advice, why);
		fflush(stdout);
		last = advice;
		/* A daemon that fell silent wakes no one. */
		poll(&wait, 1, 100);
	}
}
