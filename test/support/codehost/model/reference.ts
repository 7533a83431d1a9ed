/**
 * The reference model of closing capacity, written from the states and transitions of the
 * specification: what each line must come to, and what it may change. It holds no row of the
 * program's; numbers that the specification leaves to the program are read and may only rise.
 */

/** A request to close, as it was sent. */
export interface SentRequest {
  readonly key: string
  readonly jobRevision: number
  readonly connectionRevision: number
  readonly fence: number
  readonly remoteId: number | undefined
}

/** States as the specification tells them apart. */
export type ModelState =
  | 'prepared' | 'approved' | 'succeeded' | 'blocked' | 'unknown_external_effect' | 'failed'
  | 'cancelled'

/** One job. */
export interface ModelJob {
  readonly title: string
  /** Session, consent and credential that it was prepared under. */
  readonly root: number
  readonly consent: number
  readonly vault: number
  state: ModelState
  /** As the program counts it. */
  revision: number
  reserved: boolean
  /** The number that the host told. */
  told: number | null
  closed: {
    readonly request: SentRequest
    readonly receipt: string
    /** The number that it rests on. */
    readonly remote: number
  } | null
  /** Looks behind its closure that found everything as it was sealed. */
  looks: number
}

/** Everything. */
export interface Model {
  root: number
  vault: number
  consent: { readonly id: number; readonly root: number; live: boolean }
  consents: number
  /** Number of the job that occupies the connection. */
  active: number | null
  fence: number
  revision: number
  readonly jobs: ModelJob[]
  /** Kept requests by key; a request is never replaced. */
  readonly pending: Map<string, { readonly job: number; readonly request: SentRequest }>
  /** What the host numbered and which job it proved. */
  readonly proved: Map<number, number>
  /** Rejections by the permanent fence that must have been written down, by job and route. */
  readonly fenced: string[]
}

/** As a deployment is made: a session, a connection and a live consent. */
export const freshModel = (revision: number, fence: number): Model => ({
  root: 0, vault: 0, consent: { id: 0, root: 0, live: true }, consents: 1, active: null, fence,
  revision, jobs: [], pending: new Map(), proved: new Map(), fenced: [],
})

/** Whether a job was closed under the consent: it authorizes none that comes after it. */
export const isSpent = ({ consent, jobs }: Model): boolean =>
  jobs.some((one) => one.closed !== null && one.consent === consent.id)

/** Whether the consent authorizes a job, or a new one, now. */
export const authorizes = (model: Model, job?: ModelJob): boolean => {
  const { consent, root, vault } = model
  const isOwn = job === undefined
    || (job.root === root && job.consent === consent.id && job.vault === vault)
  return consent.live && consent.root === root && !isSpent(model) && isOwn
}

/** What is on the host under a number, and what it does to the next reads. */
export interface HostTruth {
  readonly titles: readonly string[]
  readonly faulty: boolean
}

/** What closing must come to. `gets`: requests; null where a fault may keep one back. */
export type CloseFate =
  | { readonly kind: 'applied'; readonly receipt: string }
  | { readonly kind: 'closed'; readonly number: number }
  /** Refused with one of the codes, or blocked with the reason. */
  | { readonly kind: 'refused'; readonly codes: readonly string[]; readonly gets: number | null }

const refused = (...codes: readonly string[]): CloseFate => ({ kind: 'refused', codes, gets: 0 })
const blocked = (reason: string): CloseFate => refused(`closure_blocked ${reason}`)

const same = (one: SentRequest, other: SentRequest): boolean =>
  one.jobRevision === other.jobRevision && one.fence === other.fence
  && one.connectionRevision === other.connectionRevision && one.remoteId === other.remoteId

/** Who binds a key. */
const boundTo = (model: Model, key: string): number =>
  model.jobs.findIndex(({ closed }) => closed?.request.key === key)

