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

    All are over the first k results of a case. A metric that is undefined for a case (a graded one
    where nothing relevant is indexed, a token one without ranged anchors) leaves that case out.
    """
    from cce.measurement.metrics.catalog import metric_called, metric_names
    from cce.report.json.listings import render_metrics_json
    from cce.report.text.listings import render_metrics_text

    entries = [metric_called(name).entry for name in metric_names()]
    write_result((render_metrics_json if as_json else render_metrics_text)(entries))
