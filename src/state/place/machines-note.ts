/** How many machines a shared state has, for whoever looks without asking its place. */
import { join } from 'node:path'
import * as v from 'valibot'
import { count } from '../../base/schema.js'
import { nodeFiles, publish, readWhole } from '../files.js'
import type { MachineRow } from './place.js'
import type { PlacedStore } from './placed-store.js'

const noteShape = v.strictObject({ machines: count })
const noteBytesMax = 4_096
const notePath = (store: PlacedStore): string => join(store.runDir, 'machines')

/** Notes how many machines a state has, for whoever looks without asking. Never throws. */
export const noteMachines = (store: PlacedStore, rows: readonly MachineRow[]): void => {
  const machines = rows.filter(({ retired }) => retired === null).length
  try {
    publish(nodeFiles, notePath(store), Buffer.from(JSON.stringify({ machines })))
  } catch {
    // It is for people alone, and the place says it anew.
  }
}

/** How many there were when they were asked for last; null where nobody knows. */
export const notedMachines = (store: PlacedStore): number | null => {
  try {
    const bytes = readWhole(nodeFiles, notePath(store), noteBytesMax)
    return bytes === undefined ? null : v.parse(noteShape, JSON.parse(bytes.toString())).machines
  } catch {
    return null
  }
}
