"""The style sheet of the page: light and dark, by what the reader's system prefers."""

from typing import Final

STYLE: Final = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1d2329; --quiet: #5c6670; --line: #dde2e7; --panel: #f6f8fa;
  --lexical: #0068b3; --vector: #c06a00; --hybrid: #00785a; --up: #00785a; --down: #b3401f;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14181c; --text: #e4e8ec; --quiet: #9aa5b1; --line: #313941; --panel: #1c2228;
    --lexical: #5cb3f2; --vector: #f0a540; --hybrid: #3fc79e; --up: #3fc79e; --down: #f0835f;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1200px; padding: 1.5rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Noto Sans KR", "Apple SD Gothic Neo", sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .5rem 2rem; align-items: baseline; justify-content: space-between; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .25rem; }
p { margin: .25rem 0; }
.legend { display: flex; gap: 1.25rem; }
.legend span { display: flex; gap: .4rem; align-items: center; }
.key { width: 16px; height: 16px; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 1rem;
  margin: 1rem 0; }
figure { margin: 0; padding: .75rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; }
figcaption { font-weight: 600; margin-bottom: .25rem; }
.plot { width: 100%; height: auto; display: block; }
.plot text { fill: var(--text); font-size: 13px; }
.plot text.tick { fill: var(--quiet); font-size: 12px; }
.grid { stroke: var(--line); }
.axis { stroke: var(--quiet); }
.span { stroke: var(--quiet); stroke-width: 1.5; }
.lexical { fill: var(--lexical); }
.vector { fill: var(--vector); }
.hybrid { fill: var(--hybrid); }
.better, .right { fill: var(--up); }
.worse, .wrong { fill: var(--down); }
.up { color: var(--up); }
.down { color: var(--down); }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: .35rem .6rem; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
.numbers td { white-space: nowrap; font-variant-numeric: tabular-nums; }
.texts td { width: 36%; overflow-wrap: anywhere; }
.texts td:first-child { width: 28%; }
.note, .excerpt { color: var(--quiet); font-size: .87rem; }
.excerpt { margin: 0 0 .6rem; }
code { font-size: .87rem; }
summary { cursor: pointer; font-weight: 600; margin: 1rem 0; }
"""
