/** The page as it is sent: its parts without what the script puts there once it was opened. */

const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Sallyport</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>`

const top = `<header>
<div class="brand"><img src="/icon.svg" alt="" width="28" height="28"><h1>Sallyport</h1></div>
<p id="who" class="soft"></p>
<div class="tools" id="tools" hidden>
<button type="button" id="day" class="quiet">Report of 24 hours</button>
<button type="button" id="close" class="quiet">Close the page</button>
</div>
</header>
<div id="told" role="status" aria-live="polite"></div>`

const entry = `<section id="entry" class="entry" hidden aria-labelledby="entry-title">
<h2 id="entry-title">Open the page</h2>
<p id="entry-why">This page opens with a code that works once, within a minute. Type
<code>sallyport serve --open</code> and follow the file that it names, or paste the code that it
shows.</p>
<form id="entry-form" autocomplete="off">
<label for="code">Code</label>
<div class="line"><input id="code" name="code" type="text" required minlength="22" maxlength="22"
 pattern="[A-Za-z0-9_\\-]{22}" spellcheck="false" autocapitalize="off" autocomplete="off">
<button type="submit" class="main">Open</button></div>
</form>
</section>`

const theDay = `<section class="wide" aria-labelledby="day-title">
<div class="day-head">
<h2 id="day-title"></h2>
<div class="line"><button type="button" id="day-back" class="quiet">Day before</button>
<button type="button" id="day-on" class="quiet">Day after</button></div>
</div>
<div id="week" class="week" role="group" aria-label="Days of the week"></div>
<p id="day-told" role="status"></p>
<div id="day-parts" hidden>
<p id="day-figures" class="soft"></p>
<div id="day-sums" class="sums">
<div><h3 id="by-activity-title">By activity</h3>
<ul id="by-activity" aria-labelledby="by-activity-title"></ul></div>
<div><h3 id="by-application-title">By application</h3>
<ul id="by-application" aria-labelledby="by-application-title"></ul></div>
<div><h3 id="by-project-title">By project</h3>
<ul id="by-project" aria-labelledby="by-project-title"></ul></div>
</div>
<p id="day-labels" class="soft small"></p>
<div id="hours" class="hours" role="group" aria-label="Hours of the day: choose one, or two"></div>
<form id="day-form" class="course" autocomplete="off" role="search">
<label for="day-search">Search in the day</label>
<input id="day-search" type="text" maxlength="200" spellcheck="false" autocapitalize="off">
<p id="course-told" class="soft" role="status"></p>
<button type="button" id="course-all" class="quiet" hidden>Whole day</button>
</form>
<ol id="episodes" class="episodes"></ol>
</div>
</section>`

const waiting = `<section class="wide" aria-labelledby="waiting-title">
<h2 id="waiting-title">Waits for you <span class="badge" id="waiting-count"></span></h2>
<ul id="waiting" class="waiting"></ul>
</section>`

const newest = `<section class="inner" aria-labelledby="newest-title">
<h2 id="newest-title">Newest item</h2>
<p class="figure" id="newest"></p>
<dl class="facts" id="folder"></dl>
<div class="actions"><button type="button" id="scan" class="main">Scan now</button>
<p id="scan-told" class="soft" role="status"></p></div>
<form id="folder-form" autocomplete="off">
<label for="folder-path">Saved folder</label>
<div class="line"><input id="folder-path" name="folder" type="text" required maxlength="4096"
 spellcheck="false" autocapitalize="off"><button type="submit" id="folder-save">Save</button></div>
<p id="folder-told" class="soft" role="status"></p>
</form>
</section>`

const spend = `<section class="inner" aria-labelledby="spend-title">
<h2 id="spend-title">Spend against the ceiling</h2>
<p class="figure" id="spend"></p>
<div class="bar" id="spend-bar" role="img" aria-label=""></div>
<dl class="facts" id="spend-parts"></dl>
</section>`

const consents = `<section class="wide" aria-labelledby="consents-title">
<h2 id="consents-title">Consents</h2>
<ul id="consents" class="rows"></ul>
<div class="actions"><button type="button" id="stop-all" class="danger">Stop every route</button>
<p class="soft">Ends every consent at once: to model routes, and to writes to a code host.
 Uploads of devices go on.</p></div>
</section>`

const devices = `<section class="wide" aria-labelledby="devices-title">
<h2 id="devices-title">Paired devices</h2>
<ul id="devices" class="rows devices"></ul>
</section>`

const confirmation = `<dialog id="confirm" aria-labelledby="confirm-title">
<form method="dialog">
<h2 id="confirm-title"></h2>
<p id="confirm-text"></p>
<label class="check"><input type="checkbox" id="confirm-check" autocomplete="off">
<span id="confirm-label"></span></label>
<div class="line end"><button type="submit" value="no" class="quiet">Leave it</button>
<button type="submit" value="yes" id="confirm-yes" class="danger" disabled></button></div>
</form>
</dialog>`

const viewer = `<dialog id="viewer" class="viewer" aria-labelledby="viewer-title">
<div class="viewer-head"><h2 id="viewer-title"></h2>
<div class="line">
<button type="button" id="viewer-full" class="quiet" aria-pressed="false">Full size</button>
<button type="button" id="viewer-end" class="quiet">Close</button></div></div>
<div id="viewer-stage" class="stage" tabindex="0" role="group" aria-labelledby="viewer-title">
<canvas id="picture" role="img" width="0" height="0" hidden></canvas>
<p id="viewer-told" role="status"></p></div>
<p id="viewer-caption" class="soft"></p>
<div class="line viewer-foot">
<button type="button" id="viewer-back" aria-keyshortcuts="ArrowLeft">Previous</button>
<p id="viewer-place" class="soft"></p>
<button type="button" id="viewer-on" aria-keyshortcuts="ArrowRight">Next</button></div>
</dialog>`

/** What the program did and spent: it comes last, and folded. */
const program = `<details class="wide" id="program">
<summary>What the program did and spent</summary>
<p id="day-spent"></p>
<div class="desk-inner">
${newest}
${spend}
</div>
</details>`

/** The page. */
export const pageMarkup = `${head}
<body>
<a class="skip" href="#main">Skip to the content</a>
${top}
<main id="main" tabindex="-1">
<noscript><p class="note">This page needs its script. The same is told by
<code>sallyport status</code>, <code>sallyport shots status</code> and
<code>sallyport edge list</code>.</p></noscript>
${entry}
<div id="desk" class="desk" hidden>
${theDay}
${waiting}
${program}
${consents}
${devices}
</div>
</main>
<footer id="foot" class="soft"></footer>
${confirmation}
${viewer}
</body>
</html>
`
