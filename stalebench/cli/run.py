"""`stalebench run`: patches by an agent or made elsewhere, alone and together, under each condition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stalebench.cli import options

Data = Annotated[Path, typer.Argument(metavar="DATA", help="A dataset of `stalebench mine`.")]
AgentName = Annotated[
    str,
    typer.Option(
        "--agent", metavar="NAME", help="gold, noop, scripted, mini-swe-agent, 'command:..', or a plug-in's."
    ),
]
Model = Annotated[str | None, typer.Option(metavar="MODEL", help="The agent's model.")]
ModelOptions = Annotated[
    list[str] | None,
    typer.Option("--model-option", metavar="KEY=VALUE", help="An option of the model; may be given again."),
]
Config = Annotated[Path | None, typer.Option(metavar="FILE", help="The agent's own configuration.")]
Hosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host", metavar="HOST[:PORT]", help="The agent's model: all of the network it gets."
    ),
]
Variables = Annotated[
    list[str] | None,
    typer.Option("--pass-env", metavar="NAME", help="An environment variable that the agent is given."),
]
Readable = Annotated[
    list[Path] | None, typer.Option("--readable", metavar="DIR", help="A further folder the agent may read.")
]
Predictions = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Grade patches made elsewhere: SWE-bench JSONL or JSON, preds.json."),
]
Conditions = Annotated[
    str, typer.Option("--condition", metavar="LIST", help="solo, blind, informed, comm; with commas.")
]
Orders = Annotated[
    str, typer.Option("--orders", metavar="WHICH", help="Of informed: forward (older first), reverse, both.")
]
Trials = Annotated[int, typer.Option(min=1, metavar="N", help="How often each attempt is made.")]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Limit of the whole run.")
]
AttemptCost = Annotated[
    float | None, typer.Option("--attempt-cost", min=0, metavar="USD", help="Limit of one attempt.")
]
AttemptSeconds = Annotated[
    float, typer.Option("--attempt-seconds", min=1, metavar="S", help="Time limit of one attempt.")
]
AttemptSteps = Annotated[
    int | None, typer.Option("--attempt-steps", min=1, metavar="N", help="Limit of steps of one attempt.")
]
Instances = Annotated[
    list[str] | None,
    typer.Option("--instance", metavar="ID", help="Only this pair, as 3607+3605; may be given again."),
]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N instances.")]
Tasks = Annotated[
    int, typer.Option("--tasks", min=2, metavar="N", help="Patches of one instance: groups of valid pairs.")
]
Clash = Annotated[
    bool, typer.Option("--clash/--no-clash", help="Also run the touched suites, which tell clashes.")
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="The run's folder; runs/DATA-AGENT by default.")
]


def run(
    data: Data,
    *,
    agent: AgentName = "gold",
    model: Model = None,
    model_option: ModelOptions = None,
    config: Config = None,
    allow_host: Hosts = None,
    pass_env: Variables = None,
    readable: Readable = None,
    predictions: Predictions = None,
    condition: Conditions = "solo,blind",
    orders: Orders = "both",
    trials: Trials = 1,
    max_cost: MaxCost = None,
    attempt_cost: AttemptCost = None,
    attempt_seconds: AttemptSeconds = 1800.0,
    attempt_steps: AttemptSteps = None,
    instance: Instances = None,
    limit: Limit = None,
    tasks: Tasks = 2,
    clash: Clash = True,
    clone: options.Clone = None,
    jobs: options.Jobs = None,
    engine: options.EngineName = "local",
    out: Out = None,
    cache: options.Cache = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Make patches, or take made ones, and grade them alone and together.

    Before an agent is started, the human patches must pass and the empty patch must fail on each instance.
    What is finished is not done again.
    """
    from stalebench import progress  # noqa: PLC0415 - what is slow waits until it is needed
    from stalebench.agents import Budget  # noqa: PLC0415
    from stalebench.agents.options import Options  # noqa: PLC0415
    from stalebench.cli import graded, grades, requests  # noqa: PLC0415
    from stalebench.grading import running  # noqa: PLC0415

    source, given = graded.source(
        agent,
        Options(
            model=model,
            model_options=graded.settings(model_option or ()),
            allowed_hosts=tuple(allow_host or ()),
            pass_env=tuple(pass_env or ()),
            config=config,
            readable=tuple(readable or ()),
        ),
        predictions,
        data,
        tasks,
    )
    request = running.RunRequest(
        data=data,
        out=out or graded.default_out(data, source.name),
        source=source,
        conditions=graded.conditions(condition),
        orders=graded.order_words(orders),
        trials=trials,
        max_cost=max_cost,
        budget=Budget(attempt_seconds, attempt_cost, attempt_steps),
        given=given,
        tasks=tasks,
        only=tuple(instance or ()),
        limit=limit,
        clash=clash,
        clone=clone,
        cache=cache,
        engine=engine,
        jobs=jobs or requests.cores(),
    )
    with progress.of(quiet=quiet) as told:
        running.run(request, told)
    grades.report(request.out, as_json=json)
