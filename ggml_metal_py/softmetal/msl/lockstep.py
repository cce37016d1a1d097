"""stub"""
from .program import Program


def insert_points(program: Program) -> None:
    """x"""
