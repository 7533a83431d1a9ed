/**
 * Rows of years, made by the use cases' own writers: known images of a folder, asks from their
 * admission to their settled end with sealed question and answer, logins. `growth-verbs.ts` and
 * `million.ts` measure over them.
 */
import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { alphaArtifactLabels, alphaCapability, alphaPurpose } from '../src/alpha/constants.js'
import { canonicalJson } from '../src/base/canonical.js'
import { isoFromMs, systemClock } from '../src/base/clock.js'
import { newId } from '../src/base/ids.js'
import { silentObserver } from '../src/base/observer.js'
import { closeRoute, markRoute, openRoute } from '../src/contact/routes.js'
import { registerArtifact } from '../src/governance/artifacts.js'
import { appendAudit } from '../src/governance/audit.js'
import { admitTask } from '../src/governance/board/admit.js'
import { leaseTask } from '../src/governance/board/lease.js'
import { moveTask } from '../src/governance/board/move.js'
import { reviewTask } from '../src/governance/board/review.js'
import type { Gov, Session } from '../src/governance/context.js'
import { storeDecision } from '../src/governance/judge/decision.js'
import { bootstrapLedger, isAccountingEmpty } from '../src/governance/ledger/account.js'
import { markContacted, reserve, settle } from '../src/governance/ledger/steps.js'
import { policyHead } from '../src/governance/policy/head.js'
import { authenticate } from '../src/governance/session/authenticate.js'
import { login } from '../src/governance/session/login.js'
import { analysisPromptVersion, analysisSchemaVersion, shotLabels } from '../src/shots/constants.js'
import { folderRow, putObservation } from '../src/shots/observations/observation-store.js'
import { shotCollections, type Observation } from '../src/shots/observations/observation-rows.js'
import { appendReceipt } from '../src/shots/receipts/append.js'
import { writeBatch } from '../src/shots/scan/commit.js'
import { exactStamp } from '../src/shots/scan/read-once.js'
import type { TakenFile } from '../src/shots/scan/types.js'
import { walkImageFolder } from '../src/shots/scan/walk.js'
import { folderDigestOf } from '../src/shots/source/folder-digest.js'
import { each } from '../src/state/each.js'
import { nodeFiles } from '../src/state/files.js'
import { openStore } from '../src/state/store.js'
import type { ArtifactRef, Store, Tx } from '../src/state/types.js'
import type { BenchPlace } from './place.js'

const imagesARecord = 500
const asksARecord = 50
const ceilingMicrousd = 1_000_000_000
const [idleMs, ttlMs] = [24 * 3_600_000, 7 * 24 * 3_600_000]
const digest = 'ab'.repeat(32)

/** A store to seed, `ageMs` ago; a file of a seeded state need not outlive the machine. */
export const seedingGov = (
  place: Pick<BenchPlace, 'stateDir' | 'configDir'>, ageMs = 0,
): Gov => {
  const clock = { ...systemClock, wallMs: () => systemClock.wallMs() - ageMs }
  const files = { ...nodeFiles, sync: () => {}, syncData: () => {} }
  const store = openStore({
    dir: place.stateDir, configDir: place.configDir, mode: 'write', clock, files,
  })
  return { store, clock, observer: silentObserver, face: 'cli' }
}

/** An image that is no file: what a scan would have found of one of this number. */
export const imageOf = (folder: string, n: number, start: number): TakenFile => {
  const name = `Screenshot ${String(n).padStart(7, '0')}.png`
  const at = start + n * 30_000
  return {
    path: join(folder, name), file: n, name: { text: name, bytes_base64: null },
    stamp: { bytes: 1, modifiedMs: at, changedMs: at, inode: n },
    modifiedNs: String(BigInt(at) * 1_000_000n), changedNs: String(BigInt(at) * 1_000_000n),
    inode: String(n), bytes: 1, capturedAt: isoFromMs(at), inFuture: false,
    sha256: createHash('sha256').update(name).digest('hex'), format: 'png', width: 1920,
    height: 1080, fingerprint: null, refused: null, flaw: 'truncated', confirmed: null,
  } as unknown as TakenFile
}

