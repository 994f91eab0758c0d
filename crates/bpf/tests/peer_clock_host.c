// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * peer_clock.h as a filter: a time and a stamp in, the tick and the reading out.
 */
#include <stdio.h>
#include "background/peer_clock.h"

struct host_stamp {
	__u64 now_ns;
	__u64 stamp;
};

int main(void)
{
	struct peer_clock clock = {};
	struct host_stamp in;
	__u64 out[2];
	__u32 reading;

	while (fread(&in, sizeof(in), 1, stdin) == 1) {
		out[0] = peer_clock_read(&clock, in.now_ns, in.stamp, &reading);
		out[1] = reading;
		if (fwrite(out, sizeof(out), 1, stdout) != 1)
			return 1;
	}
	return 0;
}
