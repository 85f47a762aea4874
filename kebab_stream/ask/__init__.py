"""Answers to questions: passages from the index, a language model that reads them, and a check of what it wrote."""

from kebab_stream.ask.answer import ask, ask_through
from kebab_stream.ask.passages import Found

__all__ = ["Found", "ask", "ask_through"]
