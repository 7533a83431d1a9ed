/** Which token this process speaks with: the environment's (CI), else the terminal's own. */
import { SallyportError } from '../base/errors.js'
import type { Gov } from '../governance/context.js'
import { loadToken, tokenPath } from '../governance/session/token.js'
import type { CliDeps } from './deps.js'

/** The token in use, or null. An empty SALLYPORT_SESSION counts as absent. */
export const currentToken = (gov: Pick<Gov, 'store'>, env: CliDeps['env']): string | null =>
  env['SALLYPORT_SESSION'] || loadToken(tokenPath(gov.store.dir))

/** Runs something that takes the token in use; a refused one is told with where it came from. */
export const withTokenPlace = async <T>(env: CliDeps['env'], use: () => Promise<T>): Promise<T> => {
  try {
    return await use()
  } catch (cause) {
    const own = cause instanceof SallyportError && cause.kind === 'unauthorized'
    if (!own || !env['SALLYPORT_SESSION']) throw cause
    const { kind, code, message, reason, details } = cause
    throw new SallyportError({
      kind, code, message, details, cause, ...(reason === null ? {} : { reason }),
      next: 'It came from SALLYPORT_SESSION: unset that, or put the token of a new login there '
        + '(`sallyport login --token-file FILE`).',
    })
  }
}
