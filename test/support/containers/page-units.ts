/** Units of systemd as a page shows them, with this machine's place of the program. */
import { readFileSync } from 'node:fs'
import { blocksOf } from '../docs/pages.js'

/** A unit by the name of its file. */
export interface PageUnit {
  readonly name: string
  readonly text: string
}

const page = 'docs/start-at-login.md'

const units = [
  { name: 'sallyport.socket', has: 'ListenStream=' },
  { name: 'sallyport.service', has: '/sallyport serve' },
  { name: 'sallyport-shots.service', has: '/sallyport shots run' },
] as const

/** The units of the page. Throws where it shows one no longer. */
export const pageUnits = (program: string): readonly PageUnit[] => {
  const blocks = blocksOf(readFileSync(page, 'utf8'))
  const shown = units.map(({ name, has }): PageUnit => {
    const block = blocks.find(({ text }) => /^\[[A-Z]\w+\]$/m.test(text) && text.includes(has))
    if (block === undefined) throw new Error(`${page} shows no ${name}`)
    return { name, text: block.text.replace(/^ExecStart=\S+/m, `ExecStart=${program}`) }
  })
  // The page tells the unit of a device as that of the jobs, with other words and a pause.
  const [,, { text }] = shown as [PageUnit, PageUnit, PageUnit]
  const device = text.replace('shots run', 'edge daemon')
    .replace('on-failure', 'on-failure\nRestartSec=300')
  return [...shown, { name: 'sallyport-edge.service', text: device }]
}
