"""What the README shows in Python does what it says."""

import re
from pathlib import Path

from fresh_python import ROOT, run_python


def test_the_python_examples_run_as_printed(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    by_product, by_hand, chosen, encoded, _, profiles, _ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = run_python(by_product + by_hand + chosen + encoded + profiles, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    *lines, last_profile = done.stdout.splitlines()
    assert last_profile == "AMD AMD Radeon RX 6950 XT True"
    first_profile = lines.index("M1 Apple M1 True")
    # Each of them has a line in the table.
    for line in (*lines[first_profile:], last_profile):
        assert f"`{line.split()[0]}`" in text
    device, product, gelu, *kernels, constant, times_3 = lines[:first_profile]
    assert device == "Apple M2 ggml 0.13.1"
    shape, error = re.fullmatch(r"(\(\d+, \d+\)) (\S+)", product).groups()
    assert shape == "(8, 64)"
    assert 0.01 < float(error) < 0.1
    assert gelu == "(8, 256)"
    assert [re.match(r"(\d+) kernel_([a-z_]+)_q4_0", kernel).groups() for kernel in kernels] == [
        ("1", "mul_mv"),
        ("4", "mul_mv_ext"),
        ("64", "mul_mm"),
    ]
    assert constant == "FunctionConstant(index=700, type='bool', value=0, name='FC_mul_mm_bc_inp')"
    assert times_3 == "[0. 3. 6. 9.]"


def test_checked_mode_prints_what_the_readme_shows(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    by_product = re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]
    chapter = text.partition("## What do kernels do to memory?")[2]
    checked, shown = re.match(r".*?```python\n(.*?)```\n\n```\n(.*?)```", chapter, re.DOTALL).groups()
    done = run_python(by_product + checked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # A report ends with the line's text, which is upstream's and so not in the README.
    assert shown.removesuffix("...\n") in done.stdout


def test_the_getters_page_example_runs_as_printed(tmp_path: Path) -> None:
    text = (ROOT / "ggml_metal_py" / "getters" / "README.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = run_python(example, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *constants = done.stdout.splitlines()
    assert first == "kernel_mul_mm_q4_0_f32_bci=0_bco=0_ne12=1_ne13=1_r2=1_r3=1 4 6144"
    assert constants[0] == "FC_mul_mm_bc_inp = 0"
    assert len(constants) == 6
