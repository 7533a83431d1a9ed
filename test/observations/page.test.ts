/** The page: nothing that anybody wrote becomes markup, and nothing is loaded. */
import fc from 'fast-check'
import t from 'tap'
import { escapeHtml, html } from '../../src/observations/html/markup.js'
import { reportPage } from '../../src/observations/html/page.js'
import { buildReport } from '../../src/observations/report.js'
import type { ScreenReportInput } from '../../src/observations/types.js'
import { at, input, said, seen } from '../support/observations/inputs.js'
import { forAll } from '../support/for-all.js'

interface Tag {
  readonly name: string
  readonly attributes: readonly (readonly [string, string])[]
}

/** A strict reader of the markup that the page may consist of; anything else throws. */
const tagsOf = (page: string): Tag[] => {
  const tags: Tag[] = []
  const attribute = String.raw`\s+[a-z][a-z0-9-]*(?:="[^"<]*")?`
  const tag = String.raw`(/?)([a-z][a-z0-9]*)((?:${attribute})*)\s*/?`
  const form = new RegExp(`<(?:!doctype html|${tag})>`, 'gyi')
  let from = 0
  while (from < page.length) {
    const open = page.indexOf('<', from)
    if (open < 0) break
    form.lastIndex = open
    const found = form.exec(page)
    if (found === null) throw new Error(`not markup of ours at ${page.slice(open, open + 60)}`)
    const [, end, name = '!doctype', attributes = ''] = found
    const pairs = [...attributes.matchAll(/([a-z][a-z0-9-]*)(?:="([^"]*)")?/gi)]
      .map(([, key = '', value = '']) => [key.toLowerCase(), value] as const)
    tags.push({ name: name.toLowerCase(), attributes: pairs })
    from = form.lastIndex
    if (name === 'style' && end === '') from = page.indexOf('</style>', from)
  }
  return tags
}

const everything = (text: string): ScreenReportInput => input({
  timeZone: 'UTC',
  observations: [
    seen({ filename: text, format: text, status: text, source: text, summary: said(text) }),
    seen({ filename: text, lastSeenAt: at(11), likeImages: 3, summary: said(text) }),
  ],
  digests: [{
    episodeId: text, windowStart: at(9), windowEnd: at(10), sourceObservationIds: [text],
    text: said(text, { model: text, replyModel: text }),
  }],
  conclusion: {
    conclusionId: text, digestIds: [text], sourceObservationIds: [text], current: false,
    text: said(text, { model: text, replyModel: text }),
  },
  spend: {
    since: at(0), budgetMicrousd: 500_000, spentMicrousd: 100, heldMicrousd: 5, budgetRequests: 9,
    requests: 1, disputedCharges: 0,
  },
})

const pageOf = (text: string): string => reportPage(buildReport(everything(text)))

const shapeOf = (page: string): string =>
  tagsOf(page).map(({ name, attributes }) =>
    `${name}[${attributes.map(([key]) => key).join()}]`).join(' ')

const plainShape = shapeOf(pageOf('plain'))

const hostile = [
  '<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', '\'onmouseover=\'x',
  '</title><svg onload=x>', '</style><script>', '<!--', ']]>', '&lt;b&gt;', 'javascript:alert(1)',
  '\u202egpj.exe', '\u0000\u001b[31m\u009b', '`${x}`', '\ud800', '<a href="https://x.test">',
  '__proto__',
  '--></desc></svg><iframe src="https://x.test">', 'x" style="background:url(https://x.test)"',
]

t.test('S-086 S-024 a hostile name or text of a model becomes no markup: tags and attributes are those of a plain page', async (t) => {
  for (const text of hostile) t.equal(shapeOf(pageOf(text)), plainShape, JSON.stringify(text))
  forAll(t, fc.property(
    fc.array(fc.oneof(
      fc.constantFrom(...hostile, '<', '>', '"', '\'', '&', '=', '/', '\n'), fc.string(),
    )).map((parts) => parts.join('')),
    (text) => shapeOf(pageOf(text)) === plainShape,
  ), { numRuns: 60 })
})

t.test('S-021 S-025 the page loads nothing and holds no script, picture or handler; its links lead to parts of itself', async (t) => {
  const page = pageOf('plain')
  const tags = tagsOf(page)
  const names = new Set(tags.map(({ name }) => name))
  for (const name of [
    'script', 'img', 'image', 'link', 'iframe', 'object', 'embed', 'form', 'use', 'base',
    'video', 'foreignobject',
  ]) {
    t.notOk(names.has(name), name)
  }
  const ids = new Set(tags.flatMap(({ attributes }) =>
    attributes.filter(([key]) => key === 'id').map(([, value]) => `#${value}`)))
  const links = tags.filter(({ name, attributes }) => name === 'a' && attributes.length > 0)
  t.ok(links.length > 5)
  for (const { attributes } of links) {
    t.ok(attributes.length === 1 && attributes[0]?.[0] === 'href', JSON.stringify(attributes))
    t.ok(ids.has(attributes[0]?.[1] ?? ''), String(attributes[0]?.[1]))
  }
  for (const { name, attributes } of tags.filter((tag) => tag.name !== 'a')) {
    for (const [key, value] of attributes) {
      const loads = /^on|^(src|href|srcset|action|formaction|data|poster|background)$/
      if (loads.test(key)) t.fail(`${name} ${key}`)
      if (/url\(|https?:|javascript:|data:/i.test(value)) t.fail(`${name} ${key}=${value}`)
    }
  }
  const style = page.slice(page.indexOf('<style>'), page.indexOf('</style>'))
  t.notMatch(style, /url\(|@import|@font-face|https?:|expression/i)
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
    + "form-action 'none'"
  t.match(page, `<meta http-equiv="Content-Security-Policy" content="${policy}">`)
})

t.test('every drawing has a title, a description and a table that says the same; headings name their sections', async (t) => {
  const page = pageOf('plain')
  const drawings = [...page.matchAll(/<svg[^>]*aria-labelledby="([^"]+)"/g)]
  t.equal(drawings.length, [...page.matchAll(/<svg/g)].length)
  t.ok(drawings.length >= 4)
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  t.equal(new Set(ids).size, ids.length, 'no id twice')
  const sections = [...page.matchAll(/<section aria-labelledby="([^"]+)"/g)]
  for (const [, names = ''] of [...drawings, ...sections]) {
    for (const id of names.split(' ')) t.ok(ids.includes(id), id)
  }
  t.match(page.replace(/\s+/g, ' '), '<summary>Table of 2 screenshots</summary>')
  t.match(page, '<summary>The hours as a table</summary>')
  t.match(page, '<html lang="en">')
  t.match(page, 'prefers-color-scheme: dark')
  t.match(page, '@media print')
})

t.test('an empty period makes a page too, days without anything are left out, a year is cut', async (t) => {
  const empty = reportPage(buildReport(input({ observations: [] })))
  t.match(empty, 'No screenshot of this period may be reported.')
  t.notMatch(empty, /NaN|undefined|Infinity/)
  const far = reportPage(buildReport(input({
    since: '2025-01-01T00:00:00.000Z',
    observations: [
      seen({ capturedAt: '2025-01-01T10:00:00.000Z', lastSeenAt: '2025-01-01T10:00:00.000Z' }),
      seen({ capturedAt: at(23, 50), lastSeenAt: '2026-11-21T00:20:00.000Z', likeImages: 2 }),
    ],
  })))
  t.equal([...far.matchAll(/class="day"/g)].length, 3, 'and both sides of midnight')
  t.notMatch(far, /NaN|undefined|Infinity/)
})

t.test('a template escapes whatever it is given', async (t) => {
  t.equal(html`<b title="${'"<>&\'`'}">${'\u0007\u202e'}</b>`.text,
    '<b title="&quot;&lt;&gt;&amp;&#39;&#96;">\\u0007\\u202e</b>')
  t.equal(escapeHtml('é 🙂\n\t'), 'é 🙂\n\t')
})
