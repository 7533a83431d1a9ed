/**
 * One observation's picture, for its owner to look at: read live from the folder in force, and
 * kept nowhere. It is found as an upload finds it, so that what is shown is what would be sent: a
 * regular file below the folder, of the very content that was observed, of a size that a header
 * tells. Whether a model may see it is another question: a blocked one is shown, too. What a device
 * captured is opened where it lies sealed, on whichever machine.
 */
import { sha256Hex } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { requireDefaultPrincipal } from '../../governance/principals.js'
import type { Session } from '../../governance/context.js'
import { imageLimits } from '../../images/image-limits.js'
import type { View } from '../../state/types.js'
import { isSourceGone, readForUpload, shownAs } from '../analysis/privacy.js'
import type { ShotsContext } from '../context.js'
import { currentFacts, type CurrentFacts } from '../observations/as-of-now.js'
import type { CaptureOf, Observation } from '../observations/observation-rows.js'
import { requireObservation } from '../observations/show.js'
import { requireRowHere } from '../source/folder-machine.js'
import { isRecursive, savedSettings } from '../source/settings.js'

/** The whole file; its bytes are those that were hashed. */
export interface Picture {
  readonly bytes: Uint8Array
  readonly mime: 'image/png' | 'image/jpeg'
}

/** What the default owner alone may do: the folder is theirs, and so is what it shows. */
export const pictureOwner = 'is shown its pictures'

const notHad = (row: Observation): Error => (isSourceGone(row)
  ? fail.notFound('picture_gone', 'The file is gone from the folder.', {
    next: 'What was noted of it stays. When the file is back, it is shown again.',
  })
  : fail.conflict('picture_changed', 'The file was changed since it was taken in.', {
    next: 'Only what was taken in is shown. A scan takes in what lies there now: '
      + '`sallyport shots scan`.',
  }))

const refusals: Readonly<Record<string, () => Error>> = {
  recursive_off: () => fail.blocked('picture_not_selected', 'It lies in a subfolder, and these '
    + 'are left out.', { next: 'See `sallyport shots show`.' }),
  file_unreadable: () => fail.blocked('picture_unreadable', 'The file cannot be read.', {
    next: 'Look at its permissions in the folder.',
  }),
}

const refusedFor = (reason: string): Error => refusals[reason]?.()
  ?? fail.blocked('picture_refused', 'The file is no picture that is shown.', {
    reason, next: 'Open it where it lies, if you trust it.',
    details: { pixels_max: imageLimits.pixelsMax, bytes_max: imageLimits.bytesMax },
  })

/** Throws `blocked` for what was put away, and for what another folder holds. */
const requireInForce = (row: Observation, { folderDigest }: CurrentFacts): void => {
  if (row.archived_at !== null) {
    throw fail.blocked('picture_archived', 'This image was put away with its folder.', {
      next: 'See it with `sallyport shots list --archived`.',
    })
  }
  if (row.root_digest === folderDigest) return
  throw fail.blocked('picture_elsewhere', 'It lies in another folder than the one in force.', {
    next: 'See `sallyport shots show`.',
  })
}

/**
 * The file of a row as it lies there now; `nowMs` is wall time. Throws `not_found` `picture_gone`,
 * `conflict` `picture_changed`, or `blocked`: `picture_not_selected`, `picture_unreadable`,
 * `picture_refused`.
 */
export const pictureOf = (row: Observation, nowMs: number, recursive: boolean): Picture => {
  const read = readForUpload(row, nowMs, recursive)
  if (read.kind === 'ready') return { bytes: read.bytes, mime: read.mime }
  throw read.kind === 'refused' ? refusedFor(read.reason) : notHad(row)
}

/** What a device captured, by the same rule of what is shown. Throws as `openPicture`. */
const capturedPicture = async (
  ctx: ShotsContext, view: View, { artifact_id: id }: CaptureOf, row: Observation,
): Promise<Picture> => {
  const bytes = (await ctx.captures()).read(ctx.gov.store, view, id)
  if (bytes === null || sha256Hex(bytes) !== row.sha256) {
    throw fail.notFound('picture_gone', 'What the device sent is not stored any more.', {
      next: 'Look at the state: `sallyport state check`.',
    })
  }
  const { refused, mime } = shownAs(bytes)
  if (refused !== null) throw refusedFor(refused)
  return { bytes, mime }
}

/**
 * Reads the picture of an observation for the default owner alone. Takes no lock, writes nothing.
 * Throws `unauthorized` `not_default_principal`, `not_found` `observation_not_found`, `blocked`
 * `picture_archived` and `picture_elsewhere`, `rejected` `of_other_machine`, and as `pictureOf`; of
 * a capture as the shelf of captures does.
 */
export const openPicture = async (
  ctx: ShotsContext, session: Session, id: string,
): Promise<Picture> => {
  const view = ctx.gov.store.read()
  requireDefaultPrincipal(view, session, pictureOwner)
  const row = requireObservation(view, id)
  if (row.edge !== undefined) return capturedPicture(ctx, view, row.edge, row)
  requireInForce(row, currentFacts(ctx, view))
  requireRowHere(ctx.gov.store, view, row)
  return pictureOf(row, ctx.gov.clock.wallMs(), isRecursive(savedSettings(view)))
}
