#!/bin/bash
# The guest's first process. The kernel's command line sets its variables.
export PATH=$sounding_path:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
[ -c /dev/null ] || mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var
mkdir -p /var/run /var/log /var/tmp
# Without it bash cannot open a descriptor by its name, and scripts that do so stop silently.
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
for module in ${sounding_modules//,/ }; do
    "$sounding_busybox" insmod "$module" || echo "guest: cannot load $module"
done
ip link set lo up
number=0
for address in ${sounding_addresses//,/ }; do
    ip address add "$address" dev "vec$number"
    ip link set "vec$number" up
    number=$((number + 1))
done
[ -z "$sounding_route" ] || ip route add default via "$sounding_route"
echo 1 >/proc/sys/net/ipv4/ip_forward
# Each connection is a shell, which the host tells what to run.
"$sounding_busybox" nc -ll -p "$sounding_port" -e /bin/bash
echo "guest: the listener ended"
