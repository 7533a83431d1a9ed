/** What comes out of the one look at everything. */
import * as v from 'valibot'
import { nullableText } from '../base/schema.js'
import { sentence } from '../base/told.js'
import { contract, Degraded } from '../base/contract.js'
import { countText } from '../base/counted.js'
import { fail } from '../base/errors.js'
import type { Registry, StatusLine } from '../governance/capability.js'
import { runningShape } from '../governance/service/running.js'
import { waitingShape } from '../governance/waiting.js'
import { dayShape } from '../shots/day.js'
import { capabilities } from './capabilities.js'

const count = v.number()

/** Status of one capability and, where it is not `configured`, why. */
const lineShape = v.strictObject({
  status: v.string(), reason_code: nullableText,
  /** Names whoever gave a consent that carries nothing any more, and what consents anew. */
  reason: v.optional(sentence),
})

const factsShape = v.strictObject({
  /** Name of the state, by `sallyport at`; null where it has none. */
  at: nullableText,
  state_dir: v.string(),
  store_id: v.string(),
  /** Of a state that several machines share, as this one knew it last; else left out. */
  shared: v.optional(v.strictObject({
    /** Host and database; null, as what follows, where the file that says it cannot be read. */
    place: nullableText,
    machine: nullableText, machine_id: nullableText,
    /** The last record that this machine has. */
    record: count,
    /** Machines that are not retired, when they were asked for last; null before. */
    machines: v.nullable(count),
    /** When the place was heard last; null where it never was. */
    heard_at: nullableText,
  })),
  profile: v.string(),
  policy: v.strictObject({
    revision: count, state: v.picklist(['active', 'revoked']), usable: v.boolean(),
    block: nullableText,
  }),
  /** Null before the first set-up of a route. */
  ledger: v.nullable(v.strictObject({
    ceiling_microusd: count, settled_microusd: count, held_microusd: count,
    unknown_microusd: count, available_microusd: count,
  })),
  /** Newest run of each job of the screenshots, by its own receipts. */
  last_runs: v.strictObject({ scan: nullableText, analyze: nullableText, digest: nullableText }),
  /** Of what waits for a person what may have cost or done something, whoever's it is. */
  attention: v.strictObject({
    unknown_charges: count, overrun_reviews: count,
    /** Jobs of the code host of which something may have happened that nobody read back. */
    unknown_effects: count,
    /**
     * Operations whose process died. They are told as the next command that writes will record
     * them, so that what one of them may have cost or done is counted above already.
     */
    interrupted: count,
  }),
  /** Unfinished tasks by state. */
  tasks: v.record(v.string(), count),
  /** The service that runs over this state; null where none does. */
  service: v.nullable(runningShape),
  /** What the screenshots spent over the rolling day, against its budget. */
  day: dayShape,
  /** Name of the owner who is logged in; null: then `waiting` has nothing of one owner alone. */
  waiting_for: nullableText,
  /** Everything that waits for a person, of every capability, the most urgent first. */
  waiting: v.pipe(v.array(waitingShape), v.readonly()),
})

/** Capabilities with a line of their own, in their order. */
const namesOf = (registry: Registry): readonly string[] =>
  registry.filter(({ status }) => status !== undefined).map(({ name }) => name)

/**
 * What a look at everything found: states and counts and no content; the one
 * owner who may be named gave a consent that carries nothing any more.
 */
export interface StateStatus extends v.InferOutput<typeof factsShape> {
  /** Of each capability that has a line of its own, by its name. */
  readonly lines: Readonly<Record<string, StatusLine>>
}

/** The same as a document: the line of each capability is a field of its name. */
export type StatusDocument = v.InferOutput<typeof factsShape> & Readonly<Record<string, unknown>>

/** The lines in a document, by name and in their order. */
export const statusLinesOf = (
  document: StatusDocument, registry: Registry = capabilities,
): readonly (readonly [string, StatusLine])[] =>
  namesOf(registry).map((name) => [name, v.parse(lineShape, document[name])])

/** Looking at everything at once, over these capabilities. */
export const statusContract = (registry: Registry) => {
  const {
    ledger, last_runs, attention, tasks, service, day, waiting_for, waiting, ...before
  } = factsShape.entries
  const after = { ledger, last_runs, attention, tasks, service, day, waiting_for, waiting }
  const lines = Object.fromEntries(namesOf(registry).map((name) => [name, lineShape]))
  const shape: v.GenericSchema<unknown, StatusDocument> =
    v.strictObject({ ...before, ...lines, ...after })
  return contract({
    name: 'status',
    output: shape,
    toDocument: (status: StateStatus) => {
      const {
        lines, ledger, last_runs, attention, tasks, service, day, waiting_for, waiting, ...before
      } = status
      return {
        ...before, ...lines, ledger, last_runs, attention, tasks, service, day, waiting_for,
        waiting,
      }
    },
  })
}

/** The same over the capabilities of this program. */
export const statusShow = statusContract(capabilities)

/** How much waits for a person of what may have cost or done something. */
export const waitingIn = ({ attention }: Pick<StateStatus, 'attention'>): number =>
  attention.unknown_charges + attention.overrun_reviews + attention.unknown_effects

/** Where a person sees what waits, in the order in which it is told. */
const placesOf = ({ attention }: StateStatus): readonly string[] => [
  ...(attention.unknown_charges + attention.overrun_reviews === 0
    ? [] : ['`sallyport ledger reservations`']),
  ...(attention.unknown_effects === 0
    ? [] : ['`sallyport codehost jobs --state unknown_external_effect`']),
]

/** Looking whether anything waits, for monitors: that something does is a failure. */
export const statusCheck = {
  ...statusShow,
  answer: (status: StateStatus) => {
    const document = statusShow.document(status)
    const waits = waitingIn(status)
    if (waits === 0) return document
    throw new Degraded(document, fail.blocked(
      'attention_needed', `${countText(waits, 'charge or effect', 'charges or effects')} `
        + `${waits === 1 ? 'waits' : 'wait'} for a person.`, {
        next: `See ${placesOf(status).join(' and ')}.`, details: { ...status.attention },
      }))
  },
}
