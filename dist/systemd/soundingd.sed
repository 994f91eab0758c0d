# Makes the unit of the small daemon from sounding@.service: the same name, the same files in /etc/sounding, and neither BPF
# nor the rights that only BPF takes. No bpffs is mounted for it, so nothing about a bpffs can fail.
s|/bin/sounding |/bin/soundingd |
s|^Documentation=man:sounding(1)|Documentation=man:soundingd(1)|
/^# The pins of --downlink outlive the daemon/,/^Environment=SOUNDING_BPFFS=/d
/^ReadWritePaths=-\/run\/sounding-pins/d
/^# The only kernel setting that it changes/d
/^ReadWritePaths=-\/proc\/sys\/net\/ipv4\/tcp_congestion_control/d
s|^# To load BPF programs;.*|# To set the rates of shapers. The daemon drops|
s|CAP_BPF CAP_NET_ADMIN CAP_PERFMON|CAP_NET_ADMIN|
s|^SystemCallFilter=@system-service bpf$|SystemCallFilter=@system-service|
