/**
 * Which machine an image folder lies on, where several share a state: the same path is another
 * folder on each. The one that is saved, and the default one below the sealed workspace, are of the
 * machine that saved or made them; one that a variable or a scan names is of whoever scans first.
 */
import {
  bindToHere, isBound, isHere, isInherited, ofOtherMachine,
} from '../../governance/machine-bound.js'
import { documents } from '../../state/each.js'
import type { Store, Tx, View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import {
  shotCollections as c, type Observation, type ShotFolder,
} from '../observations/observation-rows.js'
import { locateFolder, type ResolvedFolder } from './folder.js'
import { folderDigestOf, isDevicePlace } from './folder-digest.js'
import { savedSettings } from './settings.js'

const kind = 'shots_folder'

type Named = Pick<ResolvedFolder, 'folderDigest' | 'source'>
type Where = Pick<Store, 'machine'>
type Rows = Pick<View, 'get'>

/**
 * Whether any machine may have a folder: nobody has named or scanned it yet, or its machine was
 * retired and a person names it.
 */
const isNobodys = (view: Rows, { folderDigest, source }: Named): boolean => {
  if (source === 'input' && isInherited(view, kind, folderDigest)) return true
  return (source === 'input' || source === 'environment') && !isBound(view, kind, folderDigest)
    && view.get(c.folders, folderDigest) === undefined
}

/** Digests that have to be here: the path that was saved may lead elsewhere on this machine. */
const digestsOf = (view: Rows, { folderDigest, source }: Named): readonly string[] => {
  const saved = source === 'settings' ? savedSettings(view).screenshot_folder : null
  return saved === null ? [folderDigest] : [folderDigestOf(saved), folderDigest]
}

/** Digest of what lies on another machine; undefined where the files can be looked at here. */
const foreignOf = (store: Where, view: Rows, named: Named): string | undefined =>
  (store.machine === null || isNobodys(view, named) ? undefined
    : digestsOf(view, named).find((digest) => !isHere(store, view, kind, digest)))

/** Whether the files of a folder can be looked at here. */
export const isFolderHere = (store: Where, view: Rows, named: Named): boolean =>
  foreignOf(store, view, named) === undefined

const refusal = (view: Rows, digest: string) => ofOtherMachine(view, kind, digest,
  'Do this on that machine, or name a folder of this one by another path.')

/** Throws `rejected` `of_other_machine` for a folder whose files lie on another machine. */
export const requireFolderHere = (store: Where, view: Rows, named: Named): void => {
  const digest = foreignOf(store, view, named)
  if (digest !== undefined) throw refusal(view, digest)
}

/** The folder in force, for what reads its files. Throws as `locateFolder`, and as above. */
export const locateHere = (ctx: ShotsContext, view: View): ResolvedFolder => {
  const resolved = locateFolder(ctx, savedSettings(view))
  requireFolderHere(ctx.gov.store, view, resolved)
  return resolved
}

/** The same for a folder that rows tell of. */
export const requireRowHere = (
  store: Where, view: Rows, { root_digest: digest }: Pick<Observation, 'root_digest'>,
): void => {
  if (!isHere(store, view, kind, digest)) throw refusal(view, digest)
}

/** The same in the record that first tells of a folder: it is of this machine from then on. */
export const takeFolder = (store: Where, tx: Tx, named: Named): void => {
  requireFolderHere(store, tx, named)
  bindToHere(store, tx, kind, named.folderDigest)
}

/** The image folders that were ever scanned, without devices. */
export const imageFolders = (view: View): ShotFolder[] =>
  [...documents(view.all(c.folders))].filter(({ root }) => !isDevicePlace(root))

/** Digests of the scanned folders that lie on other machines. */
export const foldersElsewhere = (store: Where, view: View): ReadonlySet<string> => {
  if (store.machine === null) return new Set()
  return new Set(imageFolders(view).map(({ root_digest: id }) => id)
    .filter((id) => !isHere(store, view, kind, id)))
}
