import { fail } from '../base/errors.js'
import type { ContactContext } from '../contact/order.js'
import { deploymentProfile } from '../governance/profile.js'
import type { Gov } from '../governance/context.js'
import type { ToolPlaces } from './producer/tools.js'

/** What every use case that reaches the code host works with. */
export interface CodehostContext extends ContactContext {
  /** Where the host is, out of the sealed profile; no slash at its end. */
  readonly baseUrl: string
  /** Where the producer is found; left out: where it is installed. */
  readonly producer?: ToolPlaces
  /** Told of each piece of evidence as it comes, for who looks on. Never throws. */
  readonly watchEvidence?: (seen: EvidenceSeen) => void
}

/** One read of a closure that has come to its end. */
export interface EvidenceSeen {
  /** What was read. */
  readonly path: string
  /** Null where it is as it must be, else the sentence of what is missing. */
  readonly missing: string | null
  /** It is as it must be, and was changed since it was made. */
  readonly edited: boolean
  readonly gets: number
  readonly getsMax: number
  /** Milliseconds left of the window. */
  readonly leftMs: number
}

/**
 * Where the code host of an open store is. Throws `blocked` `codehost_not_in_profile` where the
 * profile, which is sealed for good, names none.
 */
export const codehostBase = ({ store }: Pick<Gov, 'store'>): string => {
  const { codehost } = deploymentProfile(store)
  if (codehost !== null) return codehost.base_url.replace(/\/+$/, '')
  throw fail.blocked(
    'codehost_not_in_profile', 'The profile of this state names no code host.', {
      next: 'A profile is sealed for good: make another state with one that names `codehost`.',
    },
  )
}
