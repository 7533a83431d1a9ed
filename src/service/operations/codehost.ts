/** The code host over HTTP: closing capacity, what was kept, what was closed, and runs. */
import * as v from 'valibot'
import { fail } from '../../base/errors.js'
import { firstRows } from '../../base/page.js'
import { closedObject, parseClosed, strictInteger } from '../../base/schema.js'
import { requestOfBytes } from '../../codehost/closure/ask.js'
import { closeCapacity } from '../../codehost/closure/close.js'
import {
  codehostCloseCapacity, codehostClosures, codehostInspect,
} from '../../codehost/closure/contract.js'
import { closureLimits } from '../../codehost/closure/limits.js'
import { inspectKept, inspectText, listClosures, showClosure } from '../../codehost/closure/look.js'
import { codehostObserve } from '../../codehost/closure/observe/contract.js'
import { observeClosed } from '../../codehost/closure/observe/observe.js'
import { observeRequestOfBytes, observeShape } from '../../codehost/closure/observe/request.js'
import { closureView } from '../../codehost/closure/projection.js'
import { followCloseShape, publicationCloseShape } from '../../codehost/closure/request.js'
import { connect, reconnect } from '../../codehost/connect.js'
import { codehostLimits } from '../../codehost/constants.js'
import { codehostConnect, codehostConnections } from '../../codehost/contract.js'
import { requireOwnJob } from '../../codehost/jobs/change.js'
import { codehostJob, codehostJobs, codehostRun } from '../../codehost/jobs/contract.js'
import { listJobs, showJob } from '../../codehost/jobs/list.js'
import { followThroughKind, publicationKind, type NativeKind } from '../../codehost/jobs/kinds.js'
import { runFailure, runJob } from '../../codehost/jobs/run.js'
import { onItsWay } from '../../codehost/jobs/way-now.js'
import { codehostContext } from '../../fabric/contexts/codehost.js'
import { listedConnections } from '../../codehost/connections.js'
import {
  Answered, jsonOf, ListPart, smallBody, type Call, type Operation, type QueryField,
} from '../operation.js'
import { pagedField, requestOfQuery } from '../query.js'

const param = ({ asked: { params } }: Call, name: string): string => params[name] ?? ''
const jobOf = (call: Call): string => param(call, 'job_id')

/** A job of another kind is not found at this route (C-112, C-128). */
const requireKind = (call: Call, kind: NativeKind): string => {
  const { gov, session } = call
  const job = requireOwnJob(gov.store.read(), session, jobOf(call))
  if (job.native_kind === kind) return job.job_id
  throw fail.notFound('job_not_found', 'There is no such job at this endpoint.', {
    next: 'Publications are closed at their own endpoint: see GET /openapi.json.',
  })
}

const close = (kind: NativeKind) => async (call: Call): Promise<unknown> => {
  const { gov, session, world, asked } = call
  const jobId = requireKind(call, kind)
  const read = requestOfBytes(gov, session, jobId, asked.body)
  return codehostCloseCapacity.answer(
    await closeCapacity(codehostContext(world, gov), session, { jobId, read }))
}

const pendingFields: readonly QueryField[] = [{
  name: 'request', what: 'The exact pending request as JSON, at most 2,048 characters.',
  kind: 'text',
}]

const inspect = (kind: NativeKind) => async (call: Call): Promise<unknown> => {
  const { gov, session, asked } = call
  const jobId = requireKind(call, kind)
  const text = asked.query['request']
  return codehostInspect.answer(text === undefined
    ? inspectKept(gov, session, { jobId, key: undefined })
    : inspectText(gov, session, jobId, text))
}

const revision = strictInteger(1, Number.MAX_SAFE_INTEGER)
const mode = v.optional(v.picklist(['disabled', 'reconcile_only']))
const newConnectionShape = closedObject({ repo: v.string(), token: v.string(), mode })
const connectionShape = closedObject({
  repo: v.optional(v.string()), token: v.optional(v.string()), mode,
  expected_revision: revision,
})
const about = { code: 'request_invalid', what: 'the request' }

const secretOf = (token: string): Buffer => Buffer.from(token, 'utf8')

const saveNew = async ({ gov, session, asked }: Call): Promise<unknown> => {
  const request = parseClosed(newConnectionShape, jsonOf(asked), about)
  const token = secretOf(request.token)
  try {
    return codehostConnect.answer(await connect(gov, session, {
      repository: request.repo, mode: request.mode ?? 'disabled', token,
    }))
  } finally {
    token.fill(0)
  }
}

