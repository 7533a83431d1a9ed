/**
 * What can be said of the server of a shared state by asking it: two questions, each answered
 * within the patience of the place. A server that does not answer is one line, and the other
 * checks stand.
 */
import { countText } from '../../base/counted.js'
import { SallyportError } from '../../base/errors.js'
import type { MachineRow, PlaceFacts } from '../../state/place/place.js'
import { otherHistory, serverChanged } from '../../state/place/errors.js'
import { isPlaced } from '../../state/place/is-placed.js'
import type { PlacedStore } from '../../state/place/placed-store.js'
import type { Store } from '../../state/types.js'
import type { MachineCheck as Check } from '../doctor-contract.js'
import { listMachines } from './shared.js'

const serverCheck = ({ server, tls, awayMs }: PlaceFacts, { place }: PlacedStore): Check => ({
  name: 'server', result: 'ok', next: null,
  text: `${place.name}: ${server}, ${tls ?? 'without TLS, on this machine'}, `
    + `${Math.round(awayMs)} ms away`,
})

/** Why a server is not the one that this machine's records came from; null where it is. */
const lackedBy = (
  { sequence, link }: PlaceFacts, { replica: { end }, seal }: PlacedStore,
): SallyportError | null => {
  if (sequence < end.sequence) return serverChanged('behind')
  return link?.equals(seal.link(end.chain)) === false ? otherHistory() : null
}

/** Further apart than that a person should know it, ms. */
const apartMsTold = 2_000

const clockCheck = ({ clockApartMs }: PlaceFacts): Check => {
  const apartMs = Math.round(Math.abs(clockApartMs))
  const name = 'clock of the server'
  return apartMs <= apartMsTold
    ? { name, result: 'ok', text: `${apartMs} ms apart`, next: null }
    : { name, result: 'note', text: `${apartMs} ms apart; what is written goes by the server's`,
      next: 'Set the clocks of both machines by a time server.' }
}

const standbys: Readonly<Record<PlaceFacts['standby'], Pick<Check, 'result' | 'text'>>> = {
  none: { result: 'ok', text: 'none is connected' },
  synchronous: { result: 'ok', text: 'synchronous: a commit waits for it' },
  asynchronous: {
    result: 'note', text: 'asynchronous: a promotion may lose the last records, and is noticed',
  },
  unknown: { result: 'note', text: 'the role of this machine may not see whether there is one' },
}

const standbyCheck = ({ standby }: PlaceFacts): Check =>
  ({ name: 'standby', next: null, ...standbys[standby] })

const machinesCheck = (rows: readonly MachineRow[], here: string): Check => {
  const name = 'machines'
  const live = rows.filter(({ retired }) => retired === null)
  return live.some(({ machine }) => machine === here)
    ? { name, result: 'ok', text: `${countText(live.length, 'machine')}; this is one`, next: null }
    : { name, result: 'problem', text: 'this machine was retired; nothing of it is taken',
      next: 'Have another machine invite it again: `sallyport machine invite NAME --to FILE`.' }
}

/** One line for a question that failed; what is no refusal is thrown. */
const failed = (name: string, error: unknown): Check => {
  if (!(error instanceof SallyportError)) throw error
  return {
    name, result: 'problem', text: `${error.code}: ${error.message}`,
    next: error.next ?? 'sallyport status',
  }
}

/** Asks; none of a state that is in a directory. Throws no refusal. */
export const placeChecks = async (store: Store): Promise<readonly Check[]> => {
  if (!isPlaced(store)) return []
  const checks: Check[] = []
  try {
    const facts = await store.place.facts(store.replica.end.sequence)
    checks.push(serverCheck(facts, store), clockCheck(facts), standbyCheck(facts))
    const lacks = lackedBy(facts, store)
    if (lacks !== null) checks.push(failed('records', lacks))
  } catch (error) {
    // Asked anew it would only wait once more.
    return [failed('server', error)]
  }
  try {
    const { rows, here } = await listMachines(store)
    return [...checks, machinesCheck(rows, here)]
  } catch (error) {
    return [...checks, failed('machines', error)]
  }
}
