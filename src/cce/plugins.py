"""Stable names for authors of plug-ins. What is not in `__all__` may change in any version.

A plug-in is a package with an entry point. Its name is what a user types, its value is what `cce` calls:

    group            value                                  typed as
    cce.backends     a class or function: Index -> Backend  --backend NAME
    cce.embedders    an EmbedderFactory                     --embedder NAME
    cce.metrics      a Metric                               --metrics NAME
    cce.rerankers    a PairScorerFactory                    rerank = "NAME" in a systems file

Nothing is imported before a user asks for the name. A built-in name, or one that two packages offer, is
refused with both packages.

Every result is checked where it enters. A result that breaks a law, and any exception besides a CceError
and a MemoryError, ends the run with exit code 2 and one line that names the plug-in, its package and the
law. Raise a CceError, such as RankingError, to word the message yourself: one line that says what is wrong
and what to do.

Backend     `rank(query, k)` gives at most k hits, best first; no chunk twice; each a chunk of the index that
            the query allows; scores finite. The order returned is the ranking; scores inform.
Query       `text`, `encoded` (UTF-8), `tokens` (bytes, in order), `allowed` (positions of chunks, or None for
            all). `query.once(function, *arguments)` computes `function(query, *arguments)` once per query.
Index       what a backend may read:
            `chunks`             all chunks in index order; a position is a place in it
            `positions_by_file`  positions of the chunks of each file, by path
            `scorer`             bm25 scores and cosines of all chunks, see Scorer
            `embedder`           the embedder in use
            `root`               the directory that was indexed, None for a store. Its files may hold secrets
                                 that the chunks do not
            `text(path, a, b)`   the indexed text of lines a to b
Scorer      `scorer.bm25(tokens)`, `scorer.cosines(encoded)` and `scorer.scores(values)`, for values of your
            own in index order, give Scores.
Scores      `best(k)` gives the positions of the k best chunks, ties broken by chunk id; `at(positions)` gives
            their scores. `hits(index, positions, scores)` makes a Ranking of them.
Embedder    `name`, `dimension` and `embed(texts)`: float64[n_texts, dimension], each row of norm 1, or all 0;
            the same row for the same text in every run.
PairScorer  `predict(pairs)` gives one finite number for each pair (query, passage), in their order; higher is
            better. A passage is the path of a result, a line feed and its text. Each pair is asked once.
Metric      a name, a definition for `cce metrics`, and a function CaseMatch -> float | None: finite, within
            `range` (0 to 1 unless given), None where the figure is undefined for a case.
CaseMatch   `k`, `matches` (per hit the anchors it matches), `grades` (per anchor), `tokens` (a TokenScore, or
            None for a case without line ranges); more in its docstring.

`eval/plugins.md` has a worked backend, embedder, metric and reranker.
"""

from cce.domain.query import Query
from cce.domain.ranking import Chunk, Hit, Ranking
from cce.errors import CceError, EmbedderError, MetricError, RankingError, UsageError
from cce.measurement.matching.matches import CaseMatch, TokenScore
from cce.measurement.metrics.catalog import Metric
from cce.retrieval.backends.contract import Backend, hits
from cce.retrieval.embedding.catalog import Embedder, EmbedderFactory
from cce.retrieval.indexing.index import Index
from cce.retrieval.rerank.contract import PairScorer, PairScorerFactory
from cce.retrieval.scoring.scorer import Scorer, Scores
from cce.tokens import tokenize

__all__ = [
    "Backend",
    "CaseMatch",
    "CceError",
    "Chunk",
    "Embedder",
    "EmbedderError",
    "EmbedderFactory",
    "Hit",
    "Index",
    "Metric",
    "MetricError",
    "PairScorer",
    "PairScorerFactory",
    "Query",
    "Ranking",
    "RankingError",
    "Scorer",
    "Scores",
    "TokenScore",
    "UsageError",
    "hits",
    "tokenize",
]
