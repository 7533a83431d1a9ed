/** The actions of a consent. */
import { fail } from '../base/errors.js'
import { codehostActions, type CodehostAction } from './constants.js'

/**
 * The named actions, each once and in the order of the list. Throws `rejected` `action_unknown` for
 * any other name, a wildcard and `all` among them, and `actions_missing` for none (C-040, C-046).
 */
export const requireActions = (given: readonly string[]): readonly CodehostAction[] => {
  if (given.length === 0) {
    throw fail.rejected('actions_missing', 'A consent names what it allows.', {
      next: `Give --action for each of: ${codehostActions.join(', ')}.`,
    })
  }
  if (!given.every((one) => codehostActions.some((known) => known === one))) {
    throw fail.rejected('action_unknown', 'There is no such action; each is named by itself.', {
      next: `Name them one by one: ${codehostActions.join(', ')}.`,
    })
  }
  return codehostActions.filter((known) => given.includes(known))
}
