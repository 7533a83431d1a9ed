// `npm run mutate -- named`: applies one named mutation after the other to a copy of the project,
// compiles the changed file, bundles the program anew, and runs the named tests.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../run.js'
import { compileTree } from '../tree.js'
import { folderInMemory } from '../memory.js'
import { copyProject } from './copy.js'
import { equivalents, excuseOf, namedMutations, problemOf } from './entries.js'
import { environment } from './environment.js'
import { endTests, runTest } from './run-test.js'

const limitMs = 300_000

/**
 * Runs the mutations of some areas, or all.
 * @param {{ areas: readonly string[], share: readonly [number, number], jobs: number }} options
 *   `share` is which part of how many, from 1
 * @returns {Promise<readonly { verdict: 'killed' | 'survived' | 'invalid', why: string,
 *   excused: boolean, area: string, at: number, file: string, promise: string }[]>}
 */
export const runNamed = async ({ areas, share: [part, parts], jobs }) => {
  const list = equivalents(root)
  const queue = namedMutations(root, areas).filter((_, at) => at % parts === part - 1)
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
  const worker = async (_, at) => {
    const copy = await copyProject(join(root, '.build/mutate', String(at + 1)))
    const unbroken = await copy.build()
    if (unbroken.length > 0) throw new Error(`the copy does not compile: ${unbroken[0]}`)
    const passes = passing(copy, env)
    for (let entry = queue.shift(); entry !== undefined; entry = queue.shift()) {
      const { verdict, why } = await tryOne(copy, env, entry, passes)
      const excused = excuseOf(list, entry) !== undefined
      results.push({ ...entry, verdict, why, excused })
      const mark = verdict === 'survived' && excused ? ' (listed as equivalent)' : ''
      console.log(`${verdict.padEnd(8)}  ${entry.area} ${entry.at}  ${entry.file}: `
        + `${entry.promise}${mark}\n          ${why}`)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(jobs, queue.length) }, worker))
  } finally {
    if (memory !== null) rmSync(memory, { recursive: true, force: true })
  }
  return results
}

const tryOne = async (copy, env, entry, passes) => {
  const problem = problemOf(copy.dir, entry)
  if (problem !== null) return { verdict: 'invalid', why: problem }
  const before = copy.read(entry.file)
  copy.write(entry.file, before.split(entry.old).join(entry.new))
  const [broken] = await copy.build()
  let killed = null
  for (const test of broken === undefined ? entry.tests : []) {
    const ran = await runTest(jobOf(copy, env, test))
    if (ran.ok) continue
    killed = { test, why: ran.why }
    break
  }
  copy.write(entry.file, before)
  await copy.build()
  if (broken !== undefined) return { verdict: 'invalid', why: `does not compile: ${broken}` }
  if (killed === null) return { verdict: 'survived', why: `passed: ${entry.tests.join(', ')}` }
  if (!(await passes(killed.test))) {
    return { verdict: 'invalid', why: `${killed.test} fails without the mutation, too` }
  }
  return { verdict: 'killed', why: `${killed.test}: ${killed.why}` }
}

/** Whether a test passes on the unbroken copy; asked once for each. */
const passing = (copy, env) => {
  const known = new Map()
  return async (test) => {
    if (!known.has(test)) {
      const { ok } = await runTest(jobOf(copy, env, test))
      known.set(test, ok)
    }
    return known.get(test)
  }
}

const jobOf = (copy, env, test) => ({
  dir: copy.dir, file: copy.outputOf(test), limitMs,
  env: { ...env, SALLYPORT_TEST_APP: copy.appDir },
})
