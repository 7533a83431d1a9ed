import { countText } from '../../../base/counted.js'
import {
  clearStale as clearStaleRows, shotsClearStale, staleNow, type ClearStaleReceipt,
} from '../../../shots/clear-stale.js'
import type { VerbRecord } from '../../verb.js'
import { workFor } from '../../work.js'
import { shotsContext } from '../../../fabric/contexts/shots.js'

interface ClearStaleOptions { readonly yes?: boolean }

export const clearStale: VerbRecord<ClearStaleOptions, ClearStaleReceipt> = {
  summary: 'archive incomplete observations of earlier folders',
  description:
    'Archives observations that were never analysed and lie under another folder than the one in '
    + 'force. Rows with an analysis are never archived, nor is one whose paid request is under '
    + 'way. Archived rows stay on disk and in the historical count; no image is touched.',
  examples: ['$ sallyport shots clear-stale', '$ sallyport shots clear-stale --yes --json'],
  exits: ['rejected', 'locked'],
  json: shotsClearStale,
  flags: (command) => command.option('--yes', 'do not ask'),
  text: ({ archived, skipped_active: skipped }) => ({
    out: `${archived} archived\n`,
    notes: skipped === 0 ? [] : [`${skipped} left alone: a paid request is under way`],
  }),
  run: async ({ yes }, deps) => {
    const { gov, session } = await workFor(deps, 'mutate')
    const ctx = shotsContext(deps, gov)
    const stale = staleNow(ctx, gov.store.read())
    if (stale > 0 && yes !== true) {
      const what = countText(stale, 'incomplete observation')
      await deps.confirm(`Archive ${what} of other folders?`, '--yes')
    }
    return shotsClearStale.answer(await clearStaleRows(ctx, session))
  },
}
