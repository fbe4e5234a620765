"""The explanation of one case in, text for a terminal of 100 columns out; nothing is looked up here."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from cce.domain.explanation import AnchorInIndex, BackendExplanation, CaseExplanation, Fate, MatchedHit, Miss
from cce.domain.ranking_account import AccountedHit, GraphParts, HybridParts, QueryTerm
from cce.domain.redaction import Redaction
from cce.domain.second_stage import StageParts
from cce.numerals import format_micro, format_score
from cce.quoting import counted, one_line
from cce.report.text.tables import align
from cce.report.view.cells import kind, micro_shares, place, unsigned

TITLE = "CCE explain — one case in full (cce.relevance/v1)"

_WIDTH = 100
_INDENT = " " * 8
_N_ANCHORS_SHOWN = 5
_N_CUT_SHOWN = 10
_PARTS = ("vector", "keyword", "rrf", "cosine", "ks", "confidence/2", "norm/2", "penalty", "score")
_FATES: dict[Fate, str] = {
    "cut": "at k = {k} it was a candidate, cut for other hits of its file",
    "behind": "at k = {k} it was a candidate, behind the last hit",
    "no candidate": "at k = {k} it was no candidate",
}


def render_explanation_text(explanation: CaseExplanation) -> str:
    """The case, its anchors, and one block per backend."""
    blocks = [_heading(explanation), _anchors(explanation.anchors)]
    for backend in explanation.backends:
        blocks += _backend(backend, explanation)
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _heading(explanation: CaseExplanation) -> list[str]:
    case = explanation.case
    facts = {
        "case": f"{case.id} ({explanation.fixtures}:{case.line})",
        "query": case.query,
        "k": str(case.k),
        "corpus": f"{explanation.corpus} ({counted(explanation.n_chunks, 'chunk')})",
        "embedder": explanation.embedder,
        **({"redact": "strict"} if explanation.redaction is Redaction.STRICT else {}),
        **({"tags": ", ".join(case.tags)} if case.tags else {}),
        **({"note": case.note} if case.note is not None else {}),
    }
    return [TITLE, *(f"  {label:<8}: {one_line(fact)}" for label, fact in facts.items())]


def _anchors(anchors: Sequence[AnchorInIndex]) -> list[str]:
    lines = ["  anchors"]
    for number, anchor in enumerate(anchors, start=1):
        matched = anchor.absence or f"matches {counted(anchor.n_chunks, 'chunk')}"
        lines += [
            f"  {number:4}  {one_line(anchor.text)}",
            *_wrapped(f"grade {anchor.grade}, {one_line(matched)}"),
        ]
    return lines


def _backend(backend: BackendExplanation, explanation: CaseExplanation) -> Iterator[list[str]]:
    n_anchors = len(explanation.anchors)
    yield [
        f"{one_line(backend.backend)}: {n_anchors - len(backend.misses)} of {n_anchors} anchors matched"
        f" within k = {explanation.case.k}",
        *(line for text in backend.formula for line in _wrapped(text, "  ")),
        *_terms(backend.terms),
    ]
    yield _hits(backend.hits) if backend.hits else ["  (no results)"]
    shown_cut = backend.cut[:_N_CUT_SHOWN]
    if shown_cut:
        more = len(backend.cut) - len(shown_cut)
        yield [
            "  cut, its file had better ones",
            *_hits(shown_cut),
            *([f"{_INDENT}… {more} more"] if more else []),
        ]
    labelled = (
        *((str(hit.account.rank), hit.account) for hit in backend.hits),
        *((f"cut {hit.account.rank}", hit.account) for hit in shown_cut),
    )
    yield from _parts("rank", labelled)
    if backend.misses:
        yield from _misses(backend.misses, explanation)


def _terms(terms: Sequence[QueryTerm]) -> Iterable[str]:
    if not terms:
        return ()
    texts = (f"{t.token} in {counted(t.n_chunks, 'chunk')} (idf {format_score(t.idf)})" for t in terms)
    return _wrapped(f"terms: {', '.join(texts)}", "  ")


def _hits(hits: Sequence[MatchedHit]) -> list[str]:
    scores = [unsigned(hit.account.hit.score) for hit in hits]
    numbers = [_numbers(hit.anchors) for hit in hits]
    width = max(map(len, ("score", *scores)))
    numbers_width = max(map(len, ("anchors", *numbers)))
    lines = [f"  rank  {'score':>{width}}  {'anchors':<{numbers_width}}  result"]
    for hit, score, anchors in zip(hits, scores, numbers, strict=True):
        where = _place(hit.account)
        lines.append(f"  {hit.account.rank:4}  {score:>{width}}  {anchors:<{numbers_width}}  {where}")
        lines += [line for text in _origin(hit.account) for line in _wrapped(text)]
    return lines


def _origin(account: AccountedHit) -> Iterator[str]:
    """How a score adds up, unless it has a row in the table of parts or is a single figure."""
    if isinstance(account.parts, GraphParts):
        cosine = format_score(account.parts.cosine)
        yield f"from the graph: a neighbour of {one_line(account.parts.seed)}, cosine {cosine}"
    elif isinstance(account.parts, StageParts):
        yield _stage(account.parts)
    elif account.parts is None and account.shares:
        micros = map(format_micro, micro_shares(account.shares))
        summands = (f"{share.name} {micro}" for share, micro in zip(account.shares, micros, strict=True))
        yield f"= {' + '.join(summands)}"


def _stage(parts: StageParts) -> str:
    if parts.raw_score is None:
        return f"first-stage rank {parts.first_rank}, beyond the depth of the second stage"
    beyond = f"; beyond max_words: {', '.join(map(one_line, parts.beyond))}" if parts.beyond else ""
    return f"first-stage rank {parts.first_rank}, raw score {format_score(parts.raw_score)}{beyond}"


def _parts(label: str, labelled: Iterable[tuple[str, AccountedHit]]) -> Iterator[list[str]]:
    """The table of the hits that have parts; none if no hit has."""
    rows = [
        _parts_row(name, account, account.parts)
        for name, account in labelled
        if isinstance(account.parts, HybridParts)
    ]
    if rows:
        yield ["  how the scores add up", *align([(label, *_PARTS), *rows], n_left=0)]


def _parts_row(name: str, account: AccountedHit, parts: HybridParts) -> tuple[str, ...]:
    return (
        name,
        _rank(parts.vector_rank),
        _rank(parts.keyword_rank),
        format_score(parts.rrf),
        format_score(parts.cosine),
        format_score(parts.literal),
        *map(format_micro, micro_shares(account.shares)),
        unsigned(account.hit.score),
    )


def _misses(misses: Sequence[Miss], explanation: CaseExplanation) -> Iterator[list[str]]:
    lines = ["  missed anchors"]
    if any(miss.fate is not None for miss in misses):
        n_chunks = explanation.n_chunks
        lines.append(
            f"  (candidates depend on k; ranks are those with k = {n_chunks}, where every chunk is one)"
        )
    for miss in misses:
        anchor = explanation.anchors[miss.anchor]
        lines.append(f"  {miss.anchor + 1:4}  {one_line(anchor.text)}")
        texts = ["matches no chunk, see above"] if anchor.absence else _miss(miss, explanation.case.k)
        lines += [line for text in texts for line in _wrapped(text)]
    yield lines
    yield from _parts("anchor", ((str(m.anchor + 1), m.best) for m in misses if m.best is not None))


def _miss(miss: Miss, k: int) -> Iterator[str]:
    if miss.reason is not None:
        yield one_line(miss.reason)
    if miss.best is not None:
        rank = f"rank {miss.best.rank} of {miss.n_ranked}" if miss.reason is None else "its best"
        yield f"{rank}{_gap(miss, k)}: {unsigned(miss.best.hit.score)} {_place(miss.best)}"
        yield from _origin(miss.best)
    if miss.fate is not None:
        yield _FATES[miss.fate].format(k=k)


def _gap(miss: Miss, k: int) -> str:
    if miss.behind_by is None:
        return ""
    tie = "" if miss.behind_by else ", a tie that the chunk ids decide"
    return f", {format_micro(miss.behind_by)} behind rank {k}{tie}"


def _place(account: AccountedHit) -> str:
    return one_line(f"{place(account.hit.chunk)} ({kind(account.hit.chunk)})")


def _numbers(anchors: Sequence[int]) -> str:
    shown = [str(position + 1) for position in anchors[:_N_ANCHORS_SHOWN]]
    return ",".join([*shown, "…"] if len(anchors) > _N_ANCHORS_SHOWN else shown) or "-"


def _rank(rank: int | None) -> str:
    return "-" if rank is None else str(rank)


def _wrapped(text: str, indent: str = _INDENT) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
