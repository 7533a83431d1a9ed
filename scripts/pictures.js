// `node scripts/pictures.js DIR [STATE CONFIG]`: opens the operator page in a real browser, looks
// at it wide, middle and narrow, light and dark, by keyboard alone, and asks axe-core; writes the
// pictures to docs/pictures/ and prints what was found. DIR is a folder whose node_modules hold
// puppeteer-core, axe-core and @sparticuz/chromium (or CHROMIUM names a browser); none of them is a
// dependency of the project. Without STATE and CONFIG it looks at what `sallyport demo all` leaves.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openBrowser } from './tool/browser.js'
import { root } from './tool/run.js'

const [from, ...given] = process.argv.slice(2)
if (from === undefined) {
  console.log('No browser is given: node scripts/pictures.js DIR')
  process.exit(0)
}
const program = join(root, 'bin/sallyport.js')
const sallyport = (env, ...args) => {
  const ran = spawnSync(process.execPath, [program, ...args], {
    env: { ...process.env, ...env }, encoding: 'utf8',
  })
  if (ran.status !== 0) throw new Error(`${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  return ran.stdout
}

/** A state to look at: the one that is given, or what the demo leaves. */
const stateOf = () => {
  if (given.length === 2) return { SALLYPORT_STATE_DIR: given[0], SALLYPORT_CONFIG_DIR: given[1] }
  const told = sallyport({}, 'demo', 'all', '--json')
  const { state_dir, config_dir } = JSON.parse(told)
  return { SALLYPORT_STATE_DIR: state_dir, SALLYPORT_CONFIG_DIR: config_dir }
}

const env = stateOf()
sallyport(env, 'login', '--replace')

/** Starts the service; gives what it said. */
const serve = async () => {
  const child = spawn(process.execPath, [program, 'serve', '--open', '--json'], {
    env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  await new Promise((done) => child.stdout.on('data', (chunk) => {
    out += chunk
    if (/\n\}\n$/.test(out)) done()
  }).on('end', done))
  return { child, told: JSON.parse(out) }
}

const shots = join(root, 'docs/pictures')
mkdirSync(shots, { recursive: true })
const { child, told } = await serve()
const { browser, ask: findingsOf } = await openBrowser(from)
const found = { requests: [], foreign: [], console: [], serious: [] }

/** Serious findings of axe-core at this moment. */
const ask = async (page, when) => {
  const { serious, minor } = await findingsOf(page, when)
  found.serious.push(...serious)
  for (const line of minor) console.log(`minor: ${line}`)
}

const picture = async (page, name, { width, height, dark = false, keep = true }) => {
  await page.setViewport({ width, height, deviceScaleFactor: 1 })
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ])
  await page.evaluate('document.activeElement?.blur(); scrollTo(0, 0)')
  const wider = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth')
  if (wider) found.serious.push(`${name}: wider than the window`)
  const bytes = await page.screenshot({ fullPage: true, optimizeForSpeed: false })
  writeFileSync(keep ? join(shots, `${name}.png`) : join(tmpdir(), `sallyport-${name}.png`), bytes)
  await ask(page, name)
}

/** Goes through the page by Tab alone; gives what had the focus, in order. */
const walk = async (page) => {
  const names = []
  await page.evaluate('document.querySelector(".skip").focus()')
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab')
    const name = await page.evaluate(`(() => {
      const one = document.activeElement
      if (one === null || one === document.body) return null
      const seen = getComputedStyle(one).outlineStyle !== 'none'
      return (one.getAttribute("aria-label") ?? (one.textContent.trim() || one.id))
        + (seen ? '' : ' (no outline)')
    })()`)
    if (name === null || (names.length > 1 && name === names[0])) break
    names.push(name)
  }
  return names
}

try {
  const page = await browser.newPage()
  const own = new URL(told.page.url).origin
  // axe-core is put in by the driver; the page's own policy would not let it.
  await page.setBypassCSP(true)
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(own) && !url.startsWith('file:') && !url.startsWith('about:')) {
      found.foreign.push(url)
    }
    found.requests.push(`${request.method()} ${url.replace(/#.*/, '#…')}`)
  })
  page.on('console', (message) => found.console.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => found.console.push(`error: ${error.message}`))
  await page.goto(pathToFileURL(told.page.open_file).href)
  await page.waitForSelector('#desk:not([hidden])', { timeout: 20_000 })
  await page.waitForSelector('#day-parts:not([hidden])', { timeout: 20_000 })
  console.log(`address: ${page.url()}`)
  for (const [name, size] of Object.entries({
    'page-wide': { width: 1400, height: 900 },
    'page-wide-dark': { width: 1400, height: 900, dark: true, keep: false },
    'page-middle': { width: 768, height: 1024, keep: false },
    'page-narrow': { width: 390, height: 844, dark: true },
    'page-narrow-light': { width: 390, height: 844, keep: false },
  })) await picture(page, name, size)
  await page.evaluate('document.getElementById("program").open = true')
  await page.setViewport({ width: 1400, height: 900 })
  console.log(`by Tab: ${(await walk(page)).join(' | ')}`)
  const scans = () => found.requests.filter((line) => line.endsWith('/screenshot-folder/scan'))
  await page.focus('#scan')
  await page.keyboard.press('Enter')
  await page.waitForFunction('/^Looked|service|folder/i.test('
    + 'document.getElementById("scan-told").textContent)')
  console.log(`scans for one press: ${scans().length}, `
    + await page.$eval('#scan-told', (one) => one.textContent))
  if (await page.$eval('#stop-all', (one) => one.disabled)) console.log('policy: revoked already')
  else {
    await page.focus('#stop-all')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#confirm[open]')
    console.log('confirmation: '
      + await page.evaluate('JSON.stringify([document.getElementById("confirm-check").checked, '
        + 'document.getElementById("confirm-yes").disabled])'))
    await ask(page, 'confirmation')
    await page.screenshot({ path: join(tmpdir(), 'sallyport-confirm.png') })
    await page.keyboard.press('Escape')
    await page.waitForSelector('#confirm:not([open])')
  }
  const tab = new Promise((done) => browser.once('targetcreated', done))
  await page.click('#day')
  const day = await (await tab).page()
  await day?.waitForSelector('main', { timeout: 20_000 })
  const dayParts = await day?.$$eval('section', (all) => all.length)
  console.log(`the day: ${await day?.title()}, ${dayParts} parts`)
  await day?.close()
  const stored = await page.evaluate(
    'JSON.stringify([localStorage.length, sessionStorage.length, document.cookie])')
  console.log(`stored in the browser: ${stored}`)
  child.kill('SIGTERM')
  await page.waitForFunction('document.getElementById("told").textContent.includes("not answer")',
    { timeout: 30_000 })
  console.log(`stopped: ${await page.$eval('#told', (one) => one.textContent)}`)
  const kinds = new Map()
  for (const line of found.requests) kinds.set(line, (kinds.get(line) ?? 0) + 1)
  console.log([...kinds].map(([line, count]) => `${count} ${line}`).join('\n'))
  console.log(`requests that left the origin: ${found.foreign.length}`)
  const said = found.console.filter((one) => !/ERR_CONN/.test(one))
  console.log(`console: ${said.join('; ') || 'nothing'}`)
  console.log(`serious findings: ${found.serious.length} ${found.serious.join('\n')}`)
} finally {
  await browser.close()
  child.kill('SIGKILL')
}
