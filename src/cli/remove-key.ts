/** `--remove-key`: the key of a route leaves the state, and the route is disabled with it. */
import { fail } from '../base/errors.js'
import type { Configuration } from '../fabric/configuration.js'
import type { Work } from '../fabric/operation.js'
import type { VerbDeps } from './verb.js'
import { saveListing } from './voids.js'

/** The flag of the saving verbs and its help. */
export const removeKeyFlag = [
  '--remove-key', 'disable the route and take its key out of this state',
] as const

/** Throws `usage` `several_sources` unless the flag stands alone. */
export const requireAlone = (given: readonly string[]): void => {
  if (given.length === 1) return
  throw fail.usage('several_sources', 'Flag --remove-key stands alone.', {
    next: 'It disables the route; everything else that is saved stays.',
  })
}

/**
 * Disables the route of a block and removes its key; where none is stored and it is disabled,
 * nothing changes. Throws as the save does, `rejected` `no_key_stored`, `conflict`
 * `key_reads_back`.
 */
export const removeKey = async (
  deps: VerbDeps, opened: Work, block: 'alpha_text' | 'gateway',
): Promise<Configuration> => {
  const value = { [block]: { enabled: false } }
  const saved = await saveListing(deps, opened, { value, only: block, removesKey: true }, {})
  deps.note('No key is stored here any more. A backup from before still holds it: to be sure, '
    + 'revoke the key where you got it.')
  return saved
}
