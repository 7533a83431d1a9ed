// `node scripts/day-pictures.js DIR [OUT]`: looks at the page of a day in a real browser, at 1400,
// 768, 390 and 360 pixels, light and dark: an empty day, a plain one, one with everything, one
// whose charges are disputed, a week, one of 5,000 screenshots and a hostile one. Asks axe-core,
// whether anything is wider than the window, whether a number breaks inside, and walks by Tab
// alone; prints what was found and ends with 1 where that is serious. Pictures go to OUT;
// docs/pictures/report.png is made from what `sallyport demo` leaves, where the program is built.
// DIR: see scripts/tool/browser.js.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openBrowser } from './tool/browser.js'
import { root } from './tool/run.js'
import { compileTree, treeDir } from './tool/tree.js'

const [from, out = mkdtempSync(join(tmpdir(), 'sallyport-day-'))] = process.argv.slice(2)
if (from === undefined) {
  console.log('No browser is given: node scripts/day-pictures.js DIR [OUT]')
  process.exit(0)
}
const broken = await compileTree()
if (broken.length > 0) throw new Error(broken.join('\n'))
const load = (path) => import(pathToFileURL(join(treeDir, path)).href)
const { reportPage } = await load('src/observations/html/page.js')
const { buildReport } = await load('src/observations/report.js')
const { busyDay, disputedDay, fullDay, fullWeek, hostileDay } =
  await load('test/support/observations/days.js')
const { input } = await load('test/support/observations/inputs.js')

/** The page of the demo's day; null where the program is not built. */
const demoPage = () => {
  const program = join(root, 'bin/sallyport.js')
  if (!existsSync(join(root, 'dist/sallyport.js'))) return null
  const sallyport = (env, ...args) => {
    const ran = spawnSync(process.execPath, [program, ...args], {
      env: { ...process.env, TZ: 'UTC', ...env }, encoding: 'utf8',
    })
    if (ran.status !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
    return ran.stdout
  }
  const told = sallyport({}, 'demo', 'all', '--json')
  const { state_dir, config_dir } = JSON.parse(told)
  const env = { SALLYPORT_STATE_DIR: state_dir, SALLYPORT_CONFIG_DIR: config_dir }
  const file = join(mkdtempSync(join(tmpdir(), 'sallyport-demo-day-')), 'day.html')
  sallyport(env, 'shots', 'report', '--html', file)
  return readFileSync(file, 'utf8')
}

const days = {
  empty: reportPage(buildReport(input({ observations: [] }))),
  plain: reportPage(buildReport(input())),
  busy: reportPage(buildReport(busyDay())),
  disputed: reportPage(buildReport(disputedDay())),
  week: reportPage(buildReport(fullWeek())),
  full: reportPage(buildReport(fullDay())),
  hostile: reportPage(buildReport(hostileDay())),
}
const demo = demoPage()
if (demo !== null) days.demo = demo

mkdirSync(out, { recursive: true })
const { browser, ask } = await openBrowser(from)
const serious = []

/** Numbers of which one part stands on another line than the rest, and cells that do. */
const brokenNumbers = `[...document.querySelectorAll('.num, .runs td:not(:nth-child(7))')]
  .filter((one) => {
    const range = document.createRange()
    range.selectNodeContents(one)
    const tops = [...range.getClientRects()].filter(({ width }) => width > 1)
      .map(({ top, bottom }) => (top + bottom) / 2)
    return Math.max(...tops) - Math.min(...tops) > 8
  }).map((one) => one.textContent.slice(0, 40))`

/** Tiles and numbers that stand out of the box that they are in. */
const spilled = `[...document.querySelectorAll('.num, .figures b, .figures span')]
  .filter((one) => {
    if (one.closest('.wide') !== null) return false
    const box = one.closest('li, td, p, h3, section')?.getBoundingClientRect()
    const own = one.getBoundingClientRect()
    return box !== undefined && own.width > 0 && own.right > box.right + 1
  }).concat([...document.querySelectorAll('.name')].filter((one) =>
    one.scrollWidth > one.clientWidth)).map((one) => one.textContent.slice(0, 40))`

const look = async (page, name, { width, dark }) => {
  const when = `${name} ${width} ${dark ? 'dark' : 'light'}`
  await page.setViewport({ width, height: 900, deviceScaleFactor: 1 })
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
  ])
  const wider = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth')
  if (wider > 0) serious.push(`${when}: ${wider} pixels wider than the window`)
  for (const text of await page.evaluate(brokenNumbers)) serious.push(`${when}: broken ${text}`)
  for (const text of await page.evaluate(spilled)) serious.push(`${when}: spilled ${text}`)
  const bytes = await page.screenshot({ fullPage: name !== 'full' })
  writeFileSync(join(out, `${name}-${width}${dark ? '-dark' : ''}.png`), bytes)
  // Once more with everything unfolded; five thousand rows of a table are asked about once.
  const found = await ask(page, when)
  if (name !== 'full' || (width === 360 && !dark)) {
    const was = await page.evaluate(
      '[...document.querySelectorAll("details")].map((one) => one.open)')
    await page.evaluate(
      'document.querySelectorAll("details").forEach((one) => { one.open = true })')
    const wide = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth')
    if (wide > 0) serious.push(`${when} unfolded: ${wide} pixels wider than the window`)
    for (const text of await page.evaluate(brokenNumbers)) {
      serious.push(`${when} unfolded: broken ${text}`)
    }
    const more = await ask(page, `${when} unfolded`)
    found.serious.push(...more.serious)
    found.minor.push(...more.minor)
    await page.evaluate(`${JSON.stringify(was)}.forEach((open, at) => {
      document.querySelectorAll("details")[at].open = open
    })`)
  }
  serious.push(...found.serious)
  console.log(`${when}: ${found.serious.length} serious, ${found.minor.length} minor`)
  for (const line of found.minor) console.log(`  ${line}`)
}

