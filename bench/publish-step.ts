/**
 * One step of a job, with 100 other jobs of 4,096 entries each in the store and with none: an issue
 * that is run, a job that is shown, an unknown one that is read back. The shipped program, the
 * sandbox in a process of its own. `npm run bench -- publish-step`.
 */
import { randomUUID } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newId } from '../src/base/ids.js'
import { effectHistory, type EffectEntry } from '../src/codehost/jobs/histories.js'
import { jobCollection } from '../src/codehost/jobs/job-rows.js'
import { historyHead } from '../src/state/history/read-history.js'
import { openStore } from '../src/state/store.js'
import { median } from './pairs.js'
import { placeIn, withPlace, withSandbox, type BenchPlace, type StartedSandbox } from './place.js'
import { costOf, type Cost } from './processor.js'
import type { BenchRow } from './types.js'

const others = Number(process.env['SALLYPORT_BENCH_JOBS'] ?? 100)
const entries = 4_096
const rounds = Number(process.env['SALLYPORT_BENCH_ROUNDS'] ?? 7)
const ratioMax = 1.3

interface Ready {
  readonly place: BenchPlace
  readonly connection: string
  /** Prepared and approved; its id. */
  approved(): string
}

const ready = (dir: string, sandbox: StartedSandbox): Ready => {
  mkdirSync(dir)
  const place = placeIn(dir)
  const told = (...argv: string[]): Record<string, never> =>
    JSON.parse(place.run(...argv, '--json')) as Record<string, never>
  place.run('init', '--profile', sandbox.profile_file)
  place.run('login')
  const connection: string = told('codehost', 'connect', '--repo', 'operator/notes', '--token-file',
    sandbox.codehost_token_file)['id'] ?? ''
  place.run('codehost', 'consent', connection, '--acknowledge', '--expected-revision', '1',
    '--duration', '1h', '--action', 'issue.create')
  const body = join(dir, 'body.md')
  writeFileSync(body, 'A text.\n')
  return {
    place, connection,
    approved: () => {
      const job: string = told('codehost', 'prepare', 'issue', '--connection', connection,
        '--title', 'T', '--body-file', body)['id'] ?? ''
      const digest: string = told('codehost', 'preview', job)['digest'] ?? ''
      place.run('codehost', 'approve', job, '--preview-digest', digest)
      return job
    },
  }
}

/** Copies of a job that came to its end, each with as many entries as its ledger may have. */
const seed = async ({ place, approved }: Ready): Promise<void> => {
  const done = approved()
  place.run('codehost', 'run', done)
  const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode: 'write' })
  const row = store.read().get(jobCollection, done)
  if (row === undefined) throw new Error('no job')
  const entry: EffectEntry = {
    type: 'outcome', at: row.created_at, effect: 1, outcome: 'created', status: 201, reason: null,
    remote_id: null, raw_sha256: 'a'.repeat(64),
  }
  const lines = Array.from({ length: entries }, () => entry)
  for (let n = 0; n < others; n += 1) {
    const job = newId('job')
    await store.transact('bench', (tx) => {
      tx.put(jobCollection, job, { ...row, job_id: job, idempotency_key: randomUUID() })
      tx.append(effectHistory, job, historyHead(tx, effectHistory, job), lines)
    })
  }
  store.close()
  place.run('state', 'compact')
}

const faulty = (place: BenchPlace, sandboxDir: string, ...fault: string[]): void => {
  place.run('sandbox', 'fault', ...fault, '--dir', sandboxDir)
}

const steps = ['run', 'job', 'reconcile'] as const
type Step = (typeof steps)[number]

/** What one step costs; what it needs before is not counted. */
const stepCost = (step: Step, at: Ready, sandboxDir: string): Cost => {
  const { place, connection } = at
  const job = at.approved()
  if (step === 'run') return costOf(place.line(['codehost', 'run', job]))
  if (step === 'job') {
    place.run('codehost', 'run', job)
    return costOf(place.line(['codehost', 'job', job]))
  }
  faulty(place, sandboxDir, 'set', 'read_not_there', '--after', '1', '--times', '1')
  spawnSync(process.execPath, [...place.line(['codehost', 'run', job]).args], { env: place.env })
  faulty(place, sandboxDir, 'clear')
  const all = JSON.parse(place.run('codehost', 'connections', '--json')) as
    { id: string, revision: number }[]
  const revision = all.find(({ id }) => id === connection)?.revision ?? 0
  return costOf(place.line(
    ['codehost', 'reconcile', job, '--expected-read-revision', String(revision)]))
}

/** One row a step, wall and processor time. */
export const run = (): Promise<BenchRow[]> =>
  withPlace((outer) => withSandbox(outer, async (sandbox) => {
    const sandboxDir = join(outer.dir, 'sandbox')
    const empty = ready(join(outer.dir, 'empty'), sandbox)
    const full = ready(join(outer.dir, 'full'), sandbox)
    await seed(full)
    const rows: BenchRow[] = []
    for (const step of steps) {
      const costs: { readonly ours: Cost[], readonly theirs: Cost[] } = { ours: [], theirs: [] }
      for (let n = 0; n < rounds; n += 1) {
        costs.theirs.push(stepCost(step, empty, sandboxDir))
        costs.ours.push(stepCost(step, full, sandboxDir))
      }
      for (const what of ['wallMs', 'processorMs'] as const) {
        const [ours, theirs] = [
          median(costs.ours.map((one) => one[what])), median(costs.theirs.map((one) => one[what]))]
        rows.push({
          name: `codehost ${step} beside ${others} jobs of ${entries} entries, `
            + (what === 'wallMs' ? 'wall' : 'processor'),
          ratio: ours / theirs, target: `at most ${ratioMax}`, pass: ours / theirs <= ratioMax,
          detail: `${ours.toFixed(0)} ms over ${theirs.toFixed(0)} ms with none`,
        })
      }
    }
    return rows
  }))
