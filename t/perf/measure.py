"""Times two commands in turn, as whole processes, and prints how they compare.

usage: measure.py RUNS NAME COMMAND NAME COMMAND

Each COMMAND is run by sh, RUNS times after one run that does not count, and with the environment variable RUN set to the
number of the run. Prints the median of the wall time and of the processor time, the largest peak of memory of any single
process, and the ratio of the first command's wall time to the second's, pair by pair.
"""

import os
import statistics
import sys
import time


def run(command, number):
    start = time.monotonic()
    pid = os.posix_spawnp("sh", ["sh", "-c", command], os.environ | {"RUN": str(number)})
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"measure: status {os.waitstatus_to_exitcode(status)}: {command}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    runs, *rest = sys.argv[1:]
    pairs = [(rest[0], rest[1]), (rest[2], rest[3])]
    figures = {name: [] for name, _ in pairs}
    for number in range(int(runs) + 1):
        for name, command in pairs:
            figure = run(command, number)
            if number > 0:
                figures[name].append(figure)
    for name, _ in pairs:
        walls, cpus, peaks = zip(*figures[name])
        print(f"{name:24} {statistics.median(walls):8.2f} s  {statistics.median(cpus):8.2f} s cpu  {max(peaks):7.0f} MiB")
    (first, _), (second, _) = pairs
    ratios = [a[0] / b[0] for a, b in zip(figures[first], figures[second])]
    print(f"{first} / {second}: {statistics.median(ratios):.2f} (from {min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
