/** Which token this process speaks with: the environment's (CI), else the terminal's own. */
import { authenticate } from '../governance/session/authenticate.js'
import { loadToken, tokenPath } from '../governance/session/token.js'
import type { Gov } from '../governance/gov.js'
import type { Session } from '../governance/session/types.js'
import type { CliDeps } from './deps.js'

/** The token in use, or null. An empty SALLYPORT_SESSION counts as absent. */
export const currentToken = (gov: Gov, env: CliDeps['env']): string | null =>
  env['SALLYPORT_SESSION'] || loadToken(tokenPath(gov.store.dir))

/** The operator behind this process. Throws `unauthorized`. */
export const authenticateCli = (
  gov: Gov, env: CliDeps['env'], options: { readonly touch?: boolean } = {},
): Session => authenticate(gov, currentToken(gov, env), options)
