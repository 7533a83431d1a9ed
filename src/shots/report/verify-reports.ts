/** Rules of a sound state about conclusions, for `state check`. */
import type { Problem } from '../../governance/context.js'
import { findEach } from '../../state/each.js'
import type { View } from '../../state/types.js'
import { shotLabels } from '../constants.js'
import { isTextStored } from '../texts/made.js'
import { conclusionCollections } from './report-rows.js'

/** The sealed text of every conclusion is registered as its row says. */
export const verifyConclusions = (view: View): Problem[] =>
  findEach(view, conclusionCollections.conclusions, ({ id, doc: { made } }) => {
    if (made === null || isTextStored(view, shotLabels.conclusion, made)) return []
    const text = 'The text of a conclusion is not registered as its row says.'
    return [{ code: 'digest_rows_disagree', subject: id, text }]
  })
