/** `sallyport state keys`: ranges of idempotency keys that damage took, and releasing one. */
import { lostKeyRanges, releaseLostKeys } from '../../../governance/board/lost-keys.js'
import { stateKeys } from '../../../governance/board/lost-keys-contract.js'
import { loginToMutate } from '../../mutate.js'
import { renderTable } from '../../table.js'
import { verb } from '../../verb.js'

/** Lists, or releases one. Throws `not_found` `lost_keys_not_found`. */
export const keys = verb(stateKeys, {
  summary: 'ranges of idempotency keys that damage took, and releasing one',
  description:
    'After a repair that lost rows nobody knows which idempotency keys were used in them, so ' +
    'every key of such a range that a caller names counts as spent, whatever time it carries. ' +
    'A request without a key is not concerned. This lists the ranges; --release ends one: what ' +
    'was sent under a key of it may then be sent, and paid, again.',
  examples: ['$ sallyport state keys', '$ sallyport state keys --release documents-4-5f2c…-0'],
  session: 'required',
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'not_found', 'no_state', 'locked', 'damaged'],
  flags: (command) => command
    .option('--release <id>', 'let keys of this range be used again')
    .option('--yes', 'do not ask'),
  text: ({ ranges, released }, view) => {
    if (released !== null) return `Released ${view.foreign(released)}.\n`
    if (ranges.length === 0) return 'No keys were lost.\n'
    return renderTable(view, ['range', 'from', 'to before', 'lost', 'released'],
      ranges.map(({ id, from, to, at, released_at: freed }) =>
        [id, view.foreign(from), view.foreign(to ?? 'the end'), at, freed ?? 'no']))
  },
  run: async ({ release }, deps, line: { readonly yes?: boolean }) => {
    if (release === undefined) {
      const { gov } = await deps.login('read')
      return { ranges: lostKeyRanges(gov.store.read()), released: null }
    }
    const { gov, session } = await loginToMutate(deps)
    if (line.yes !== true) {
      await deps.confirm('Let keys of this range be used, and perhaps paid, again?', '--yes')
    }
    await releaseLostKeys(gov, session, release)
    return { ranges: lostKeyRanges(gov.store.read()), released: release }
  },
})
