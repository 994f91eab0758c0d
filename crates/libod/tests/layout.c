/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Says where the header has its fields; the test beside it compares. */
#include <stdio.h>

#include <sounding/od.h>

#define AT(type, field) printf(#type "." #field " %zu\n", offsetof(struct type, field))

int main(void)
{
	printf("od_sample %zu\n", sizeof(struct od_sample));
	AT(od_sample, value);
	AT(od_sample, total);
	AT(od_sample, sequence);
	AT(od_sample, item);
	AT(od_sample, modem_unix_ns);
	AT(od_sample, received_ns);
	AT(od_sample, age_ns);
	AT(od_sample, kpi);
	AT(od_sample, flags);
	printf("od_kpi %zu\n", sizeof(struct od_kpi));
	AT(od_kpi, name);
	AT(od_kpi, unit);
	AT(od_kpi, least);
	AT(od_kpi, most);
	AT(od_kpi, code);
	AT(od_kpi, reserved);
	printf("od_line %zu\n", sizeof(struct od_line));
	AT(od_line, number);
	AT(od_line, advice_bits_per_sec);
	AT(od_line, rate_bits_per_sec);
	AT(od_line, backlog_bytes);
	AT(od_line, age_ns);
	AT(od_line, made_ns);
	AT(od_line, line_age_ns);
	AT(od_line, valid_for_ns);
	AT(od_line, modem_unix_ns);
	AT(od_line, time_ns);
	AT(od_line, span_ns);
	AT(od_line, granted_bytes);
	AT(od_line, fair_share_bits_per_sec);
	AT(od_line, users);
	AT(od_line, carriers);
	AT(od_line, has);
	AT(od_line, flags);
	AT(od_line, reserved);
	AT(od_line, modem);
	AT(od_line, cause);
	AT(od_line, bound);
	AT(od_line, state);
	AT(od_line, source);
	printf("od_delay %zu\n", sizeof(struct od_delay));
	AT(od_delay, number);
	AT(od_delay, from_modem_unix_ns);
	AT(od_delay, to_modem_unix_ns);
	AT(od_delay, from_ns);
	AT(od_delay, to_ns);
	AT(od_delay, time_ns);
	AT(od_delay, amount_ns);
	AT(od_delay, age_ns);
	AT(od_delay, direction);
	AT(od_delay, reserved);
	AT(od_delay, modem);
	AT(od_delay, kind);
	AT(od_delay, confidence);
	printf("OD_ABI %u\n", OD_ABI);
	printf("OD_STALE %u\n", OD_STALE);
	printf("OD_UPLINK %d\n", OD_UPLINK);
	printf("OD_DOWNLINK %d\n", OD_DOWNLINK);
	printf("OD_HAS_ADVICE %u\n", OD_HAS_ADVICE);
	printf("OD_HAS_RATE %u\n", OD_HAS_RATE);
	printf("OD_HAS_AGE %u\n", OD_HAS_AGE);
	printf("OD_HAS_BACKLOG %u\n", OD_HAS_BACKLOG);
	printf("OD_HAS_USERS %u\n", OD_HAS_USERS);
	printf("OD_HAS_GRANTED %u\n", OD_HAS_GRANTED);
	printf("OD_HAS_FAIR_SHARE %u\n", OD_HAS_FAIR_SHARE);
	return 0;
}
