/** Stored analyses and digests as prompts tell them: opened, narrowed and bounded. */
import { fail } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import type { AnalysisPayload } from '../payload/schema.js'
import type { ShotsContext } from '../context.js'
import type { Analysed } from './sources.js'
import { openPayload } from '../payload/read-payload.js'
import type { PromptEntry } from './prompt.js'

/** What a prompt may hold of each kind. */
const entryLimits = { bytesMax: 200_000, entriesMax: 5_000, shortChars: 160 } as const

/** Cut at a code point, never inside one. */
const shorten = (text: unknown, chars: number = entryLimits.shortChars): string => {
  const points = [...String(text)]
  return points.length <= chars ? points.join('') : `${points.slice(0, chars).join('')}…`
}

type Level = (entry: PromptEntry) => PromptEntry

const sizeOf = (entries: readonly PromptEntry[]): number =>
  entries.reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)), 0)

/** Told as fully as fits; at the last level as it is. None is left out. */
const fit = (whole: readonly PromptEntry[], levels: readonly Level[]): PromptEntry[] => {
  let entries = [...whole]
  for (const level of levels) {
    if (sizeOf(entries) <= entryLimits.bytesMax) return entries
    entries = whole.map(level)
  }
  return entries
}

const analysisLevels: readonly Level[] = [
  ({ captured_at, summary, activity }) => ({ captured_at, summary, activity }),
  ({ captured_at, summary }) => ({ captured_at, summary: shorten(summary) }),
]

const digestLevels: readonly Level[] = [1_000, entryLimits.shortChars].map((chars) =>
  ({ digest, ...rest }) => ({ ...rest, digest: shorten(digest, chars) }))

/** Digests as a conclusion's prompt tells them. */
export const digestEntries = (digests: readonly PromptEntry[]): PromptEntry[] =>
  fit(digests, digestLevels)

/** Opens one analysis. */
type Opener = (row: Analysed) => PromptEntry

/**
 * Analyses as a prompt tells them. Where they are many, each is told more shortly; none is left
 * out, since a text names all of its sources. Throws `rejected` `too_many_sources`.
 */
export const promptEntries = (sources: readonly Analysed[], open: Opener): PromptEntry[] => {
  const { entriesMax } = entryLimits
  if (sources.length > entriesMax) {
    throw fail.rejected(
      'too_many_sources', `A text is made from at most ${entriesMax} analyses.`,
      {
        reason: 'too_many_sources', next: 'Choose a shorter period or window.',
        details: { sources: sources.length, limit: entriesMax },
      },
    )
  }
  return fit(sources.map(open), analysisLevels)
}

/**
 * What a prompt tells of an analysis: what the model said about the picture. Visible text, names of
 * files and anything else that was read off the screen word by word stay out (S-103).
 */
const told: readonly (keyof AnalysisPayload)[] = [
  'summary', 'observations', 'activity', 'project', 'applications', 'intent', 'goal', 'confidence',
  'tags',
]

/** Opens analyses of one view. */
export const openerOf = (ctx: ShotsContext, view: View): Opener => (row) => {
  const analysis = openPayload(ctx, view, row.payload)
  const members = told.flatMap((name) =>
    (analysis[name] === undefined ? [] : [[name, analysis[name]] as const]))
  return { captured_at: row.captured_at, ...Object.fromEntries(members) }
}
