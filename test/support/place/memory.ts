/** A place in this process, for rules that need no server: what it may say is as a server's. */
import { createHash, randomUUID } from 'node:crypto'
import { isoFromMs } from '../../../src/base/clock.js'
import { fail } from '../../../src/base/errors.js'
import { leaseLost } from '../../../src/state/place/errors.js'
import type {
  FenceRow, MachineRow, Place, PlacedRecord, StopRow, Voucher,
} from '../../../src/state/place/place.js'
import { nobody, placeTimes } from '../../../src/state/place/place.js'

interface Lease { name: string; machine: string; token: string; until: number }
interface Fence extends FenceRow {
  taken: boolean; closed: boolean; facts: Buffer; changed: number; turn: string
}

/** What several places of one store share. */
export class MemoryServer {
  records: PlacedRecord[] = []
  leases: Lease[] = []
  stops: (StopRow & { placed: number })[] = []
  fences: Fence[] = []
  blobs = new Map<string, Buffer[]>()
  /** Blobs that have not lain there for a day, or are kept. */
  young = new Set<string>()
  machines: MachineRow[] = []
  /** Set: nobody is answered. */
  isAway = false
  /** Called before an append is judged; for another machine to come first. */
  beforeAppend: (() => Promise<void>) | null = null
  /** Set: the next append comes to be, or not, and nobody is told. */
  losesAnswer: 'placed' | 'not' | null = null
  isChanged = false
  isEnded = false
  vouchers: Voucher[] = []
  ticks = 0
  seenAgoMs = 0
  /** Its wall clock, ms since 1970. */
  nowMs: () => number = Date.now
  /** How often the place was asked, by the name of the question. */
  readonly asked: string[] = []
}

const away = (): Error => fail.locked('place_unreachable', 'The place does not answer.')

