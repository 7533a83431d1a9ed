/**
 * A host that takes a connection and never speaks TLS: a stop ends every order at once, and nothing
 * stays held, because no request byte can have left. Real processes, real signals.
 */
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { collections } from '../../src/governance/rows.js'
import { verifyLedger } from '../../src/governance/ledger/verify-ledger.js'
import { question } from '../world/alpha.js'
import type { RoutesWorld } from '../world/world.js'
import { World } from '../world/world.js'
import { timeOf } from '../support/speed.js'

/** Between the signal and the end of the process, milliseconds; the machine may be busy. */
const endMsMax = Math.max(5_000, timeOf(100))

interface Silent {
  readonly world: RoutesWorld
  /** Called at each connection. */
  onConnect(act: () => void): void
}

/** Both routes of a deployment whose only host never says a word. */
const silentWorld = async (t: Test): Promise<Silent> => {
  let act = (): void => undefined
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    act()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const place = World.in(t).sandbox()
  const { sandbox } = await place
  const profile = readFileSync(sandbox.profileFile, 'utf8')
    .replaceAll(/https:\/\/127\.0\.0\.1:[0-9]+/g, `https://127.0.0.1:${port}`)
  const profileFile = place.place.write('silent-profile.json', profile)
  const world = await place.state({ profileFile }).session().alpha().gateway()
  return { world, onConnect: (next) => { act = next } }
}

const orders: Readonly<Record<string, readonly string[]>> = {
  ask: ['alpha', 'ask', '-'],
  prove: ['gateway', 'prove', 'report'],
}

/** What a stop of the order left, after the next mutating command. */
const requireNothingHeld = async (t: Test, world: RoutesWorld): Promise<void> => {
  await world.run(['goal', 'add', 'resolves leftovers'])
  const view = world.view()
  t.strictSame(verifyLedger(view), [])
  t.hasStrict(view.all(collections.ledgerAccounts)[0]?.doc, {
    held_microusd: 0, unknown_microusd: 0, settled_microusd: 0,
  })
  t.strictSame(view.all(collections.openReservations), [])
}

for (const [name, argv] of Object.entries(orders)) {
  for (const times of [1, 2] as const) {
    t.test(`A-183 ${times} SIGINT to ${name} before TLS is up end it, with nothing held`,
      async (t) => {
        const { world, onConnect } = await silentWorld(t)
        let child: ChildProcess | null = null
        let signalled = 0
        onConnect(() => {
          signalled = performance.now()
          child?.kill('SIGINT')
          // One after the other: two pending signals of a kind would be one.
          if (times === 2) setTimeout(() => child?.kill('SIGINT'), 20)
        })
        const ran = await world.place.spawn([...argv, '--json'], {
          stdin: question, coverage: false, onChild: (one) => { child = one },
        })
        t.ok(signalled > 0, 'it was dialled')
        const tookMs = Math.round(performance.now() - signalled)
        t.comment(`${name}: ${tookMs} ms from the first signal to the end of the process`)
        t.ok(tookMs < endMsMax, `it ended at once, after ${tookMs} ms`)
        t.equal(ran.status, 130, ran.stderr)
        t.equal(ran.stdout, '')
        t.matchStrict(
          ran.error().details, { operation_id: /^op_/ }, 'the error names the operation'
        )
        await requireNothingHeld(t, world)
      })
  }
}
