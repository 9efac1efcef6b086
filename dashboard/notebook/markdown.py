"""How is Markdown shown so that it can be trusted? As a small set of tags: no HTML of the author's, no images.

An image would be fetched from wherever the text says, by everybody who opens the page or the file.
"""

from functools import cache
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

SCHEMES = ("http", "https", "mailto")


def markdown_html(text: str) -> str:
    """Markdown (CommonMark with tables) as HTML that is safe whatever the text holds."""
    return str(_reader().render(text))


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").enable("strikethrough").disable("image")
    reader.validateLink = _harmless  # type: ignore[method-assign]
    return reader


def _harmless(address: str) -> bool:
    try:
        return urlsplit(address.strip()).scheme.lower() in SCHEMES
    except ValueError:
        return False
