"""What can be wrong with a source."""


class MslError(Exception):
    """The source does not compile; the text holds the diagnostics, with the source's own line numbers."""
