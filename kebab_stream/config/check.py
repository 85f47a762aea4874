"""The rules that join several settings, or that a kind and a range do not express."""

import os
import re
from collections.abc import Mapping, Sequence

from kebab_stream.config.refusals import Place, bad_value
from kebab_stream.config.settings import SOURCES, Chunking, Config, Embedding, Source
from kebab_stream.model import COPIES

Places = Mapping[str, Place]

_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def check(config: Config, places: Places) -> None:
    """Refuse settings that do not go together.

    Args:
        config: settings that are each accepted for themselves.
        places: where each setting was given, by dotted name; `workspace.sources` where there are sources.

    Raises:
        ConfigInvalidError: overlap >= target, target > max, a model that its provider cannot have, a floor between -1
            and 0, an address that is no HTTP one, a variable of ours for a key, or source ids or roots that are not
            unique.
    """
    _check_chunking(config.ingest.chunking, places)
    _check_model(config.models.embedding, places)
    for section, server in (("models.embedding", config.models.embedding), ("models.llm", config.models.llm)):
        _check_endpoint(server.endpoint, places[f"{section}.endpoint"], section)
        _check_key_variable(server.api_key_env, places[f"{section}.api_key_env"])
    if config.workspace.sources:
        _check_sources(config.workspace.sources, places[SOURCES].origin)
        _check_roots(config, places)


def _check_chunking(sizes: Chunking, places: Places) -> None:
    section = "ingest.chunking"
    overlap, target, largest = (places[f"{section}.{name}_chars"] for name in ("overlap", "target", "max"))
    if sizes.overlap_chars >= sizes.target_chars:  # each chunk would only repeat the one before
        limit = f"less than {target.name} = {sizes.target_chars} ({target.origin})"
        raise bad_value(overlap, sizes.overlap_chars, limit)
    if sizes.target_chars > sizes.max_chars:
        limit = f"at most {largest.name} = {sizes.max_chars} ({largest.origin})"
        raise bad_value(target, sizes.target_chars, limit)


def _check_model(embedding: Embedding, places: Places) -> None:
    """The name of the bundled model is the default: with another provider nobody has named one."""
    provider, bundled = embedding.provider, Embedding().model
    model, path, endpoint = (places[f"models.embedding.{name}"] for name in ("model", "model_path", "endpoint"))
    is_bundled = embedding.model == bundled
    if provider == "static" and embedding.model_path is None and not is_bundled:
        raise bad_value(
            model, embedding.model, f'"{bundled}", or another name together with models.embedding.model_path'
        )
    if provider == "fastembed" and embedding.model_path is None and is_bundled:
        raise bad_value(
            model, embedding.model, 'with provider "fastembed" a name from its list, or models.embedding.model_path'
        )
    if provider in ("ollama", "openai"):
        if is_bundled:
            raise bad_value(model, embedding.model, f'with provider "{provider}" a model that the server has')
        if embedding.model_path is not None:
            raise bad_value(path, str(embedding.model_path), f'nothing with provider "{provider}", which has the model')
        if provider == "openai" and embedding.endpoint is None:
            raise bad_value(endpoint, "", 'with provider "openai" the address of the server')
    if -1 < embedding.score_floor < 0:  # nothing could be told from it: where nothing is alike, cosines are 0
        raise bad_value(places["models.embedding.score_floor"], embedding.score_floor, "-1, or a number from 0 to 0.99")


def _check_endpoint(endpoint: str | None, place: Place, section: str) -> None:
    if endpoint is None:
        return
    accepted = "an address that begins with http:// or https://"
    if not endpoint.startswith(("http://", "https://")):
        raise bad_value(place, _without_secrets(endpoint), accepted)
    from urllib.parse import urlsplit  # late: most settings have no address

    try:
        parts = urlsplit(endpoint)
        usable = bool(parts.hostname) and parts.port != 0 and not set(" \\") & set(endpoint)  # the port may be none
    except ValueError:
        raise bad_value(place, _without_secrets(endpoint), f"{accepted}, with a host and a port that exist") from None
    if parts.username is not None or parts.password is not None:  # messages name the address; a key has no place there
        without = f"an address without a user and password; {section}.api_key_env is for keys"
        raise bad_value(place, _without_secrets(endpoint), without)
    if not usable or parts.query or parts.fragment:
        raise bad_value(place, _without_secrets(endpoint), f"{accepted}, with a host, and without ? and #")


def _without_secrets(endpoint: str) -> str:
    """An address as messages quote it: people put keys before an @, and after a ? or #."""
    address, *rest = re.split("[?#]", endpoint, maxsplit=1)
    if rest and "@" in rest[0]:  # then a ? or # may be one of a password
        return "…"
    return re.sub(r"^(https?://)?.*@", r"\1…@", address) + ("?…" if rest else "")


def _check_key_variable(variable: str | None, place: Place) -> None:
    if variable is not None and (not _VARIABLE.fullmatch(variable) or variable.startswith("KEBAB_")):
        # It is not quoted: somebody may have put the key itself there.
        raise bad_value(place, "…", "the name of an environment variable, of letters, digits and _, not a KEBAB_ one")


def _check_sources(sources: Sequence[Source], origin: str) -> None:
    for index, source in enumerate(sources):
        if source.id in COPIES:
            name = f"{SOURCES}[{index}].id"
            raise bad_value(Place(name, origin), source.id, "another name: kebab keeps single documents under this one")
    first: dict[str, int] = {}
    for index, source in enumerate(sources):
        prefix = f"{SOURCES}[{index}]"
        for name, label in (("id", source.id), ("source_type", source.source_type)):
            if "," in label or label != label.strip():  # --source and --source-type take lists with commas
                raise bad_value(Place(f"{prefix}.{name}", origin), label, "no comma, and no space at its ends")
        if first.setdefault(source.id, index) != index:
            taken = f"{SOURCES}[{first[source.id]}]"
            raise bad_value(Place(f"{prefix}.id", origin), source.id, f"a name that {taken} does not have")


def _check_roots(config: Config, places: Places) -> None:
    """Two names of one folder would index each of its files twice; symbolic links are followed to tell."""
    roots: dict[str, str] = {}
    named = [(f"{SOURCES}[{index}].root", source.root) for index, source in enumerate(config.workspace.sources)]
    if config.workspace.root is not None:
        named.insert(0, ("workspace.root", config.workspace.root))
    for name, root in named:
        other = roots.setdefault(os.path.realpath(root), name)
        if other != name:
            raise bad_value(Place(name, places[SOURCES].origin), str(root), f"a folder other than {other}")
