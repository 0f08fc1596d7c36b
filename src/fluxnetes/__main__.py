"""`python -m fluxnetes` is the `fluxnetes` command."""

import sys

from fluxnetes.cli.entry import main

if __name__ == "__main__":
    sys.exit(main())
