"""`stalebench mine`: from a repository's history to validated pairs."""

from __future__ import annotations

from stalebench.cli import options


def mine(
    *,
    repo: options.Repo = None,
    clone: options.Clone = None,
    spec: options.SpecFile = None,
    since: options.Since = None,
    until: options.Until = None,
    within: options.Within = None,
    pulls: options.Newest = None,
    limit: options.Limit = None,
    pair: options.Pairs = None,
    repeats: options.Repeats = 2,
    jobs: options.Jobs = None,
    engine: options.EngineName = "local",
    out: options.Out = None,
    cache: options.Cache = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Do everything, from history to validated pairs.

    Pulls, candidate pairs, clean merge, base validity, tables. What is finished is not done again.
    """
    from stalebench import progress  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output, requests  # noqa: PLC0415
    from stalebench.mine import mine as run  # noqa: PLC0415

    request = requests.request(
        out=out,
        repo=repo,
        clone=clone,
        spec_file=spec,
        cache=cache,
        since=requests.day(since),
        until=requests.day(until),
        within=within,
        newest=pulls,
        limit=limit,
        pairs=tuple(pair or ()),
        repeats=repeats,
        engine=engine,
        jobs=jobs or requests.cores(),
    )
    with progress.of(quiet=quiet) as told:
        report = run(request, told)
    output.report(report, as_json=json)
