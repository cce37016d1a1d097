"""What hypothesis is told when it is loaded, where this package is installed: how to draw a `Case`."""


def register() -> None:
    """Let `st.from_type(Case)` draw cases of any op. Called by hypothesis, through its entry point."""
    from hypothesis import strategies as st

    from ..check.case import Case

    def cases(_: type[Case]) -> "st.SearchStrategy[Case]":
        from . import strategies

        return strategies.cases()

    st.register_type_strategy(Case, cases)
