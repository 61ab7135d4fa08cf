"""`stalebench pulls`: the first stage alone."""

from __future__ import annotations

from stalebench.cli import options


def pulls(
    *,
    repo: options.Repo = None,
    clone: options.Clone = None,
    spec: options.SpecFile = None,
    since: options.Since = None,
    until: options.Until = None,
    pulls: options.Newest = None,
    out: options.Out = None,
    cache: options.Cache = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """List the merged changes and their eligibility."""
    from stalebench import mine, progress, stages  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output, requests  # noqa: PLC0415

    request = requests.request(
        out=out,
        repo=repo,
        clone=clone,
        spec_file=spec,
        cache=cache,
        since=requests.day(since),
        until=requests.day(until),
        newest=pulls,
    )
    with progress.of(quiet=quiet) as told, mine.prepared(request, told) as context:
        stages.pulls(context, request.since, request.until, request.newest)
    output.stage(request.out, "pulls", as_json=json)
