/** The page's only style: no font and no picture from anywhere, light and dark, wide and narrow. */
import { styleSheet } from '../../observations/html/style-sheet.js'

/** The style sheet. */
export const pageStyle = `${styleSheet(`
/* Light and dark. */
:root { color-scheme: light dark; --page: #f6f5f2; --card: #ffffff; --ink: #1d2530;
  --soft: #566170; --line: #dfe2e6; --track: #e9ebee; --accent: #2f5d8c; --on-accent: #ffffff;
  --quiet: #eef1f4; --warn: #8a5a00; --warn-card: #fdf4e1; --warn-line: #e8cf9a;
  --danger: #a8322a; --on-danger: #ffffff; --good: #226b4d; --held: #c08a1e; --unknown: #c2453d }
@media (prefers-color-scheme: dark) {
:root { --page: #12161b; --card: #1a2027; --ink: #e6e9ed; --soft: #a3afbc; --line: #2c343d;
  --track: #2a323b; --accent: #8bbbe9; --on-accent: #10202f; --quiet: #242c35; --warn: #f0c978;
  --warn-card: #2a2416; --warn-line: #5b4a20; --danger: #f0948d; --on-danger: #2b0f0d;
  --good: #6fd0a5; --held: #d9a945; --unknown: #e5756d }
}

/* Text and frame. */
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body { margin: 0; background: var(--page); color: var(--ink); min-height: 100vh; display: flex;
  flex-direction: column;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif }
[hidden] { display: none !important }
header, main, footer, #told { width: 100%; max-width: 72rem; margin: 0 auto; padding: 0 1.5rem }
header { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.25rem;
  padding-top: 1.5rem; padding-bottom: 1rem }
main:focus { outline: none }
footer { padding-top: .5rem; padding-bottom: 2.5rem; font-size: .86rem }
.brand { display: flex; align-items: center; gap: .6rem }
.brand img { display: block }
h1 { font-size: 1.3rem; line-height: 1.2; margin: 0; letter-spacing: -.01em }
h2 { font-size: 1rem; line-height: 1.3; margin: 0 0 .75rem }
h3 { font-size: 1rem; line-height: 1.35; margin: 0; font-weight: 600; overflow-wrap: anywhere }
p { margin: 0 0 .75rem }
#who { margin: 0; font-size: .92rem; flex: 1 1 12rem }
.soft { color: var(--soft) }
.tools { display: flex; gap: .6rem }
.skip { position: absolute; left: -100vw; top: .5rem; background: var(--card); padding: .5rem 1rem }
.skip:focus { left: 1rem; z-index: 2 }
code { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  overflow-wrap: anywhere }

/* The desk and its parts. */
.desk { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 1.1rem;
  align-items: stretch }
.desk.stale { opacity: .6 }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 1.2rem 1.4rem }
.wide { grid-column: 1 / -1 }
section > :last-child { margin-bottom: 0 }
.entry { max-width: 34rem; margin: 3rem auto }
.figure { font-size: 2rem; line-height: 1.15; font-weight: 650; letter-spacing: -.02em;
  margin: 0 0 .75rem; font-variant-numeric: tabular-nums }
.figure small { font-size: 1rem; font-weight: 400; letter-spacing: 0; color: var(--soft) }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1.1rem;
  margin: 0 0 1.1rem; font-size: .92rem }
.facts dt { color: var(--soft) }
.facts dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
.facts i { display: inline-block; width: .7rem; height: .7rem; border-radius: 3px;
  margin-right: .45rem }
.badge { display: inline-block; min-width: 1.6rem; padding: 0 .45rem; border-radius: 1rem;
  text-align: center; font-size: .86rem; background: var(--warn-card); color: var(--warn);
  border: 1px solid var(--warn-line) }
.badge.none { background: var(--quiet); color: var(--soft); border-color: var(--line) }
.waiting, .rows { list-style: none; margin: 0; padding: 0 }
.waiting li { display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; align-items: center;
  justify-content: space-between; padding: .7rem .9rem; margin: 0 0 .6rem;
  background: var(--warn-card); border: 1px solid var(--warn-line); border-radius: 9px }
.waiting li > p { margin: 0; flex: 1 1 20rem }
.waiting li:last-child { margin-bottom: 0 }
.waiting li.none { background: none; border: 0; padding: 0; color: var(--soft) }
.command { display: flex; align-items: center; gap: .6rem; min-width: 0; max-width: 100% }
.bar { display: flex; height: .7rem; border-radius: 5px; overflow: hidden;
  background: var(--track); margin: 0 0 1rem }
