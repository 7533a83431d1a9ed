/** What a prune does about sessions, about tasks that change meanwhile, and about old copies. */
import { cpSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isoFromMs } from '../../src/base/clock.js'
import { silentObserver } from '../../src/base/observer.js'
import { jobCollection, standingCollection } from '../../src/codehost/jobs/job-rows.js'
import { capabilities } from '../../src/fabric/capabilities.js'
import { lookForOld, pruneState } from '../../src/fabric/prune/prune.js'
import { namedRoots, pruneRootRows } from '../../src/fabric/prune/roots.js'
import { newTombstone, pruneTasks } from '../../src/fabric/prune/tasks.js'
import { claimCollection, rootsOfClaims } from '../../src/gateway/call/claims.js'
import type { Gov } from '../../src/governance/context.js'
import { collections, type Root } from '../../src/governance/rows.js'
import { dropAsides, finishedAsides } from '../../src/state/care/finished-asides.js'
import type { Tx } from '../../src/state/types.js'
import { ask, keyOf } from '../support/fabric/copies.js'
import {
  agingWorld, approved, filesOf, isSound, muchLater, prune, type AgingWorld,
} from '../support/fabric/pruned.js'
import { must } from '../support/must.js'
import { codeOfWaited } from '../support/refused.js'
import { zeroBlock } from '../support/state/forge.js'
import { t } from '../support/tests-in-slices.js'

const rootsIn = (rig: AgingWorld): Map<string, Root> => {
  const view = rig.view()
  return new Map([...view.all(collections.roots), ...view.all(collections.pastRoots)]
    .map(({ id, doc }) => [id, doc]))
}

t.test('sessions that are over go, unless a task, a consent or a claim still names them', async (t) => {
  const rig = await agingWorld(t)
  const done = await approved(rig, 0)
  const [first = ''] = rootsIn(rig).keys()
  must(await rig.run(['login']))
  const [, second = ''] = rootsIn(rig).keys()
  must(await rig.run(['task', 'recover', done]))
  const waits = must(await ask(rig, keyOf(1))).json().task.id
  must(await rig.run(['login']))
  const [, , third = ''] = rootsIn(rig).keys()
  await muchLater(rig)
  const past = rig.view().all(collections.pastRoots).map(({ id }) => id)
  t.strictSame(past, [first, second])
  t.notOk(rootsIn(rig).has(third), 'nothing named it: the sweep at login took it')
  // The first gave the consent, the second admitted what waits for its review.
  t.hasStrict(must(await prune(rig)).json(), { tasks: { succeeded: 1 }, sessions: 0 })
  t.ok(rootsIn(rig).has(first) && rootsIn(rig).has(second))
  must(await rig.run(['task', 'recover', waits]))
  must(await rig.run(['alpha', 'review', waits, '--reject']))
  t.hasStrict(must(await prune(rig)).json(), { tasks: { succeeded: 0 }, sessions: 0 },
    'it changed just now')
  await muchLater(rig)
  const told = must(await prune(rig, ['--dry-run'])).json()
  t.hasStrict(told, { tasks: { succeeded: 1 } })
  t.equal(told.sessions, 2, 'the second, and the one between, once the task is gone')
  t.hasStrict(must(await prune(rig)).json(), { tasks: { succeeded: 1 }, sessions: 2 })
  t.strictSame([...rootsIn(rig).keys()].includes(second), false)
  t.ok(rootsIn(rig).has(first), 'its consent is there')
  await isSound(t, rig)
})

/** Two sessions that ended long ago. */
const putOldRoots = (tx: Tx): void => {
  for (const id of ['root_a', 'root_b']) {
    tx.put(collections.pastRoots, id, {
      root_id: id, principal_id: 'prn_x', token_digest: 'a'.repeat(64), idle_ms: 1,
      issued_at: '2020-01-01T00:00:00.000Z', expires_at: '2020-01-01T00:00:00.000Z', ended: null,
    })
  }
}

t.test('a session that a claim of the model route names stays', async (t) => {
  const rig = await agingWorld(t)
  await rig.transact((tx, now) => {
    putOldRoots(tx)
    tx.put(claimCollection, 'b'.repeat(64), {
      input_digest: 'b'.repeat(64), slot: 'screenshot', purpose: 'gateway.vision',
      operation_id: 'op_1', grant_id: 'grt_1', principal: 'prn_x', root: 'root_a',
      claimed_at: now, contacted_at: null, ended: null,
    })
  })
  const rows = await Promise.all(capabilities.map((one) => one.rows()))
  const named = namedRoots(rig.gov, rows, () => false)
  t.equal(await pruneRootRows(rig.gov, '2021-01-01T00:00:00.000Z', named), 1)
  t.strictSame(rig.view().all(collections.pastRoots).map(({ id }) => id), ['root_a'])
})

