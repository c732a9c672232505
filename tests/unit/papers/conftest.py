"""papers/thesis is a folder of scripts, no package: its modules are found by name."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "papers" / "thesis"))
