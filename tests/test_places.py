from __future__ import annotations

import pytest

from cce.domain.ranking import Chunk, Hit, Location
from cce.measurement.matching.places import are_identical


def hit(
    path: str, start: int = 1, end: int = 9, kind: str = "function_definition", score: float = 1.0
) -> Hit:
    return Hit(Chunk(f"{path}:{start}", path, start, end, "function", kind, "python", b"", 0), score)


A, B = hit("a.py"), hit("b.py")


def test_the_same_places_in_the_same_order_are_identical_whatever_their_scores() -> None:
    assert are_identical([], [])
    assert are_identical([(A, B), ()], [(hit("a.py", score=0.5), B), ()])


@pytest.mark.parametrize(
    "other",
    [
        (B, A),
        (A,),
        (A, B, A),
        (hit("a.py", start=2), B),
        (hit("a.py", end=8), B),
        (hit("a.py", kind="class_definition"), B),
    ],
)
def test_another_order_length_range_or_kind_is_another_ranking(other: tuple[Hit, ...]) -> None:
    assert not are_identical([(A, B), (A,)], [other, (A,)])


def test_a_location_is_the_chunk_with_its_path_lines_and_kind() -> None:
    place = Location("a.py", 1, 9, "function_definition")
    assert are_identical([(A,)], [(Hit(place, 0.0),)])
    assert not are_identical([(A,)], [(Hit(Location("a.py"), 0.0),)])
