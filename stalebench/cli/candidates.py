"""`stalebench candidates`: the second stage alone, on the pulls that the first one wrote."""

from __future__ import annotations

from stalebench.cli import options


@options.stage
def candidates(
    common: options.Common,
    *,
    within: options.Within = None,
    limit: options.Limit = None,
    pair: options.Pairs = None,
) -> None:
    """Pair eligible pulls that share a source file."""
    from stalebench import mine, progress, stages  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output, requests  # noqa: PLC0415

    request = requests.continued(common, within=within, limit=limit, pairs=tuple(pair or ()))
    with progress.of(quiet=common.quiet) as told, mine.prepared(request, told) as context:
        stages.candidates(context, request.within, request.limit, request.pairs)
    output.stage(request.out, "candidates", as_json=common.json)