/** Writes down files `from` to `to` of a folder as a scan does, `now` being when they were seen. */
export const seedImages = async (
  store: Store, folder: string, now: string, [from, to]: readonly [number, number],
  taken: (n: number) => TakenFile,
): Promise<void> => {
  const folderDigest = folderDigestOf(folder)
  for (let first = from; first < to; first += imagesARecord) {
    const size = Math.min(imagesARecord, to - first)
    const files = Array.from({ length: size }, (_, i) => taken(first + i))
    await store.transact('bench', (tx) => {
      writeBatch(tx, store, now, {
        folder, folderDigest, refreshMs: 1_800_000,
        facts: () => ({ folder, folderDigest, model: null }),
        ignored: () => () => null,
        newStatus: () => ({ analysis_status: 'blocked', reason: 'analysis_off' }),
        takeOver: (_tx, row) => row,
      }, files)
    })
  }
}

const textsARecord = 250

/**
 * Writes down what a model said of images that are known, as an analysis does; `textOf` gives the
 * summary of one, or null where nothing was said of it.
 */
export const seedTexts = async (
  store: Store, now: string, textOf: (row: Observation) => string | null,
): Promise<void> => {
  const said: (readonly [Observation, string])[] = []
  for (const { doc } of each(store.read(), shotCollections.observations)) {
    const text = textOf(doc)
    if (text !== null) said.push([doc, text])
  }
  for (let first = 0; first < said.length; first += textsARecord) {
    const sealed = said.slice(first, first + textsARecord).map(([row, summary]) => {
      const payload = canonicalJson({ schema: analysisSchemaVersion, summary })
      return { row, ref: store.artifacts.write(shotLabels.payload, Buffer.from(payload)) }
    })
    await store.transact('bench', (tx) => {
      for (const { row, ref } of sealed) {
        const { artifact_id } = registerArtifact(tx, now, {
          label: shotLabels.payload, ref, owner: 'screenshot_analysis', taskId: null, adopted: true,
        })
        putObservation(tx, now, {
          ...row, analysis_status: 'succeeded', payload: {
            artifact_id, sha256: ref.sha256, model: 'gateway/acme/screenshot-1',
            reply_model: 'acme/screenshot-1', prompt_version: analysisPromptVersion,
            schema_version: analysisSchemaVersion, analyzed_at: now, operation_id: 'op_none',
            cost_microusd: 100, earlier: false,
          },
        })
      }
    })
  }
}

/** Rows as if every file of a folder had been taken in and nothing could be made of it. */
export const seedKnown = async (store: Store, folder: string, now: string): Promise<void> => {
  const listing = walkImageFolder(folder, false)
  const { count } = listing
  await seedImages(store, folder, now, [0, count], (file) => {
    const name = listing.nameOf(file)
    const exact = exactStamp(folder, name)
    if (exact === null) throw new Error('a file of the bench is gone')
    return {
      ...exact, file, name: { text: name, bytes_base64: null }, stamp: listing.stampOf(file),
      capturedAt: isoFromMs(Number(BigInt(exact.modifiedNs) / 1_000_000n)), inFuture: false,
      sha256: createHash('sha256').update(name).digest('hex'), format: 'png', width: 1920,
      height: 1080, fingerprint: null, refused: null, flaw: 'truncated', confirmed: null,
    }
  })
  await store.transact('bench', (tx) => {
    const { receipt_id } = appendReceipt(tx, now, 'screenshot_folder_ingest', {
      root: folder, source: 'settings', status: 'ok', reason: null, limit: count,
      scanned: count, ingested: count, duplicate: 0, suppressed: 0, rejected: 0,
      deferred: 0, known: 0, reasons: {}, problems: [], problems_left_out: 0, duration_ms: 0,
    })
    tx.put(shotCollections.folders, folderDigestOf(folder), {
      ...folderRow(tx, folder, now),
      last_scan: { at: now, status: 'ok', reason: null, receipt_id },
    })
  })
}

/** Question and answer, sealed before the record that names them. */
interface Sealed {
  readonly input: ArtifactRef
  readonly answer: ArtifactRef
}