const saveAgain = async (call: Call): Promise<unknown> => {
  const { gov, session, asked } = call
  const { repo: repository, token: text, ...request } =
    parseClosed(connectionShape, jsonOf(asked), about)
  const token = text === undefined ? undefined : secretOf(text)
  try {
    return codehostConnect.answer(await reconnect(gov, session, {
      connectionId: param(call, 'connection_id'), expectedRevision: request.expected_revision,
      repository, mode: request.mode, token,
    }))
  } finally {
    token?.fill(0)
  }
}

/** What ends this soon is answered whole; ms. */
const soonMs = 500

const pause = (ms: number): Promise<null> =>
  new Promise((resolve) => void setTimeout(() => resolve(null), ms).unref())

/** A run goes on in the process; what it came to stands at the job. */
const runOne = async (call: Call): Promise<unknown> => {
  const { gov, session, world, asked } = call
  const jobId = requireOwnJob(gov.store.read(), session, jobOf(call)).job_id
  const work = runJob(codehostContext(world, gov), session, jobId).then((ran) => {
    const failure = runFailure(gov, ran)
    if (failure !== null) throw failure
    const done = onItsWay(gov, gov.store.read(), ran.job)
    return new Answered(200, codehostRun.answer([{ jobId, ...done, failure: null }]))
  })
  call.goOn(work)
  const ended = await Promise.race([work, pause(Math.max(soonMs, asked.waitMs))])
  if (ended !== null) return ended
  const view = gov.store.read()
  const now = onItsWay(gov, view, requireOwnJob(view, session, jobId))
  return new Answered(202, codehostRun.answer([{ jobId, ...now, failure: null }]))
}

const pageFields: readonly QueryField[] = [
  { name: 'after', what: 'Only those behind this id.', kind: 'text' },
  { name: 'limit', what: 'At most so many, 1 to 1,000 (default 50).', kind: 'integer' },
  pagedField,
]
const jobFields: readonly QueryField[] = [
  { name: 'connection', what: 'Only those of this connection.', kind: 'text' },
  { name: 'state', what: 'Only those in this state.', kind: 'text' },
  ...pageFields,
]
const historyFields: readonly QueryField[] = [
  { name: 'history', what: 'One of its histories too.', kind: 'text' },
]

const listConnections = async ({ gov, session }: Call): Promise<unknown> =>
  codehostConnections.answer(listedConnections(gov, session))

const listDefault = 50

const listAll = async ({ gov, session, asked }: Call): Promise<unknown> => {
  const request = codehostJobs.request(requestOfQuery(asked, jobFields))
  const view = gov.store.read()
  const { limit = listDefault } = request
  const { rows, last } =
    firstRows(listJobs(gov, view, session, { ...request, limit: limit + 1 }), limit)
  return new ListPart(
    codehostJobs.answer(rows.map((one) => ({ ...one, ...closureView(view, session, one.job) }))),
    last?.job.job_id ?? null)
}

const closuresOf = async ({ gov, session, asked }: Call): Promise<ListPart> => {
  const { after, limit = listDefault } =
    codehostClosures.request(requestOfQuery(asked, pageFields))
  const found = listClosures(gov.store.read(), session, { after, limit: limit + 1 })
  const { rows, last } = firstRows(found, limit)
  return new ListPart(
    codehostClosures.answer(rows) as readonly unknown[], last?.closure_id ?? null)
}

const showOne = async (call: Call): Promise<unknown> => {
  const { gov, session, asked } = call
  const { job, history } = codehostJob.request({
    ...requestOfQuery(asked, historyFields), job: jobOf(call),
  })
  const view = gov.store.read()
  const shown = showJob(gov, view, session, job, history)
  return codehostJob.answer({
    ...shown, ...closureView(view, session, shown.job), readback: null,
  })
}

const look = (kind: NativeKind) => async (call: Call): Promise<unknown> => {
  const { gov, session, asked } = call
  const jobId = requireKind(call, kind)
  return codehostObserve.answer(await observeClosed(codehostContext(call.world, gov), session, {
    jobId, request: observeRequestOfBytes(asked.body),
  }))
}

const base = '/capabilities/codehost'
const publications = `${base}/repo-publication/jobs/{job_id}`
const jobs = `${base}/jobs/{job_id}`

