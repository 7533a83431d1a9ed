/** Requests of closures: how they are made, sent and kept, and what must become of them. */
import { randomUUID } from 'node:crypto'
import { canonicalJson } from '../../../../src/base/canonical.js'
import { closeCapacity } from '../../../../src/codehost/closure/close.js'
import { closeRequestOf } from '../../../../src/codehost/jobs/closed/request.js'
import { followThroughKind } from '../../../../src/codehost/jobs/kinds.js'
import type { Told } from './deployment.js'
import type { Lived } from './lived.js'
import type { CloseWish, CrashWish } from './operations.js'
import { closeFate, isKept, type SentRequest } from './reference.js'

const missing = 99

/** What became of a closure: its receipt as canonical JSON, or why there is none. */
export type Closed = Told<string>

/** A request as it is written. */
export const requestJson = (request: SentRequest) => ({
  acknowledged_capacity_close: true, expected_job_revision: request.jobRevision,
  expected_connection_revision: request.connectionRevision,
  expected_connection_fence: request.fence, idempotency_key: request.key,
  ...(request.remoteId === undefined ? {} : { remote_id: request.remoteId }),
})

const hintFor = (lived: Lived, number: number, { hint }: CloseWish): number | undefined => {
  const { title } = lived.job(number)
  const { proved } = lived.model
  if (hint === 'none') return undefined
  if (hint === 'proved') return [...proved.keys()].at(-1) ?? missing
  const at = lived.titles().findLastIndex((one, index) =>
    (hint === 'right') === (one === title) && !proved.has(index + 1))
  return at === -1 ? missing : at + 1
}

/** The request of a closure as it is wished for: right, or wrong in one number. */
export const requestFor = (lived: Lived, number: number, wish: CloseWish): SentRequest => {
  const { numbers, key } = wish
  const model = lived.model
  const { revision } = lived.job(number)
  const past = (value: number, name: CloseWish['numbers']): number =>
    Math.max(1, numbers === name ? value - 1 : value)
  return {
    key: key === 'used' ? lived.sent.at(-1)?.request.key ?? randomUUID() : randomUUID(),
    jobRevision: numbers === 'job_next' ? revision + 1 : past(revision, 'job_past'),
    connectionRevision: past(model.revision, 'connection_past'),
    fence: past(Math.max(1, model.fence), 'fence_past'), remoteId: hintFor(lived, number, wish),
  }
}

/** Sends it. */
export const send = (
  lived: Lived, number: number, request: SentRequest,
  how: { readonly crash?: CrashWish | null; readonly at?: (step: string) => Promise<void> } = {},
): Promise<Closed> => {
  const read = closeRequestOf(requestJson(request), followThroughKind)
  return lived.at.line({ mode: 'alone', ...how }, async ({ ctx, session }) => {
    const { closure } = await closeCapacity(ctx, session, { jobId: lived.id(number), read })
    return canonicalJson(closure.receipt)
  })
}

/** What must become of it. */
export const fateOf = (lived: Lived, number: number, request: SentRequest) => {
  const { host } = lived.at
  return closeFate(lived.model, number, request, {
    titles: lived.titles(), faulty: host.readFault !== null,
  })
}

/** The model keeps it where the program must. */
export const keepSent = (lived: Lived, number: number, request: SentRequest): void => {
  if (isKept(lived.model, number, request)) {
    lived.model.pending.set(request.key, { job: number, request })
  }
}
