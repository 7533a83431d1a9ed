/** The code host over HTTP: closing capacity, what was kept, what was closed, and runs. */
import * as v from 'valibot'
import { fail } from '../../base/errors.js'
import { closedObject, strictInteger } from '../../base/schema.js'
import { requestOfBytes } from '../../codehost/closure/ask.js'
import { closeCapacity } from '../../codehost/closure/close.js'
import { codehostCloseCapacity, codehostInspect } from '../../codehost/closure/closure-contract.js'
import { closureLimits } from '../../codehost/jobs/closed/closed-job-limits.js'
import { inspectKept, inspectText } from '../../codehost/closure/look.js'
import { codehostObserve } from '../../codehost/closure/observe/observe-contract.js'
import { observeClosed } from '../../codehost/closure/observe/observe.js'
import { observeRequestOfBytes, observeShape } from '../../codehost/closure/observe/request.js'
import { followCloseShape, publicationCloseShape } from '../../codehost/jobs/closed/request.js'
import { connect, reconnect } from '../../codehost/connect.js'
import { codehostLimits } from '../../codehost/constants.js'
import { codehostConnect } from '../../codehost/codehost-contract.js'
import { requireOwnJob } from '../../codehost/jobs/change.js'
import { codehostRun } from '../../codehost/jobs/jobs-contract.js'
import { followThroughKind, publicationKind, type NativeKind } from '../../codehost/jobs/kinds.js'
import { runAlone } from '../../codehost/jobs/run.js'
import { onItsWay } from '../../codehost/jobs/next-step-now.js'
import { codehostContext } from '../../fabric/contexts/codehost.js'
import { codehost } from '../../fabric/operations/codehost.js'
import { afterField, limitField } from '../query.js'
import { Answered, smallBody, type Call, type QueryField, type Route } from '../route.js'
import { bodyOf, endedWithin, route, routeOf, smallJson } from '../route-of.js'

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
const secretOf = (token: string): Buffer => Buffer.from(token, 'utf8')

const saveNew = async ({ gov, session, asked }: Call): Promise<unknown> => {
  const request = bodyOf(newConnectionShape, asked)
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
  const { repo: repository, token: text, ...request } = bodyOf(connectionShape, asked)
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

/**
 * A run goes on in the process once its row says that it was begun; what it came to stands at the
 * job. What refuses it before stands nowhere: until then whoever asked waits, as long as a look at
 * the host may take.
 */
const runOne = async (call: Call): Promise<unknown> => {
  const { gov, session, world, asked } = call
  const jobId = requireOwnJob(gov.store.read(), session, jobOf(call)).job_id
  const work = runAlone(codehostContext(world, gov), session, jobId)
    .then((ran) => new Answered(200, codehostRun.answer(ran)))
  call.goOn(work)
  for (let waitMs = Math.max(soonMs, asked.waitMs); ; waitMs = soonMs) {
    const ended = await endedWithin(work, waitMs)
    if (ended !== null) return ended
    const view = gov.store.read()
    const now = onItsWay(gov, view, requireOwnJob(view, session, jobId))
    if (now.job.state !== 'running') continue
    return new Answered(202, codehostRun.answer([{ jobId, ...now, failure: null }]))
  }
}

const look = (kind: NativeKind) => async (call: Call): Promise<unknown> => {
  const { gov, session, world, asked } = call
  const jobId = requireKind(call, kind)
  return codehostObserve.answer(await observeClosed(codehostContext(world, gov), session, {
    jobId, request: observeRequestOfBytes(asked.body),
  }))
}

const historyField: QueryField =
  { name: 'history', what: 'One of its histories too.', kind: 'text' }
const pageFields: readonly QueryField[] = [
  { ...afterField, what: 'Only those behind this id.' },
  { ...limitField, what: 'At most so many, 1 to 1,000 (default 50).' },
]

const base = '/capabilities/codehost'
const job = `${base}/jobs/{job_id}` as const

/** What jobs of one kind have at a path of their own. */
const closing = (
  kind: NativeKind, path: `/${string}`, shape: v.GenericSchema, name: string,
): readonly Route[] => [
  route(codehostCloseCapacity, `POST ${path}/close-capacity`,
    'Closes the capacity that a job occupies, by positive proof; reads by GET alone.', {
      mode: 'alone', where: 'thread', run: close(kind),
      body: { shape, name, required: true, bytesMax: closureLimits.requestBytesMax },
    }),
  route(codehostInspect, `GET ${path}/close-capacity/pending`,
    'What became of a pending request: applied, stale or inconclusive. Closes nothing.', {
      verb: 'codehost recover inspect', mode: 'read', run: inspect(kind), query: [{
        name: 'request', what: 'The exact pending request as JSON, at most 2,048 characters.',
        kind: 'text',
      }],
    }),
  route(codehostObserve, `POST ${path}/observe-closure`,
    'Looks once more, by GET, at what a closure proved.', {
      verb: 'codehost recover observe', mode: 'alone', where: 'thread', run: look(kind),
      body: {
        ...smallJson(observeShape, 'sallyport.codehost.observe.body.v1'),
        bytesMax: closureLimits.requestBytesMax,
      },
    }),
]

/** A body that may hold a token. */
const tokenJson = (shape: v.GenericSchema, name: string) =>
  ({ ...smallJson(shape, name), bytesMax: smallBody + codehostLimits.tokenBytesMax })

/** The routes. */
export const codehostRoutes: readonly Route[] = [
  ...closing(publicationKind, `${base}/repo-publication/jobs/{job_id}`, publicationCloseShape,
    'sallyport.codehost.close-publication.input.v1'),
  ...closing(followThroughKind, job, followCloseShape,
    'sallyport.codehost.close-follow-through.input.v1'),
  route(codehostRun, `POST ${job}/run`,
    'Runs an approved job; what takes longer goes on, and the job tells of it.', {
      mode: 'mutate', where: 'thread', waits: true, run: runOne,
      later: { status: 202, contract: codehostRun },
    }),
  routeOf(codehost.jobs, `GET ${base}/jobs`, 'Your jobs.', {
    paged: true, query: [
      { name: 'connection', what: 'Only those of this connection.', kind: 'text' },
      { name: 'state', what: 'Only those in this state.', kind: 'text' },
      ...pageFields,
    ],
  }),
  routeOf(codehost.job, `GET ${job}`, 'One job, its way on, its closure.', {
    verb: 'codehost jobs JOB', query: [historyField],
  }),
  routeOf(codehost.closures, `GET ${base}/closures`, 'Closures, newest first.', {
    verb: 'codehost recover closures', paged: true, query: pageFields,
  }),
  routeOf(codehost.closures, `GET ${base}/closures/{closure_id}`,
    'One closure with its canonical receipt.', {
      verb: 'codehost recover closures', given: { receipt: true },
    }),
  routeOf(codehost.connections, `GET ${base}/connections`, 'Your connections, oldest first.'),
  route(codehostConnect, `POST ${base}/connections`,
    'Saves a new connection; it allows nothing until a consent.', {
      mode: 'mutate', status: 201, run: saveNew,
      body: tokenJson(newConnectionShape, 'sallyport.codehost.connection.input.v1'),
    }),
  route(codehostConnect, `PUT ${base}/connections/{connection_id}`,
    'Saves another token, repository or mode; it ends what was consented to.', {
      mode: 'mutate', run: saveAgain,
      body: tokenJson(connectionShape, 'sallyport.codehost.connection-change.input.v1'),
    }),
]
