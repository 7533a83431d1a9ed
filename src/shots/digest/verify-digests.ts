/** Rules of a sound state about digests, for `state check`. */
import type { Problem } from '../../governance/context.js'
import { findEach } from '../../state/each.js'
import type { View } from '../../state/types.js'
import { shotLabels } from '../constants.js'
import { isTextStored } from '../texts/made.js'
import { dayOf, digestHead } from './episode-store.js'
import { digestCollections as c, type Episode } from './digest-rows.js'

const problem = (subject: string, text: string): Problem =>
  ({ code: 'digest_rows_disagree', subject, text })

const episodeProblems = (view: View, id: string, row: Episode): Problem[] => {
  const problems: Problem[] = []
  if (id !== row.digest_key || row.observation_count !== row.source_observation_ids.length) {
    problems.push(problem(id, 'A digest and its key or its count of sources contradict.'))
  }
  if (!(view.get(c.days, dayOf(row.window_start))?.keys.includes(id) ?? false)) {
    problems.push(problem(id, 'A digest is missing from the calendar of digests.'))
  }
  if (!isTextStored(view, shotLabels.digest, row)) {
    problems.push(problem(id, 'The text of a digest is not registered as its row says.'))
  }
  return problems
}

/** Digests agree with their calendar, their count and their sealed texts. */
export const verifyDigests = (view: View): Problem[] => {
  let rows = 0
  const problems = findEach(view, c.episodes, ({ id, doc }) => {
    rows += 1
    return episodeProblems(view, id, doc)
  })
  if ((digestHead(view)?.count ?? 0) !== rows) {
    problems.push(problem('head', 'The number of digests is not what is counted.'))
  }
  return problems
}
