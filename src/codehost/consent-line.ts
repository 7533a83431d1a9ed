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

/**
 * What comes before a consent while a job occupies the connection, for none is given until then;
 * null where it is free.
 */
export const occupiedHint = ({ active_job_id: job }: Pick<Connection, 'active_job_id'>) =>
  (job === null ? null
    : 'A job occupies the connection, and no consent is given until it is settled: '
      + `\`sallyport codehost jobs ${job}\`.`)

/** How a consent is given as the connection stands now. */
export const consentWay = (connection: Connection, actions: readonly CodehostAction[]): string =>
  occupiedHint(connection) ?? `Give one: \`${consentLine(connection, actions)}\`.`

/** Whether a write was refused because no consent stands for it: another one would. */
export const lacksConsent = (error: unknown): error is SallyportError =>
  error instanceof SallyportError && error.code === 'codehost_write_denied'
  && (error.reason === 'action_not_allowed' || error.reason?.startsWith('consent_') === true)

/** The same refusal, with how the consent is given as the way on. */
export const withConsentLine = (
  { kind, code, message, reason, details }: SallyportError, connection: Connection,
  actions: readonly CodehostAction[],
): SallyportError => new SallyportError({
  kind, code, message, details, next: consentWay(connection, actions),
  ...(reason === null ? {} : { reason }),
})
