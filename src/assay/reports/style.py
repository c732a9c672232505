"""The look of a report: one style sheet for screens wide and narrow, light and dark, and for paper."""

from __future__ import annotations

LEVELS = 9  # shades of a heat map, each way

_BASE = """
:root{--ink:#18222d;--soft:#5c6875;--line:#dde3e9;--paper:#fff;--wash:#f4f6f8;--accent:#0b6b75;
--best:#0b6b75;--good:#22783f;--bad:#b2362c;--open:#80600b;--warn:#fff5da;--for:214 48 49;
--against:37 99 235;--like:24 140 150}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--ink:#e6eaee;--soft:#9aa6b2;--line:#313a44;
--paper:#12171c;--wash:#1b2229;--accent:#54c3cb;--best:#54c3cb;--good:#6cc78b;--bad:#ff8f83;--open:#dbb65a;
--warn:#33290e;--for:232 72 72;--against:70 125 250;--like:38 150 158}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
main,header.top,footer{max-width:74rem;margin:0 auto;padding:0 1.5rem}
h1,h2,h3{line-height:1.25;text-wrap:balance}
h2{font-size:1.45rem;margin:0 0 .3rem}
h3{font-size:1rem;margin:0 0 .35rem}
h3 small{white-space:nowrap}
.wide+h3{margin-top:1.2rem}
p{margin:.4rem 0}
a{color:var(--accent)}
section{padding:2.6rem 0 0}
code,pre,.name{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.88em}
.note{color:var(--soft);font-size:.9rem;max-width:46rem}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));gap:1.6rem 2rem;
margin-top:1rem}
.half{grid-template-columns:repeat(auto-fill,minmax(min(100%,28rem),1fr))}
"""

_TOP = """
header.top{padding-top:1.6rem}
.brand{display:flex;justify-content:space-between;gap:1rem;flex-wrap:wrap;font-size:.85rem;color:var(--soft)}
.brand b{color:var(--accent);letter-spacing:.12em;text-transform:uppercase}
nav{display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.85rem}
nav a{text-decoration:none}
h1{font-size:1.05rem;font-weight:600;color:var(--soft);margin:2.2rem 0 .6rem}
.big{font-size:clamp(1.35rem,1.05rem + 1.5vw,2.1rem);line-height:1.32;font-weight:600;letter-spacing:-.01em;
margin:0;max-width:58rem}
.big wbr{display:none}
.big .name{font-size:.9em;font-weight:600;color:var(--accent)}
.facts{display:flex;flex-wrap:wrap;gap:1px;border:1px solid var(--line);border-radius:.6rem;overflow:hidden;
margin:1.8rem 0 0}
.facts div{flex:1 1 9.5rem;padding:.7rem .9rem;min-width:0;box-shadow:0 0 0 1px var(--line)}
.facts dt{font-size:.78rem;color:var(--soft)}
.facts dd{margin:0;font-weight:600;overflow-wrap:anywhere}
.facts small{display:block;font-weight:400;color:var(--soft)}
.warn{background:var(--warn);border-left:4px solid var(--open);padding:.6rem .9rem;border-radius:.3rem;
margin:1.2rem 0 0;max-width:58rem}
.says{display:grid;grid-template-columns:minmax(9rem,max-content) 1fr;gap:.7rem 1.4rem;margin:1.6rem 0 0;
max-width:66rem}
.says dt{font-weight:600}
.says dt small{display:block;font-weight:400;color:var(--soft)}
.says dd{margin:0}
.says .name{font-size:.86em;color:var(--accent)}
.says em{display:block;font-style:normal;color:var(--soft);font-size:.88rem}
"""

_TABLES = """
table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{padding:.34rem .5rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:middle}
th{font-weight:600}
thead th{color:var(--soft);font-size:.8rem;vertical-align:bottom}
td.n,th.n{text-align:right;white-space:nowrap}
tbody th{font-weight:400;min-width:7.5rem}
tr.best th,tr.best td.n b{font-weight:600}
.sign{vertical-align:-1px;margin-right:.4em}
.name{overflow-wrap:anywhere}
.nowrap{white-space:nowrap}
.mark{display:block;font-size:.8rem;color:var(--soft);white-space:normal}
.best{color:var(--best)}.good{color:var(--good)}.bad{color:var(--bad)}.open{color:var(--open)}
.best .name,tr.best{color:var(--ink)}
small{font-size:.8rem;color:var(--soft);font-weight:400}
td small{display:block}
.bar{width:100%;min-width:5rem;display:block;overflow:visible}
.ends{display:flex;justify-content:space-between;gap:.4rem;font-weight:400}
.rail{stroke:var(--line)}.zero{stroke:var(--soft);stroke-width:1}
.dash{stroke:var(--soft);stroke-width:1.2;stroke-dasharray:3 3}
.scroll{overflow-x:auto}
.glance{width:auto;min-width:min(100%,34rem)}
.glance td,.glance thead th{text-align:center;padding:.3rem .15rem;min-width:4.2rem}
.glance thead th:first-child,.glance tbody th{text-align:left;padding-left:0}
.glance .v{display:block;font-size:.78rem;color:var(--soft)}
.glance .s{font-size:1.15rem;line-height:1.1}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.3rem;list-style:none;padding:0;margin:.7rem 0 0;font-size:.86rem}
.legend .mark{display:inline;font-size:inherit}
.ranking{table-layout:fixed}
.ranking th:first-child{width:38%}.ranking .n{width:29%}.ranking td.n small{letter-spacing:-.02em}
.costs,.doing{max-width:46rem}.costs small{display:block}.costs .time{width:28%}
.ranking .n b{font-weight:400}
.turn{writing-mode:vertical-rl;transform:rotate(180deg);white-space:nowrap;font-weight:600;margin:0 auto;
text-align:left;line-height:1.1}
.matrix{width:auto}
.matrix td{text-align:center;padding:.3rem .1rem;min-width:2.35rem;font-size:.85rem;border:2px solid var(--paper)}
.matrix thead th{text-align:center;padding:.2rem .1rem}
.matrix tbody th{padding-left:0;border:0;font-size:.9rem;min-width:0}
"""

