/** What was held at a place and is not any more, told before anything leaves. */
import { fail } from '../../base/errors.js'

/** `locked` `lease_lost`. */
export const leaseLost = (): Error =>
  fail.locked('lease_lost', 'The place gave what this operation holds to somebody else.', {
    next: 'Nothing was sent. Run it again.',
  })