t.test('a session that a job of the code host, its approval or a standing authority names stays', async (t) => {
  const rig = await agingWorld(t)
  const sha = 'a'.repeat(64)
  const at = '2026-11-24T12:00:00.000Z'
  const consent = {
    consent_id: 'con_x', binding_sha256: sha, revision: 1, policy_fence: 0, expires_at: at,
  }
  await rig.transact((tx) => {
    tx.put(jobCollection, 'job_x', {
      job_id: 'job_x', revision: 7, native_kind: 'codehost_followthrough_v1',
      capability: 'work.codehost-followthrough.v1', state: 'approved', reason: null, owner: 'p',
      root: 'root_a', goal_id: 'g', goal_revision: 1, connection_id: 'cnn_x', consent,
      repository: 'octo-org/hello', repository_id: 7,
      vault: { id: 'v', owner: 'p', name: 'n', updates: 1, sealed_sha256: sha, sha256: sha },
      token_fingerprint: 'f', actions: ['issue.create'], authority_sha256: sha, input_sha256: sha,
      run_sha256: null, idempotency_key: 'k', request_sha256: sha,
      plan: { artifact_id: 'art_x', sha256: sha, effects: 1 }, preview_sha256: sha,
      approval: {
        kind: 'exact', preview_sha256: sha, root: 'root_b', consent_id: 'con_x',
        consent_revision: 1, standing_id: null, producer: null, at, sha256: sha,
      },
      task_id: null, attempt: 0, fence: null, reserved: false, contacted: 0, created: 0,
      remote: null, receipt_id: null, closed: null, created_at: at, updated_at: at,
    })
    tx.put(standingCollection, 'std_x', {
      standing_id: 'std_x', connection_id: 'cnn_x', consent_id: 'con_x', owner: 'p',
      root: 'root_c', actions: ['issue.create'], issued_at: at, expires_at: at, jobs_max: 1,
      jobs: [],
    })
  })
  const rows = await Promise.all(capabilities.map((one) => one.rows()))
  const named = namedRoots(rig.gov, rows, () => false)
  for (const id of ['root_a', 'root_b', 'root_c']) t.ok(named.has(id), id)
})

t.test('a session that a save names stays, however that save ended', async (t) => {
  const rig = await agingWorld(t)
  await rig.transact((tx, now) => {
    putOldRoots(tx)
    tx.put(collections.saveIntents, 'int_1', {
      intent_id: 'int_1', route: 'alpha', phase: 'rolled_back', base_revision: 1,
      revoked_revision: 2, principal: 'prn_x', root: 'root_a', ceiling_before_microusd: null,
      staged_credential: null, created_at: now, ended_at: now,
    })
  })
  const rows = await Promise.all(capabilities.map((one) => one.rows()))
  const named = namedRoots(rig.gov, rows, () => false)
  t.equal(await pruneRootRows(rig.gov, '2021-01-01T00:00:00.000Z', named), 1)
  t.strictSame(rig.view().all(collections.pastRoots).map(({ id }) => id), ['root_a'])
})

t.test('every session that a claim names is found, however many claims there are', async (t) => {
  const rig = await agingWorld(t)
  const claims = 600
  await rig.transact((tx, now) => {
    for (let n = 0; n < claims; n += 1) {
      const digest = String(n).padStart(64, '0')
      tx.put(claimCollection, digest, {
        input_digest: digest, slot: 'screenshot', purpose: 'gateway.vision',
        operation_id: `op_${n}`, grant_id: 'grt_1', principal: 'prn_x', root: `root_${n}`,
        claimed_at: now, contacted_at: null, ended: null,
      })
    }
  })
  t.equal(new Set(rootsOfClaims(rig.view())).size, claims)
})

const govOf = (rig: AgingWorld, at: (step: string) => Promise<void> | void): Gov =>
  ({ ...rig.gov, observer: { ...silentObserver, at } })

