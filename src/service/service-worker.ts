/** The program of one thread of the service; started by threads.ts only. */
import { parentPort, workerData } from 'node:worker_threads'
import { ThreadWork } from './thread.js'
import type { ThreadStart, ToThread } from './threads.js'

if (parentPort !== null) {
  const port = parentPort
  const work = new ThreadWork(workerData as ThreadStart, (message) => port.postMessage(message))
  port.on('message', (told: ToThread) => void work.hear(told))
}