/** The place of one machine; its id is asked for when something is. */
export const memoryPlace = (server: MemoryServer, machineId: () => string): Place => {
  const ask = (what: string): void => {
    server.asked.push(what)
    if (server.isAway) throw away()
    if (server.isEnded && what !== 'end') {
      throw fail.blocked('state_unshared', 'The state is a directory again.')
    }
    const changes = !['standing', 'vouch', 'accept'].includes(what)
    if (server.isChanged && changes) throw fail.conflict('server_changed', 'Another server.')
  }
  const live = (): Lease[] => server.leases.filter(({ until }) => until > server.nowMs())
  const linkAt = (known: number): Buffer | null =>
    server.records.find(({ sequence }) => sequence === known)?.link ?? null
  const look: Place['follow'] = async (after, limit) => {
    const behind = server.records.filter(({ sequence }) => sequence > after)
    return {
      records: behind.slice(0, limit), link: linkAt(after), more: behind.length > limit,
      leases: live().map(({ name, machine: whose, token }) =>
        ({ name, machine: whose, token: whose === machineId() ? token : null })),
      stops: [...server.stops], nowMs: server.nowMs(), seenAgoMs: server.seenAgoMs,
    }
  }
  const row = (machine: string, name: string): MachineRow => ({
    machine, name, joined: isoFromMs(server.nowMs()), seen: isoFromMs(server.nowMs()),
    retired: null, sequence: 0,
  })
  const retire = (which: string): void => {
    server.machines = server.machines.map((one) =>
      (one.machine === which ? { ...one, retired: isoFromMs(server.nowMs()) } : one))
  }
  return {
    name: 'memory',
    async follow(after, limit) {
      ask('follow')
      return look(after, limit)
    },
    async append(at, record, under) {
      ask('append')
      await server.beforeAppend?.()
      const mine = live().filter(({ token }) => under.includes(token))
      if (mine.length < under.length) return 'lease_lost'
      for (const lease of mine) lease.until = server.nowMs() + placeTimes.leaseMs
      const last = server.records.at(-1)
      if (last?.sequence !== at.sequence || !last.link.equals(at.link)) return 'moved'
      const lost = server.losesAnswer
      server.losesAnswer = null
      if (lost !== 'not') server.records.push(record)
      if (lost !== null) throw fail.partial('commit_unknown', 'Nobody answered.')
      return 'placed'
    },
    async take(name, ms, ahead = []) {
      ask('take')
      const others = live().filter((lease) => lease.machine !== machineId() || lease.name !== name)
      if (others.some((lease) => lease.name === name
        || ahead.some((prefix) => lease.name.startsWith(prefix)))) return null
      const token = randomUUID()
      server.leases = server.leases.filter((lease) => lease.name !== name)
      server.leases.push({ name, machine: machineId(), token, until: server.nowMs() + ms })
      return token
    },
    async renew(tokens, ms) {
      ask('renew')
      const mine = live().filter(({ token }) => tokens.includes(token))
      for (const lease of mine) lease.until = server.nowMs() + ms
      return mine.map(({ token }) => token)
    },
    async release(tokens) {
      ask('release')
      server.leases = server.leases.filter(({ token }) => !tokens.includes(token))
    },
    async takeFence({ operation, facts, turn, under }, after, limit) {
      ask('takeFence')
      const mine = live().filter(({ token }) => under.includes(token))
      if (mine.length < under.length) throw leaseLost()
      for (const lease of mine) lease.until = server.nowMs() + placeTimes.leaseMs
      server.fences = server.fences.filter((one) => one.operation !== operation)
      server.fences.push({
        operation, machine: machineId(), taken: true, closed: false, facts, turn,
        changed: server.ticks += 1,
      })
      return look(after, limit)
    },
    async giveFence(operation, facts, turn, closed) {
      ask('giveFence')
      const fence = server.fences.find((one) => one.operation === operation)
      if (fence === undefined || (!closed && fence.turn !== turn)) return
      Object.assign(fence, { taken: false, closed, facts, changed: server.ticks += 1 })
    },
    async fencesSince(stop, moment) {
      ask('fencesSince')
      const placed = moment === undefined
        ? server.stops.find(({ id }) => id === stop)?.placed ?? 0 : Number(moment)
      return server.fences.filter(({ taken, changed, closed, operation }) =>
        taken || changed > placed
          || (!closed && live().some(({ name }) => name === `hold/${operation}`)))
        .map((fence) => ({ ...fence }))
    },
    async putStop(id, body) {
      ask('putStop')
      const there = server.stops.find((one) => one.id === id)
      if (there !== undefined) return String(there.placed)
      server.stops.push({ id, body, placed: server.ticks += 1 })
      return String(server.ticks)
    },
    async dropStop(id) {
      ask('dropStop')
      server.stops = server.stops.filter((one) => one.id !== id)
    },
    async untrueBlobs(names) {
      ask('untrueBlobs')
      const digestOf = (name: string) => createHash('sha256')
        .update(Buffer.concat(server.blobs.get(name) ?? [])).digest('hex')
      return names.filter((name) => !server.blobs.has(name) || digestOf(name) !== name)
    },
    async hasBlobs(names) {
      ask('hasBlobs')
      return names.filter((name) => server.blobs.has(name))
    },
    async putBlob(name, pieces) {
      ask('putBlob')
      const kept: Buffer[] = []
      for await (const piece of Buffer.isBuffer(pieces) ? [pieces] : pieces) {
        kept.push(Buffer.from(piece))
      }
      if (!server.blobs.has(name)) server.blobs.set(name, kept)
      server.young.add(name)
    },
    async * getBlob(name) {
      ask('getBlob')
      yield* server.blobs.get(name) ?? []
    },
    async removeBlobs(names) {
      ask('removeBlobs')
      for (const name of names) server.blobs.delete(name)
    },
    async oldBlobs(after, limit) {
      ask('oldBlobs')
      return [...server.blobs.keys()].filter((name) => name > after && !server.young.has(name))
        .sort().slice(0, limit)
    },
    async keepBlob() { ask('keepBlob') },
    async machines() {
      ask('machines')
      return [...server.machines]
    },
    async join(given) {
      ask('join')
      if (server.machines.some(({ machine }) => machine === given.machine)) return false
      server.machines.push(row(given.machine, given.name))
      return true
    },
    async retire(which) {
      ask('retire')
      retire(which)
      return { operations: [], until: null }
    },
    async noteSeen(sequence) {
      ask('noteSeen')
      server.seenAgoMs = 0
      server.machines = server.machines.map((one) =>
        (one.machine === machineId() ? { ...one, sequence } : one))
    },
    async found({ machine: first, at }) {
      ask('found')
      server.records.push(at)
      server.machines.push(row(first.machine, first.name))
    },
    async standing(known = 0) {
      ask('standing')
      const last = server.records.at(-1)
      if (last === undefined) throw away()
      return {
        isChanged: server.isChanged, last, link: linkAt(known), vouchers: [...server.vouchers],
        machines: [...server.machines],
      }
    },
    async vouch(at, name) {
      ask('vouch')
      if (!server.machines.some(({ machine }) => machine === machineId())) {
        server.machines.push(row(machineId(), name))
      }
      server.vouchers = server.vouchers.filter((one) => one.machine !== machineId())
      const there = server.records.find(({ sequence }) => sequence === at.sequence)
      const isOther = there?.link.equals(at.link) === false
      server.vouchers.push({ ...at, machine: machineId(), isOther })
    },
    async accept(last, lost, retired = [], stops = []) {
      ask('accept')
      if (server.records.at(-1)?.sequence !== last.sequence) return 'moved'
      for (const one of retired) retire(one)
      server.records.push(...lost)
      for (const stop of stops) server.stops.push({ ...stop, placed: server.ticks += 1 })
      server.isChanged = false
      server.leases.push({
        name: 'lane', machine: nobody, token: randomUUID(),
        until: server.nowMs() + placeTimes.leaseMs,
      })
      return 'accepted'
    },
    async end({ sequence, link }) {
      ask('end')
      const last = server.records.at(-1)
      if (last?.sequence !== sequence || !last.link.equals(link)) return 'moved'
      server.isEnded = true
      return [...server.stops]
    },
    async facts(known = 0) {
      ask('facts')
      return {
        server: 'memory', tls: null, awayMs: 0, clockApartMs: 0, standby: 'none',
        sequence: server.records.at(-1)?.sequence ?? 0, link: linkAt(known),
      }
    },
    async close() { /* There is no connection. */ },
  }
}
