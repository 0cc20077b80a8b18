"""The log of a broker that a check has started."""

import os
import tempfile


class BrokerLog:
    """A file that a broker writes and that is read meanwhile; `Popen` takes it as an output.

    Broker and reader have one offset. So it is read by position: a read that moved the offset
    would let the next line of the broker go over an earlier one.
    """

    def __init__(self):
        self._file = tempfile.TemporaryFile()

    def fileno(self):
        return self._file.fileno()

    def text(self):
        number = self.fileno()
        return os.pread(number, os.fstat(number).st_size, 0).decode(errors="replace")

    def close(self):
        self._file.close()
