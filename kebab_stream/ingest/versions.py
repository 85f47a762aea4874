"""Versions of what an ingest makes of a file: a document made by another one is made anew."""

PARSER_VERSION = "3"
"""Changes whenever the same text may parse differently; documents parsed by another version are parsed again."""
CHUNKER_VERSION = "sections-3"
"""Changes whenever the same blocks may be cut differently; documents cut by another version are cut again."""
INDEXED_VERSION = "4"
"""Changes whenever the same chunk may be indexed by other terms or windows; such documents are indexed again."""
