"""`stalebench validate`: the last stage alone, on the clean merges that the third one wrote."""

from __future__ import annotations

from stalebench.cli import options


@options.stage
def validate(
    common: options.Common,
    *,
    repeats: options.Repeats = 2,
    jobs: options.Jobs = None,
    engine: options.EngineName = "local",
) -> None:
    """Run the tests of each clean pair, and the control.

    Gold tests fail before a pull's patch and pass after it; then all columns of the human patches.
    """
    from stalebench import mine, progress, stages  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.cli import output, requests  # noqa: PLC0415

    request = requests.continued(common, repeats=repeats, engine=engine, jobs=jobs or requests.cores())
    with progress.of(quiet=common.quiet) as told, mine.prepared(request, told) as context:
        mine.validate(context, request)
    output.stage(request.out, "validate", as_json=common.json)
    output.ended(stages.nothing_to_do(request.out))
