"""Control groups of memory, for brokers that must live with little."""

import os
import time

ROOT = "/sys/fs/cgroup/memory"


class ControlGroup:
    """A control group (version 1) that limits what one broker may have; it is removed at the end."""

    @staticmethod
    def fault():
        """Why none can be made here; None where it can."""
        if not os.path.exists(f"{ROOT}/memory.limit_in_bytes"):
            return f"there is no control group of memory, version 1, at {ROOT}"
        if not os.access(ROOT, os.W_OK):
            return f"{ROOT} may not be written"
        return None

    def __init__(self, byte_count):
        self.path = f"{ROOT}/belfry-abuse-{os.getpid()}"
        self.byte_count = byte_count
        os.mkdir(self.path)
        self._write("memory.limit_in_bytes", byte_count)
        if os.path.exists(f"{self.path}/memory.memsw.limit_in_bytes"):
            # What is swapped out would not count.
            self._write("memory.memsw.limit_in_bytes", byte_count)

    def _write(self, name, value):
        with open(f"{self.path}/{name}", "w") as file:
            file.write(str(value))

    @property
    def wrapper(self):
        """The command to run a process under."""
        return ("sh", "-c", f'echo $$ > {self.path}/cgroup.procs; exec "$@"', "sh")

    def peak(self):
        """The most that the group has had since it was asked last, in bytes, with what the kernel has for it."""
        with open(f"{self.path}/memory.max_usage_in_bytes") as file:
            peak = int(file.read())
        self._write("memory.max_usage_in_bytes", 0)
        return peak

    def __enter__(self):
        return self

    def __exit__(self, *_):
        deadline = time.monotonic() + 10
        while True:
            try:
                return os.rmdir(self.path)
            except OSError:
                # The last process is still ending.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
