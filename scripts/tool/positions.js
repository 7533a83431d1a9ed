// Positions in compiled files as those in their sources. Only a failure needs them, so that the
// many processes of a short run read no source maps.
import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { root } from './run.js'
import { treeDir } from './tree.js'

const maps = new Map()

const mapOf = (path) => {
  if (!maps.has(path)) {
    try {
      maps.set(path, new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8'))))
    } catch {
      maps.set(path, null)
    }
  }
  return maps.get(path)
}

const tree = relative(root, treeDir).replaceAll('.', '\\.')
const place = new RegExp(`(?:file://)?(?:${root}/)?(${tree}/[^\\s:()'"]+\\.js):(\\d+):(\\d+)`, 'g')

/** The same text with every position in a compiled file as the one in its source. */
export const inSources = (text) => text.replace(place, (found, path, line, column) => {
  const entry = mapOf(join(root, path))?.findEntry(Number(line) - 1, Number(column) - 1)
  if (entry?.originalSource === undefined) return found
  const source = relative(root, join(root, dirname(path), entry.originalSource))
  return `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
})
