"""`stalebench mine`: from a repository's history to validated pairs."""

from __future__ import annotations

from stalebench.cli import options


@options.stage
def mine(
    common: options.Common,
    *,
    since: options.Since = None,
    until: options.Until = None,
    within: options.Within = None,
    pulls: options.Newest = None,
    limit: options.Limit = None,
    pair: options.Pairs = None,
    repeats: options.Repeats = 2,
    jobs: options.Jobs = None,
    engine: options.EngineName = "local",
) -> None:
    """Do everything, from history to validated pairs.

    Pulls, candidate pairs, clean merge, base validity, tables. What is finished is not done again.
    """
    from stalebench import progress, stages  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output, requests  # noqa: PLC0415
    from stalebench.mine import mine as run  # noqa: PLC0415

    request = requests.request(
        common,
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
    with progress.of(quiet=common.quiet) as told:
        report = run(request, told)
    output.report(report, as_json=common.json)
    output.ended(stages.nothing_to_do(request.out))
