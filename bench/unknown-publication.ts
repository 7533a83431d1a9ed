/** A publication of which everything was sent and nothing read back: what a closure begins with. */
import { randomUUID } from 'node:crypto'
import { jobCollection } from '../src/codehost/jobs/job-rows.js'
import { connectionCollection } from '../src/governance/connections/connection-rows.js'
import { approvedPublication, type Files } from './approved-publication.js'

/** Makes one, in a state of its own. `request` is the path of a request that closes its job. */
export const unknownPublication = async (
  profileFile: string, files: Files,
) => {
  const { world, connection: id, job, end } = await approvedPublication(profileFile, files)
  const { place, run } = world
  const stop = new AbortController()
  await run(['codehost', 'run', job], { stop: stop.signal, at: (step) => {
    if (step === 'codehost.created') stop.abort()
  } })
  const [row, connection] = [
    world.view().get(jobCollection, job), world.view().get(connectionCollection, id)]
  const request = place.write('close.json', JSON.stringify({
    acknowledged_capacity_close: true, expected_job_revision: row?.revision,
    expected_connection_revision: connection?.revision,
    expected_connection_fence: connection?.active_fence, idempotency_key: randomUUID(),
  }))
  return { world, job, request, end }
}