_REST = """
.plot{width:100%;max-width:30rem;height:auto;display:block}
.plot text{font-size:11px;fill:var(--soft)}.plot .who{fill:var(--ink);font-size:11px}
.plot .grid{stroke:var(--line)}.plot .axis{stroke:var(--soft)}
figure{margin:0}
.ex{border-top:1px solid var(--line);padding:1rem 0 .4rem;margin-top:1rem}
.ex header{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;align-items:baseline}
.ex header p{margin:0;font-size:.92rem}
.maps{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,16.5rem),1fr));gap:.9rem 1.6rem;
margin-top:.6rem}
.maps figcaption{font-size:.82rem;color:var(--soft);margin-bottom:.1rem}
.maps p{margin:0;line-height:1.75;overflow-wrap:anywhere}
.maps svg.picture{width:100%;max-width:14rem;height:auto;display:block;border-radius:.3rem}
.h span{padding:.12em 0;border-radius:.18em}
.h .top{font-weight:700}
.h .against{border-top:2px solid rgb(var(--against))}
.h .unseen{color:var(--soft);text-decoration:line-through}
.h .seg{color:var(--soft)}
u{text-decoration:underline;text-decoration-thickness:2px;text-underline-offset:.28em;text-decoration-skip-ink:none}
.key span{padding:.05em .3em;border-radius:.2em;color:var(--ink)}.key .h{padding:0}.key u{color:var(--ink)}
.card{background:var(--wash);border-radius:.6rem;padding:1rem 1.1rem}
.card h3 small{margin-left:.4em}
.card p{margin:.3rem 0;font-size:.93rem}
.card .formula{font-family:ui-serif,Georgia,"Times New Roman",serif;font-style:italic;font-size:1rem}
.pairs{display:grid;grid-template-columns:max-content 1fr;gap:.12rem .9rem;font-size:.87rem;margin:.5rem 0 0}
.pairs dt{color:var(--soft)}.pairs dd{margin:0;overflow-wrap:anywhere}
.wide{font-size:.92rem;max-width:60rem}
pre{background:var(--wash);border-radius:.5rem;padding:.8rem 1rem;white-space:pre-wrap;overflow-wrap:anywhere;
margin:.5rem 0 1rem}
footer{margin-top:3rem;padding-top:1rem;padding-bottom:2.5rem;color:var(--soft);font-size:.85rem}
@media (max-width:40rem){
main,header.top,footer{padding-left:1rem;padding-right:1rem}
section{padding-top:2.1rem}
.says{grid-template-columns:1fr;gap:.1rem}.says dd{margin-bottom:.8rem}
.facts div{flex-basis:44%}
th,td{padding:.32rem .3rem}
.glance .v,.costs .time{display:none}.glance td,.glance thead th{min-width:2.1rem}
.matrix td{min-width:1.6rem;font-size:.72rem;padding:.25rem 0}
.matrix tbody th,.glance tbody th{font-size:.82rem;min-width:6rem}
.matrix .sign{display:none}
.pairs{grid-template-columns:minmax(5.5rem,max-content) 1fr}
}
@media print{
@page{margin:14mm}
html{font-size:11.5px}
.grid,.half{grid-template-columns:1fr 1fr;gap:1.2rem 1.6rem}
.maps{grid-template-columns:repeat(3,1fr)}
.big{font-size:1.7rem}
nav{display:none}
main,header.top,footer{max-width:none;padding-left:0;padding-right:0}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
h2,h3,.ex header{break-after:avoid}
.card,.ex,.maps figure,.grid>figure,table,.facts,pre,.says dd{break-inside:avoid}
.note{break-after:avoid;break-inside:avoid}
section{padding-top:1.6rem}
.scroll{overflow:visible}
.plot{max-width:none}
a{color:inherit;text-decoration:none}
}
"""


def style() -> str:
    """The whole sheet."""
    return _BASE + _TOP + _TABLES + _REST + _shades()


def _shades() -> str:
    """f1 .. f9 speak for the class, a1 .. a9 against it; see-through, so that they work on light and dark paper."""
    pairs = [("f", "for"), ("a", "against")]
    return "".join(
        f".{short}{i}{{background:rgb(var(--{name})/{0.75 * i / LEVELS:.2f})}}"
        for short, name in pairs
        for i in range(1, LEVELS + 1)
    )
