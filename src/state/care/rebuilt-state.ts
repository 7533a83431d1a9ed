/** What a lost STATE was, out of the copy of it in a manifest. */
import type { Files } from '../files.js'
import { isGiven } from '../place/place-file.js'
import type { StateFile } from '../state-file.js'

/**
 * The copy is of the last fold, and may say nothing of a state that was shared since: the file
 * beside the key does, without which no place is ever reached. Taken for a directory it would have
 * a ledger of its own, beside that of the other machines.
 */
export const rebuiltState = (files: Files, keyFolder: string, copy: StateFile): StateFile =>
  (isGiven(files, keyFolder, copy.store_id) ? { ...copy, kept_in: 'place' } : copy)
