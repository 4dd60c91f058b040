"""``python -m dralang``."""

import sys

from dralang.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
