"""`python -m cce` is the same as `cce`."""

from __future__ import annotations

import sys

from cce.cli.main import main

sys.exit(main())
