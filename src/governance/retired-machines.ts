/** Machines of a shared state that its records say were retired. */
import { documents, each } from '../state/each.js'
import type { View } from '../state/types.js'
import { collections } from './rows.js'

/** What the audit calls it. */
export const machineRetiredRow = 'machine.retired'

/** Their ids (loads the whole audit). */
export const retiredMachines = (view: View): readonly string[] => {
  const ids: string[] = []
  for (const { what, subject } of documents(each(view, collections.audit))) {
    if (what === machineRetiredRow && subject !== null) ids.push(subject)
  }
  return ids
}
