/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Prints KPIs as they come:
 *
 *     cc follow.c $(pkg-config --cflags --libs libod) -o follow
 *     ./follow modem lte.pusch.tbs lte.cell.rsrp             from a board
 *     ./follow capture:drive.mi2log lte.pusch.tbs            from a file
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <sounding/od.h>

#define MOST_KPIS 32

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, od_error());
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct od_sample samples[16];
	struct pollfd wait = { .events = POLLIN };
	const char *names[MOST_KPIS];
	int od, i, kpi;

	if (argc < 3 || argc > 2 + MOST_KPIS) {
		fprintf(stderr, "usage: %s SOURCE KPI...\n", argv[0]);
		return 2;
	}
	if (od_abi() != OD_ABI) {
		fprintf(stderr, "libod has another ABI than its header\n");
		return EXIT_FAILURE;
	}
	od = od_open(argv[1]);
	if (od < 0)
		return fail(argv[1]);
	for (i = 2; i < argc; i++) {
		kpi = od_subscribe(od, argv[i]);
		if (kpi < 0)
			return fail(argv[i]);
		names[kpi] = argv[i];
	}
	wait.fd = od_poll_fd(od);
	if (wait.fd < 0)
		return fail("od_poll_fd");

	for (;;) {
		ssize_t count = od_read(od, samples, sizeof(samples) / sizeof(samples[0]));

		if (count == 0)
			break;
		if (count < 0 && errno != EAGAIN)
			return fail("od_read");
		if (count < 0 && poll(&wait, 1, -1) < 0 && errno != EINTR) {
			perror("poll");
			return EXIT_FAILURE;
		}
		for (i = 0; i < count; i++)
			printf("%llu.%09llu %s %.10g%s\n",
			       (unsigned long long)(samples[i].modem_unix_ns / 1000000000),
			       (unsigned long long)(samples[i].modem_unix_ns % 1000000000),
			       names[samples[i].kpi], samples[i].value,
			       samples[i].flags & OD_STALE ? " stale" : "");
		fflush(stdout);
	}
	if (od_close(od) < 0)
		return fail("od_close");
	return EXIT_SUCCESS;
}