.bar > span { display: block; height: 100% }
.spent { background: var(--accent) }
.held { background: var(--held) }
.unknown { background: var(--unknown) }
.free { background: var(--track) }
.rows li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .3rem 1.25rem;
  padding: .8rem 0; border-top: 1px solid var(--line); align-items: center }
.rows li:first-child { border-top: 0; padding-top: 0 }
.rows li.none { display: block; color: var(--soft) }
.rows p { margin: .1rem 0 0; font-size: .92rem }
.rows .left { font-variant-numeric: tabular-nums; text-align: right }
.rows .facts { grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .5rem 1.1rem;
  margin: .5rem 0 0; grid-column: 1 / -1 }
.rows .facts dt { font-size: .82rem }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1rem; margin: 0 0 1rem }
.rows + .actions { margin: 1rem 0 0 }
.actions p { margin: 0; font-size: .92rem; flex: 1 1 12rem }
.soon { color: var(--warn); font-weight: 600 }

/* A day, and a picture of it. */
.day-head, .viewer-head { display: flex; flex-wrap: wrap; align-items: center;
  justify-content: space-between; gap: .5rem 1rem; margin: 0 0 .75rem }
.day-head h2 { font-size: 1.35rem; margin: 0; letter-spacing: -.01em }
.week { display: grid; grid-template-columns: repeat(7, minmax(0, 1fr)); gap: .35rem }
.week button { padding: .4rem .2rem; white-space: normal; font-size: .86rem }
.week [aria-current] { background: var(--accent); border-color: var(--accent);
  color: var(--on-accent) }
#day-told:empty, #viewer-told:empty { display: none }
#day-told { margin: 1rem 0 0 }
#day-figures { margin: 1rem 0; font-variant-numeric: tabular-nums }
.small { font-size: .82rem }
.sums { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 1.25rem 2rem;
  margin: 0 0 1rem }
.sums h3 { font-size: .86rem; color: var(--soft); margin: 0 0 .4rem }
.sums ul, .episodes { list-style: none; margin: 0; padding: 0 }
.sums li { display: grid; grid-template-columns: minmax(0, 1fr) max-content; gap: .1rem .75rem;
  margin: 0 0 .45rem; font-size: .92rem }
.sums li.none { display: block; color: var(--soft) }
.sum-name { overflow-wrap: anywhere }
.sum-time { font-variant-numeric: tabular-nums; color: var(--soft) }
.sum-track { grid-column: 1 / -1; height: .35rem; border-radius: 3px; background: var(--track);
  overflow: hidden }
.sum-bar { display: block; height: 100%; background: var(--accent) }
.hours { display: grid; grid-template-columns: repeat(24, minmax(0, 1fr)); gap: 2px }
.hours button { display: flex; flex-direction: column; gap: .2rem; padding: .2rem 0 .15rem;
  border: 0; border-radius: 5px; background: none; min-height: 4.5rem; font-size: .78rem;
  color: var(--soft); align-items: stretch; font-variant-numeric: tabular-nums }
.hours [aria-pressed="true"] { background: var(--quiet); color: var(--ink);
  box-shadow: inset 0 0 0 2px var(--accent) }
.hour-track { display: flex; align-items: flex-end; height: 3rem; margin: 0 2px;
  border-radius: 3px; background: var(--track); overflow: hidden }
.hour-bar { display: block; width: 100%; background: var(--accent) }
.hour-name { text-align: center }
.course { display: grid; grid-template-columns: minmax(0, 24rem) minmax(0, 1fr) max-content;
  gap: .25rem 1rem; align-items: center; margin: 1rem 0 .5rem }
.course label { grid-column: 1 / -1; margin: 0 }
.course p { margin: 0 }
.episodes li { display: grid; grid-template-columns: 9rem minmax(0, 1fr) max-content;
  gap: .3rem 1.25rem; padding: .8rem 0; border-top: 1px solid var(--line); align-items: start }
.episodes li:first-child { border-top: 0 }
.episodes li.none { display: block; color: var(--soft) }
.episodes p { margin: 0; overflow-wrap: anywhere }
.episodes .what > p { max-width: 44rem; white-space: pre-line }
.episodes .when { font-variant-numeric: tabular-nums; font-weight: 600 }
.episodes .by { font-size: .82rem; margin-top: .2rem }
details { background: var(--card); border: 1px solid var(--line); border-radius: 12px;
  padding: 0 1.4rem }
summary { cursor: pointer; font-weight: 600; padding: 1rem 0; min-height: 2.5rem }
.desk-inner { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
  gap: 1.25rem 2.5rem; padding: .4rem 0 1.4rem }
