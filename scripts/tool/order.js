// In which order the test files run, and which of them share a process: the longest first, so that
// no core waits for one at the end.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { treeDir } from './tree.js'

/** Those that take longest, by the beginning of their paths; the longest first. */
const heaviest = [
  'alpha/soak', 'contact/interrupts/', 'alpha/interleavings', 'shots/scan-processes',
  'alpha/hostile-wire', 'fabric/nothing', 'alpha/signals', 'alpha/concurrency', 'alpha/program',
  'shots/scan', 'alpha/tamper-authority', 'leaks', 'alpha/limits-wire', 'shots/analyze',
  'state/crash', 'images/', 'state/damage', 'gateway/', 'fabric/',
]

const rankOf = (file) => {
  const at = heaviest.findIndex((begin) => file.startsWith(`${treeDir}/test/${begin}`))
  return at < 0 ? heaviest.length : at
}

/** The same compiled test files, the longest first and the others by their paths. */
export const heaviestFirst = (files) =>
  files.toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))

/** Folders of which every file has its own process: they are about disks, nets and machines. */
const alone = ['images', 'net', 'sandbox', 'state', 'support']

/** What a file does that another one in the same process would notice. */
const noticed = new RegExp([
  'process\\b', '[sS]pawn', 'Worker', 'globalThis', 'chdir', 'mock', 'strace', 'kill', 'signal',
  'children', 'coverage', 'speed', 'soak', 'heap', 'setTimeout', 'setInterval', 'jobs\\b',
  'syncBuiltin',
  '^t\\.(?!test\\()',
].join('|'), 'm')

const isShared = (file) => {
  const [folder, name] = relative(`${treeDir}/test`, file).split('/')
  return rankOf(file) === heaviest.length && name !== undefined && !alone.includes(folder)
    && !noticed.test(readFileSync(file, 'utf8').replace(/^\/\/#.*$/gm, ''))
}

/** So many small files at most share a process. */
const filesPerProcess = 6

/**
 * Test files in the same order, those that share a process together. Loading what all files of a
 * folder need is most of what a small one costs.
 * @param {readonly string[]} files compiled test files
 * @returns {readonly (readonly string[])[]}
 */
export const inProcesses = (files) => {
  const open = new Map()
  const all = []
  for (const file of files) {
    const folder = relative(`${treeDir}/test`, file).split('/')[0]
    let group = isShared(file) ? open.get(folder) : []
    if (group === undefined || group.length === filesPerProcess) group = []
    if (group.length === 0) all.push(group)
    if (isShared(file)) open.set(folder, group)
    group.push(file)
  }
  return all
}