const admitted = (
  tx: Tx, now: string, session: Session, input: ArtifactRef,
): { readonly taskId: string, readonly operationId: string } => {
  const { principal: { principal_id: owner }, root: { root_id: root } } = session
  const [taskId, operationId] = [newId('task'), newId('op')]
  const deadlineAt = isoFromMs(Date.parse(now) + 120_000)
  const { artifact_id: inputArtifactId } = registerArtifact(tx, now, {
    label: alphaArtifactLabels.input, ref: input, owner, taskId, adopted: true,
  })
  admitTask(tx, now, {
    kind: alphaCapability, session, taskId, operationId, deadlineAt, budgetMs: 120_000,
    inputArtifactId, idempotencyKey: randomUUID(),
    requestDigest: digest, jobId: newId('job'), requestId: newId('req'), attemptId: newId('att'),
    purpose: { consent_id: 'con_1', purpose: alphaPurpose, revision: 1, root,
      expires_at: deadlineAt },
    provenance: { face: 'cli', principal: owner, root },
  })
  appendAudit(tx, now, {
    what: 'alpha.admitted', principal: owner, root, subject: taskId,
    facts: { operation_id: operationId, max_output_tokens: 200 },
  })
  moveTask(tx, now, taskId, 'queued')
  leaseTask(tx, now, taskId, 'bench', deadlineAt)
  moveTask(tx, now, taskId, 'running')
  return { taskId, operationId }
}

/** The contact with its decision, its route and its money. */
const contacted = (
  tx: Tx, now: string, session: Session, taskId: string, operationId: string,
): void => {
  const binding = { operationId, runtime: 'alpha_text_native', profile: 'alpha.text' } as const
  const { principal_id: principal } = session.principal
  reserve(tx, now, { ...binding, taskId, principal, bound: 100 })
  const { revision } = policyHead(tx)
  const request = {
    operation_id: operationId, input_digest: digest, authority: { policy_revision: revision },
  }
  const { decision_id } = storeDecision(
    tx, Date.parse(now), { operationId, request, denials: [] })
  openRoute(tx, operationId, {
    runtime: binding.runtime, profile: binding.profile, provider: 'alpha', model: 'm',
    url: 'https://127.0.0.1/v1/chat/completions', decision_id, policy_revision: revision,
  })
  markContacted(tx, now, binding)
  markRoute(tx, operationId, now)
  settle(tx, now, {
    ...binding, sources: { provider_billing_costs: { usage: false } }, chargedMicrousd: 7,
    evidence: { source: 'provider_billing_costs', billing_uuid: operationId },
  })
}

/** An ask from its admission to its end, settled; every tenth one fails. */
const ask = (tx: Tx, now: string, session: Session, n: number, sealed: Sealed): void => {
  const { principal: { principal_id: owner }, root: { root_id: root } } = session
  const { taskId, operationId } = admitted(tx, now, session, sealed.input)
  contacted(tx, now, session, taskId, operationId)
  const state = n % 10 === 0 ? 'failed' : 'succeeded'
  if (state === 'failed') moveTask(tx, now, taskId, state, { reason: 'rejected_reply' })
  else {
    const { artifact_id: result } = registerArtifact(tx, now, {
      label: alphaArtifactLabels.answer, ref: sealed.answer, owner, taskId, adopted: true,
    })
    moveTask(tx, now, taskId, state, { result_artifact_id: result })
    reviewTask(tx, now, session, taskId, 'approve')
  }
  closeRoute(tx, operationId, state)
  appendAudit(tx, now, {
    what: 'alpha.ended', principal: owner, root, subject: taskId,
    facts: { state, ledger: 'settled', adopted: state === 'succeeded' },
  })
}

/** Makes asks `from` to `to` under one login, each with files of its own. */
export const seedAsks = async (gov: Gov, from: number, to: number): Promise<void> => {
  const { token } = await login(gov, { idleMs, ttlMs })
  const session = authenticate(gov, token)
  const { artifacts } = gov.store
  for (let n = from; n < to; n += asksARecord) {
    const sealed = Array.from({ length: Math.min(asksARecord, to - n) }, (_, i): Sealed => ({
      input: artifacts.write(alphaArtifactLabels.input, Buffer.from(`Question ${n + i}`)),
      answer: artifacts.write(
        alphaArtifactLabels.answer, Buffer.from(`Answer ${n + i}. `.repeat(20))),
    }))
    // A failed one adopts no answer.
    for (const [i, { answer }] of sealed.entries()) {
      if ((n + i) % 10 === 0) artifacts.remove(answer.stored_sha256)
    }
    await gov.store.transact('bench', (tx) => {
      const now = isoFromMs(gov.clock.wallMs())
      if (isAccountingEmpty(tx)) bootstrapLedger(tx, now, ceilingMicrousd)
      sealed.forEach((one, i) => ask(tx, now, session, n + i, one))
    })
  }
}

/** So many logins. */
export const seedSessions = async (gov: Gov, count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await login(gov, { idleMs, ttlMs })
}
