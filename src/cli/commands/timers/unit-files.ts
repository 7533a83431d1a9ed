/** Unit files of the user: those of this program are told from all others by their first line. */
import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fail } from '../../../base/errors.js'
import { baseFolder } from '../../../base/user-folders.js'
import { stayTarget, unitMark, unitPrefix, type UnitFile } from '../../../fabric/timers/units.js'
import type { VerbDeps } from '../../verb.js'
import {
  orRefused, ownNames, removeUnfinished, requireFree, writeOwn, type OwnFiles,
} from './own-files.js'

/** Where units of the user lie; a relative path counts as absent, as for systemd. */
export const unitFolder = (deps: VerbDeps): string =>
  join(baseFolder(deps, 'XDG_CONFIG_HOME'), 'systemd/user')

const unitFiles = (deps: VerbDeps): OwnFiles => ({
  folder: unitFolder(deps),
  what: 'the user units',
  isOwn: (text) => text.startsWith(unitMark),
  foreign: (file) => fail.conflict('unit_foreign', 'A unit of that name was made by somebody else.',
    { next: 'Nothing was changed. Move it away first.', details: { file } }),
  refused: (doing, { details }, cause) =>
    fail.failed('units_refused', `The folder of the user units cannot be ${doing}.`, {
      next: 'See whose ~/.config/systemd/user is, and which rights it has. Lines of a crontab '
        + 'need no units: `sallyport timers install --with cron`.',
      details, cause,
    }),
})

/** Names of the units of one state that this program made, in order. Throws `units_refused`. */
export const ownUnits = (deps: VerbDeps, id: string): readonly string[] =>
  ownNames(unitFiles(deps), unitPrefix(id))

/** Throws `conflict` `unit_foreign` where somebody else has one of these names. */
export const requireFreeUnits = (deps: VerbDeps, units: readonly UnitFile[]): void =>
  requireFree(unitFiles(deps), units)

/** Writes the units as `writeOwn` does. Throws `conflict` `unit_foreign`, `units_refused`. */
export const writeUnits = (deps: VerbDeps, units: readonly UnitFile[]): void =>
  writeOwn(unitFiles(deps), units)

/** Removes units, and the links by which they were enabled. */
export const removeUnits = (deps: VerbDeps, names: readonly string[]): void => {
  const files = unitFiles(deps)
  orRefused(files, 'written', () => {
    for (const name of names) {
      for (const target of ['timers.target', stayTarget]) {
        const link = join(files.folder, `${target}.wants`, name)
        if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(link)
      }
      rmSync(join(files.folder, name), { force: true })
    }
  })
}

/** Removes what an install that was cut off left. Throws `units_refused`. */
export const clearUnits = (deps: VerbDeps, id: string): void =>
  removeUnfinished(unitFiles(deps), unitPrefix(id))
