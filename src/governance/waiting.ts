/**
 * What waits for a person, as every face tells it: what it is, how many there are of it, a sentence
 * and the command that goes on. Each capability finds its own; one reader above them asks all.
 */
import * as v from 'valibot'
import { text } from '../base/schema.js'
import { command, sentence } from '../base/told.js'
import type { View } from '../state/types.js'
import type { Gov, Session } from './context.js'

/** Kinds of things that wait; scripts match them, and the list only grows. */
const waitingKinds = [
  'policy', 'stop', 'unknown_charge', 'overrun', 'budget', 'held_result', 'blocked_task', 'review',
  'job', 'consent', 'images', 'pause', 'run', 'pairing', 'capability', 'unread',
] as const

/** One thing that waits, in a document. */
export const waitingShape = v.strictObject({
  /** Whose it is: `policy`, `ledger`, `tasks`, or the name of a capability. */
  of: text,
  what: v.picklist(waitingKinds),
  count: v.number(),
  /** One sentence for people. */
  text: sentence,
  /** What to type next. */
  command,
})
/** Something that waits for a person. */
export type Waiting = v.InferOutput<typeof waitingShape>

/** The same, before it is said whose it is. */
export type OwnWaiting = Omit<Waiting, 'of'>

/** The process that looks, as far as a capability has to know it. */
export interface LookingWorld {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Home folder of the user. */
  readonly home: string
  /** Folders of the state and of its keys, absolute. */
  readonly places: { readonly stateDir: string; readonly configDir: string }
}

/** What is looked at, and who looks. */
export interface Looking {
  readonly gov: Gov
  /** Rows as recovery would leave them. */
  readonly view: View
  /** Null: nobody in particular, who is told what is nobody's own. */
  readonly session: Session | null
  readonly world: LookingWorld
}

/** Finds what of a capability waits, the most urgent first. Reads rows and opens no socket. */
export type FindWaiting = (looking: Looking) => readonly OwnWaiting[]

/** How many rows of a kind there are, and one of them. */
export interface Some<Row> {
  readonly count: number
  readonly first: Row | undefined
}

/** The same of rows that were read. */
export const someOf = <Row>(rows: readonly Row[]): Some<Row> =>
  ({ count: rows.length, first: rows[0] })

/** Several of a kind come as one line, with the list; one comes with its own command. */
export const grouped = <Row>(
  what: Waiting['what'], { count, first }: Some<Row>,
  { one, many, commandOf, list }: {
    readonly one: string
    readonly many: (count: number) => string
    readonly commandOf: (row: Row) => string
    readonly list: string
  },
): readonly OwnWaiting[] => {
  if (first === undefined) return []
  const alone = count === 1
  return [{
    what, count, text: alone ? one : many(count),
    command: alone ? commandOf(first) : list,
  }]
}
