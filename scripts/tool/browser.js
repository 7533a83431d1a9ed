// A real browser for the scripts that look at pages. It is no dependency of the project: whoever
// has one names a folder whose node_modules hold puppeteer-core, axe-core and @sparticuz/chromium
// (or CHROMIUM names a browser).
import { mkdtempSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Opens the browser of a folder.
 * @param {string} from
 * @returns the browser, and `ask`, which gives axe-core's findings about a page as lines
 */
export const openBrowser = async (from) => {
  const need = createRequire(join(resolve(from), 'package.json'))
  const load = async (name) => {
    const module = await import(pathToFileURL(need.resolve(name)))
    return module.default ?? module
  }
  const puppeteer = await load('puppeteer-core')
  const axe = readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8')
  const bundled = process.env.CHROMIUM === undefined ? await load('@sparticuz/chromium') : null
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? await bundled.executablePath(),
    args: bundled?.args ?? [], headless: 'shell', protocolTimeout: 600_000,
    userDataDir: mkdtempSync(join(tmpdir(), 'sallyport-browser-')),
  })
  /** Findings of axe-core at this moment, those that count first. */
  const ask = async (page, when) => {
    const findings = await page.evaluate(`${axe}; axe.run(document)`)
    const lines = findings.violations.map(({ id, impact, nodes }) => ({
      serious: impact === 'serious' || impact === 'critical',
      line: `${when}: ${impact} ${id} ${nodes.slice(0, 5).map(({ target }) => target).join(' ')}`,
    }))
    return {
      serious: lines.filter((one) => one.serious).map(({ line }) => line),
      minor: lines.filter((one) => !one.serious).map(({ line }) => line),
    }
  }
  return { browser, ask }
}
