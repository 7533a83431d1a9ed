/** A session as text. */
import type { SessionDocument } from '../../../governance/session/contract.js'
import { fieldLines } from '../../text.js'

/** One word for how a session stands. */
export const sessionState = ({ live, ended_reason }: SessionDocument): string =>
  live ? 'live' : ended_reason === null ? 'expired' : `ended (${ended_reason})`

/** A session as lines of text. */
export const sessionText = (facts: SessionDocument): string => fieldLines([
  ['session', facts.id],
  ['owner', facts.principal],
  ['state', sessionState(facts)],
  ['opened', facts.issued_at],
  ['last use', facts.last_use_at],
  ['idle until', facts.idle_expires_at],
  ['expires', facts.expires_at],
])
