/** What the page for builders of devices has in its blocks: vectors, and a device in Python. */
import { readFileSync } from 'node:fs'
import { blocksOf } from '../docs/pages.js'

/** A block of the page by what it is; lines that begin with a space go on the one before. */
export const vectorOf = (kind: string): string => {
  const found = blocksOf(readFileSync('docs/dev/edge-device.md', 'utf8'))
    .filter(({ info }) => info === kind)
  const [block] = found
  if (block === undefined || found.length !== 1) throw new Error(`one block of ${kind}`)
  const { text } = block
  return kind === 'python' ? text : text.replace(/\n /g, '').trimEnd()
}