const closing = (
  kind: NativeKind, path: string, shape: v.GenericSchema, name: string,
): readonly Operation[] => [
  {
    contract: codehostCloseCapacity, method: 'POST', path: `${path}/close-capacity`,
    summary: 'Closes the capacity that a job occupies, by positive proof; reads by GET alone.',
    verb: 'codehost close-capacity', mode: 'alone', status: 200, where: 'thread',
    body: { shape, name, required: true, bytesMax: closureLimits.requestBytesMax },
    run: close(kind),
  },
  {
    contract: codehostInspect, method: 'GET', path: `${path}/close-capacity/pending`,
    summary: 'What became of a pending request: applied, stale or inconclusive. Closes nothing.',
    verb: 'codehost inspect', mode: 'read', body: null, status: 200, where: 'here',
    query: pendingFields, run: inspect(kind),
  },
  {
    contract: codehostObserve, method: 'POST', path: `${path}/observe-closure`,
    summary: 'Looks once more, by GET, at what a closure proved.', verb: 'codehost observe',
    mode: 'alone', status: 200, where: 'thread',
    body: {
      shape: observeShape, name: 'sallyport.codehost.observe.body.v1', required: true,
      bytesMax: closureLimits.requestBytesMax,
    },
    run: look(kind),
  },
]

/** The operations. */
export const codehostOperations: readonly Operation[] = [
  ...closing(publicationKind, publications, publicationCloseShape,
    'sallyport.codehost.close-publication.input.v1'),
  ...closing(followThroughKind, jobs, followCloseShape,
    'sallyport.codehost.close-follow-through.input.v1'),
  {
    contract: codehostRun, method: 'POST', path: `${jobs}/run`,
    summary: 'Runs an approved job; what takes longer goes on, and the job tells of it.',
    verb: 'codehost run', mode: 'mutate', body: null, status: 200, where: 'thread',
    later: { status: 202, contract: codehostRun }, waits: true, run: runOne,
  },
  {
    contract: codehostJobs, method: 'GET', path: `${base}/jobs`, summary: 'Your jobs.',
    verb: 'codehost jobs', mode: 'see', body: null, status: 200, where: 'here',
    query: jobFields, paged: true, run: listAll,
  },
  {
    contract: codehostJob, method: 'GET', path: jobs, summary: 'One job, its way on, its closure.',
    verb: 'codehost job', mode: 'see', body: null, status: 200, where: 'here',
    query: historyFields, run: showOne,
  },
  {
    contract: codehostClosures, method: 'GET', path: `${base}/closures`,
    summary: 'Closures, newest first.', verb: 'codehost closures', mode: 'read', body: null,
    status: 200, where: 'here', query: pageFields, paged: true, run: closuresOf,
  },
  {
    contract: codehostClosures, method: 'GET', path: `${base}/closures/{closure_id}`,
    summary: 'One closure with its canonical receipt.', verb: 'codehost closures', mode: 'read',
    body: null, status: 200, where: 'here',
    run: async (call) => codehostClosures.answer({
      closure: showClosure(call.gov.store.read(), call.session, param(call, 'closure_id')),
      receipt: true,
    }),
  },
  {
    contract: codehostConnections, method: 'GET', path: `${base}/connections`,
    summary: 'Your connections, oldest first.', verb: 'codehost connections', mode: 'see',
    body: null, status: 200, where: 'here', run: listConnections,
  },
  {
    contract: codehostConnect, method: 'POST', path: `${base}/connections`,
    summary: 'Saves a new connection; it allows nothing until a consent.',
    verb: 'codehost connect', mode: 'mutate', status: 201, where: 'here',
    body: {
      shape: newConnectionShape, name: 'sallyport.codehost.connection.input.v1', required: true,
      bytesMax: smallBody + codehostLimits.tokenBytesMax,
    },
    run: saveNew,
  },
  {
    contract: codehostConnect, method: 'PUT', path: `${base}/connections/{connection_id}`,
    summary: 'Saves another token, repository or mode; it ends what was consented to.',
    verb: 'codehost connect', mode: 'mutate', status: 200, where: 'here',
    body: {
      shape: connectionShape, name: 'sallyport.codehost.connection-change.input.v1',
      required: true, bytesMax: smallBody + codehostLimits.tokenBytesMax,
    },
    run: saveAgain,
  },
]
