/**
 * Going on at a server that another one took over from, or that was put back from a copy. It is
 * decided at one moment, durable there, and may be run again behind a crash.
 */
import { fail } from '../../base/errors.js'
import { dropBehind, isBehind, isForked, isLacking, stoppedBehind } from './behind.js'
import { machineIsThisOne, machineRetired, otherHistory } from './errors.js'
import type { MachineRow, PlacedRecord, Position, Standing } from './place.js'
import type { PlacedStore } from './placed-store.js'
import { recordsBehind } from './records-behind.js'

const moved = (): Error =>
  fail.conflict('server_moved', 'Another machine went on at this server meanwhile.', {
    next: 'Nothing was given back. Run it again.',
  })

/** What came of asking a server that is not known. */
export interface Accepted {
  /** Records that the server had lost and was given back. */
  readonly gave_back: number
  /** Machines that were left out, by their names. */
  readonly without: readonly string[]
}

/** What is done where a machine is left out: what it alone knew is lost. */
export interface Loss {
  /** Just before the server is made known; durable here. */
  stop(): Promise<void>
  /** Behind that, and again where it was cut off; `gone`: ids of the machines. */
  settle(gaveBack: number, gone: readonly string[]): Promise<void>
}

const named = (machines: readonly MachineRow[]): string =>
  machines.map(({ name }) => name).join(', ')

/** Names of machines that are gone for good. */
type Without = readonly string[]

/** Machines that may know more than the server, and have not said so. */
const silent = ({ machines, vouchers }: Standing): MachineRow[] => {
  const said = new Set(vouchers.map(({ machine }) => machine))
  return machines.filter(({ machine }) => !said.has(machine))
}

/**
 * How far this machine had come. One that was fetched anew, or put back from a copy, had come as
 * far as its anchor says, whatever it has of that.
 */
const knownHere = ({ replica, seal }: PlacedStore): Position => {
  const { sequence, chain } = replica.end
  const { mark } = replica.anchor()
  const last = mark !== null && mark.sequence > sequence ? mark : { sequence, chain }
  return { sequence: last.sequence, link: seal.link(last.chain) }
}

const notHere = (): Error =>
  fail.blocked('records_folded', 'What the server lost is not in this machine\'s log.', {
    next: 'Run it on a machine that was joined longer. Where none has it, leave this one out on '
      + 'another machine: `sallyport state accept-server --without NAME`.',
  })

const lostOf = (store: PlacedStore, last: PlacedRecord, own: Position): readonly PlacedRecord[] => {
  const behind = recordsBehind(store.replica)
  const known = behind === null ? [] : [behind.base, ...behind.records]
  const at = known.findIndex(({ sequence }) => sequence === last.sequence)
  const found = known[at]
  // An anchor may tell of more than the log still has.
  if (found === undefined || known.at(-1)?.sequence !== own.sequence) throw notHere()
  if (!store.seal.link(found.chain).equals(last.link)) throw otherHistory()
  const records = (behind?.records ?? []).filter(({ sequence }) => sequence > last.sequence)
  const before = new Map(known.map(({ sequence, chain }) => [sequence, chain]))
  return records.map((record) => store.seal.seal(record, before.get(record.sequence - 1) ?? ''))
}

/**
 * Stored files that records name go back with them, and come here where another machine gave them
 * back after their records.
 */
const bringFiles = async ({ replica, blobs }: PlacedStore): Promise<void> => {
  const payloads = (recordsBehind(replica)?.records ?? []).map(({ payload }) => payload)
  await blobs.bringAnew(payloads)
  await blobs.fetch(payloads)
}

/** Machines that are left out: those that are there still, or were retired with what they knew. */
const goneOf = (
  store: PlacedStore, machines: readonly MachineRow[], without: Without,
): readonly MachineRow[] => machines.filter(({ machine, name, retired }) =>
  machine !== store.settings.machine && without.includes(name)
    && (retired === null || stoppedBehind(store.stops, machine)))

/**
 * Goes on at a server that another one took over from. Each machine says first how far it had come;
 * once all have, the one that had come farthest gives back what the server lost. `conflict`
 * `machines_to_ask` names those that have not said it, or the one that has to run it;
 * `server_changed` `left` and `other_history`. `blocked` `machine_retired`, `records_folded`;
 * `rejected` `machine_is_this_one`.
 * `without`: names of machines that are gone; what they alone knew is lost, which `loss` heeds.
 * They are retired last: cut off before that, the same call goes on.
 */
