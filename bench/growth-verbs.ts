/**
 * What whole commands cost as history grows: processor time of each verb, the least of several
 * runs, at 1,000 images, 100 asks and 50 sessions, and at ten and a hundred times as many. The rows
 * are made by the use cases' own writers. `npm run bench -- growth-verbs`; SALLYPORT_GROWTH names
 * the most images (1,000,000 takes its time).
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isoFromMs, systemClock } from '../src/base/clock.js'
import { newId } from '../src/base/ids.js'
import { silentObserver } from '../src/base/observer.js'
import { registerArtifact } from '../src/governance/artifacts.js'
import { admitTask } from '../src/governance/board/admit.js'
import { leaseTask } from '../src/governance/board/lease.js'
import { moveTask } from '../src/governance/board/move.js'
import type { Gov } from '../src/governance/context.js'
import { bootstrapLedger, isAccountingEmpty } from '../src/governance/ledger/account.js'
import { markContacted, reserve, settle } from '../src/governance/ledger/steps.js'
import { authenticate } from '../src/governance/session/authenticate.js'
import { login } from '../src/governance/session/login.js'
import type { Session } from '../src/governance/session/types.js'
import { writeBatch } from '../src/shots/scan/commit.js'
import type { TakenFile } from '../src/shots/scan/types.js'
import { folderDigestOf } from '../src/shots/source/folder-digest.js'
import { openStore } from '../src/state/store.js'
import type { Store, Tx } from '../src/state/types.js'
import { withPlace, type BenchPlace } from './place.js'
import { costOf } from './processor.js'
import type { BenchRow } from './types.js'

const sizes = [1_000, 10_000, 100_000, 1_000_000]
const imagesPerAsk = 10
const imagesPerSession = 20
const imagesARecord = 500
const asksARecord = 50
const runs = 7
const start = Date.UTC(2026, 10, 20, 10)
const ceilingMicrousd = 1_000_000_000
const [idleMs, ttlMs] = [30 * 60_000, 8 * 3_600_000]
const digest = 'ab'.repeat(32)

/** Every verb that reads, and one that writes a record. */
const verbs: readonly (readonly string[])[] = [
  ['shots', 'list'], ['shots', 'list', '--status', 'blocked', '--since', '2026-11-20T12:00Z'],
  ['shots', 'status'], ['status'], ['task', 'list'],
  ['task', 'list', '--state', 'failed', '--limit', '10'],
  ['audit', 'list'], ['ledger', 'show'], ['ledger', 'reservations', '--all'],
  ['session', 'show'], ['policy', 'show'], ['policy', 'history'], ['goal', 'add', 'Tides'],
]

const imageOf = (folder: string, n: number): TakenFile => {
  const name = `Screenshot ${String(n).padStart(7, '0')}.png`
  const at = start + n * 30_000
  return {
    path: join(folder, name), file: n, name: { text: name, bytes_base64: null },
    stamp: { bytes: 1, modifiedMs: at, changedMs: at, inode: n },
    modifiedNs: String(BigInt(at) * 1_000_000n), changedNs: String(BigInt(at) * 1_000_000n),
    inode: String(n), bytes: 1, capturedAt: isoFromMs(at), inFuture: false,
    sha256: createHash('sha256').update(name).digest('hex'), format: 'png', width: 1920,
    height: 1080, fingerprint: null, refused: null, flaw: 'truncated',
  } as unknown as TakenFile
}

const images = async (store: Store, folder: string, from: number, to: number): Promise<void> => {
  const folderDigest = folderDigestOf(folder)
  for (let first = from; first < to; first += imagesARecord) {
    const size = Math.min(imagesARecord, to - first)
    const files = Array.from({ length: size }, (_, i) => imageOf(folder, first + i))
    await store.transact('bench', (tx) => {
      writeBatch(tx, store, isoFromMs(start), {
        folder, folderDigest, refreshMs: 1_800_000,
        facts: () => ({ folder, folderDigest, model: null }),
        newStatus: () => ({ analysis_status: 'blocked', reason: 'analysis_off' }),
        takeOver: (_tx, row) => row,
      }, files)
    })
  }
}

