/** One upload as a process of its own, which ends at the n-th changing call of the disk. */
import { systemClock } from '../../../src/base/clock.js'
import { silentObserver } from '../../../src/base/observer.js'
import { authenticateEdge } from '../../../src/edge/credential.js'
import { openState } from '../../../src/fabric/open-work.js'
import { openingAny } from '../../../src/state/store.js'
import { capture, headOf, send } from '../edge/uploading.js'
import { onFailingDisk } from '../soak/failing-disk.js'

const args = JSON.parse(process.argv[2] ?? '{}') as {
  stateDir: string, configDir: string, credential: string, bytes: number, request: string,
  sequence: number,
  /** 0: it is not ended, and says what it called. */
  at: number,
}
const { stateDir, configDir, credential, bytes, request, sequence, at } = args
const store = await openingAny(() => openState({ stateDir, configDir }, 'write'))
const gov = { store, clock: systemClock, observer: silentObserver, face: 'service' } as const
const party = authenticateEdge(gov, store.read(), credential)
const body = capture(bytes, sequence)
const seen: string[] = []
await onFailingDisk([stateDir], { at, fault: 'kill', seen, openOnes: true }, () =>
  send(gov, party, headOf(body, sequence, { request_id: request }), body))
store.close()
process.stdout.write(`${JSON.stringify(seen)}\n`)
