/** Closes by the use case itself, with limits, a store or a client of the test's own. */
import { SallyportError } from '../../../src/base/errors.js'
import { closeCapacity } from '../../../src/codehost/closure/close.js'
import { closureKinds } from '../../../src/codehost/closure/kinds.js'
import type { PublicationReadLimits } from '../../../src/codehost/closure/closure-limits.js'
import { closeRequestOf } from '../../../src/codehost/jobs/closed/request.js'
import { codehostBase } from '../../../src/codehost/context.js'
import type { Gov } from '../../../src/governance/context.js'
import { deploymentProfile } from '../../../src/governance/profile.js'
import { createHttpsClient } from '../../../src/net/client.js'
import type { HttpsClient } from '../../../src/net/types.js'
import type { Closing } from './closing.js'

/** What stands in the place of the program's own. */
export interface Instead {
  readonly store?: (store: Gov['store']) => Gov['store']
  readonly client?: HttpsClient
}

/** Gives the reason of the refusal, or `closed`. */
export const closeWith = async (
  at: Closing, job: string, limits: Partial<PublicationReadLimits>,
  step: (name: string) => void = () => undefined, { store, client: given }: Instead = {},
): Promise<string> => {
  const { gov } = at
  const client = given ?? createHttpsClient({
    clock: at.clock, env: {}, execArgv: [], resolve: async () => [], loopbackOnly: true,
    ca: [deploymentProfile(gov.store).ca_pem ?? ''],
  })
  const ctx = {
    gov: { ...gov, store: store?.(gov.store) ?? gov.store, observer: { at: step } },
    signal: new AbortController().signal, baseUrl: codehostBase(gov),
    client: async () => client,
  }
  const kind = at.job(job).native_kind
  try {
    await closeCapacity(ctx, at.session(), {
      jobId: job, read: closeRequestOf(at.request(job), kind),
      limits: { ...closureKinds[kind].limits, ...limits },
    })
    return 'closed'
  } catch (error) {
    if (error instanceof SallyportError) return error.reason ?? error.code
    throw error
  }
}
