/** What a tab shows whose link was used before, or whose time is over. */
import { html } from '../../observations/html/markup.js'

/** The page; it has no script and loads nothing. */
export const usedLinkPage = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Sallyport</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 4rem auto; padding:
0 1rem } :root { color-scheme: light dark }</style></head>
<body><main><h1>This link shows nothing any more</h1><p>A report is shown once under its link. Open
the day again from the page of Sallyport. If that says that its session has ended, log in
first.</p></main></body></html>`.text
