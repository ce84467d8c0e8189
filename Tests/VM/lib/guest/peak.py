#!/usr/bin/python3
"""How much memory the processes below a control group take together at most, each at its own peak, in KiB.

peak.py GROUP FILE    looks twenty times a second until it is killed, and keeps the number in FILE
"""
import glob, os, re, sys, time

most = 0
while True:
    total = 0
    for group in glob.glob(sys.argv[1] + "/**/cgroup.procs", recursive=True):
        # Processes and groups may end meanwhile.
        try:
            for process in open(group).read().split():
                found = re.search(r"^VmHWM:\s+(\d+)", open(f"/proc/{process}/status").read(), re.M)
                total += int(found[1]) if found else 0
        except OSError:
            pass
    if total > most:
        most = total
        with open(sys.argv[2] + ".new", "w") as file:
            print(most, file=file)
        os.rename(sys.argv[2] + ".new", sys.argv[2])
    time.sleep(0.05)
