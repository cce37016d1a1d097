"""What the page shows in Python runs."""

import re
from pathlib import Path

from fresh_python import ROOT, run_python


def test_the_python_examples_run_as_printed(tmp_path: Path) -> None:
    text = (ROOT / "ggml_metal_py" / "fuzz" / "README.md").read_text(encoding="utf-8")
    campaign, tests = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = run_python(campaign.replace("seconds=30", "blocks=3") + tests, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
