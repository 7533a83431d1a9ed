/** Inviting a machine into a shared state: one sealed file, see `invitation.ts`. */
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { errnoOf } from '../../base/errno.js'
import { fail } from '../../base/errors.js'
import { commandLine, lineOfWords } from '../../base/told.js'
import { appendAudit } from '../../governance/audit.js'
import { nowIso, type Gov, type Session } from '../../governance/context.js'
import { requireRootRow } from '../../governance/session/live.js'
import { ioFailure, nodeFiles, removeFile, syncDir, withFile, writeAll } from '../../state/files.js'
import { readKey } from '../../state/keys.js'
import { formatVersion } from '../../state/paths.js'
import { headStart } from '../../state/place/head-start.js'
import {
  requireInvitationPassphrase, sealInvitation, type Invitation,
} from '../../state/place/invitation.js'
import { requireMachineName } from '../../state/place/machine-name.js'
import type { PlacedStore } from '../../state/place/placed-store.js'
import { listMachines, sharedOf } from './shared.js'

const what = 'writing the invitation'

/** Writes a new file of mode 600, never over one that is there. Throws `conflict` `file_exists`. */
const writeNew = (path: string, bytes: Buffer): void => {
  let made = false
  try {
    withFile(nodeFiles, path, 'create', (fd) => {
      made = true
      writeAll(nodeFiles, fd, bytes, 0)
      nodeFiles.sync(fd)
    })
    syncDir(nodeFiles, dirname(path))
  } catch (error) {
    if (made) removeFile(nodeFiles, path)
    if (errnoOf(error) !== 'EEXIST') throw ioFailure(error, what)
    throw fail.conflict('file_exists', 'There is a file of that name; it is not replaced.', {
      next: 'Name another file.',
    })
  }
}

/** What an invitation carries of the state and its place. Throws as `readKey`, `readPlaceFile`. */
const carriedBy = (
  { storeId, createdAt, replica, settings, seal }: PlacedStore,
): Omit<Invitation, 'machine' | 'machine_name' | 'invited_at'> => {
  const { sequence, chain } = replica.end
  return {
    store_id: storeId,
    key: readKey(replica.files, replica.keyPlaces.key).toString('hex'),
    format_version: formatVersion,
    created_at: createdAt,
    profile: replica.state.profile,
    address: settings.address, ca: settings.ca, password: settings.password,
    position: { sequence, link: seal.link(chain).toString('hex') },
    ...settings.run === undefined ? {} : { run: settings.run },
  }
}

/** What is wanted: `to` is an absolute path. */
interface InviteRequest {
  readonly name: string
  readonly to: string
  readonly passphrase: string
}

/** What an invitation is refused for before anybody types a passphrase; throws as `invite`. */
export const requireInvitable = async (
  gov: Gov, { name, to }: Pick<InviteRequest, 'name' | 'to'>,
): Promise<void> => {
  requireMachineName(name)
  const { rows } = await listMachines(gov.store)
  if (rows.some((row) => row.retired === null && row.name === name)) {
    throw fail.conflict('machine_name_taken', 'A machine of this state has that name already.', {
      next: 'Give another name; `sallyport machine list` shows those that there are.',
    })
  }
  if (nodeFiles.stat(to) === undefined) return
  throw fail.conflict('file_exists', 'There is a file of that name; it is not replaced.', {
    next: 'Name another file.',
  })
}

/**
 * Records who invites, then writes the file. Throws `rejected` `not_shared`, `machine_name_form`,
 * `invitation_passphrase_length`; `conflict` `machine_name_taken`, `file_exists`.
 */
export const inviteMachine = async (gov: Gov, session: Session, request: InviteRequest) => {
  const { name, to, passphrase } = request
  requireInvitationPassphrase(passphrase)
  const store = sharedOf(gov.store)
  await requireInvitable(gov, request)
  await store.transact('machine invite', (tx) => {
    const now = nowIso(gov)
    requireRootRow(tx, now, session.root.root_id)
    tx.mark()
    appendAudit(tx, now, {
      what: 'machine.invited',
      principal: session.principal.principal_id,
      root: session.root.root_id,
      subject: null,
      facts: { name },
    })
  })
  const invitedAt = nowIso(gov)
  const start = await headStart(store, 'machine invite')
  const invitation = {
    ...carriedBy(store), machine: randomUUID(), machine_name: name, invited_at: invitedAt,
    ...start === null ? {} : { head_start: start },
  }
  writeNew(to, await sealInvitation(invitation, passphrase))
  const next = commandLine(`machine join ${lineOfWords([to])}`)
  return { name, file: to, place: store.place.name, invitedAt, next }
}
