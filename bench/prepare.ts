/**
 * Preparing a publication of 2,000 files and 64 MiB, once text and once incompressible: the folder
 * read, sealed and planned, beside `git add`, `write-tree` and `commit-tree` on the same files.
 * `npm run bench -- prepare`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { emptyTree } from '../src/codehost/git/tree.js'
import { planPublication } from '../src/codehost/plan/publication.js'
import { readSource } from '../src/codehost/source/read.js'
import { createStore, openStore } from '../src/state/store.js'
import { median } from './pairs.js'
import type { BenchRow } from './types.js'

const files = 2_000
const fileBytes = Math.floor((64 * 1024 * 1024) / files)
const rounds = 5
const ratioMax = 0.75
const peakMibMax = 128

/** Words in no order that repeats soon, as source text has them. */
const textOf = (seed: number): Buffer => {
  let [text, at] = ['', 0]
  while (text.length < fileBytes) {
    const hex = createHash('sha1').update(`${seed} ${at}`).digest('hex')
    const [name, of, value] = [hex.slice(0, 5), hex.slice(5, 8), hex.slice(8, 12)]
    text += `  const ${name} = read(${of}, 'value of ${value}')\n`
    at += 1
  }
  return Buffer.from(text.slice(0, fileBytes))
}

const makeFolder = (dir: string, kind: 'text' | 'incompressible'): void => {
  for (let n = 0; n < files; n += 1) {
    const folder = join(dir, `part-${n % 40}`, `of-${n % 7}`)
    mkdirSync(folder, { recursive: true })
    const bytes = kind === 'text' ? textOf(n) : randomBytes(fileBytes)
    writeFileSync(join(folder, `file-${n}.txt`), bytes)
  }
}

const person = { name: 'B', email: 'b@c', date: '2026-01-02T03:04:05Z' }

/** In a process of its own: prepares once; milliseconds and peak memory in MiB. */
export const prepareInChild = async (
  dir: string, configDir: string, source: string,
): Promise<string> => {
  const store = openStore({ dir, configDir, mode: 'write' })
  const start = performance.now()
  const draft = await readSource({
    dir: source, base: emptyTree, artifacts: store.artifacts, ownFolders: [dir],
  })
  planPublication({
    host: { base: 'https://api.example', loopback: true, earlierPosts: 0 },
    repository: { owner: 'o', name: 'r' },
    base: { branch: 'main', commit: '0'.repeat(40), tree: emptyTree },
    files: draft.files, branch: 'b', title: 'T', body: '',
    commit: { author: person, committer: person, message: 'M\n' }, historyEntryBytes: () => 900,
  })
  draft.seal()
  const ms = performance.now() - start
  store.close()
  return JSON.stringify({ ms, peak: process.resourceUsage().maxRSS / 1024 })
}

const gitOnce = (base: string, source: string, n: number): number => {
  const gitDir = join(base, `git-${n}`)
  const env = {
    PATH: process.env['PATH'], HOME: base, GIT_DIR: gitDir, GIT_WORK_TREE: source,
    GIT_CONFIG_NOSYSTEM: '1',
  }
  const run = (...args: string[]): string =>
    execFileSync('git', args, { env, cwd: source, encoding: 'utf8' }).trim()
  execFileSync('git', ['init', '-q', '--bare', gitDir], { env: { PATH: process.env['PATH'] } })
  const start = performance.now()
  run('add', '-A', '.')
  const tree = run('write-tree')
  run('-c', 'user.name=B', '-c', 'user.email=b@c', 'commit-tree', tree, '-m', 'M')
  const ms = performance.now() - start
  rmSync(gitDir, { recursive: true })
  return ms
}

const rowsFor = (base: string, kind: 'text' | 'incompressible'): BenchRow[] => {
  const source = join(base, kind)
  makeFolder(source, kind)
  const place = { dir: join(base, `state-${kind}`), configDir: join(base, 'config') }
  createStore({ ...place, profile: {} }).close()
  const program = join(base, 'prepare.mjs')
  writeFileSync(program, `import { prepareInChild } from ${JSON.stringify(import.meta.url)}\n` +
    'console.log(await prepareInChild(...process.argv.slice(2)))\n')
  const [ours, theirs, peaks]: [number[], number[], number[]] = [[], [], []]
  for (let n = 0; n < rounds; n += 1) {
    theirs.push(gitOnce(base, source, n))
    const child = spawnSync(process.execPath, [program, place.dir, place.configDir, source])
    const { ms, peak } = JSON.parse(child.stdout.toString()) as { ms: number, peak: number }
    ours.push(ms)
    peaks.push(peak)
  }
  const ratio = median(ours) / median(theirs)
  const peak = Math.max(...peaks)
  return [
    {
      name: `prepare: ${files} files, 64 MiB, ${kind}, over git add, write-tree, commit-tree`,
      ratio, target: `at most ${ratioMax}`, pass: ratio <= ratioMax,
      detail: `${median(ours).toFixed(0)} ms over ${median(theirs).toFixed(0)} ms; read, sealed, `
        + 'synced and planned',
    },
    {
      name: `prepare: peak MiB of the process, ${kind}`, ratio: peak,
      target: `at most ${peakMibMax}`, pass: peak <= peakMibMax,
      detail: 'the whole of Node and the plan included',
    },
  ]
}

/** Both kinds of content. */
export const run = async (): Promise<BenchRow[]> => {
  const base = mkdtempSync(join(tmpdir(), 'sallyport-prepare-'))
  try {
    return [...rowsFor(base, 'text'), ...rowsFor(base, 'incompressible')]
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}
