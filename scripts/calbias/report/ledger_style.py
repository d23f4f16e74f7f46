"""The frame of the ledger's page: its text, its style in light and dark, no outside resource."""

from string import Template

SYMBOLS = {
    "reproduced": "✓",
    "approximate": "≈",
    "not_reproduced": "✗",
    "needs_real_logits": "…",
    "not_judged": "–",
}

_STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --page: #fff; --soft: #f4f5f7; --line: #d9dce1;
  --dim: #5b6270; --link: #0b57a4;
  --reproduced: #0a5c7d; --approximate: #7a5200; --not_reproduced: #a3290f;
  --needs_real_logits: #5a3d8a; --not_judged: #5b6270; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --page: #16181c; --soft: #20242a;
  --line: #3a404a; --dim: #a2aab8; --link: #7cb8f2;
  --reproduced: #6cc4e8; --approximate: #e6b450; --not_reproduced: #ff9178;
  --needs_real_logits: #c3a6f5; --not_judged: #a2aab8; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 70rem; margin: 0 auto; padding: 1rem 1.2rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 2.5rem; }
a { color: var(--link); } code { font-size: .87em; } small { color: var(--dim); font-weight: 400; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid var(--line); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.wide { overflow-x: auto; } .counts { width: auto; }
.badge { display: inline-block; white-space: nowrap; font-size: .85rem; font-weight: 600;
  padding: 0 .5rem; border: 1px solid currentColor; border-radius: 1rem; }
.reproduced { color: var(--reproduced); } .approximate { color: var(--approximate); }
.not_reproduced { color: var(--not_reproduced); } .not_judged { color: var(--not_judged); }
.needs_real_logits { color: var(--needs_real_logits); }
article { background: var(--soft); border: 1px solid var(--line); border-radius: .5rem;
  padding: .2rem 1rem .8rem; margin: 1rem 0; }
article h3 { margin: .6rem 0 .3rem; } article:target { outline: 2px solid var(--link); }
dl { display: grid; grid-template-columns: 7rem 1fr; gap: .35rem .8rem; margin: .6rem 0; }
dt { color: var(--dim); } dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
dd ul { margin: 0; padding-left: 1.1rem; } summary { cursor: pointer; color: var(--link); }
img { max-width: 100%; max-height: 95vh; background: #fff; margin-top: .5rem; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: .1rem; }
  dd { margin-bottom: .5rem; } }
"""

# A link to another file is of use only beside that file: not inside the Snakemake report, where a
# figure is reached all the same, as it is part of this page.
_SCRIPT = """
if (!/results\\/[^\\/]*$$/.test(location.pathname))
  document.querySelectorAll("a.file").forEach(a => a.replaceWith(...a.childNodes));
document.querySelectorAll('a.picture').forEach(a => a.addEventListener('click', () => {
  document.getElementById(a.hash.slice(1)).open = true; }));
"""

PAGE = Template(
    """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The ledger: claims of Roelofs et al. (2022), judged by numbers</title>
<style>"""
    + _STYLE
    + """</style>
</head>
<body>
<h1>The ledger: claims of Roelofs et al. (2022), judged by numbers</h1>
<p>Each claim of <cite>Mitigating Bias in Calibration Error Estimation</cite> (AISTATS 2022) with
what the paper says, what was measured here, and the rule that decided. The rules are code over
result tables; no verdict is typed in. Biases and errors are in percentage points.</p>
<div class="wide"><table class="counts">
$counts
</table></div>
<p>Sources: <code>published_fits</code>, simulated from the distributions and curves that the paper
prints; <code>surrogate_logits</code>, logits drawn from these same fits, which check the pipeline
and not the paper; <code>real_logits</code>, the models' own outputs.</p>
<nav><a href="#claims">Overview</a> · <a href="#reasons">Claim by claim</a> ·
<a href="#comparison">Published and recomputed numbers</a></nav>
<h2 id="claims">Overview</h2>
<div class="wide"><table>
<thead><tr><th>Claim</th><th>Where</th><th>What the paper says</th><th>Published</th>
<th>Measured</th><th>Verdict</th></tr></thead>
<tbody>
$rows
</tbody></table></div>
<h2 id="reasons">Claim by claim</h2>
<p>The name of a figure opens it. In the report, search for the name of a table, rule or script to
reach it.</p>
$cards
<h2 id="comparison">Published and recomputed numbers</h2>
<p>The standard error is that of the difference: the sampling error of a fit to surrogate logits;
for fits of real logits that of Table 3's means over ten resamples; the Monte Carlo error of a
simulated mean (the paper's from its 1000 replicates); for numbers of the text the rounding of the
printed one. It is empty where the paper's number is from the same data or no error is known. Rows
of <code>surrogate_logits</code> are not comparable with the paper and are counted apart: they set a
fit beside the published numbers that its data were drawn from, and check the pipeline. The printed
decimals of the fits move simulated numbers by more than their Monte Carlo error, see the table
<code>tce_rounding</code>.</p>
$comparison
<script>"""
    + _SCRIPT
    + """</script>
</body>
</html>
"""
)
