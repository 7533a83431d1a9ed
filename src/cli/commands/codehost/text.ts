/** A connection and its consent as text. */
import type { ConnectionDocument } from '../../../codehost/contract.js'
import { fieldLines } from '../../text.js'

/** What its consent allows, in one line. */
export const consentLine = ({ consent }: Pick<ConnectionDocument, 'consent'>): string => {
  if (consent === null) return 'none was ever given'
  const until = consent.state === 'issued' ? ` until ${consent.expires_at}` : ''
  return `${consent.state}${until}: ${consent.actions.join(', ')}`
}

/** A connection as lines of text. */
export const connectionText = (one: ConnectionDocument): string => fieldLines([
  ['connection', one.id],
  ['repository', one.repository_id === null
    ? one.repository : `${one.repository} (number ${one.repository_id})`],
  ['mode', one.mode],
  ['revision', String(one.revision)],
  ['opt-in', one.opt_in ? 'given' : 'not given'],
  ['consent', consentLine(one)],
  ...(one.consent === null ? [] : [['session', one.consent.root] as const]),
  ['capacity', one.active_job_id === null ? 'free' : `occupied by ${one.active_job_id}`],
])