/** An ask from its admission to its end, settled; every tenth one fails. */
const ask = (tx: Tx, now: string, session: Session, n: number): void => {
  const { principal: { principal_id: owner }, root: { root_id: root } } = session
  const [taskId, operationId] = [newId('task'), newId('op')]
  const ref = { stored_sha256: digest, sha256: digest, bytes: 10 }
  const entry = { label: 'svc.alpha.text.input.v1', ref, owner, taskId: null, adopted: true }
  const deadlineAt = isoFromMs(Date.parse(now) + 120_000)
  admitTask(tx, now, {
    kind: 'inference.alpha-text.v1', session, taskId, operationId, deadlineAt, budgetMs: 120_000,
    inputArtifactId: registerArtifact(tx, now, entry).artifact_id, idempotencyKey: randomUUID(),
    requestDigest: digest, jobId: newId('job'), requestId: newId('req'), attemptId: newId('att'),
    purpose: { consent_id: 'con_1', purpose: 'alpha.text', revision: 1, root,
      expires_at: deadlineAt },
    provenance: { face: 'cli', principal: owner, root },
  })
  moveTask(tx, now, taskId, 'queued')
  leaseTask(tx, now, taskId, 'bench', deadlineAt)
  moveTask(tx, now, taskId, 'running')
  const binding = { operationId, runtime: 'alpha_text_native', profile: 'alpha.text' }
  reserve(tx, now, { ...binding, taskId, principal: owner, bound: 100 })
  markContacted(tx, now, binding)
  settle(tx, now, {
    ...binding, sources: { provider_billing_costs: { usage: false } }, chargedMicrousd: 7,
    evidence: { source: 'provider_billing_costs', billing_uuid: operationId },
  })
  if (n % 10 === 0) moveTask(tx, now, taskId, 'failed', { reason: 'rejected_reply' })
  else {
    const answer = { ...entry, label: 'svc.alpha.text.answer.v1', taskId }
    const { artifact_id: result } = registerArtifact(tx, now, answer)
    moveTask(tx, now, taskId, 'succeeded', { result_artifact_id: result })
  }
}

const asks = async (gov: Gov, from: number, to: number): Promise<void> => {
  const { token } = await login(gov, { idleMs, ttlMs })
  const session = authenticate(gov, token)
  for (let n = from; n < to; n += asksARecord) {
    await gov.store.transact('bench', (tx) => {
      const now = isoFromMs(systemClock.wallMs())
      if (isAccountingEmpty(tx)) bootstrapLedger(tx, now, ceilingMicrousd)
      for (let i = n; i < Math.min(to, n + asksARecord); i += 1) ask(tx, now, session, i)
    })
  }
}

/** Goes on from so many images to so many. */
const seed = async (place: BenchPlace, folder: string, from: number, to: number): Promise<void> => {
  const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode: 'write' })
  const gov: Gov = { store, clock: systemClock, observer: silentObserver, face: 'cli' }
  await images(store, folder, from, to)
  await asks(gov, from / imagesPerAsk, to / imagesPerAsk)
  for (let n = from / imagesPerSession; n < to / imagesPerSession; n += 1) {
    await login(gov, { idleMs, ttlMs })
  }
  store.close()
}

/** Processor time of one line, milliseconds: the least of several runs. */
const leastCost = (place: BenchPlace, argv: readonly string[]): number =>
  Math.min(...Array.from({ length: runs }, () => costOf(place.line(argv)).processorMs))

/** Measures every verb at every size. */
export const run = async (): Promise<BenchRow[]> => withPlace(async (place) => {
  const rows: BenchRow[] = []
  const folder = join(place.dir, 'images')
  place.run('init')
  place.run('login')
  mkdirSync(folder)
  place.run('shots', 'config', 'set', '--folder', folder)
  const before = new Map<string, number>()
  const most = Number(process.env['SALLYPORT_GROWTH'] ?? sizes.at(-2))
  let from = 0
  for (const size of sizes.filter((one) => one <= most)) {
    await seed(place, folder, from, size)
    from = size
    for (const argv of verbs) {
      const name = argv.join(' ')
      const cost = leastCost(place, argv)
      const known = before.get(name)
      before.set(name, cost)
      const ratio = known === undefined ? null : cost / known
      const row: BenchRow = {
        name: `growth ${size}: ${name}`, ratio, target: 'at most 1.2 a decade',
        pass: ratio === null || ratio <= 1.2, detail: `${cost.toFixed(0)} ms of processor time`,
      }
      rows.push(row)
      process.stderr.write(`${row.name}: ${ratio?.toFixed(2) ?? '-'} (${row.detail})\n`)
    }
  }
  return rows
})
