/** The line that gives a consent, whole but for the acknowledgment: that is asked for. */
import { SallyportError } from '../base/errors.js'
import type { Connection } from '../governance/connections/connection-rows.js'
import type { CodehostAction } from './constants.js'

/** For these actions, for as long as a consent lasts when nobody says how long. */
export const consentLine = (
  { connection_id: id, revision }: Pick<Connection, 'connection_id' | 'revision'>,
  actions: readonly CodehostAction[],
): string => `sallyport codehost consent ${id} --action ${actions.join(' ')} `
  + `--expected-revision ${revision}`

/** Whether a write was refused because no consent stands for it: another one would. */
export const lacksConsent = (error: unknown): error is SallyportError =>
  error instanceof SallyportError && error.code === 'codehost_write_denied'
  && (error.reason === 'action_not_allowed' || error.reason?.startsWith('consent_') === true)

/** The same refusal, with the line that gives the consent as the way on. */
export const withConsentLine = (
  { kind, code, message, reason, details }: SallyportError, connection: Connection,
  actions: readonly CodehostAction[],
): SallyportError => new SallyportError({
  kind, code, message, details, next: `Give one: \`${consentLine(connection, actions)}\`.`,
  ...(reason === null ? {} : { reason }),
})
