/** One request to a provider at a time, over all machines, whatever happens to the server. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { ServiceName } from '../../../src/sandbox/types.js'
import { placeTimes } from '../../../src/state/place/place.js'
import { must } from '../../support/must.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'
import { rounds } from '../../support/slice.js'
import { timeOf } from '../../support/speed.js'
import { t } from '../../support/tests-in-slices.js'

/** How long the provider thinks, ms: long enough for others to come meanwhile. */
const thinksMs = 120
/** Sessions of the server end so often, ms: often enough for each ask to be struck. */
const everyMs = timeOf(1.4)
const wait = { args: ['--wait-turn', '60'] }

/** Requests that are open at the provider. */
class Open {
  #now = 0
  most = 0
  all = 0
  readonly hooks = {
    onRequest: async (service: ServiceName): Promise<void> => {
      if (service !== 'provider') return
      this.#now += 1
      this.all += 1
      this.most = Math.max(this.most, this.#now)
      await sleep(thinksMs)
    },
    onDone: (service: ServiceName): void => {
      if (service === 'provider') this.#now -= 1
    },
  }
}

const shortLeases = (t: Test, ms: number): void => {
  const { leaseMs } = placeTimes
  placeTimes.leaseMs = ms
  t.teardown(() => { placeTimes.leaseMs = leaseMs })
}

t.test('A-197 one request is open at a time while sessions of the server end and it starts anew', async (t) => {
  const server = await startPostgres(t)
  const open = new Open()
  const one = await firstMachine(t, server.url, { hooks: open.hooks })
  const two = await nextMachine(t, one)
  // Of one owner's asks one is under way: two owners want the lane at once.
  const file = one.place.write('passphrase', 'another person')
  must(await one.run(['principal', 'add', 'other', '--passphrase-file', file]))
  must(await two.run(['login', '--replace', '--owner', 'other', '--passphrase-file', file]))
  must(await two.run(['alpha', 'acknowledge', '--acknowledge-plaintext-egress']))
  shortLeases(t, 8_000)
  const turns = rounds('asks of a line', { short: 3, all: 6 })
  const ends = { answered: 0, other: 0 }
  // Where each of them was struck so far, the others are left alone.
  const isHopeless = () => ends.answered === 0 && ends.other >= turns * 2
  let over = false
  const ending = (async () => {
    for (let restarts = 0; !over;) {
      await sleep(everyMs)
      if (isHopeless()) continue
      await server.terminateAll().catch(() => undefined)
      if (restarts < 2 && open.all > 2 + restarts * 4) {
        restarts += 1
        await server.restart()
      }
    }
    return 'ended'
  })()
  const line = async (ask: () => Promise<{ status: number }>) => {
    for (let turn = 0; turn < turns; turn += 1) {
      const { status } = await ask()
      ends[status === 0 ? 'answered' : 'other'] += 1
    }
  }
  await Promise.all([
    line(() => one.ask(wait)), line(() => one.ask(wait)),
    line(() => askOn(two, wait)), line(() => askOn(two, wait)),
  ])
  over = true
  await ending
  t.comment(`${JSON.stringify(ends)}, ${open.all} requests, at most ${open.most} open`)
  t.equal(open.most, 1)
  t.ok(ends.answered > 0, JSON.stringify(ends))
  t.ok(one.inferences().length <= turns * 4, 'no ask was sent twice')
  must(await one.ask())
  must(await askOn(two))
  t.equal(open.most, 1)
})
