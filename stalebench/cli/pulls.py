"""`stalebench pulls`: the first stage alone."""

from __future__ import annotations

from stalebench.cli import options


@options.stage
def pulls(
    common: options.Common,
    *,
    since: options.Since = None,
    until: options.Until = None,
    pulls: options.Newest = None,
) -> None:
    """List the merged changes and their eligibility."""
    from stalebench import mine, progress, stages  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output, requests  # noqa: PLC0415

    request = requests.request(common, since=requests.day(since), until=requests.day(until), newest=pulls)
    with progress.of(quiet=common.quiet) as told, mine.prepared(request, told) as context:
        stages.pulls(context, request.since, request.until, request.newest)
    output.stage(request.out, "pulls", as_json=common.json)
