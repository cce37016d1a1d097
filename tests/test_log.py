"""Log lines: joined from parts, levelled, never lost silently. And how an abort's text is read."""

import logging
from collections.abc import Iterable

import pytest

import ggml_metal_py as gm
from ggml_metal_py.log import LogLines

DEBUG, INFO, WARN, ERROR, CONT = range(1, 6)


def drained(messages: Iterable[tuple[int, str]], caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    waiting = iter(messages)
    with caplog.at_level(logging.DEBUG, "ggml_metal_py"):
        LogLines().drain(lambda: next(waiting, None))
    return [(record.levelno, record.getMessage()) for record in caplog.records]


def test_parts_of_a_line_are_joined_and_keep_the_first_level(caplog: pytest.LogCaptureFixture) -> None:
    messages = [(WARN, "loading "), (CONT, "."), (CONT, ".\n"), (INFO, "done\n")]
    assert drained(messages, caplog) == [(logging.WARNING, "loading .."), (logging.INFO, "done")]


def test_one_message_may_hold_several_lines(caplog: pytest.LogCaptureFixture) -> None:
    assert drained([(ERROR, "one\n\ntwo\nthr"), (CONT, "ee\n")], caplog) == [
        (logging.ERROR, "one"),
        (logging.ERROR, "two"),
        (logging.ERROR, "three"),
    ]


def test_percent_signs_are_text(caplog: pytest.LogCaptureFixture) -> None:
    assert drained([(DEBUG, "100% %s\n")], caplog) == [(logging.DEBUG, "100% %s")]


def test_unknown_levels_are_information(caplog: pytest.LogCaptureFixture) -> None:
    assert drained([(99, "from the future\n")], caplog) == [(logging.INFO, "from the future")]


def test_lost_messages_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    LogLines().report_lost(7)
    assert "7 log messages of ggml were lost" in caplog.text


@pytest.mark.parametrize(
    ("text", "file", "line", "message"),
    [
        ("src/ggml.c:42: GGML_ASSERT(a) failed", "src/ggml.c", 42, "GGML_ASSERT(a) failed"),
        ("with: colon.c:7: two\nlines", "with: colon.c", 7, "two\nlines"),
        ("std::bad_alloc", None, None, "std::bad_alloc"),
    ],
)
def test_an_abort_tells_file_line_and_message(
    text: str, file: str | None, line: int | None, message: str
) -> None:
    error = gm.GgmlAbort(text)
    assert (error.file, error.line, error.message, str(error)) == (file, line, message, text)
