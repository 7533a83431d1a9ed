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

/** What is about the process itself, and so has its own; and what takes long enough for one. */
const alone = [
  'alpha/soak.', 'contact/interrupts/', 'images/edit-suite.', 'images/hostile.', 'leaks.',
  'shots/scan-processes.',
]

/**
 * What a file does that another one in the same process would notice: it changes what all share, or
 * measures the process. Children, timers and servers of its own end with it.
 */
const noticed = new RegExp([
  'process\\.(?:on|once|off|emit|exit|umask|chdir|memoryUsage|cpuUsage|resourceUsage)\\b',
  'process\\.env(?:\\.\\w+|\\[[^\\]]+\\]) = ', 'delete process\\.', 'globalThis', '\\bmock\\b',
  'registerHooks', 'syncBuiltin', 'new Worker',
].join('|'))

const isShared = (file) =>
  !alone.some((begin) => file.startsWith(`${treeDir}/test/${begin}`))
    && !noticed.test(readFileSync(file, 'utf8').replace(/^\/\/#.*$/gm, ''))

/** So many files at most share a process. */
const filesPerProcess = 14

const folderOf = (file) => {
  const [folder, name] = relative(`${treeDir}/test`, file).split('/')
  return name === undefined ? '' : folder
}

/**
 * Test files in the same order, those that share a process together: files of one folder, dealt
 * out in turn, so that what takes long is spread. To load and compile what all of them need is most
 * of what a small file costs.
 * @param {readonly string[]} files compiled test files
 * @returns {readonly (readonly string[])[]}
 */
export const inProcesses = (files) => {
  const shared = new Map()
  for (const file of files.filter(isShared)) {
    const folder = folderOf(file)
    shared.set(folder, [...(shared.get(folder) ?? []), file])
  }
  const dealt = new Map()
  for (const of of shared.values()) {
    const groups = Array.from({ length: Math.ceil(of.length / filesPerProcess) }, () => [])
    for (const [at, file] of of.entries()) {
      const group = groups[at % groups.length]
      group.push(file)
      dealt.set(file, group)
    }
  }
  return [...new Set(files.map((file) => dealt.get(file) ?? file))].map((one) => [one].flat())
}
