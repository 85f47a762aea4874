"""Which files are documents, and of what kind: decided by name alone."""

_MEDIA_BY_EXTENSION = {
    **dict.fromkeys(("", "text", "txt"), "text"),
    **dict.fromkeys(("markdown", "md", "mdown", "mdx", "mkd"), "markdown"),
    **dict.fromkeys(("htm", "html", "xhtml"), "html"),
    **dict.fromkeys(("rest", "rst"), "rst"),
    "pdf": "pdf",
}

_PDF_SIZE_FACTOR = 10

_CODE_BY_EXTENSION = {
    "astro": "astro",
    "bash": "bash",
    "bzl": "starlark",
    "c": "c",
    "cc": "cpp",
    "clj": "clojure",
    "cljs": "clojure",
    "cmake": "cmake",
    "cpp": "cpp",
    "cs": "csharp",
    "css": "css",
    "cts": "typescript",
    "cxx": "cpp",
    "dart": "dart",
    "el": "elisp",
    "erl": "erlang",
    "ex": "elixir",
    "exs": "elixir",
    "fish": "fish",
    "fs": "fsharp",
    "go": "go",
    "gradle": "groovy",
    "graphql": "graphql",
    "groovy": "groovy",
    "h": "c",
    "hcl": "hcl",
    "hh": "cpp",
    "hpp": "cpp",
    "hs": "haskell",
    "hxx": "cpp",
    "ini": "ini",
    "java": "java",
    "jl": "julia",
    "js": "javascript",
    "json": "json",
    "jsonc": "json",
    "jsx": "javascript",
    "kt": "kotlin",
    "kts": "kotlin",
    "less": "less",
    "lisp": "lisp",
    "lua": "lua",
    "mjs": "javascript",
    "cjs": "javascript",
    "ml": "ocaml",
    "mli": "ocaml",
    "mts": "typescript",
    "nim": "nim",
    "nix": "nix",
    "php": "php",
    "pl": "perl",
    "pm": "perl",
    "proto": "protobuf",
    "ps1": "powershell",
    "py": "python",
    "pyi": "python",
    "r": "r",
    "rb": "ruby",
    "rs": "rust",
    "sass": "sass",
    "scala": "scala",
    "scss": "scss",
    "sh": "bash",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "tf": "hcl",
    "toml": "toml",
    "ts": "typescript",
    "tsx": "typescript",
    "vue": "vue",
    "xml": "xml",
    "yaml": "yaml",
    "yml": "yaml",
    "zig": "zig",
    "zsh": "zsh",
}

_CODE_BY_NAME = {
    "brewfile": "ruby",
    "cmakelists.txt": "cmake",
    "containerfile": "dockerfile",
    "dockerfile": "dockerfile",
    "gemfile": "ruby",
    "gnumakefile": "make",
    "jenkinsfile": "groovy",
    "justfile": "just",
    "makefile": "make",
    "rakefile": "ruby",
    "vagrantfile": "ruby",
}


def media_of(path: str) -> tuple[str, str | None] | None:
    """Media name and code language of a file by its name, in any case; None for a file that is no document.

    A name without an extension is taken for text: the walk looks into such a file before it believes it.
    """
    name = path.rpartition("/")[2].casefold()
    extension = name.rpartition(".")[2] if "." in name else ""
    code_lang = _CODE_BY_NAME.get(name) or _CODE_BY_EXTENSION.get(extension)
    if code_lang:
        return "code", code_lang
    media = _MEDIA_BY_EXTENSION.get(extension)
    return (media, None) if media else None


def size_limit(path: str, max_file_bytes: int) -> int:
    """The most bytes that a document may have: those of a PDF are mostly pictures and fonts, and few of them text."""
    return max_file_bytes * (_PDF_SIZE_FACTOR if media_of(path) == ("pdf", None) else 1)


def has_extension(path: str) -> bool:
    """False where only the content can tell whether this is a text."""
    name = path.rpartition("/")[2].casefold()
    return "." in name or name in _CODE_BY_NAME
