/** Stored analyses as prompts tell them: opened, narrowed and bounded. */
import type { View } from '../../state/types.js'
import type { AnalysisPayload } from '../analysis/schema.js'
import type { ShotsContext } from '../context.js'
import type { Analysed } from '../digest/sources.js'
import { readAnalysis } from './analyses.js'
import type { PromptEntry } from './prompt.js'

const bytesMax = 200_000
const shortChars = 160

/** Cut at a code point, never inside one. */
const shorten = (text: string): string => {
  const points = [...text]
  return points.length <= shortChars ? text : `${points.slice(0, shortChars).join('')}…`
}

type Opened = (row: Analysed) => PromptEntry

const levels: readonly ((entry: PromptEntry) => PromptEntry)[] = [
  (entry) => entry,
  ({ captured_at, summary, activity }) => ({ captured_at, summary, activity }),
  ({ captured_at, summary }) => ({ captured_at, summary: shorten(String(summary)) }),
]

const sizeOf = (entries: readonly PromptEntry[]): number =>
  entries.reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)), 0)

/**
 * Entries of a prompt. Where they are too many, each is told more shortly; none is left out, since
 * a digest names all of its sources.
 */
export const promptEntries = (sources: readonly Analysed[], open: Opened): PromptEntry[] => {
  const whole = sources.map(open)
  for (const level of levels) {
    const entries = whole.map(level)
    if (sizeOf(entries) <= bytesMax) return entries
  }
  return whole.map(levels.at(-1) ?? ((entry) => entry))
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
export const openerOf = (ctx: ShotsContext, view: View): Opened => (row) => {
  const analysis = readAnalysis(ctx, view, row)
  const members = told.flatMap((name) =>
    (analysis[name] === undefined ? [] : [[name, analysis[name]] as const]))
  return { captured_at: row.captured_at, ...Object.fromEntries(members) }
}
