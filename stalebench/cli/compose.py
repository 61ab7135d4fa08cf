"""`stalebench compose`: the third stage alone, on the candidate pairs that the second one wrote."""

from __future__ import annotations

from stalebench.cli import options


def compose(
    *,
    repo: options.Repo = None,
    clone: options.Clone = None,
    spec: options.SpecFile = None,
    out: options.Out = None,
    cache: options.Cache = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Merge each candidate pair on its base, in memory."""
    from stalebench import mine, progress, stages  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output, requests  # noqa: PLC0415

    request = requests.continued(out=out, repo=repo, clone=clone, spec_file=spec, cache=cache)
    with progress.of(quiet=quiet) as told, mine.prepared(request, told) as context:
        stages.compose(context)
    output.stage(request.out, "compose", as_json=json)
