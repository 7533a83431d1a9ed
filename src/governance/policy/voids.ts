/**
 * What a save puts out of reach for good: a result that was paid for is used only under the consent
 * that it was asked under, so that a save which ends that consent voids it.
 */
import { fail } from '../../base/errors.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { isHeld } from '../board/states.js'
import { collections, decisionsByOperation, reservationsByState, type Task } from '../rows.js'
import { consentLapse, latestConsent } from './consents.js'
import type { PolicyStatus } from './policy-status.js'

/** What one save would void. */
export interface SaveVoids {
  /** Purposes whose consent stands now and ends with the save, unless given anew. */
  readonly purposes: readonly string[]
  /** Tasks whose answer waits for a person, or was asked for and is under way. */
  readonly tasks: readonly string[]
  /** Operations under way that are no task's: proofs, images, texts. */
  readonly operations: readonly string[]
}

/** What whoever saves has accepted to lose: ids of tasks and operations, or whatever it is. */
export type AcceptedVoids = 'all' | readonly string[]

/** A save that voids nothing. */
export const voidsNothing: SaveVoids = { purposes: [], tasks: [], operations: [] }

/** Operations that were contacted and have no outcome yet. */
const underWay = (view: View): ReadonlySet<string> =>
  new Set(rowsUnder(view, collections.openReservations, reservationsByState, {
    under: ['contacted'],
  }).map(({ doc }) => doc.operation_id))

/** Those of them that are no task's and were decided under one of these consents. */
const taskless = (
  view: View, going: ReadonlySet<string>, ended: ReadonlySet<string>,
): readonly string[] => {
  const decisions = [...going].flatMap((operation) =>
    rowsUnder(view, collections.decisions, decisionsByOperation, { under: [operation] }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const under = decisions.filter(({ doc }) => ended.has(String(doc.request['consent_id'])))
  return [...new Set(under.map(({ doc }) => doc.operation_id))]
}

/** What ending the consents to these purposes voids, on one view. */
export const voidsOf = (
  view: View, standing: PolicyStatus, nowMs: number, drops: readonly string[],
): SaveVoids => {
  const ending = drops.flatMap((purpose) => {
    const consent = latestConsent(view, purpose)
    const lapse = consentLapse(view, standing, consent, nowMs)
    return consent !== undefined && (lapse === null || lapse === 'suspended') ? [consent] : []
  })
  if (ending.length === 0) return voidsNothing
  const ids = new Set(ending.map(({ consent_id: id }) => id))
  const going = underWay(view)
  const waits = (task: Task): boolean => ids.has(task.purpose.consent_id)
    && (isHeld(task) || going.has(task.operation_id))
  const tasks = view.all(collections.openTasks).map(({ doc }) => doc).filter(waits)
  return {
    purposes: ending.map(({ purpose }) => purpose),
    tasks: tasks.map(({ task_id: id }) => id),
    operations: taskless(view, going, ids),
  }
}

/** Ids of all that is paid for, or about to be, and that a save would void. */
export const lostBy = ({ tasks, operations }: SaveVoids): readonly string[] =>
  [...tasks, ...operations]

const namedMax = 5

/** The ids for a sentence; where they are many, the first ones and how many there are besides. */
export const namesOf = (lost: readonly string[]): string => {
  const named = lost.slice(0, namedMax).join(', ')
  return lost.length > namedMax ? `${named} and ${lost.length - namedMax} more` : named
}

/** Throws `conflict`/`save_voids_answers` where something would be lost that nobody accepted. */
export const requireAcceptedVoids = (voids: SaveVoids, accepted: AcceptedVoids): void => {
  if (accepted === 'all') return
  const lost = lostBy(voids).filter((id) => !accepted.includes(id))
  if (lost.length === 0) return
  throw fail.conflict(
    'save_voids_answers',
    `This save ends the consent that paid results rest on: ${namesOf(lost)}.`,
    {
      next: 'Nothing was changed. Release your held ones (`sallyport task review TASK`) and wait '
        + 'for what is under way; other owners release theirs. Or give --void-answers.',
      details: { tasks: voids.tasks.join(','), operations: voids.operations.join(',') },
    },
  )
}