t.test('a task that changes between the look and the lock stays', async (t) => {
  const rig = await agingWorld(t)
  const id = await approved(rig, 0)
  await muchLater(rig)
  const { gov } = rig
  const before = isoFromMs(rig.clock.wallMs() - 1000)
  const age = { kinds: capabilities[0]?.taskKinds ?? [], before }
  const [session] = rig.view().all(collections.principals).map(({ doc }) => ({ principal: doc }))
  const racing: Gov = {
    ...gov,
    store: {
      read: () => gov.store.read(),
      transact: async (verb: string, fn: Parameters<typeof gov.store.transact>[1]) => {
        must(await rig.run(['task', 'recover', id]))
        return gov.store.transact(verb, fn)
      },
    } as unknown as Gov['store'],
  }
  const fresh = newTombstone('pru_1', before, before, session as never)
  t.equal((await pruneTasks(racing, fresh, age, () => undefined)).count, 0)
  t.not(rig.view().get(collections.closedTasks, id), undefined)
  t.equal(rig.view().all(collections.taskPrunes).length, 0)
})

t.test('a backup of before that comes into force while files are about to go keeps its files, and no face prunes what the anchor does not vouch for', async (t) => {
  const rig = await agingWorld(t)
  const id = await approved(rig, 0)
  must(await rig.run(['state', 'backup', rig.place.path('before')]))
  const old = rig.place.path('old')
  cpSync(rig.place.stateDir, old, { recursive: true })
  await muchLater(rig)
  const request = { olderThanMs: 30 * 24 * 3_600_000, aside: undefined }
  const session = { principal: { principal_id: 'prn_x' }, root: { root_id: 'root_x' } } as never
  const gov = govOf(rig, async (step) => {
    if (step !== 'prune.forgotten') return
    must(await rig.run(['state', 'restore', rig.place.path('before'), '--yes']))
  })
  t.hasStrict(await pruneState(gov, session, request), { tasks: { succeeded: 1 }, artifacts: 0 })
  t.not(rig.view().get(collections.closedTasks, id), undefined)
  t.equal(filesOf(rig).length, 3)
  await isSound(t, rig)

  const aside = join(rig.place.stateDir, 'aside')
  t.equal(finishedAsides(rig.open('write'), Number.MAX_SAFE_INTEGER).length, 1)
  cpSync(aside, rig.place.path('aside'), { recursive: true })
  rmSync(rig.place.stateDir, { recursive: true })
  cpSync(old, rig.place.stateDir, { recursive: true })
  cpSync(rig.place.path('aside'), aside, { recursive: true })
  const behind = { ...govOf(rig, () => undefined), store: rig.open('write') }
  t.equal(await codeOfWaited(() => pruneState(behind, session, request)), 'store_behind_anchor')
  t.strictSame(finishedAsides(behind.store, Number.MAX_SAFE_INTEGER), [])
  const kept = readdirSync(aside)
  t.equal(await dropAsides(behind.store, kept, 'state prune'), 0)
  t.strictSame(readdirSync(aside), kept)
})

t.test('a copy of a state that could not be read whole goes by its name only', async (t) => {
  const rig = await agingWorld(t)
  must(await rig.run(['state', 'backup', rig.place.path('one')]))
  for (const n of [0, 1]) await approved(rig, n)
  const log = readdirSync(join(rig.place.stateDir, 'wal'))
    .filter((name) => name.endsWith('.log')).sort().at(-1) ?? ''
  zeroBlock(join(rig.place.stateDir, 'wal', log), 40_000, 200)
  must(await rig.run(['state', 'restore', rig.place.path('one'), '--yes']))
  const [aside = ''] = readdirSync(join(rig.place.stateDir, 'aside'))
    .filter((name) => name.startsWith('restore-'))
  await muchLater(rig)
  t.hasStrict(must(await prune(rig, ['--dry-run'])).json(), { asides: 0 })
  const held = rig.view().all(collections.openReservations).length
  const named = ['state', 'prune', '--aside', aside, '--yes', '--json']
  t.hasStrict(must(await rig.run(named)).json(), { asides: 1 })
  t.equal(rig.view().all(collections.openReservations).length, held, 'what it owes stays held')
  const folder = join(rig.place.stateDir, 'aside')
  t.notOk(readdirSync(folder).includes(aside))
  renameSync(rig.place.path('one'), rig.place.path('two'))
  const none = await lookForOld(rig.gov, { olderThanMs: undefined, aside: undefined })
  t.hasStrict(none, { dry_run: true, before: null, asides: 0 })
})
