/**
 * The permanent fence of a closed job. It lies in the job's row, in the row of its closure and as
 * the newest line of its checkpoints; any of the three is enough, so that no lost or altered one
 * lets a closed job run again (C-055, C-091, C-095 to C-103).
 */
import { fail, SallyportError } from '../../../base/errors.js'
import { appendAudit } from '../../../governance/audit.js'
import { nowIso, type Gov, type Session } from '../../../governance/context.js'
import { historyHead, historyPage } from '../../../state/history/read-history.js'
import { rowsUnder } from '../../../state/indexes.js'
import { ofRows } from '../../../state/row-memo.js'
import type { View } from '../../../state/types.js'
import { checkpointHistory } from '../histories.js'
import type { Job } from '../job-rows.js'
import { closureCollection, closuresByJob } from './closed-job-rows.js'

/** The closure that the last checkpoint of a job names; null where it names none. */
export const checkpointClosure = (view: View, jobId: string): string | null => {
  const { entries } = historyHead(view, checkpointHistory, jobId)
  if (entries === 0) return null
  const [last] = historyPage(view, checkpointHistory, jobId, { after: entries - 1, limit: 1 })
  return last?.entry.what === 'closed' ? last.entry.closure_id : null
}

/** The closure that its own row or a checkpoint names. */
const closureBeside = ofRows((view, jobId): string | null => {
  const [row] = rowsUnder(view, closureCollection, closuresByJob, { under: [jobId], limit: 1 })
  return row?.id ?? checkpointClosure(view, jobId)
})

/** The closure that fences a job for good; null for one that is not closed. */
export const closedBy = (view: View, job: Pick<Job, 'job_id' | 'closed'>): string | null => {
  if (job.closed !== null) return job.closed.closure_id
  return closureBeside(view, job.job_id)
}

/** Every way in which a job could run, hold or count again; each asks at its last moment. */
export const fencedRoutes = [
  'execute', 'approved_resume', 'lease_claim', 'recover', 'producer_spawn', 'post_handoff',
  'reserve', 'reacquire', 'finalize', 'adopt',
] as const
type FencedRoute = (typeof fencedRoutes)[number]

type Fenced = Pick<Job, 'job_id' | 'closed' | 'fence'>

const jobClosed = (job: Fenced, closure: string, of: { readonly route?: FencedRoute } = {}) =>
  fail.conflict('job_closed', 'The capacity of this job was closed: it never runs again.', {
    reason: 'job_closed', next: 'Prepare another job, under a consent of after that closure. See: '
      + '`sallyport codehost recover closures`.',
    details: {
      job_id: job.job_id, closure_id: closure, ...of, reasons: 'job_closed',
      fence: job.closed?.fence ?? job.fence,
    },
  })

/** Throws `conflict` `job_closed`, naming the route, unless the job is not closed. */
export const requireUnclosed = (view: View, job: Fenced, route: FencedRoute): void => {
  const closure = closedBy(view, job)
  if (closure !== null) throw jobClosed(job, closure, { route })
}

/**
 * The same for giving a job up: what its closure says of job and task stays true (C-022, C-124). No
 * route leads on from there, so that nothing of it is written down.
 */
export const requireNotClosed = (view: View, job: Fenced): void => {
  const closure = closedBy(view, job)
  if (closure !== null) throw jobClosed(job, closure)
}

interface FenceRejection {
  readonly jobId: string
  readonly closureId: string
  readonly route: FencedRoute
  readonly fence: number
}

const causesMax = 8

/** The rejection that an error tells of, itself or by what caused it; null for any other. */
export const fenceRejection = (error: unknown): FenceRejection | null => {
  let one = error
  for (let depth = 0; depth < causesMax && one instanceof Error; depth += 1) {
    const { route, job_id: jobId, closure_id: closureId, fence } =
      one instanceof SallyportError && one.code === 'job_closed' ? one.details : {}
    const known = fencedRoutes.find((name) => name === route)
    if (known !== undefined) {
      return {
        route: known, jobId: String(jobId), closureId: String(closureId), fence: Number(fence),
      }
    }
    one = one.cause
  }
  return null
}

type Asker = Pick<Session, 'principal' | 'root'>

/** Writes the row of a rejection (C-180); nothing for any other error. */
export const auditFenced = async (gov: Gov, asker: Asker, error: unknown): Promise<void> => {
  const rejection = fenceRejection(error)
  if (rejection === null) return
  const { jobId, closureId, route, fence } = rejection
  await gov.store.transact('codehost fence', (tx) => appendAudit(tx, nowIso(gov), {
    what: 'codehost.fenced', principal: asker.principal.principal_id,
    root: asker.root.root_id, subject: jobId, facts: { route, fence, closure: closureId },
  }))
}

/** Runs a route; what the fence rejects is written down, and thrown on as it is. */
export const fenced = async <T>(gov: Gov, asker: Asker, work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    await auditFenced(gov, asker, error)
    throw error
  }
}
