/**
 * Keeps a process that put a stop from looking at what leaves until nothing leaves any more, as a
 * slow disk or a busy machine would. Preloaded with `--import`; the folder of fences is that of
 * LATE_LOOK_FENCES.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const pollMs = 5
const attemptsMax = 4_000

const fences = process.env['LATE_LOOK_FENCES']
const isStop = (path: fs.PathLike): boolean => /\.stops\/stp_[^/]*$/.test(String(path))

if (fences !== undefined) {
  const rename = fs.renameSync
  const still = new Int32Array(new SharedArrayBuffer(4))
  fs.renameSync = (from, to) => {
    rename(from, to)
    if (!isStop(to)) return
    for (let tried = 0; fs.readdirSync(fences).length > 0 && tried < attemptsMax; tried += 1) {
      Atomics.wait(still, 0, 0, pollMs)
    }
  }
  syncBuiltinESMExports()
}
