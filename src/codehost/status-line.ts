import { countText } from '../base/counted.js'
import type { StatusLine } from '../governance/capability.js'
import type { Gov } from '../governance/context.js'
import { deploymentProfile } from '../governance/profile.js'
import { grantStateAt } from '../governance/connections/find-connection.js'
import { connectionCollection } from '../governance/connections/connection-rows.js'
import type { View } from '../state/types.js'
import { openJobCount } from './jobs/list.js'
import type { JobState } from './jobs/job-rows.js'

/** States in which a job waits for a person and occupies its connection, the worst first. */
const waiting: readonly JobState[] = ['unknown_external_effect', 'failed']

/** Consents of anybody that authorize writes now, whatever became of the policy before. */
const inForce = (gov: Gov, view: View): string => {
  const lying = gov.store.stops.lying()
  const count = view.all(connectionCollection)
    .filter(({ doc }) => grantStateAt(gov, view, doc, lying) === 'issued').length
  return count === 0 ? '' : ` ${countText(count, 'consent')} to write ${
    count === 1 ? 'is' : 'are'} in force. See: \`sallyport codehost connections --grants\``
}

/**
 * The code host in one line of `status`: jobs that wait for a person come before all else. Consents
 * to write are told with every status: one that is given behind a revoke stands beside it.
 */
export const codehostStatusLine = (gov: Gov, view: View): StatusLine => {
  if (deploymentProfile(gov.store).codehost === null) {
    return { status: 'disabled', reason_code: 'codehost_not_in_profile' }
  }
  for (const state of waiting) {
    const found = openJobCount(view, state)
    if (found === 0) continue
    const what = state === 'failed' ? 'that the host refused' : 'whose effects nobody read back'
    return {
      status: 'blocked', reason_code: state,
      reason: `${countText(found, 'job')} ${what} ${found === 1 ? 'occupies' : 'occupy'} a `
        + `connection. See: \`sallyport codehost jobs\`.${inForce(gov, view)}`,
    }
  }
  if (view.all(connectionCollection).length === 0) {
    return { status: 'disabled', reason_code: 'no_connection' }
  }
  const consents = inForce(gov, view).trim()
  return {
    status: 'configured', reason_code: null, ...(consents === '' ? {} : { reason: consents }),
  }
}
