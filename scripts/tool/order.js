// In which order the test files run, and which of them share a process: what takes longest first,
// by what was measured, so that no core waits for one at the end.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { treeDir } from './tree.js'

/** What is about the process itself, and so has its own. */
const alone = [
  'alpha/soak.', 'cli/booted.', 'contact/interrupts/', 'images/edit-suite.', 'images/hostile.',
  'leaks.', 'shots/scan-processes.', 'state/arm64.',
]

/**
 * What a file does that another one in the same process would notice: it changes what all share, or
 * measures the process. Children, timers and servers of its own end with it.
 */
const noticed = new RegExp([
  'process\\.(?:on|once|off|emit|exit|umask|chdir|memoryUsage|cpuUsage|resourceUsage)\\b',
  'process\\.(?:(?:add|remove|prepend)\\w*Listeners?|set\\w+|title|exitCode)\\b',
  'process\\.env(?:\\.\\w+|\\[[^\\]]+\\]) [?|&]*= ', 'delete process\\.',
  '(?:Object|Reflect)\\.\\w+\\(process\\b(?!\\.env\\))', 'Object\\.assign\\(process', 'globalThis',
  '\\bmock\\b',
  'registerHooks', 'syncBuiltin', 'new Worker',
  // Of what it imports: the next file imports the same.
  '(?:^|\\n)(?!process\\.)[\\w.]+\\.\\w+ = ',
].join('|'))

const isShared = (file) =>
  !alone.some((begin) => file.startsWith(`${treeDir}/test/${begin}`))
    && !noticed.test(readFileSync(file, 'utf8').replace(/^\/\/#.*$/gm, ''))

/**
 * So many files share a process at most, and so many processor seconds, which one file alone may
 * have, too. To load what tests need takes a process a second and a half, and V8 compiles it anew
 * in each; but nobody waits for a core while the last process of a long run ends.
 */
export const limits = {
  short: { files: 14, seconds: 12 },
  long: { files: 28, seconds: 36 },
}

const folderOf = (file) => {
  const [folder, name] = relative(`${treeDir}/test`, file).split('/')
  return name === undefined ? '' : folder
}

/** The source of a compiled test file, as the table of seconds names it. */
export const sourceOf = (file) => relative(treeDir, file).replace(/\.js$/, '.ts')

const sumOf = (files, secondsOf) => files.reduce((sum, file) => sum + secondsOf(sourceOf(file)), 0)

/** Entries with what weighs most first, and by their names where they weigh the same. */
const heaviestFirst = (files, secondsOf) => {
  const weight = new Map(files.map((file) => [file, secondsOf(sourceOf(file))]))
  return files.toSorted((a, b) => weight.get(b) - weight.get(a) || (a < b ? -1 : 1))
}

/** Deals files out to as few processes as their number and seconds allow, evenly. */
const dealt = (files, secondsOf, most) => {
  const seconds = sumOf(files, secondsOf)
  const groups = Array.from({
    length: Math.ceil(Math.max(files.length / most.files, seconds / most.seconds, 1)),
  }, () => ({ files: [], seconds: 0 }))
  for (const file of heaviestFirst(files, secondsOf)) {
    const open = groups.filter((one) => one.files.length < most.files)
    const lightest = open.reduce((least, one) => (one.seconds < least.seconds ? one : least))
    lightest.files.push(file)
    lightest.seconds += secondsOf(sourceOf(file))
  }
  return groups.map((group) => group.files).filter((group) => group.length > 0)
}

/**
 * Test files by the processes that run them, the heaviest process first. To load and compile what
 * the files of a folder need is most of what a small file costs, so that they share processes.
 * @param {readonly string[]} files compiled test files
 * @param {(source: string) => number} secondsOf what a file is expected to take
 * @param {{ files: number, seconds: number }} [most] what shares a process at most
 * @returns {readonly (readonly string[])[]}
 */
export const inProcesses = (files, secondsOf, most = limits.short) => {
  const folders = new Map()
  const groups = []
  for (const file of files) {
    if (!isShared(file) || secondsOf(sourceOf(file)) > most.seconds) groups.push([file])
    else folders.set(folderOf(file), [...(folders.get(folderOf(file)) ?? []), file])
  }
  groups.push(...[...folders.values()].flatMap((of) => dealt(of, secondsOf, most)))
  const weight = new Map(groups.map((group) => [group, sumOf(group, secondsOf)]))
  return groups.toSorted((a, b) => weight.get(b) - weight.get(a) || (a[0] < b[0] ? -1 : 1))
}
