"""The upstream rows in order of ggml's age, so that a rule can say `row >= Row.V0_9_8`."""

from enum import IntEnum


class Row(IntEnum):
    """One upstream row; `upstream` is its name in vendor/upstreams.toml."""

    V0_9_4 = 0
    V0_9_5 = 1  # whisper.rn 0.5.5 lies between 0.9.4 and 0.9.8
    V0_9_8 = 2
    V0_10_1 = 3
    V0_13_1 = 4
    V0_15_3 = 5
    V0_20_2 = 6
    V0_25_3 = 7

    @property
    def upstream(self) -> str:
        return _UPSTREAMS[self]

    @property
    def has_c4(self) -> bool:
        """Whether the row's pipelines carry `c4` and `cnt`."""
        return self >= Row.V0_9_8


_UPSTREAMS = (
    "whisper.rn-0.5.2",
    "whisper.rn-0.5.5",
    "pywhispercpp-1.5.0",
    "ggml-py-0.10.1",
    "pywhispercpp-1.5.1",
    "ggml-python-0.0.45",
    "libggml-python-0.20.2",
    "llama-cpp-python-0.3.36",
)
