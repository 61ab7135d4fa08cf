"""`stalebench compose`: the third stage alone, on the candidate pairs that the second one wrote."""

from __future__ import annotations

from stalebench.cli import options


@options.stage
def compose(common: options.Common) -> None:
    """Merge each candidate pair on its base, in memory."""
    from stalebench import mine, progress, stages  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output, requests  # noqa: PLC0415

    request = requests.continued(common)
    with progress.of(quiet=common.quiet) as told, mine.prepared(request, told) as context:
        stages.compose(context)
    output.stage(request.out, "compose", as_json=common.json)
