/**
 * Many asks through the use case in one process, over real TLS, for tables of hostile replies. The
 * pause between two billing requests is counted and not waited for; every other time is real.
 */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AskResult } from '../../../src/alpha/ask/answer.js'
import { ask } from '../../../src/alpha/ask/ask.js'
import { billingUuidCollection } from '../../../src/alpha/billing-uuids.js'
import { alphaArtifactLabels, alphaLimits } from '../../../src/alpha/constants.js'
import { readOutput } from '../../../src/alpha/output.js'
import { systemClock, type Clock } from '../../../src/base/clock.js'
import { SallyportError } from '../../../src/base/errors.js'
import { silentObserver } from '../../../src/base/observer.js'
import { exitStatus } from '../../../src/base/outcome.js'
import { findReservation } from '../../../src/governance/ledger/find-reservation.js'
import { deploymentProfile } from '../../../src/governance/profile.js'
import {
  collections, type LedgerRow, type Reservation, type Task,
} from '../../../src/governance/rows.js'
import { authenticate } from '../../../src/governance/session/authenticate.js'
import { loadToken, tokenPath } from '../../../src/governance/session/token.js'
import { createHttpsClient } from '../../../src/net/client.js'
import type { RawReply } from '../../../src/sandbox/types.js'
import { nodeFiles } from '../../../src/state/files.js'
import { openStore } from '../../../src/state/store.js'
import { question } from '../../world/alpha.js'
import type { Teardown } from '../../world/place.js'
import type { AlphaWorld } from '../../world/world.js'

/** One ask, with everything that it left. */
export interface Asked {
  readonly result: AskResult | null
  readonly error: SallyportError | null
  /** Exit status that the program gives this ending. */
  readonly status: number
  readonly task: Task
  readonly reservation: Reservation | undefined
  readonly rows: readonly LedgerRow[]
  /** Requests of this ask alone. */
  readonly inferences: number
  readonly billings: number
  /** Milliseconds of each pause before a billing request. */
  readonly pauses: readonly number[]
  /** Whether any artifact of an answer is registered for the task. */
  readonly keepsAnswer: boolean
}

/** What the provider says to one ask; what is left out it answers honestly. */
export interface Replies {
  readonly completion?: RawReply
  readonly billing?: RawReply
  /** The billing ids of earlier asks stay taken. */
  readonly idsStayTaken?: boolean
}

/** A deployment for many asks. */
export interface Wire {
  readonly rig: AlphaWorld
  readonly model: string
  ask(replies?: Replies): Promise<Asked>
  /** Why the output of a task is not to be had; null when it is. */
  outputCode(asked: Asked): string | null
  /** Names of the files below state, keys and working folder that hold these bytes. */
  filesWith(bytes: string): readonly string[]
}

const skippingClock = (pauses: number[]): Clock => ({
  ...systemClock,
  async sleep(ms, signal) {
    // Requests wait with a signal for their own ends; the billing stage pauses without one.
    if (ms !== alphaLimits.billingPauseMs || signal !== undefined) {
      return systemClock.sleep(ms, signal)
    }
    pauses.push(ms)
  },
})

/** A reply that announces a transfer coding itself: framed in chunks, and without a length. */
const onWire = (raw: RawReply): RawReply => {
  const pairs = raw.headers as readonly (readonly [string, string])[] | undefined
  if (!pairs?.some(([name]) => name === 'transfer-encoding')) return raw
  const body = Buffer.from(raw.body ?? '')
  const size = body.length.toString(16)
  return {
    ...raw, framing: 'none',
    body: Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]),
  }
}

const failureOf = (error: unknown): SallyportError => {
  if (error instanceof SallyportError) return error
  throw error
}

/** The stage of many asks. */
export const manyAsks = async (rig: AlphaWorld, t: Teardown): Promise<{ wire: Wire }> => {
  const { place, sandbox } = rig
  // What a power cut would leave is no question here, and syncing takes most of the time.
  const store = openStore({
    dir: place.stateDir, configDir: place.configDir, mode: 'write',
    files: { ...nodeFiles, sync: () => undefined },
  })
  t.teardown(() => store.close())
  const pauses: number[] = []
  const clock = skippingClock(pauses)
  const gov = { store, clock, observer: silentObserver, face: 'cli' } as const
  const session = authenticate(gov, loadToken(tokenPath(store.dir)))
  const { provider } = deploymentProfile(store)
  const client = createHttpsClient({
    clock, env: {}, execArgv: [], ca: [sandbox.caPem], loopbackOnly: true,
    resolve: async () => { throw new Error('no name is looked up here') },
  })
  const { signal } = new AbortController()
  const ctx = { gov, provider, client: async () => client, signal }

  const outcome = async (): Promise<Pick<Asked, 'result' | 'error' | 'status'>> => {
    const request = { question, maxOutputTokens: null, goalId: null, idempotencyKey: randomUUID() }
    try {
      return { result: await ask(ctx, session, request), error: null, status: 0 }
    } catch (thrown) {
      const error = failureOf(thrown)
      return { result: null, error, status: exitStatus[error.kind] }
    }
  }

  /** Every row of a table replies under the same id; each is asked as if it were the first. */
  const forgetBillingUuids = (): Promise<void> =>
    store.transact('test', (tx) => {
      for (const { id } of tx.all(billingUuidCollection)) tx.remove(billingUuidCollection, id)
    })

  const askOnce = async (
    { completion, billing, idsStayTaken = false }: Replies = {},
  ): Promise<Asked> => {
    sandbox.faults.clear()
    if (completion) sandbox.faults.reply(onWire(completion), { route: 'completion' })
    if (billing) sandbox.faults.reply(onWire(billing), { route: 'billing' })
    const before = { inferences: rig.inferences().length, billings: rig.billings().length }
    pauses.length = 0
    if (!idsStayTaken) await forgetBillingUuids()
    const ended = await outcome()
    const view = store.read()
    const taskId = ended.result?.task.task_id ?? String(ended.error?.details['task_id'])
    const task = view.get(collections.openTasks, taskId)
      ?? view.get(collections.closedTasks, taskId)
    if (!task) throw new Error('an ask without a task')
    const reservation = findReservation(view, task.operation_id)
    return {
      ...ended, task, reservation,
      rows: (reservation?.row_ids ?? [])
        .map((id) => view.get(collections.ledgerRows, id))
        .filter((row) => row !== undefined),
      inferences: rig.inferences().length - before.inferences,
      billings: rig.billings().length - before.billings,
      pauses: [...pauses],
      keepsAnswer: view.all(collections.artifacts)
        .some(({ doc }) => doc.task_id === taskId && doc.label === alphaArtifactLabels.answer),
    }
  }

  const wire: Wire = {
    rig,
    model: provider.model_id,
    ask: askOnce,
    outputCode: ({ task }) => {
      try {
        readOutput(gov, session, task.task_id)
        return null
      } catch (error) {
        return failureOf(error).code
      }
    },
    filesWith: (bytes) => readdirSync(place.dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => readFileSync(path).includes(bytes)),
  }
  return { wire }
}
