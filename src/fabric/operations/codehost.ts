import { codehostClosures } from '../../codehost/closure/closure-contract.js'
import { listClosures, showClosure } from '../../codehost/closure/look.js'
import { sealedReadText } from '../../codehost/closure/offline/given.js'
import { closureView } from '../../codehost/closure/projection.js'
import { listedConnections } from '../../codehost/connections.js'
import { codehostConnections } from '../../codehost/codehost-contract.js'
import { codehostJob, codehostJobs } from '../../codehost/jobs/jobs-contract.js'
import { listJobs, showJob, shownReadback } from '../../codehost/jobs/list.js'
import { firstPart, operation } from '../operation.js'

/** Connections, jobs and closures of a code host, as they are looked at. */
export const codehost = {
  connections: operation(codehostConnections, 'see', ({ gov, session }) =>
    listedConnections(gov, session)),
  jobs: operation(codehostJobs, 'see', (work, request) => {
    const { gov, session } = work
    const view = gov.store.read()
    return firstPart(work, request.limit, (limit) =>
      listJobs(gov, view, session, { ...request, limit }), ({ job }) => job.job_id)
      .map((one) => ({ ...one, ...closureView(view, session, one.job) }))
  }),
  job: operation(codehostJob, 'see', ({ gov, session }, { job, history, readback }) => {
    const view = gov.store.read()
    const shown = showJob(gov, view, session, job, history)
    return {
      ...shown, ...closureView(view, session, shown.job),
      readback: readback === undefined ? null : sealedReadText(shownReadback(view, job, readback)),
    }
  }),
  closures: operation(codehostClosures, 'read', (work, request) => {
    const { gov: { store }, session } = work
    const { closure, after, limit, receipt = false } = request
    const view = store.read()
    return closure === undefined
      ? firstPart(work, limit, (most) => listClosures(view, session, { after, limit: most }),
        (one) => one.closure_id)
      : { closure: showClosure(view, session, closure), receipt }
  }),
}
