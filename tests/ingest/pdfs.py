"""Small PDFs, made by reportlab: one line to have one."""

import io
from collections.abc import Sequence

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

_KOREAN = "HYSMyeongJo-Medium"


def pdf(*pages: Sequence[str], password: str | None = None) -> bytes:
    """A PDF with these lines on its pages."""
    pdfmetrics.registerFont(UnicodeCIDFont(_KOREAN))
    file = io.BytesIO()
    canvas = Canvas(file, encrypt=password, invariant=True)
    for lines in pages:
        for number, line in enumerate(lines):
            canvas.setFont("Helvetica" if line.isascii() else _KOREAN, 12)
            canvas.drawString(50, 750 - 20 * number, line)
        canvas.showPage()
    canvas.save()
    return file.getvalue()
