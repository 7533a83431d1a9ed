/** What a place says of itself, of a machine or of what that machine held. */
import { fail, SallyportError } from '../../base/errors.js'

/** `locked` `lease_lost`: told before anything leaves. */
export const leaseLost = (): SallyportError =>
  fail.locked('lease_lost', 'The server gave the lease of this operation to another.', {
    next: 'Nothing was sent. Run it again.',
  })

const waysOn = {
  run: 'It was promoted, restored or made anew: name the server that has every record, or go on at '
    + 'this one: `sallyport state accept-server`, on each machine.',
  behind: 'It lacks records that a machine has. Put its newest copy back, or go on at this one: '
    + '`sallyport state accept-server`, on each machine; --without NAME leaves one out that cannot '
    + 'give them back.',
  store_missing: 'It has no such state: name the server that has.',
} as const

/** `conflict` `server_changed`, for one of these reasons. */
export const serverChanged = (reason: keyof typeof waysOn): SallyportError =>
  fail.conflict('server_changed', 'This server is not the one that the state rests on.', {
    reason, next: waysOn[reason],
  })

/** `conflict` `server_changed` `left`: a former server, which takes itself for the one it was. */
export const serverLeft = (): SallyportError =>
  fail.conflict('server_changed', 'This machine has gone on at another server since.', {
    reason: 'left',
    next: 'Name the one that took over. To come back to this one on purpose have it promoted once '
      + 'more: then every machine says there how far it had come.',
  })

/** `conflict` `server_changed` `other_history`: two servers were written to. */
export const otherHistory = (): SallyportError =>
  fail.conflict('server_changed', 'The server went on with records that are not ours.', {
    reason: 'other_history',
    next: 'An older copy was put back and others went on, or two servers were written to. Put the '
      + 'newest copy back, or keep this one and leave this machine out on another: '
      + '`sallyport state accept-server --without NAME`.',
  })

/** `partial` `commit_unknown` of a change that the place has, and that is not here yet. */
export const notHereYet = (cause: unknown): SallyportError =>
  fail.partial('commit_unknown', 'The server has the change; this machine could not store it.', {
    next: `${cause instanceof SallyportError ? `${cause.message} ` : ''}Look at the state once `
      + 'that is mended, before anything is done again.',
    cause,
  })

/** `partial` `commit_unknown`: nobody says whether a change came to be. */
export const commitUnknown = (cause: unknown): SallyportError =>
  fail.partial('commit_unknown', 'Nobody answered whether a change of the state came to be.', {
    next: 'Look at the state again once its place can be reached.', cause,
  })

/** `blocked` `machine_retired`. */
export const machineRetired = (): SallyportError =>
  fail.blocked('machine_retired', 'This machine was retired: it writes and sends nothing.', {
    next: 'Have another machine write an invitation, and join anew.',
  })

/** `blocked` `state_unshared`. */
export const stateUnshared = (): SallyportError =>
  fail.blocked('state_unshared', 'This state went back into a directory of one of its machines.', {
    next: 'Nothing is written here any more. Ask whoever took it back.',
  })

/** `blocked` `state_too_new`: by its format, or by what its rows are written with. */
export const writtenByNewer = (details: Readonly<Record<string, number>>): SallyportError =>
  fail.blocked('state_too_new', 'A newer version of the program wrote this state.', {
    next: 'Install that version, or a later one.', details,
  })

export const machineIsThisOne = (): SallyportError =>
  fail.rejected('machine_is_this_one', 'A machine cannot retire itself.', {
    next: 'Retire it from another one; `sallyport state unshare` takes the state back here.',
  })
