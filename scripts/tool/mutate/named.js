// `npm run mutate -- named`: makes one named mutation after the other in a copy of the project that
// is built once, and runs the named tests, if asked for as on a Mac. What no switch can make (a
// name that is imported, a file that is no source) is written into a copy of its own, which is
// built anew for each.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../run.js'
import { compileTree } from '../tree.js'
import { folderInMemory } from '../memory.js'
import { asOnMac, triedOnMac } from '../darwin.js'
import { copyProject } from './copy.js'
import { equivalents, excuseOf, mutated, namedMutations, placeOf, problemOf } from './entries.js'
import { environment } from './environment.js'
import { namedKey, writeNamed } from './killers.js'
import { endTests, runTest } from './run-test.js'
import { weaveCopy } from './woven.js'

const limitMs = 300_000

/**
 * Runs the mutations of some areas, or all.
 * @param {{ areas: readonly string[], share: readonly [number, number], jobs: number,
 *   write: boolean, onMac: boolean }} options `share` is which part of how many, from 1; `write`
 *   keeps what noticed which in killers.json; `onMac` takes those that `triedOnMac` does,
 *   and runs their tests as on a Mac
 * @returns {Promise<readonly { verdict: 'killed' | 'survived' | 'invalid', why: string,
 *   excused: boolean, area: string, at: number, file: string, promise: string }[]>}
 */
export const runNamed = async ({ areas, share: [part, parts], jobs, write, onMac }) => {
  const list = equivalents(root)
  const problems = await compileTree()
  if (problems.length > 0) throw new Error(`the checkout does not compile: ${problems[0]}`)
  const memory = folderInMemory()
  const env = await environment(memory)
  const stop = () => {
    endTests()
    process.exit(130)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const results = []
  const killers = new Map()
  const note = (entry, { verdict, why, killer }) => {
    if (killer !== undefined) killers.set(namedKey(entry), killer)
    const excused = excuseOf(list, entry) !== undefined
    results.push({ ...entry, verdict, why, excused })
    const mark = verdict === 'survived' && excused ? ' (listed as equivalent)' : ''
    console.log(`${verdict.padEnd(8)}  ${entry.area} ${entry.at}  ${entry.file}: `
      + `${entry.promise}${mark}\n          ${why}`)
  }
  try {
    const workers = await Promise.all(
      Array.from({ length: jobs }, (_, at) => workerAt(at + 1, env, onMac)))
    const [{ copy }] = workers
    const found = namedMutations(copy.dir, areas)
    const entries = (onMac ? triedOnMac(found) : found).filter((_, at) => at % parts === part - 1)
    const queue = []
    for (const entry of entries) {
      const why = problemOf(copy.dir, entry)
      if (why !== null) note(entry, { verdict: 'invalid', why })
      else queue.push({ ...entry, id: queue.length, place: placeOf(copy.dir, entry) })
    }
    for (const worker of workers) worker.woven = await weaveCopy(worker.copy, changesOf(queue))
    await Promise.all(workers.map(async (worker) => {
      for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
        const { id, place, ...entry } = one
        const isApart = !isSource(place) || worker.woven.outside.has(id)
        note(entry, await (isApart ? tryApart : tryWoven)(worker, one))
      }
    }))
  } finally {
    if (write) writeNamed(root, namedMutations(root), killers)
    if (memory !== null) rmSync(memory, { recursive: true, force: true })
  }
  return results
}

const workerAt = async (number, env, onMac) => ({
  number, env, onMac, copy: await copyProject(join(root, '.build/mutate', String(number))),
  woven: null, apart: null, known: new Map(),
})

/** A browser has this file as it is built, and could import no switch. */
const isOfBrowser = (file) => file === 'src/service/page/page-script.ts'

const isSource = ({ file }) =>
  file.startsWith('src/') && file.endsWith('.ts') && !isOfBrowser(file)

const changesOf = (entries) => entries
  .filter(({ place }) => isSource(place))
  .map(({ id, place, new: text }) => ({ id, ...place, text }))

const tryWoven = async (worker, entry) => {
  worker.woven.only(entry.id)
  const killed = await killerOf(worker, worker.copy, entry)
  worker.woven.none()
  return verdictOf(worker, worker.copy, entry, killed)
}

const tryApart = async (worker, entry) => {
  worker.apart ??= await copyProject(join(root, '.build/mutate', `${worker.number}-apart`))
  const copy = worker.apart
  const { file } = entry.place
  const before = copy.read(file)
  copy.write(file, mutated(copy.dir, entry, entry.place))
  const [broken] = await copy.build()
  const killed = broken === undefined ? await killerOf(worker, copy, entry) : null
  copy.write(file, before)
  await copy.build()
  if (broken !== undefined) return { verdict: 'invalid', why: `does not compile: ${broken}` }
  return verdictOf(worker, copy, entry, killed)
}

/** The first named test that fails, `{ test, why }`; null where all pass. */
const killerOf = async (worker, copy, { tests }) => {
  for (const test of tests) {
    const ran = await runTest(jobOf(worker, copy, test))
    if (!ran.ok) return { test, why: ran.why, title: ran.last }
  }
  return null
}

const verdictOf = async (worker, copy, { tests }, killed) => {
  if (killed === null) return { verdict: 'survived', why: `passed: ${tests.join(', ')}` }
  if (!(await passes(worker, copy, killed.test))) {
    return { verdict: 'invalid', why: `${killed.test} fails without the mutation, too` }
  }
  const { test, why, title } = killed
  return { verdict: 'killed', why: `${test}: ${why}`, killer: { test, title } }
}

/** Whether a test passes on the unbroken copy; asked once for each. */
const passes = async (worker, copy, test) => {
  const { known } = worker
  const key = `${copy.dir} ${test}`
  if (!known.has(key)) known.set(key, (await runTest(jobOf(worker, copy, test))).ok)
  return known.get(key)
}

const jobOf = ({ env, onMac }, copy, test) => ({
  dir: copy.dir, file: copy.outputOf(test), limitMs,
  env: {
    ...env, ...(onMac ? asOnMac(copy.dir) : {}), SALLYPORT_TEST_APP: copy.appDir, TAP_BAIL: '1',
  },
})
