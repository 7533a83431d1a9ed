/** What machines of a shared state are called. */
import { hostname } from 'node:os'
import { fail } from '../../base/errors.js'

const lengthMax = 64
const form = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Throws `rejected` `machine_name_form` unless a text may name a machine. */
export const requireMachineName = (name: string): string => {
  if (form.test(name)) return name
  throw fail.rejected(
    'machine_name_form',
    `A machine is named by 1 to ${lengthMax} letters, digits, dots, - and _, no mark first.`, {
      next: 'Give another one with --machine-name.', details: { length_max: lengthMax },
    })
}

/** The host name as such a name: what may not stand in one is a dash. */
export const hostMachineName = (host = hostname()): string => {
  const plain = host.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[._-]+/, '').slice(0, lengthMax)
  return plain === '' ? 'machine' : plain
}
