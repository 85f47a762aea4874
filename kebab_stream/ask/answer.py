"""One question, from text to answer: find passages, ask the model, check what it wrote.

What keeps an answer to the documents stands around the model, not in it: nothing is asked where nothing was found, and
nothing counts as an answer that names no passage. What a model says of its own certainty is not asked for.
"""

import functools
import os
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter

from kebab_stream.ask.citing import checked, is_declined
from kebab_stream.ask.llm import OnText, reply
from kebab_stream.ask.passages import Found, Passage, find_passages
from kebab_stream.ask.prompt import messages_for
from kebab_stream.ask.server import Server, server_of
from kebab_stream.concurrency import run_blocking
from kebab_stream.config import Llm
from kebab_stream.engine import Engine
from kebab_stream.model import SearchOpts, SearchQuery
from kebab_stream.reports.answers import Answer, AnswerCitation, NoAnswerReason
from kebab_stream.single import validate

UseEngine = Callable[[Callable[[Engine], Found]], Awaitable[Found]]
"""Runs a function on an engine, in a worker thread."""


async def ask(engine: Engine, question: SearchQuery, *, llm: Llm, on_text: OnText | None = None) -> Answer:
    """Answer a question from the index; the same as `ask_through`, with an engine that nobody else uses meanwhile."""

    async def use(func: Callable[[Engine], Found]) -> Found:
        return await run_blocking(func, engine)

    return await ask_through(use, question, llm=llm, on_text=on_text)


async def ask_through(
    use_engine: UseEngine,
    question: SearchQuery,
    *,
    llm: Llm,
    on_text: OnText | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Answer:
    """Answer a question from the index, or say that it has no answer.

    Args:
        use_engine: called once, for the search; while the model works nobody's engine is in use.
        question: mode and filters are those of a search; `k` passages (8 if None or 0) are read as far as they fit.
        llm: the settings of the language model.
        on_text: gets the answer as it comes, before it is checked; runs in a worker thread, one call at a time.
        environ: has the key of the server, where the settings name a variable for it.

    Raises:
        KebabError: what a search raises; `model_unavailable` without a model in the settings, `model_unreachable`,
            `model_not_pulled`, `timeout`, `config_invalid`.
    """
    started = perf_counter()
    question = validate.search(question, SearchOpts())
    server = server_of(llm, environ)
    found = await use_engine(functools.partial(find_passages, question=question))
    finished = functools.partial(_answer, server, question.query, started=started)
    if found.missing is not None:
        return finished(reason=found.missing, considered=found.hits)
    wrote = await reply(server, messages_for(question.query, found.passages), on_text)
    if is_declined(wrote.text):
        return finished(reason="model_declined", considered=len(found.passages))
    text, cited = checked(wrote.text, len(found.passages))
    if not cited:
        return finished(reason="no_citations", considered=len(found.passages))
    citations = tuple(_citation(found.passages[number - 1]) for number in cited)
    return finished(text, citations, considered=len(found.passages), truncated=wrote.truncated)


def _answer(
    server: Server,
    question: str,
    text: str | None = None,
    citations: tuple[AnswerCitation, ...] = (),
    *,
    considered: int,
    started: float,
    reason: NoAnswerReason | None = None,
    truncated: bool = False,
) -> Answer:
    return Answer(
        question=question,
        answer=text,
        grounded=reason is None,
        citations=citations,
        hits_considered=considered,
        model=server.model,
        truncated=truncated,
        reason=reason,
        elapsed_ms=round((perf_counter() - started) * 1000, 3),
    )


def _citation(passage: Passage) -> AnswerCitation:
    return AnswerCitation(
        number=passage.number,
        chunk_id=passage.chunk_id,
        doc_id=passage.doc_id,
        doc_path=passage.doc_path,
        citation=passage.citation,
        heading_path=passage.heading_path,
    )
