"""Exit codes: those of pytest, with one more for warnings.

Where several apply, the first of 2, 3, 1, 4, 5, 6 is taken: so whoever puts up with 4 (something could not be run)
still hears of an expectation that failed.
"""

from typing import Final

OK: Final = 0
FAILED: Final = 1
INTERRUPTED: Final = 2
INTERNAL: Final = 3
UNUSABLE: Final = 4
"""A wrong command line or configuration, a file that does not parse or resolve, a scenario that is refused."""
NOTHING: Final = 5
WARNINGS: Final = 6
