/** Units of systemd as the pages show them, with this machine's place of the program. */
import { readFileSync } from 'node:fs'
import { blocksOf } from '../docs/pages.js'

/** A unit by the name of its file. */
export interface PageUnit {
  readonly name: string
  readonly text: string
}

const places = [
  { name: 'sallyport.socket', page: 'docs/service.md', has: 'ListenStream=' },
  { name: 'sallyport.service', page: 'docs/service.md', has: '/sallyport serve' },
  { name: 'sallyport-edge.service', page: 'docs/edge.md', has: '/sallyport edge daemon' },
  {
    name: 'sallyport-shots.service', page: 'docs/how-to/run-on-a-timer.md',
    has: '/sallyport shots run',
  },
] as const

/** The units of all pages. Throws where a page shows one no longer. */
export const pageUnits = (program: string): readonly PageUnit[] =>
  places.map(({ name, page, has }) => {
    const block = blocksOf(readFileSync(page, 'utf8'))
      .find(({ text }) => /^\[[A-Z]\w+\]$/m.test(text) && text.includes(has))
    if (block === undefined) throw new Error(`${page} shows no ${name}`)
    return { name, text: block.text.replace(/^ExecStart=\S+/m, `ExecStart=${program}`) }
  })
