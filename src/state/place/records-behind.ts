/** Records of a replica behind a position, as its newest logs have them, for who lost them. */
import type { TakenRecord } from '../commit.js'
import type { FileStore } from '../file-store.js'
import { bindingOf, decodeLogHeader, logHeaderBytesMax } from '../log/format.js'
import { decodePayload } from '../log/record.js'
import { bytesInFile, scanLog } from '../log/scan.js'
import { readRange, withFile } from '../files.js'
import { logEpochs } from '../paths.js'

/** Where the logs begin that are still here, and every record in them. */
export interface Behind {
  readonly base: { readonly sequence: number; readonly chain: string }
  readonly records: readonly TakenRecord[]
}

/** Reads every log that is left; null where none begins with a line that is true. */
export const recordsBehind = ({ files, places }: FileStore): Behind | null => {
  let base: Behind['base'] | null = null
  const records: TakenRecord[] = []
  for (const epoch of logEpochs(files.list(places.wal))) {
    withFile(files, places.log(epoch), 'read', (fd) => {
      const { size } = files.fstat(fd)
      const head = decodeLogHeader(readRange(files, fd, 0, Math.min(size, logHeaderBytesMax)))
      if (head === undefined) return
      const { base_sequence: sequence, base_chain: chain } = head.header
      base ??= { sequence, chain }
      scanLog(bindingOf(head.header), bytesInFile(files, fd, head.end, size), { sequence, chain },
        (record) => {
          // The last line of a log that another took over from is no record of the history.
          if (decodePayload(record.payload)?.next_epoch === undefined) {
            records.push({
              sequence: record.sequence, chain: record.chain, payload: record.payload,
            })
          }
          return true
        })
    })
  }
  return base === null ? null : { base, records }
}