section.inner { background: none; border: 0; padding: 0 }
dialog.viewer { max-width: none; width: calc(100% - 2rem); max-height: calc(100% - 2rem);
  padding: 1rem }
.viewer h2 { margin: 0 }
#viewer-full[aria-pressed="true"] { background: var(--accent); border-color: var(--accent);
  color: var(--on-accent) }
.stage { display: flex; align-items: center; justify-content: center; min-height: 12rem;
  background: var(--page); border-radius: 8px; overflow: hidden }
.stage canvas { display: block; max-width: 100% }
.stage.full { display: block; overflow: auto; max-height: 75vh }
.stage.full canvas { max-width: none }
.stage p { margin: 1rem; max-width: 30rem }
#viewer-caption { margin: .6rem 0 0; overflow-wrap: anywhere }
.viewer-foot { align-items: center; justify-content: space-between; margin-top: .75rem }
.viewer-foot p { margin: 0; font-variant-numeric: tabular-nums }

/* What is pressed and filled in. */
button { font: inherit; font-size: .92rem; line-height: 1.3; padding: .5rem .9rem;
  border-radius: 8px; cursor: pointer; border: 1px solid var(--line); background: var(--quiet);
  color: var(--ink); min-height: 2.5rem; white-space: nowrap }
button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
button.quiet { background: none }
button.danger { background: none; border-color: var(--danger); color: var(--danger) }
#confirm-yes:not([disabled]) { background: var(--danger); color: var(--on-danger) }
button[disabled] { cursor: default; opacity: .55 }
button:hover:not([disabled]) { filter: brightness(.96) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
label { display: block; font-size: .86rem; color: var(--soft); margin: 0 0 .25rem }
input[type="text"] { font: inherit; font-size: .92rem; width: 100%; min-width: 0;
  min-height: 2.5rem; padding: .45rem .7rem; border: 1px solid var(--soft); border-radius: 8px;
  background: var(--page); color: var(--ink) }
input[disabled] { border-style: dashed; color: var(--soft) }
.line { display: flex; gap: .6rem }
.line.end { justify-content: flex-end; margin-top: 1.2rem }
form p { margin: .4rem 0 0; font-size: .92rem }
form p:empty, .actions p:empty { display: none }
.check { display: flex; gap: .6rem; align-items: flex-start; color: var(--ink); font-size: .95rem }
.check input { width: 1.2rem; height: 1.2rem; margin: .12rem 0 0; flex: none }
.note, #told:not(:empty) { background: var(--warn-card); color: var(--ink);
  border: 1px solid var(--warn-line); border-radius: 9px; padding: .8rem 1rem;
  margin-bottom: 1.1rem }
#told:not(:empty) { width: calc(100% - 3rem); max-width: 69rem }
dialog { border: 1px solid var(--line); border-radius: 14px; background: var(--card);
  color: var(--ink); padding: 1.5rem; max-width: 30rem; width: calc(100% - 2rem) }
dialog::backdrop { background: rgb(10 14 18 / .55) }
@media (forced-colors: active) {
.bar > span, .sum-bar, .hour-bar { forced-color-adjust: none }
}

/* Phones. */
@media (max-width: 46rem) {
header, main, footer { padding-left: .9rem; padding-right: .9rem }
header { padding-top: 1rem }
.desk { grid-template-columns: minmax(0, 1fr); gap: .8rem }
section { padding: 1rem }
.figure { font-size: 1.6rem }
#told:not(:empty) { width: calc(100% - 1.8rem) }
.tools { width: 100% }
.tools button { flex: 1 }
.waiting li > p { flex-basis: 100% }
.command { width: 100%; justify-content: space-between }
.rows .left { text-align: left }
.rows li { grid-template-columns: minmax(0, 1fr) }
.rows .facts { grid-template-columns: 1fr 1fr }
.sums, .desk-inner { grid-template-columns: minmax(0, 1fr) }
.day-head .line, .day-head h2 { width: 100% }
.day-head button { flex: 1 }
.week { gap: .2rem }
.hours { grid-template-columns: repeat(12, minmax(0, 1fr)); row-gap: .4rem }
.hour-track { height: 2rem }
.course { grid-template-columns: minmax(0, 1fr) max-content }
.course input { grid-column: 1 / -1 }
.episodes li { grid-template-columns: minmax(0, 1fr) max-content; align-items: center }
.episodes .what { grid-column: 1 / -1; grid-row: 2 }
details { padding: 0 1rem }
}
@media (prefers-reduced-motion: no-preference) {
.desk { transition: opacity .2s }
}
`)}\n`
