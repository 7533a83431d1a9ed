/** Who decides at a server that takes no record yet, or none any more: see `fabric/machines`. */
import { SallyportError } from '../../../base/errors.js'
import type { Gov } from '../../../governance/context.js'
import type { Command } from 'commander'
import type { Operator } from '../../../fabric/machines/operator.js'
import type { VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'

/** What an owner proves himself with, as at `login`. */
export type OwnerLine = { readonly owner?: string; readonly passphraseFile?: string }

export const ownerFlags = (command: Command): Command => command
  .option('--owner <name>', 'who decides, where no session is live and there are several owners')
  .option('--passphrase-file <file>', 'the passphrase of that owner; - for stdin')

/**
 * The open state and who decides: whose session it is, or an owner who proves himself, because
 * nobody can sign in there. Throws `unauthorized` and `usage`/`owner_required`.
 */
export const operatorFor = async (
  deps: VerbDeps, line: OwnerLine,
): Promise<{ readonly gov: Gov; readonly operator: Operator }> => {
  const { operatorOf, provenOperator } = await import('../../../fabric/machines/operator.js')
  try {
    const { gov, session } = await workFor(deps, 'write')
    return { gov, operator: operatorOf(session) }
  } catch (error) {
    if (!(error instanceof SallyportError) || error.kind !== 'unauthorized') throw error
  }
  const gov = await deps.gov('write')
  const { passphraseOf } = await import('../login/login.js')
  const passphrase = await passphraseOf(deps, gov, line)
  return { gov, operator: await provenOperator(gov, { owner: line.owner, passphrase }) }
}
