/** A thread that looks into images, one at a time; started by pool.ts only. */
import { parentPort } from 'node:worker_threads'
import { compareWithStanding, type CompareJob } from './compare-job.js'
import { examine } from './examine.js'

parentPort?.on('message', (asked: Uint8Array | CompareJob) => {
  if (!(asked instanceof Uint8Array)) {
    parentPort?.postMessage(compareWithStanding(asked))
    return
  }
  const found = examine(asked)
  const planes = found.fingerprint?.planes ?? []
  parentPort?.postMessage(found, planes.map((plane) => plane.buffer as ArrayBuffer))
})
