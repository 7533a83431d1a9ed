/** The page's only style: inline, no font and no picture from anywhere. */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --page: #f6f5f2; --card: #ffffff; --ink: #1d2530; --soft: #5b6675; --line: #dfe2e6;
  --track: #eceef0; --grid: #d3d8dd; --accent: #2f5d8c; --quote: #f1f5f9;
  --s-succeeded: #2c8a63; --s-pending: #3f7fc1; --s-blocked: #c08a1e; --s-failed: #c2453d;
  --s-needs_reanalysis: #7d5fb2; --s-other: #7b8794;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161b; --card: #1a2027; --ink: #e6e9ed; --soft: #9aa7b5; --line: #2c343d;
    --track: #262d35; --grid: #3a444f; --accent: #7fb2e5; --quote: #202832;
    --s-succeeded: #4cb98a; --s-pending: #68a5e3; --s-blocked: #d9a945; --s-failed: #e5756d;
    --s-needs_reanalysis: #a58bd8; --s-other: #94a1af;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { max-width: 66rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; margin: 0 0 .75rem; }
h3 { font-size: 1rem; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; }
.lead, .by, .note, figcaption, th { color: var(--soft); }
.lead { margin-bottom: 1.5rem; }
.by, .note, figcaption { font-size: .86rem; }
section {
  background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 1.25rem 1.4rem; margin: 0 0 1.1rem;
}
.figures {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .9rem;
  margin: 0 0 1.1rem; padding: 0; list-style: none;
}
.figures li {
  background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: .8rem 1rem;
}
.figures b { display: block; font-size: 1.3rem; line-height: 1.3; font-weight: 650;
  letter-spacing: -.01em; overflow-wrap: anywhere; }
.figures span { color: var(--soft); font-size: .86rem; }
.pair {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr));
  gap: 1.1rem;
}
.pair > section { margin: 0; }
.pair { margin: 0 0 1.1rem; }
figure { margin: 0 0 1.25rem; }
figure:last-child, section > :last-child, article > :last-child { margin-bottom: 0; }
svg { display: block; width: 100%; overflow: hidden; }
.day svg { height: 5.5rem; }
.hours svg { height: 8rem; }
.bar svg { height: 1.1rem; border-radius: 4px; }
.track { fill: var(--track); }
.grid { stroke: var(--grid); stroke-width: 1; vector-effect: non-scaling-stroke; }
.digest { fill: var(--accent); stroke: var(--card); stroke-width: 2;
  vector-effect: non-scaling-stroke; }
.count { fill: var(--accent); }
.spent { fill: var(--accent); }
.held { fill: var(--s-blocked); }
.s-succeeded { fill: var(--s-succeeded); background: var(--s-succeeded); }
.s-pending { fill: var(--s-pending); background: var(--s-pending); }
.s-blocked { fill: var(--s-blocked); background: var(--s-blocked); }
.s-failed { fill: var(--s-failed); background: var(--s-failed); }
.s-needs_reanalysis { fill: var(--s-needs_reanalysis); background: var(--s-needs_reanalysis); }
.s-other { fill: var(--s-other); background: var(--s-other); }
.s-digest { background: var(--accent); }
.axis {
  position: relative; height: 1.3rem; color: var(--soft); font-size: .78rem;
  font-variant-numeric: tabular-nums; margin-top: .25rem;
}
.hour { position: absolute; transform: translateX(-50%); }
.hour.first { transform: none; }
.hour.last { transform: translateX(-100%); }
.lanes {
  display: grid; grid-template-columns: 4.6rem minmax(0, 1fr); column-gap: .6rem;
}
.lanes .names {
  display: grid; grid-template-rows: 28% 1fr; color: var(--soft); font-size: .78rem;
}
.lanes .names span { align-self: center; }
.lanes .axis { grid-column: 2; }
.key { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; margin: .7rem 0 0; padding: 0;
  list-style: none; font-size: .86rem; }
.key i { display: inline-block; width: .75rem; height: .75rem; border-radius: 3px;
  margin-right: .4rem; vertical-align: -.05rem; }
article { border-top: 1px solid var(--line); padding: .9rem 0; }
article:last-child { padding-bottom: 0; }
article:first-of-type { border-top: 0; padding-top: 0; }
.said {
  white-space: pre-wrap; overflow-wrap: anywhere; margin: .25rem 0 .5rem; max-width: 46rem;
  unicode-bidi: plaintext;
}
blockquote.said {
  margin: .25rem 0 .5rem; padding: .8rem 1rem; background: var(--quote);
  border-left: 3px solid var(--accent); border-radius: 0 8px 8px 0; max-width: none;
}
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .38rem .7rem .38rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 550; font-size: .82rem; white-space: nowrap; }
td.n, th.n { text-align: right; white-space: nowrap; }
td.t { white-space: nowrap; }
tr:last-child td { border-bottom: 0; }
td.name { overflow-wrap: anywhere; min-width: 9rem; }
bdi { unicode-bidi: isolate; }
summary { cursor: pointer; color: var(--accent); font-size: .9rem; padding: .25rem 0; }
summary:focus-visible, [tabindex]:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 2px; }
code { font: .8rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  overflow-wrap: anywhere; }
.ids { columns: 22rem; column-gap: 1.5rem; margin: .5rem 0 0; padding: 0; list-style: none; }
footer { color: var(--soft); font-size: .84rem; margin-top: 1.5rem; }
th:last-child, td:last-child { padding-right: 0; }
.hours .minor { display: none; }
@media (max-width: 34rem) {
  main { padding: 1.2rem .8rem 3rem; }
  section { padding: 1rem; border-radius: 10px; }
  .figures { grid-template-columns: 1fr 1fr; gap: .6rem; }
  .figures b { font-size: 1.15rem; }
  h1 { font-size: 1.4rem; }
  .lanes { grid-template-columns: minmax(0, 1fr); }
  .lanes .names { display: none; }
  .lanes .axis { grid-column: 1; }
  .hour.minor { display: none; }
  table { font-size: .82rem; }
  th, td { padding-right: .5rem; }
  td.name { min-width: 5rem; }
}
@media print {
  :root {
    color-scheme: light; --page: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb;
    --track: #eee; --grid: #ccc; --accent: #2f5d8c; --quote: #f5f5f5;
    --s-succeeded: #2c8a63; --s-pending: #3f7fc1; --s-blocked: #c08a1e; --s-failed: #c2453d;
    --s-needs_reanalysis: #7d5fb2; --s-other: #7b8794;
  }
  body { font-size: 11pt; }
  main { max-width: none; padding: 0; }
  section, .figures li { border-radius: 0; }
  figure, article, tr, .figures li { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  svg, i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
`
