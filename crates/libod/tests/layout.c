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
	printf("OD_ABI %u\n", OD_ABI);
	printf("OD_STALE %u\n", OD_STALE);
	return 0;
}
