"""Second stages: what a reranker reads, the order that follows, and what becomes of a faulty one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint
from typing import Any, ClassVar, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cce.domain.query import Query
from cce.domain.ranking import Chunk, Hit, Location, Ranking
from cce.domain.second_stage import SecondStage, StageCounts, StageParts
from cce.domain.systems import Price
from cce.errors import CceError, RankingError, UnknownNameError, UsageError
from cce.measurement.costs import estimate
from cce.retrieval.rerank.features import Features
from cce.retrieval.rerank.overlap import Overlap
from cce.retrieval.rerank.passages import Passage, Passages, digest, passage_of, words_beyond
from cce.retrieval.rerank.reranker import Reranker
from cce.retrieval.rerank.stage import Stage, Staged
from cce.retrieval.rerank.stages import Stages
from cce.retrieval.systems.catalogue import Catalogue
from cce.retrieval.systems.file import parse_systems
from cce.retrieval.systems.opening import System
from cce.usecases.ranking import stage_notices
from corpora import index_files, index_texts, make_chunk, paths

INDEX = index_texts("a", "b", "c", "d", "e", "f")
FIRST: Ranking = tuple(Hit(INDEX.chunks[at], 6.0 - at) for at in range(6))
RAW = (9.333, -0.667, -0.667, 0.167, -3.167, -3.167)


class Scores:
    """A scorer that gives these scores to the chunks 0.txt, 1.txt, .., and keeps what it was asked."""

    def __init__(self, *raw: float) -> None:
        self.raw = raw
        self.asked: list[tuple[str, str]] = []

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.asked += pairs
        return [self.raw[int(passage.partition(".")[0])] for _, passage in pairs]


def opened(scorer: object, *, remembers: bool = True) -> Reranker:
    reranker = Reranker("overlap", {}, remembers=remembers)
    reranker._scorer = cast(Any, scorer)
    return reranker


def texts(*passages: str) -> list[Passage]:
    return [Passage(passage, digest(passage)) for passage in passages]


def staged(raw: Sequence[float] = RAW, n_final: int = 6, k: int = 6, **keys: Any) -> Staged:
    stage = Stage(SecondStage(rerank="overlap", **keys), opened(Scores(*raw)), Passages(INDEX))
    return stage.rerank("query", FIRST[: stage.n_asked(k)], n_final)


def ranks(found: Staged) -> list[int]:
    return [int(path.partition(".")[0]) + 1 for path in paths(found.ranking)]


def test_results_are_sorted_by_score_and_ties_keep_the_first_order() -> None:
    found = staged()
    assert ranks(found) == [1, 4, 2, 3, 5, 6]
    assert found.counts == StageCounts(n_pairs=6, n_ties=2, n_cut=0)
    assert [hit.score for hit in found.ranking] == [9.333, 0.167, -0.667, -0.667, -3.167, -3.167]


def test_scores_that_print_alike_are_ties() -> None:
    assert ranks(staged((0.1, 0.1 + 4e-7, 0, 0, 0, 0), n_final=2)) == [1, 2]
    assert ranks(staged((0.1, 0.1 + 1e-6, 0, 0, 0, 0), n_final=2)) == [2, 1]


@pytest.mark.parametrize(("n_final", "n_ties"), [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2), (6, 2)])
def test_a_tie_at_top_has_one_of_the_two_among_the_final_results(n_final: int, n_ties: int) -> None:
    # The order is 1 4 2 3 5 6 and the ties are 2 = 3, ranks 3 and 4, and 5 = 6, ranks 5 and 6.
    assert staged(n_final=n_final).counts.n_ties == n_ties


def test_depth_three_final_five_is_three_scored_and_two_as_they_came() -> None:
    found = staged((0.1, 0.2, 0.3, 9, 9, 9), n_final=5, k=5, depth=3)
    assert ranks(found) == [3, 2, 1, 4, 5]
    assert found.counts.n_pairs == 3
    assert [hit.score for hit in found.ranking] == [0.3, 0.2, 0.1, 3.0, 2.0]
    assert found.placed == ((3, 0.3), (2, 0.2), (1, 0.1), (4, None), (5, None))


def test_more_than_depth_is_asked_where_k_is_larger() -> None:
    stage = Stage(SecondStage(rerank="overlap"), opened(Scores()), Passages(INDEX))
    assert [stage.n_asked(5), stage.n_asked(50)] == [20, 50]


def test_a_blend_sums_the_reciprocal_ranks_of_both_orders() -> None:
    # Scores put 3 first, then 1, 2, 4. Sums: 1 has 1/61 + 1/62, 2 has 1/62 + 1/63, 3 has 1/63 + 1/61.
    found = staged((2, 1, 3, 0, -1, -2), blend=True)
    assert ranks(found) == [1, 3, 2, 4, 5, 6]
    assert found.ranking[0].score == pytest.approx(1 / 61 + 1 / 62)
    assert found.counts.n_ties == 0


def test_ties_of_a_blend_are_exact() -> None:
    # Two that change places have one sum: 1/61 + 1/62 = 1/62 + 1/61. The first stage decides.
    found = staged((1, 2, 0, 0, 0, 0), blend=True, n_final=1)
    assert (ranks(found), found.counts.n_ties) == ([1], 1)


@given(st.lists(st.floats(-9, 9), min_size=6, max_size=6), st.integers(1, 9), st.booleans())
def test_a_second_stage_neither_drops_nor_invents(raw: list[float], depth: int, blend: bool) -> None:
    found = staged(raw, depth=depth, blend=blend)
    assert sorted(ranks(found)) == [1, 2, 3, 4, 5, 6]
    assert ranks(found)[depth:] == [1, 2, 3, 4, 5, 6][depth:]


def test_ten_scored_passages_of_a_query_cost_nineteen() -> None:
    assert estimate(Price(query=4, pair=1.5), 10, 0) == 19.0


def test_no_results_are_no_pairs() -> None:
    stage = Stage(SecondStage(rerank="overlap"), opened(Scores()), Passages(INDEX))
    assert stage.rerank("query", (), 5) == ((), StageCounts(), ())


# What is scored


def chunk(text: str) -> Chunk:
    return make_chunk("src/a.py", text)


@pytest.mark.parametrize(
    ("max_words", "text", "rest"),
    [
        (None, "one two\n three ", ""),
        (2, "one two", "\n three "),
        (3, "one two\n three ", ""),  # nothing but white space would be cut off
        (9, "one two\n three ", ""),
    ],
)
def test_a_passage_is_the_path_and_the_text_to_the_end_of_its_nth_word(
    max_words: int | None, text: str, rest: str
) -> None:
    passage = passage_of(chunk("one two\n three "), INDEX, max_words)
    assert (passage.text, passage.rest) == (f"src/a.py\n{text}", rest)


def test_words_are_separated_by_the_white_space_of_unicode() -> None:
    # U+3000 separates words, U+001F does not.
    assert passage_of(chunk("one\u3000two three"), INDEX, 1).text == "src/a.py\none"
    assert passage_of(chunk("one\x1ftwo three"), INDEX, 1).text == "src/a.py\none\x1ftwo"


def test_a_location_is_read_in_the_corpus_and_else_as_the_system_gave_it() -> None:
    index = index_files({"notes.txt": "first line\nsecond line\nthird line\n"})
    assert (
        passage_of(Location("notes.txt", 2, 2, text="other"), index, None).text == "notes.txt\nsecond line\n"
    )
    assert passage_of(Location("gone.txt", 2, 2, text="other"), index, None).text == "gone.txt\nother"
    assert passage_of(Location("notes.txt"), index, None).text == "notes.txt\n"


def test_words_of_the_query_beyond_the_cut_are_named_once_in_its_order() -> None:
    passage = passage_of(chunk("verify checksum of card, digits checksum"), INDEX, 2)
    assert words_beyond("digits of the checksum of digits", passage) == ("digits", "of")
    assert words_beyond("digits", passage_of(chunk("digits"), INDEX, None)) == ()


def test_overlap_is_the_share_of_distinct_tokens_that_occur() -> None:
    pairs = [("check the PIN the", "a.py\ndef check_pin(PIN): check"), ("!?", "a.py\nx"), ("a py", "a.py\n")]
    # check and pin of check, the, pin; no token; the path counts.
    assert Overlap().predict(pairs) == [2 / 3, 0.0, 1.0]


@pytest.mark.parametrize(
    ("query", "passage", "score"),
    [
        # 0.4 all words + 0.2 all pairs + 0.3 the identifier + 0.1 path and name
        ("lib overdue_fee", "lib/x.py\ndef overdue_fee(): return lib overdue_fee", 6.0),
        ("nothing here", "a.py\n", -4.0),
        # One of two words, in the path alone: 0.4 / 2 + 0.1 / 2.
        ("pin lost", "pin.py\nx", -1.5),
        # Both words, not adjacent, no identifier, none in path or name: 0.4.
        ("pin lost", "a.py\nlost pin", 0.0),
        # An identifier keeps upper and lower case and ends at word borders: DueDate is its token alone.
        ("dueDate", "a.py\nDueDate = dueDates", 0.0),
        ("dueDate", "a.py\nDueDate = dueDates + dueDate", -4.0 + 10 * (0.4 + 0.3)),
        ("", "a.py\nx", -4.0),
    ],
)
def test_features_are_ten_times_a_weighted_sum_less_four(query: str, passage: str, score: float) -> None:
    assert Features().predict([(query, passage)]) == [pytest.approx(score)]


# Each pair once


def test_a_pair_is_scored_once_however_many_systems_share_it() -> None:
    scorer = Scores(*RAW)
    reranker = opened(scorer)
    assert reranker.scores("q", texts("0.txt\na", "1.txt\nb", "0.txt\na")) == [9.333, -0.667, 9.333]
    assert reranker.scores("q", texts("1.txt\nb", "3.txt\nd")) == [-0.667, 0.167]
    assert reranker.scores("other", texts("1.txt\nb")) == [-0.667]
    assert scorer.asked == [
        ("q", "0.txt\na"),
        ("q", "1.txt\nb"),
        ("q", "3.txt\nd"),
        ("other", "1.txt\nb"),
    ]


def test_what_is_timed_is_scored_again() -> None:
    scorer = Scores(*RAW)
    reranker = opened(scorer, remembers=False)
    reranker.scores("q", texts("0.txt\na"))
    reranker.scores("q", texts("0.txt\na"))
    assert len(scorer.asked) == 2


def test_systems_with_one_reranker_and_its_options_share_it() -> None:
    stages = Stages(INDEX)
    one, same, deeper, other = (
        stages.open(keys)
        for keys in (
            SecondStage("overlap"),
            SecondStage("overlap", {}),
            SecondStage("overlap", depth=3),
            SecondStage("features"),
        )
    )
    assert one is same
    assert one is not deeper
    assert one._reranker is deeper._reranker
    assert one._reranker is not other._reranker


# Faults of a reranker of another package


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., object]], None]:
    """Offer a reranker `mine` of the package `acme` whose `predict` is the function given."""

    def offer(predict: Callable[..., object]) -> None:
        class Scorer:
            def predict(self, pairs: Sequence[tuple[str, str]]) -> object:
                return predict(pairs)

        class Distribution:
            metadata: ClassVar = {"Name": "acme"}

        class Point:
            name, value, dist = "mine", "acme:Scorer", Distribution

            def load(self) -> type:
                return Scorer

        point = cast(EntryPoint, Point())
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point])

    return offer


FAULTS: dict[str, tuple[Callable[..., object], str]] = {
    "too few": (lambda pairs: [1.0], "1 scores for 2 pairs; predict gives one for each"),
    "NaN": (lambda pairs: [1.0, math.nan], "score 2 is nan; scores are finite"),
    "infinity": (lambda pairs: np.array([math.inf, 1]), "score 1 is inf; scores are finite"),
    "texts": (lambda pairs: ["1", "2"], "score 1 must be a number, got str"),
    "a text": (lambda pairs: "12", "predict returned str, not a sequence of numbers"),
    "truth": (lambda pairs: [True, 1], "score 1 must be a number, got bool"),
    "rows": (lambda pairs: np.ones((2, 1)), "score 1 must be a number, got ndarray"),
    "nothing": (lambda pairs: None, "predict returned NoneType, not a sequence of numbers"),
}


@pytest.mark.parametrize(("predict", "law"), FAULTS.values(), ids=FAULTS)
def test_a_broken_law_names_the_reranker_its_package_the_query_and_the_law(
    predict: Callable[..., object], law: str, plug_in: Callable[[Callable[..., object]], None]
) -> None:
    plug_in(predict)
    with pytest.raises(RankingError) as caught:
        Reranker("mine", {}).scores("pin", texts("a", "b"))
    assert str(caught.value) == f"reranker 'mine' of package 'acme': query 'pin': {law}"


def test_what_a_reranker_raises_is_its_own_failure(
    plug_in: Callable[[Callable[..., object]], None],
) -> None:
    def predict(pairs: object) -> object:
        raise ConnectionRefusedError("no server")

    plug_in(predict)
    with pytest.raises(RankingError, match=r"^reranker 'mine' of package 'acme': ConnectionRefusedError: no"):
        Reranker("mine", {}).scores("pin", texts("a"))


@pytest.mark.parametrize("scores", [(1, 2), (1.5, -2.5), np.array([1, 2], np.float32), iter([1.0, 2.0])])
def test_scores_of_any_numbers_become_floats(
    scores: object, plug_in: Callable[[Callable[..., object]], None]
) -> None:
    plug_in(lambda pairs: scores)
    found = Reranker("mine", {}).scores("pin", texts("a", "b"))
    assert all(type(score) is float for score in found)


# In a systems file


def catalogue(text: str) -> Catalogue:
    return Catalogue(parse_systems(f'schema = "cce.systems/v1"\n{text}'.encode(), "systems.toml"))


def resolved_stage(text: str, name: str) -> SecondStage:
    return catalogue(text).resolve(name).table.stage


BASE = """[system.base]
backend = "bm25"
rerank = "overlap"
rerank_options = { x = 1 }
depth = 7
max_words = 9
"""


@pytest.mark.parametrize(
    ("keys", "stage"),
    [
        ("", SecondStage("overlap", {"x": 1}, 7, 9)),
        ("depth = 3", SecondStage("overlap", {"x": 1}, 3, 9)),
        ("blend = true", SecondStage("overlap", {"x": 1}, 7, 9, True)),
        ('rerank = "features"', SecondStage("features", None, 7, 9)),
        ('rerank = "overlap"', SecondStage("overlap", {"x": 1}, 7, 9)),
        ('rerank = "features"\nrerank_options = { y = 2 }', SecondStage("features", {"y": 2}, 7, 9)),
    ],
)
def test_a_variant_keeps_the_keys_of_its_base_one_by_one(keys: str, stage: SecondStage) -> None:
    assert resolved_stage(f'{BASE}[system.v]\nbackend = "base"\n{keys}\n', "v") == stage


def test_a_variant_can_go_without_the_reranker_of_its_base() -> None:
    stage = resolved_stage(f'{BASE}[system.v]\nbackend = "base"\nrerank = "none"\n', "v")
    assert (stage.is_active, stage.depth) == (False, 7)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "depth = 3",
            UsageError,
            'systems.toml: system.s.depth: goes with a reranker, add rerank = "overlap" or remove it',
        ),
        (
            "rerank_options = { a = 1 }",
            UsageError,
            'systems.toml: system.s.rerank_options: goes with a reranker, add rerank = "overlap" or',
        ),
        (
            'rerank = "overlp"',
            UnknownNameError,
            "systems.toml: system.s.rerank: unknown reranker 'overlp'; did you mean 'overlap'? "
            "(known: overlap, features, none)",
        ),
        (
            'rerank = "overlap"\nrerank_options = { depth = 3 }',
            UsageError,
            "systems.toml: system.s.rerank_options: unknown option 'depth' (known: none)",
        ),
        ('rerank = "overlap"\ndepth = 0', CceError, "systems.toml: system.s.depth: "),
        ('rerank = "overlap"\nmax_words = 2.5', CceError, "systems.toml: system.s.max_words: "),
        ('rerank = "overlap"\nblend = 1', CceError, "systems.toml: system.s.blend: "),
    ],
)
def test_a_fault_of_a_stage_names_its_key(text: str, error: type[CceError], message: str) -> None:
    with pytest.raises(error) as caught:
        System(catalogue(f'[system.s]\nbackend = "bm25"\n{text}\n').resolve("s"), INDEX)
    assert str(caught.value).startswith(message)


# Systems of our own


CARDS = index_files(
    {
        "a.txt": "card card card",
        "b.txt": "pin card",
        "c.txt": "card and other words that say nothing of a thing",
    }
)


def ranked(keys: str, query: Query, k: int = 3) -> list[str]:
    table = f'[system.s]\nbackend = "bm25"\nrerank = "overlap"\n{keys}\n'
    return paths(
        System(catalogue(table + '[scope.no-b]\nexclude = ["b.txt"]\n').resolve("s"), CARDS).rank(query, k)
    )


def test_a_reranker_sorts_what_a_backend_found() -> None:
    assert ranked("", Query("card")) == paths(
        System(Catalogue().resolve("bm25"), CARDS).rank(Query("card"), 3)
    )
    assert ranked("", Query("other card"))[0] == "c.txt"
    assert ranked("depth = 1", Query("card")) == ranked("", Query("card"))


def test_final_limits_what_comes_out_of_the_second_stage_and_not_what_goes_in() -> None:
    assert ranked("final = 1", Query("other card"), k=1) == ["c.txt"]


def test_a_filter_before_keeps_a_file_from_both_stages_and_one_after_drops_it_behind_them() -> None:
    query = Query("pin card")
    assert ranked("", query, k=1) == ["b.txt"]
    assert len(ranked('scope = "no-b"', query, k=1)) == 1
    assert ranked('scope = "no-b"\nfilter = "after"', query, k=1) == []


def test_an_account_says_where_the_first_stage_had_each_result() -> None:
    system = System(
        catalogue('[system.s]\nbackend = "bm25"\nrerank = "overlap"\nmax_words = 2\n').resolve("s"), CARDS
    )
    account = system.explain(Query("card thing"), 3)
    parts = {hit.hit.chunk.file_path: hit.parts for hit in account.hits}
    c_parts = parts["c.txt"]
    assert isinstance(c_parts, StageParts)
    assert (c_parts.raw_score, c_parts.beyond) == (0.5, ("thing",))
    assert sorted(part.first_rank for part in parts.values() if isinstance(part, StageParts)) == [1, 2, 3]


def test_notices_count_ties_and_cut_passages_over_all_cases() -> None:
    table = catalogue(f"{BASE}").resolve("base").table
    counts = [StageCounts(20, 2, 3), StageCounts(10, 0, 1)]
    assert list(stage_notices(table, counts)) == [
        "base: ties at top: 2, which keep the order of the first stage",
        "base: cut passages: 4 of 30, after 9 words",
    ]
    assert list(stage_notices(table, [])) == []


def test_a_passage_is_made_once_for_each_cut() -> None:
    passages = Passages(INDEX)
    chunk = INDEX.chunks[0]
    assert passages.of(chunk, None) is passages.of(chunk, None)
    assert passages.of(chunk, 1) is not passages.of(chunk, None)
    timed = Passages(INDEX, remember=False)
    assert timed.of(chunk, None) is not timed.of(chunk, None)
