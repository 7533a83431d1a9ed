/** A thread that looks into images, one at a time; started by pool.ts only. */
import { parentPort } from 'node:worker_threads'
import { examine } from './examine.js'

parentPort?.on('message', (bytes: Uint8Array) => {
  const found = examine(bytes)
  const planes = found.fingerprint?.planes ?? []
  parentPort?.postMessage(found, planes.map((plane) => plane.buffer as ArrayBuffer))
})
