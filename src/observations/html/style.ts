/** The page's only style: inline, no font and no picture from anywhere. */
import { styleSheet } from './style-sheet.js'

/** Style sheet of a report's page: light and dark, wide and narrow, screen and paper. */
export const pageStyle = styleSheet(`
/* Light and dark; each pair of ink and ground is at least 4.5 to 1. */
:root { color-scheme: light dark; --page: #f6f5f2; --card: #ffffff; --ink: #1d2530;
  --soft: #566170; --line: #dfe2e6; --track: #eceef0; --grid: #cfd5db; --accent: #2f5d8c;
  --quote: #f1f5f9; --p-0: #2f5d8c; --p-1: #b5651d; --p-2: #2c8a63; --p-3: #8a4f9e;
  --p-4: #a8700f; --p-5: #87919c; --s-succeeded: #2c8a63; --s-pending: #0b869e;
  --s-blocked: #a8700f; --s-failed: #c2453d; --s-needs_reanalysis: #7d5fb2; --s-other: #6c7885;
  --alarm: #b3342c; --alarm-back: #fdf0ee; --warn: #8a5a08; --warn-back: #fdf6e6 }
@media (prefers-color-scheme: dark) {
:root { --page: #12161b; --card: #1a2027; --ink: #e6e9ed; --soft: #9fabb8; --line: #2c343d;
  --p-0: #7fb2e5; --p-1: #e59a5c; --p-2: #4cb98a; --p-3: #c39ad6; --p-4: #d9c045; --p-5: #7c8894;
  --track: #262d35; --grid: #3a444f; --accent: #7fb2e5; --quote: #202832; --s-succeeded: #4cb98a;
  --s-pending: #45c4dc; --s-blocked: #d9a945; --s-failed: #e5756d; --s-needs_reanalysis: #a58bd8;
  --s-other: #94a1af; --alarm: #f0958e; --alarm-back: #33211f; --warn: #e3bb66;
  --warn-back: #2e2819 }
}

/* Text, frames and focus. A word of a command breaks only where it is wider than the line;
   a number, an amount or a time is read whole or wrongly. */
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 1rem }
body { margin: 0; background: var(--page); color: var(--ink); overflow-wrap: break-word;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif }
main { max-width: 70rem; margin: 0 auto; padding: 2rem 1.25rem 4rem }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .25rem; letter-spacing: -.01em }
h2 { font-size: 1.15rem; line-height: 1.3; margin: 0 0 .75rem }
h3 { font-size: 1rem; line-height: 1.4; margin: 0 0 .5rem; overflow-wrap: anywhere }
p { margin: 0 0 .75rem }
ul, ol { margin: 0; padding: 0; list-style: none }
small { font-size: .86rem; font-weight: 400; color: var(--soft) }
a { color: var(--accent) }
bdi { unicode-bidi: isolate; overflow-wrap: anywhere }
code { font: .84em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  overflow-wrap: anywhere }
code .w { display: inline-block; max-width: 100% }
.num { white-space: nowrap; overflow-wrap: normal; font-variant-numeric: tabular-nums }
.file { font-weight: 400 }
.lead, .by, .note, .soft { color: var(--soft) }
.lead { margin-bottom: .9rem }
.by, .note { font-size: .86rem; font-weight: 400 }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 1.25rem 1.4rem; margin: 0 0 1.1rem; min-width: 0 }
figure { margin: 0 0 1.25rem }
figure:last-child, section > :last-child, article > :last-child { margin-bottom: 0 }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 18rem), 1fr));
  gap: 1.1rem; margin: 0 0 1.1rem }
.pair > section { margin: 0 }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
:target { outline: 2px solid var(--accent); outline-offset: 6px; border-radius: 2px }
summary { cursor: pointer; color: var(--accent); font-size: .9rem; padding: .25rem 0 }
nav ul { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: 0 0 1.1rem }
nav a { display: block; padding: .2rem 0; font-size: .92rem }

/* The timeline and the other drawings. */
svg { display: block; width: 100%; overflow: hidden }
.track { fill: var(--track) }
.grid { stroke: var(--grid); stroke-width: 1; vector-effect: non-scaling-stroke }
.digest { fill: var(--accent); stroke: var(--card); stroke-width: 1;
  vector-effect: non-scaling-stroke }
.count, .spent { fill: var(--accent) }
.held { fill: var(--s-blocked) }
.spent.over { fill: var(--s-failed) }
.limit { stroke: var(--ink); stroke-width: 3; vector-effect: non-scaling-stroke }
.s-succeeded { fill: var(--s-succeeded); background: var(--s-succeeded) }
.s-pending { fill: var(--s-pending); background: var(--s-pending) }
.s-blocked { fill: var(--s-blocked); background: var(--s-blocked) }
.s-failed { fill: var(--s-failed); background: var(--s-failed) }
.s-needs_reanalysis { fill: var(--s-needs_reanalysis); background: var(--s-needs_reanalysis) }
.s-other { fill: var(--s-other); background: var(--s-other) }
.s-digest { background: var(--accent) }
.p-0 { fill: var(--p-0); background: var(--p-0) }
.p-1 { fill: var(--p-1); background: var(--p-1) }
.p-2 { fill: var(--p-2); background: var(--p-2) }
.p-3 { fill: var(--p-3); background: var(--p-3) }
.p-4 { fill: var(--p-4); background: var(--p-4) }
.p-5 { fill: var(--p-5); background: var(--p-5) }
.days li { display: grid; grid-template-columns: 7rem minmax(0, 1fr); gap: .7rem;
  padding: .45rem 0; border-top: 1px solid var(--line) }
.days li:first-child { border-top: 0 }
.days b { white-space: nowrap }
.days svg { height: 1.1rem; border-radius: 4px }
.days small { display: block }
.lane { display: grid; grid-template-columns: 6.2rem minmax(0, 1fr); column-gap: .7rem;
  align-items: center; margin: 0 0 .3rem }
.name { font-size: .82rem; line-height: 1.2; color: var(--soft) }
.key li, .mix .row span { min-width: 0; overflow-wrap: anywhere }
.day { margin: 0 0 .9rem }
.bar { margin: 0 0 .6rem }
.day svg { height: 2.6rem; border-radius: 3px }
.hours svg { height: 8rem }
.bar svg { height: 1.1rem; border-radius: 4px }
.axis { position: relative; height: 1.3rem; color: var(--soft); font-size: .78rem;
  font-variant-numeric: tabular-nums; margin-top: .1rem }
.hour { position: absolute; transform: translateX(-50%) }
.hour.first { transform: none }
.hour.last { transform: translateX(-100%) }
figure.hours .minor { display: none }
.key { display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; margin: .5rem 0 0; font-size: .86rem }
.key + .note { margin-top: .7rem }
.key i, .mix i { display: inline-block; width: .75rem; height: .75rem; border-radius: 3px;
  margin-right: .4rem; vertical-align: -.05rem }

/* The parts of the page. A figure is as large as the whole value fits its tile. */
.mark { display: inline-grid; place-items: center; flex: none; width: 1.25em; height: 1.25em;
  border-radius: 50%; background: var(--alarm); color: var(--card); font-size: .82em;
  font-style: normal; font-weight: 700; margin-right: .4em; line-height: 1 }
.alert { padding: .55rem .75rem; border-radius: 8px; border-left: 4px solid var(--alarm);
  background: var(--alarm-back) }
.alert.near { border-color: var(--warn); background: var(--warn-back) }
.alert.near .mark { background: var(--warn) }
.waits { border-left: 4px solid var(--alarm) }
.calm { display: flex; flex-wrap: wrap; gap: 0 .8rem; align-items: baseline }
.calm > * { margin: 0 }
h2 .count { display: inline-block; min-width: 1.6em; padding: 0 .45em; border-radius: 1em;
  background: var(--alarm); color: var(--card); font-size: .82rem; text-align: center;
  font-variant-numeric: tabular-nums }
.waiting li { display: flex; padding: .6rem 0; border-top: 1px solid var(--line) }
.waiting li:first-child { border-top: 0; padding-top: 0 }
.waiting li:last-child { padding-bottom: 0 }
.waiting .mark { margin-top: .2em }
.waiting div { min-width: 0 }
.waiting p { margin: 0 }
.figures { display: flex; flex-wrap: wrap; gap: .8rem; margin: 0 0 1.1rem }
.figures li { flex: 1 1 7.2rem; container-type: inline-size; background: var(--card);
  border: 1px solid var(--line); border-radius: 12px; padding: .75rem .85rem }
.figures .wide-tile { flex-basis: 11rem }
.figures b { display: block; line-height: 1.35; font-weight: 650; letter-spacing: -.01em;
  font-size: clamp(.72rem, calc(150cqi / var(--chars)), 1.3rem) }
.figures span { color: var(--soft); font-size: .84rem; line-height: 1.35; display: block }
.figures .over { border-color: var(--alarm); background: var(--alarm-back) }
.longest li { display: grid; grid-template-columns: 6.2rem minmax(0, 1fr); gap: .7rem;
  padding: .45rem 0; border-top: 1px solid var(--line) }
.longest li:first-child { border-top: 0; padding-top: 0 }
.longest small { display: block }
.mix > li { border-top: 1px solid var(--line); padding: .4rem 0 }
.mix > li:first-child { border-top: 0 }
.mix .row { display: flex; justify-content: space-between; gap: 1rem; margin: 0 }
.why { font-size: .88rem; margin: .15rem 0 0 1.15rem }
.why li { display: flex; gap: .6rem; padding: .15rem 0; color: var(--soft) }
.why li > span { min-width: 0 }
.why li > .num { flex: none; min-width: 2ch; text-align: right; color: var(--ink) }
.authors { color: var(--soft); font-size: .9rem; margin: 1.6rem 0 .8rem; overflow-wrap: anywhere }
.authors p { margin: 0 0 .4rem }
.authors li { display: flex; gap: .5rem; padding: .1rem 0 }
.authors li > span { min-width: 0 }
.who { display: inline-block; min-width: 1.5em; padding: 0 .35em; border-radius: 4px; flex: none;
  background: var(--quote); border: 1px solid var(--line); color: var(--ink); font-size: .8rem;
  line-height: 1.4; text-align: center; align-self: center }
article { border-top: 1px solid var(--line); padding: .8rem 0 }
article h3 { margin: 0 0 .2rem }
article h3 small { display: inline-block }
article:last-child { padding-bottom: 0 }
h2 + article { border-top: 0; padding-top: 0 }
.said { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; max-width: 46rem;
  unicode-bidi: plaintext }
blockquote.said { margin: .25rem 0 .5rem; padding: .8rem 1rem; background: var(--quote);
  border-left: 3px solid var(--accent); border-radius: 0 8px 8px 0; max-width: none }
.of-day { margin: 1.2rem 0 .2rem; color: var(--soft) }
.of-day + article { border-top: 0 }
.near ul { margin-bottom: .3rem }
.near li { font-size: .92rem }
.near a { display: inline; padding: 0 }
.sums { margin: 0 }
.sums > section { border: 0; padding: 0; background: none }
.program { margin: 1.6rem 0 0 }
.program > summary { padding: .8rem 0 1rem }
.program > summary h2 { display: inline; color: var(--ink) }
footer { color: var(--soft); font-size: .84rem; margin-top: 1.5rem }

/* Tables scroll in a box of their own. */
.wide { overflow-x: auto; margin-top: .4rem }
table { border-collapse: collapse; width: 100%; font-size: .9rem;
  font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .38rem .9rem .38rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top }
th { font-weight: 400; color: var(--soft) }
thead th { font-weight: 550; font-size: .82rem; white-space: nowrap }
tr:last-child > th, tr:last-child > td { border-bottom: 0 }
th:last-child, td:last-child { padding-right: 0 }
td.v { text-align: right }
.runs td { white-space: nowrap }
.runs td:nth-child(7) { white-space: normal; min-width: 14rem }
.runs td:nth-child(1):not([colspan]), .runs td:nth-child(4):not([colspan]),
  .runs td:nth-child(5):not([colspan]), .runs td:nth-child(9):not([colspan]),
  .runs td:nth-child(10):not([colspan]), .runs th:nth-child(1):not([colspan]),
  .runs th:nth-child(4):not([colspan]), .runs th:nth-child(5):not([colspan]),
  .runs th:nth-child(9):not([colspan]), .runs th:nth-child(10):not([colspan]) {
  text-align: right }
.runs td:first-child { color: var(--soft) }
th[colspan] { padding-top: .9rem; color: var(--ink) }
.ids { max-width: 62ch; margin: .5rem 0 0; white-space: pre-line }

/* Phones and paper. What is folded because it is long stays folded on paper. */
@media (max-width: 60rem) {
.runs td:nth-child(7) { min-width: 10rem }
}
@media (max-width: 34rem) {
main { padding: 1.2rem .8rem 3rem }
section { padding: 1rem; border-radius: 10px }
.figures { gap: .6rem }
.figures li { padding: .7rem .85rem }
h1 { font-size: 1.4rem }
.lane { grid-template-columns: minmax(0, 1fr); row-gap: .15rem; margin-bottom: .5rem }
.day svg { height: 2.2rem }
.lane.hours .name { display: none }
.longest li { grid-template-columns: 5rem minmax(0, 1fr); gap: .5rem }
.hour.minor { display: none }
table { font-size: .84rem }
th, td { padding-right: .7rem }
}
@media print {
:root { color-scheme: light; --page: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb;
  --track: #eee; --grid: #ccc; --accent: #2f5d8c; --quote: #f5f5f5; --s-succeeded: #2c8a63;
  --s-pending: #0b869e; --s-blocked: #a8700f; --s-failed: #c2453d; --alarm: #b3342c;
  --alarm-back: #fff; --warn: #8a5a08; --warn-back: #fff; --s-needs_reanalysis: #7d5fb2;
  --s-other: #6c7885; --p-0: #2f5d8c; --p-1: #b5651d; --p-2: #2c8a63; --p-3: #8a4f9e;
  --p-4: #a8700f; --p-5: #87919c }
body { font-size: 10.5pt }
main { max-width: none; padding: 0 }
nav { display: none }
section, .figures li { border-radius: 0 }
figure, article, tr, .figures li, .waiting li, .days li { break-inside: avoid }
h2, h3 { break-after: avoid }
thead { display: table-header-group }
.wide { overflow: visible }
.runs { font-size: 7.5pt }
.runs td:nth-child(7) { min-width: 0; overflow-wrap: anywhere }
svg, i, .count { print-color-adjust: exact; -webkit-print-color-adjust: exact }
details:not(.long)::details-content { content-visibility: visible; block-size: auto }
}
`)