export const acceptServer = async (
  store: PlacedStore, without: Without = [],
  loss: Loss = { stop: () => Promise.resolve(), settle: () => Promise.resolve() },
): Promise<Accepted | null> => {
  const { place, replica, settings } = store
  replica.read()
  const own = knownHere(store)
  const { isChanged, last, link, machines } = await place.standing(own.sequence)
  // A server that was put back may have lost that this machine joined.
  const here = machines.find(({ machine }) => machine === settings.machine)
  if (here !== undefined && here.retired !== null) throw machineRetired()
  const gone = goneOf(store, machines, without)
  const isOwnNamed = without.includes(settings.machineName)
  if (isOwnNamed && !gone.some(({ name }) => name === settings.machineName)) {
    throw machineIsThisOne()
  }
  const isOwn = last.sequence >= own.sequence && link?.equals(own.link) !== false
  const isKnown = !isChanged && isOwn
  if (!isChanged && !isOwn) await stopFirst(store)
  if (isKnown && gone.length === 0) {
    await vouchForOthers(store)
    return null
  }
  const stop = gone.length > 0 ? loss.stop : () => Promise.resolve()
  if (isKnown) await stop()
  const given = isKnown ? 0 : await goOnAt(store, without, stop)
  await store.fresh()
  await bringFiles(store)
  dropBehind(store.stops, gone.map(({ machine }) => machine))
  await store.retireAnew()
  if (gone.length > 0) await loss.settle(given, gone.map(({ machine }) => machine))
  for (const one of gone) if (one.retired === null) await place.retire(one.machine)
  return { gave_back: given, without: gone.map(({ name }) => name) }
}

/** Others may be going on there: whoever looks and misses something stops them. */
const stopFirst = async (store: PlacedStore): Promise<void> => {
  try {
    await store.fresh()
  } catch (error) {
    if (!isBehind(error) && !isForked(error)) throw error
  }
}

/**
 * This machine lacks nothing, and another one does: it waits until all have said how far. One that
 * has nothing to give back of what its anchor tells of is left out by another one.
 */
const vouchForOthers = async (store: PlacedStore): Promise<void> => {
  await store.fresh()
  await store.retireAnew()
  await bringFiles(store)
  if (!isLacking(store.stops, store.replica.end.sequence)) return
  if (stoppedBehind(store.stops, store.settings.machine)) throw notHere()
  await store.place.vouch(knownHere(store), store.settings.machineName)
}

/**
 * How a server stands, with those machines alone whose word counts: which are there, are not left
 * out and were not retired, also where the server has lost that.
 */
const standingOf = async (store: PlacedStore, without: Without): Promise<Standing> => {
  const standing = await store.place.standing()
  const out = new Set(store.retired)
  return {
    ...standing,
    machines: standing.machines.filter(({ machine, name, retired }) =>
      retired === null && !without.includes(name) && !out.has(machine)),
  }
}

/** What they say, but for this one. */
const others = ({ machines, vouchers }: Standing, here: string) => {
  const staying = new Map(machines
    .filter(({ machine }) => machine !== here).map((row) => [row.machine, row]))
  return vouchers.flatMap((voucher) => {
    const row = staying.get(voucher.machine)
    return row === undefined ? [] : [{ row, voucher }]
  })
}

/** Makes the server known; how many records it was given back. */
const goOnAt = async (
  store: PlacedStore, without: Without, stop: Loss['stop'],
): Promise<number> => {
  const { place, settings: { machine, machineName } } = store
  const own = knownHere(store)
  await place.vouch(own, machineName)
  const standing = await standingOf(store, without)
  if (standing.vouchers.some((one) => one.machine === machine && one.isOther)) throw otherHistory()
  const missing = silent(standing)
  if (missing.length > 0) {
    throw fail.conflict('machines_to_ask', 'Not every machine has said how far it had come.', {
      next: 'Run this there too, or name each that is gone with --without NAME.',
      details: { machines: named(missing) },
    })
  }
  const { last } = standing
  const said = others(standing, machine)
  // One that is gone, or was retired, gives nothing back, however far it had come.
  const here = Math.max(own.sequence, last.sequence)
  const farther = said.filter(({ voucher }) => voucher.sequence > here)
  if (farther.length > 0) {
    throw fail.conflict('machines_to_ask', 'Another machine has records that the server lost.', {
      next: 'Run this there: it gives them back.',
      details: { machines: named(farther.map(({ row }) => row)) },
    })
  }
  const lost = last.sequence >= own.sequence ? [] : lostOf(store, last, own)
  const ours = new Map(lost.map(({ sequence, link }) => [sequence, link]))
  // Two machines that went on apart have each what the other one lacks, however far they came.
  if (said.some(({ voucher: { sequence, link, isOther } }) =>
    isOther || ours.get(sequence)?.equals(link) === false)) throw otherHistory()
  await stop()
  // From then on others work there: the stop comes with it, and files behind it may take long.
  if (await place.accept(last, lost, store.retired, store.stops.rowsHere()) === 'moved') {
    throw moved()
  }
  return lost.length
}
