/** `sallyport explain`: what an id names, how it stands, what happened to it, what can be done. */
import { tailOf } from '../../../base/ids.js'
import { moneyText } from '../../../base/money.js'
import {
  explainId, type ExplainedRow, type HistoryEvent,
} from '../../../fabric/explain/explain-contract.js'
import { explain as explainOf } from '../../../fabric/explain/explain.js'
import { operation } from '../../../fabric/operation.js'
import type { View } from '../../output.js'
import { visibleLine } from '../../text.js'
import { verbOf } from '../../verb-of.js'

type Fact = ExplainedRow['facts'][string]

const moneyName = /_microusd$/

/** Amounts as people read them; what others wrote is made harmless. */
const factText = (view: View, name: string, value: Exclude<Fact, null>): string => {
  if (typeof value === 'number' && moneyName.test(name)) return moneyText(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string' && /_at$/.test(name)) return visibleLine(view.time(value))
  return visibleLine(String(value))
}

const factLines = (view: View, { facts }: ExplainedRow): readonly string[] =>
  Object.entries(facts).flatMap(([name, value]) => {
    if (value === null) return []
    const label = `${name.replace(moneyName, '').replaceAll('_', ' ')}:`
    return [`  ${label.padEnd(18)}${factText(view, name, value)}`]
  })

/** What tells a person nothing beside the rest: whole ids and digests. */
const isForScripts = (value: Exclude<Fact, null>): boolean =>
  typeof value === 'string' && (tailOf(value) !== null || /^[0-9a-f]{64}$/.test(value))

const eventLine = (view: View, { what, by, facts }: HistoryEvent, when: string): string => {
  const more = Object.entries(facts).flatMap(([name, value]) =>
    (value === null || isForScripts(value) ? [] : [`${name} ${factText(view, name, value)}`]))
  return `  ${when}  ${what}${by === null ? '' : ` by ${visibleLine(by)}`}`
    + (more.length === 0 ? '' : ` (${more.join(', ')})`)
}

const eventLines = (view: View, history: readonly HistoryEvent[]): readonly string[] => {
  const times = history.map(({ at }) => view.time(at))
  const columns = Math.max(...times.map((one) => one.length))
  return history.map((one, n) => eventLine(view, one, (times[n] ?? '').padEnd(columns)))
}

/** So many ids are told below one another; `--json` has all of them. */
const relatedMax = 12

const relatedLines = ({ related }: ExplainedRow): readonly string[] => {
  const left = related.length - relatedMax
  return related.length === 0 ? [] : [
    'goes with:', ...related.slice(0, relatedMax).map((one) => `  ${visibleLine(one)}`),
    ...(left <= 0 ? [] : [`  and ${left} more, with --json`]),
  ]
}

const rowLines = (view: View, id: string, row: ExplainedRow): readonly string[] => [
  view.paint('bold', `${row.kind} ${id}`),
  `  ${row.text}`,
  ...factLines(view, row),
  ...(row.history.length === 0 ? [] : [
    `what happened${row.history_whole ? '' : ' (as far as the audit was looked through)'}:`,
    ...eventLines(view, row.history),
  ]),
  ...(row.next.length === 0 ? [] : ['what can be done:', ...row.next.map((one) => `  ${one}`)]),
  ...relatedLines(row),
]

export const explain = verbOf(operation(explainId, 'see', ({ gov, session, world }, { id }) =>
  explainOf({ gov, view: gov.store.read(), session, world }, id)), {
  summary: 'what an id names, how it stands, what happened to it, what can be done',
  description:
    'Takes any id that a list, a receipt or the audit shows, whole or short. That can be a '
    + 'task, an operation, a session, a goal, a consent, an image, a job, a connection or '
    + 'anything else. It says what kind of thing that is and how it stands. It says what '
    + 'happened to it, by its rows and by the audit, and the commands that go on. A short one '
    + 'that fits several is refused with all of them. What belongs to another owner is not '
    + 'there. No content is opened: no question, answer, key or text of a file. It contacts '
    + 'nobody and changes nothing. Why a file of screenshots became what it is, `sallyport '
    + 'shots show FILE` says.',
  examples: [
    '$ sallyport explain task_0190f…', '$ sallyport explain 1a2b3c4d',
    '$ sallyport explain op_0190f… --json',
  ],
  exits: ['rejected', 'not_found'],
  touch: false,
  flags: (command) => command.argument('<id>', 'any id, whole or short'),
  text: ({ id, rows }, view) =>
    `${rows.map((row) => rowLines(view, id, row).join('\n')).join('\n\n')}\n`,
})