/** Goes through the page by Tab alone; gives how many things had the focus, and those unseen. */
const walk = async (page, name) => {
  const all = await page.evaluate('document.querySelectorAll("a, summary, [tabindex]").length')
  const unseen = []
  let steps = 0
  for (; steps < Math.min(all, 80); steps += 1) {
    await page.keyboard.press('Tab')
    const one = await page.evaluate(`(() => {
      const one = document.activeElement
      if (one === null || one === document.body) return null
      const { outlineStyle } = getComputedStyle(one)
      return outlineStyle === 'none' ? one.outerHTML.slice(0, 60) : ''
    })()`)
    if (one === null) break
    if (one !== '') unseen.push(one)
  }
  if (unseen.length > 0) serious.push(`${name}: no outline at ${unseen.join(', ')}`)
  console.log(`${name} by Tab: ${steps} stops of ${all}, ${unseen.length} without an outline`)
}

try {
  for (const [name, text] of Object.entries(days)) {
    const file = join(out, `${name}.html`)
    writeFileSync(file, text)
    console.log(`${name}: ${Buffer.byteLength(text)} bytes`)
    const page = await browser.newPage()
    // axe-core is put in by the driver; the page's own policy would not let it.
    await page.setBypassCSP(true)
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) serious.push(`${name}: asked for ${request.url()}`)
    })
    page.on('console', (message) => serious.push(`${name}: ${message.text()}`))
    await page.goto(pathToFileURL(file).href)
    await page.setViewport({ width: 1400, height: 900, deviceScaleFactor: 1 })
    await walk(page, name)
    await page.evaluate('document.activeElement?.blur(); scrollTo(0, 0)')
    for (const width of [1400, 768, 390, 360]) {
      for (const dark of [false, true]) await look(page, name, { width, dark })
    }
    if (name !== 'full') {
      await page.pdf({ path: join(out, `${name}.pdf`), format: 'A4', printBackground: true })
    }
    if (name === 'demo') {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }])
      await page.setViewport({ width: 1000, height: 1130, deviceScaleFactor: 1 })
      const end = await page.evaluate(
        'document.querySelector("details.program").getBoundingClientRect().bottom')
      await page.screenshot({
        path: join(root, 'docs/pictures/report.png'), captureBeyondViewport: true,
        clip: { x: 0, y: 0, width: 1000, height: Math.ceil(end) + 20 },
      })
    }
    await page.close()
  }
  console.log(`pictures: ${out}`)
  console.log(`serious findings: ${serious.length}\n${serious.join('\n')}`)
} finally {
  await browser.close()
}
process.exitCode = serious.length === 0 ? 0 : 1
