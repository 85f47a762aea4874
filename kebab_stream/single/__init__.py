"""Ranking and shaping of one query."""
