"""`cce metrics`: what there is to measure by."""

from __future__ import annotations

import click

from cce.cli.exits import write_result


@click.command(
    name="metrics",
    short_help="list the metrics and their definitions",
    epilog="\b\nExamples:\n  cce metrics\n  cce relevance eval/code.jsonl --evidence --metrics ndcg,ap",
)
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def command(as_json: bool) -> None:
    """List every metric that --metrics takes: its name, its range and what it is.

    All are over the first k results of a case. With a cut-off, as in recall@5, ndcg@10 or precision@3,
    a metric reads the first 5, 10 or 3 results whatever the k of a case.

    A metric that is undefined for a case (a graded one where nothing relevant is indexed, a token one
    without ranged anchors) leaves that case out.
    """
    from cce.measurement.metrics.catalog import metric_entries
    from cce.report.json.listings import render_metrics_json
    from cce.report.text.listings import render_metrics_text

    write_result((render_metrics_json if as_json else render_metrics_text)(metric_entries()))
