/** Pairings that an operator began and no device has ended yet. */
import type { FindWaiting } from '../governance/waiting.js'
import { openCodes } from './pairing.js'

/** A code is used on the device, within ten minutes. */
export const edgeWaiting: FindWaiting = ({ gov, view, session }) => {
  const codes = session === null ? [] : openCodes(view, gov)
    .filter(({ owner }) => owner === session.principal.principal_id)
  const until = codes.map(({ expires_at: at }) => at).sort().at(-1)
  return until === undefined ? [] : [{
    what: 'pairing', count: codes.length, command: 'sallyport edge list',
    text: codes.length === 1
      ? `One pairing waits for its device until ${until}.`
      : `${codes.length} pairings wait for their devices, the last until ${until}.`,
  }]
}
