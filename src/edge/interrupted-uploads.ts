/**
 * Uploads that were cut off while they were published: by SIGKILL between the file and its record,
 * or by a disk that failed at the record. Each is noted before its file has a name; whoever holds
 * the device's guard afterwards keeps the file that the record names and removes any other.
 */
import { SallyportError } from '../base/errors.js'
import { discardStored } from '../governance/artifacts.js'
import type { Gov } from '../governance/context.js'
import type { Guard } from '../state/holds/guard.js'
import { rowsUnder } from '../state/indexes.js'
import { dropArrival, noteArrival, arrivalNames, readArrival } from '../state/arrivals.js'
import type { PublishedNames } from '../state/types.js'
import { artifactsByRequest, edgeCollections } from './edge-rows.js'

/** Notes under which names the upload of a device is published; its guard must be held. */
export const noteUpload = (
  { store }: Gov, device: string, request: string, names: PublishedNames,
): void => noteArrival(store.dir, device, { record: request, ...names })

/** The record of the upload stands, or its file is gone: nothing of it is left to be swept. */
export const uploadSettled = ({ store }: Gov, device: string): void => {
  try {
    dropArrival(store.dir, device)
  } catch (error) {
    // What was recorded stays recorded; a note that will not go is looked at again.
    if (!(error instanceof SallyportError)) throw error
  }
}

/**
 * Removes what an upload of the device left that nobody recorded; its guard must be held. Answers
 * whether something was noted. May run twice. Throws what the disk does.
 */
export const sweepInterrupted = async ({ store }: Gov, device: string): Promise<boolean> => {
  const note = readArrival(store.dir, device)
  if (note !== undefined) {
    // Its record may lie where the state is kept, and not be read here yet.
    const found = rowsUnder(await store.fresh(), edgeCollections.artifacts, artifactsByRequest, {
      under: [device, note.record],
    })
    store.artifacts.removeTemporary(note.temporary)
    if (found.every(({ doc }) => doc.ref.stored_sha256 !== note.stored)) {
      discardStored(store, note.stored)
    }
  }
  dropArrival(store.dir, device)
  return note !== undefined
}

const deviceForm = /^edge_dev_[0-9a-f-]{36}$/

const guardOf = async (gov: Gov, device: string): Promise<Guard | null> => {
  try {
    return await gov.store.holds.hold('device', device)
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'guard_held') return null
    throw error
  }
}

/** Sweeps after all devices of whose uploads none is under way; answers how many were cut off. */
export const sweepAllInterrupted = async (gov: Gov): Promise<number> => {
  let swept = 0
  for (const device of arrivalNames(gov.store.dir).filter((name) => deviceForm.test(name))) {
    const guard = await guardOf(gov, device)
    if (guard === null) continue
    try {
      if (await sweepInterrupted(gov, device)) swept += 1
    } finally {
      guard.release()
    }
  }
  return swept
}