/** Identity first, then what was applied, then whether it may be closed at all. */
const admission = (model: Model, number: number, request: SentRequest): CloseFate | null => {
  const job = model.jobs[number] as ModelJob
  if (job.root !== model.root) return refused('closure_root_ended')
  if (job.vault !== model.vault) return refused('credential_changed')
  const bound = boundTo(model, request.key)
  if (bound !== -1) {
    const { closed } = model.jobs[bound] as ModelJob
    return bound === number && closed !== null && same(closed.request, request)
      ? { kind: 'applied', receipt: closed.receipt } : refused('idempotency_conflict')
  }
  if (job.closed !== null) return refused('job_closed')
  const states: readonly ModelState[] = ['unknown_external_effect', 'blocked', 'failed']
  if (!states.includes(job.state) || !job.reserved || model.active !== number) {
    return refused('job_not_closable')
  }
  if (request.jobRevision !== job.revision) return refused('stale_job_revision')
  if (request.connectionRevision !== model.revision) return refused('stale_connection_revision')
  return request.fence === model.fence ? null : refused('stale_connection_fence')
}

/** Whether a request gets as far as being kept; only then may it be in `pending/`. */
export const isKept = (model: Model, number: number, request: SentRequest): boolean => {
  const kept = model.pending.get(request.key)
  return admission(model, number, request) === null
    && (kept === undefined || (kept.job === number && same(kept.request, request)))
}

/** What closing must come to, given what the host has. */
export const closeFate = (
  model: Model, number: number, request: SentRequest, host: HostTruth,
): CloseFate => {
  const early = admission(model, number, request)
  if (early !== null) return early
  if (!isKept(model, number, request)) return refused('idempotency_conflict')
  const job = model.jobs[number] as ModelJob
  if (job.told !== null && request.remoteId !== undefined && job.told !== request.remoteId) {
    return blocked('remote_id_differs')
  }
  const remote = job.told ?? request.remoteId
  if (remote === undefined) return blocked('remote_id_required')
  const proved = model.proved.get(remote)
  if (proved !== undefined && proved !== number) return blocked('remote_taken')
  // Whatever is not the very thing that was sent, whole and positive, is no evidence.
  if (host.faulty || host.titles[remote - 1] !== job.title) {
    return { kind: 'refused', codes: ['closure_blocked'], gets: null }
  }
  return { kind: 'closed', number: remote }
}

/**
 * What a look behind a closure must come to: refused with a code before anybody is asked, blocked
 * by what was read, or one more look. It is judged by the session, the credential, the closure
 * itself and the revision of the connection, in that order.
 */
export const lookFate = (
  model: Model, number: number, readRevision: number, host: HostTruth,
): 'seen' | 'blocked' | { readonly code: string } => {
  const job = model.jobs[number] as ModelJob
  if (job.root !== model.root) return { code: 'closure_root_ended' }
  if (job.vault !== model.vault) return { code: 'credential_changed' }
  if (job.closed === null) return { code: 'not_closed' }
  if (readRevision !== model.revision) return { code: 'stale_read_revision' }
  const isThere = host.titles[job.closed.remote - 1] === job.title
  return host.faulty || !isThere ? 'blocked' : 'seen'
}

/** The transition of a closure, and nothing besides. */
export const applyClosure = (
  model: Model, number: number, request: SentRequest, remote: number, receipt: string,
): void => {
  const job = model.jobs[number] as ModelJob
  job.revision += 1
  job.reserved = false
  job.closed = { request, receipt, remote }
  model.active = null
  model.proved.set(remote, number)
}

/** What an inspector must answer. */
export const verdictOf = (
  model: Model, number: number, request: SentRequest,
): 'applied' | 'stale' | 'inconclusive' => {
  const bound = boundTo(model, request.key)
  const job = model.jobs[number] as ModelJob
  if (bound !== -1) {
    const { closed } = model.jobs[bound] as ModelJob
    return bound === number && closed !== null && same(closed.request, request)
      ? 'applied' : 'stale'
  }
  const passed = job.closed !== null || job.revision > request.jobRevision
    || model.revision > request.connectionRevision || model.fence > request.fence
  return passed ? 'stale' : 'inconclusive'
}
