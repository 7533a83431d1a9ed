/** Whether the key of the key folder is the one that a state was made with. */
import { fail, SallyportError } from '../base/errors.js'
import type { Store } from './types.js'

/**
 * Compares the key with what it sealed when the state was made: for when something else that it
 * sealed does not open, or is another than expected. Throws `key_missing`, `key_damaged`.
 */
export const requireOwnKey = (store: Pick<Store, 'profile'>): void => {
  try {
    void store.profile
  } catch (cause) {
    if (!(cause instanceof SallyportError) || cause.code !== 'profile_damaged') throw cause
    throw fail.damaged(
      'key_damaged', 'The key file is not the one that this state was sealed with.', {
        next: 'Put the copy of the key file of this very state back into the key folder.', cause,
      },
    )
  }
}
