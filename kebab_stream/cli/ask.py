"""`kebab ask`: an answer from the index, by a language model, with its sources."""

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import asyncclick as click

from kebab_stream.cli.filters import filter_options, filters_of
from kebab_stream.cli.options import Common, common, common_options, settings
from kebab_stream.cli.output import STDOUT, say, write_line, write_text
from kebab_stream.cli.work import AsyncWork
from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Config
from kebab_stream.errors import InvalidInputError
from kebab_stream.model import MODES, SearchOpts, SearchQuery
from kebab_stream.render import printable
from kebab_stream.single import validate
from kebab_stream.single.filters import FILTERS

if TYPE_CHECKING:
    from kebab_stream.ask import Found
    from kebab_stream.engine import Engine
    from kebab_stream.reports.answers import Answer, NoAnswerReason

EXIT_NOT_GROUNDED = 1

_TAB = "    "
_REASONS: Final[Mapping["NoAnswerReason", str]] = {
    "no_hits": "nothing in the index matches the question",
    "low_evidence": "what was found has too little to do with the question",
    "model_declined": "the model found none in the passages it was given",
    "no_citations": "the model named no passage for what it wrote",
}

_EPILOG = """\b
Examples:
  kebab ask 'how do I restore the wiki database?'
  kebab ask '공유기를 초기화하려면?' --lang ko --model gemma3
  kebab ask --json 'what was decided about retries?' | jq -r '.citations[].citation.uri'

The model is set by models.llm in the config file, or by KEBAB_MODELS_LLM_PROVIDER
and KEBAB_MODELS_LLM_MODEL; docs/ask.md tells more."""


@click.command(name="ask", epilog=_EPILOG, short_help="Answer a question.")
@click.argument("question", required=False)
@click.option("--mode", metavar="|".join(MODES), default="hybrid", show_default=True, help="How to find passages.")
@click.option("--k", metavar="N", help="Passages to read at most, 8 by default.")
@click.option("--model", metavar="NAME", help="Ask this model instead of the one in models.llm.model.")
@filter_options(FILTERS)
@common_options
def command(**options: Any) -> AsyncWork:
    """Answer QUESTION from the index, with the sources; exit status 1 if the index has no answer.

    The question, and the passages that a search finds for it, go to the language model that the settings name.
    """
    question = _question_of(options)
    config = settings()
    if options["model"] is not None:
        llm = replace(config.models.llm, model=options["model"])
        config = replace(config, models=replace(config.models, llm=llm))
    return AsyncWork(functools.partial(_ask, common(), config, question))


def _question_of(options: dict[str, Any]) -> SearchQuery:
    """The question that the arguments ask.

    Raises:
        InvalidInputError: one of them is not acceptable; the message names it.
    """
    if options["question"] is None:
        raise InvalidInputError("QUESTION is missing", "give the question, in quotes")
    if options["model"] is not None and not options["model"].strip():
        raise validate.refused("model", options["model"], "the name of a model")
    k = options["k"]
    question = SearchQuery(
        query=options["question"],
        mode=options["mode"],
        k=None if k is None else validate.whole_option("k", k),
        filters=filters_of(FILTERS, options),
    )
    return validate.search(question, SearchOpts())


async def _ask(told: Common, config: Config, question: SearchQuery) -> int:
    from kebab_stream.ask import ask_through  # late: `--help` and a wrong argument need none of this

    screen = None if told.json or not os.isatty(STDOUT) else _Screen()
    try:
        answer = await ask_through(
            functools.partial(run_blocking, functools.partial(_on_index, config)),
            question,
            llm=config.models.llm,
            on_text=screen.show if screen else None,
        )
    finally:
        if screen:
            screen.end_line()
    await run_blocking(_tell, answer, told, screen)
    return 0 if answer.grounded else EXIT_NOT_GROUNDED


def _on_index(config: Config, func: "Callable[[Engine], Found]") -> "Found":
    from kebab_stream.engine import Engine  # late, as above

    with Engine.open(config) as engine:
        return func(engine)


class _Screen:
    """An answer on a terminal, as it comes."""

    def __init__(self) -> None:
        self._last = ""
        """The last character written."""

    @property
    def is_used(self) -> bool:
        """Whether something was shown."""
        return bool(self._last)

    def show(self, text: str) -> None:
        """A piece of the answer."""
        write_text(_harmless(text))
        self._last = text[-1]

    def end_line(self) -> None:
        """End the line that the last piece began."""
        if self._last not in ("", "\n"):
            write_text("\n")
            self._last = "\n"


def _tell(answer: "Answer", told: Common, screen: _Screen | None) -> None:
    """The answer, unless the screen has it, and its sources."""
    if told.json:
        write_line(answer)
        return
    if answer.answer is None or answer.reason is not None:
        assert answer.reason is not None
        is_on_screen = screen is not None and screen.is_used
        say(f"no answer: {_REASONS[answer.reason]}" + ("; do not rely on the text above" if is_on_screen else ""))
        return
    write_text(("" if screen else f"{_harmless(answer.answer)}\n") + f"\n{_sources(answer)}")
    if answer.truncated:
        say("[truncated; the model was stopped at the most that it may write]")


def _sources(answer: "Answer") -> str:
    """A line for each cited passage; `kebab fetch span` takes its place."""
    lines = []
    for cited in answer.citations:
        headings = printable(" > ".join(cited.heading_path))
        lines.append(f"[{cited.number}] {printable(cited.citation.uri)}" + (f"  {headings}" if headings else ""))
    return "".join(f"{line}\n" for line in lines)


def _harmless(text: str) -> str:
    """The text with nothing in it that a terminal would obey but for line ends.

    Looks at each character for itself, so it does not matter where a text was cut.
    """
    return "\n".join(printable(line.replace("\t", _TAB)) for line in text.split("\n"))
