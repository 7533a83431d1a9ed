/**
 * The function of a transaction may run more than once: another writer may come first, and then it
 * is run again over the newer rows. So it only reads and changes rows.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { slice } from '../support/slice.js'
import { preloadedByRun } from '../world/process.js'

const tree = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** Tests that go through most transactions there are; any file may be asked for by the name. */
const files = [
  'contact/engine', 'contact/stops', 'contact/persist', 'governance/board/admit',
  'governance/board/move', 'governance/board/recover', 'governance/ledger/steps',
  'governance/ledger/binding', 'governance/policy', 'governance/principals',
  'governance/recovery', 'governance/session/login', 'alpha/ask', 'gateway/prove',
  'shots/described-before', 'shots/usage-readings',
]

/** Flags of V8 and what the runner preloads, but nothing that counts. */
const asGiven = [...process.execArgv.filter((one) => one.includes('=')), ...preloadedByRun()]

t.test('what a test of transactions says is true where each of them runs twice', async (t) => {
  for (const file of slice('file', files, { axesOf: () => ['file'], idOf: (file) => file })) {
    // It is a run of its own: nothing of it is told to the runner of this one. A slice of each:
    // what a second run of a function breaks, it breaks in every cell.
    const env: NodeJS.ProcessEnv = { ...process.env, SALLYPORT_TEST_RUN: 'short' }
    for (const name of ['TESTS_TOGETHER', 'TEST_CELL', 'TEST_CELLS', 'TEST_SECONDS']) {
      delete env[`SALLYPORT_${name}`]
    }
    const child = spawnSync(process.execPath, [
      ...asGiven, '--import', tree('support/children/run-twice.js'), tree(`${file}.test.js`),
    ], { env: { ...env, TAP: '1', SALLYPORT_TEST_FILE: `test/${file}.test.ts` }, encoding: 'utf8' })
    const failed = child.stdout.split('\n').filter((line) => /^\s*not ok/.test(line))
    t.strictSame([child.status, failed], [0, []], file)
    t.match(child.stdout, /^# pass|^1\.\.[1-9]/m, `${file} has tests`)
  }
})

t.test('a run that is dropped leaves no row, and the one that counts sees none of it', async (t) => {
  const child = spawnSync(process.execPath, [
    ...asGiven, '--import', tree('support/children/run-twice.js'),
    tree('support/children/note-twice.js'),
    JSON.stringify([t.testdir()]),
  ], { encoding: 'utf8' })
  t.equal(child.stdout, JSON.stringify([2, [null, null], { a: 1 }]), child.stderr)
})
