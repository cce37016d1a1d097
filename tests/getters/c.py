"""What C does to numbers and texts on their way into a name, a constant or a field."""


def int16(value: int) -> int:
    """Stored in an int16_t: the lower 16 bits, signed."""
    return (value + 2**15) % 2**16 - 2**15


def int32(value: int) -> int:
    """Stored in an int or int32_t."""
    return (value + 2**31) % 2**32 - 2**31


def size_t(value: int) -> int:
    """Stored in a size_t."""
    return value % 2**64


def div(a: int, b: int) -> int:
    """a / b of integers: towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def rem(a: int, b: int) -> int:
    """a % b of integers: has a's sign."""
    return a - b * div(a, b)


def pad(value: int, to: int) -> int:
    """The next multiple of `to` that is not below value."""
    return -(-value // to) * to


def text(value: str) -> str:
    """What fits into char[256]."""
    return value.encode()[:255].decode()
