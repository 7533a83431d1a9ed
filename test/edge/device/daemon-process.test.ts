import { existsSync, readFileSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import { onDisk } from '../../support/edge/device.js'
import { deviceOf, linesOf } from '../../support/edge/paired.js'
import { failure, must } from '../../support/must.js'
import { until } from '../../support/until.js'
import { killSpool } from '../../support/soak/kill-spool.js'
import { t } from '../../support/tests-in-slices.js'

t.test('S-040 a daemon that is killed at any step goes on: in order, each stored once, numbers growing',
  async (t) => {
    const steps = ['daemon.numbered', 'daemon.answered', 'daemon.stored', 'daemon.removed']
    const device = await deviceOf(t)
    const ids: string[] = []
    for (const [at, step] of steps.entries()) {
      ids.push(await device.capture(2 * at), await device.capture(2 * at + 1))
      const ran = await device.place.spawn(['edge', 'daemon', '--once'], {
        entry: 'test', coverage: false, env: { TEST_STOP_AT: step },
      })
      t.equal(ran.status, 137, `${step}: ${ran.stderr}`)
      must(await device.once())
    }
    t.strictSame([...device.service.stored.keys()], ids)
    const numbers = [...device.service.stored.values()].map(({ artifact }) => artifact['sequence'])
    t.strictSame(numbers, [...numbers].sort((a, b) => Number(a) - Number(b)))
    t.equal(new Set(numbers).size, ids.length)
    t.strictSame(device.service.violations, [])
    t.equal(onDisk(device.place.edgeDir).items, 0)
  })

t.test('a second daemon on one spool is refused, the first one takes what comes and ends at SIGTERM',
  async (t) => {
    const device = await deviceOf(t)
    const { place, service } = device
    let child: ChildProcess | null = null
    const running = place.spawn(['edge', 'daemon', '--json'], { onChild: (one) => (child = one) })
    const first = await device.capture(1)
    await until('the first is sent', () => service.stored.has(first))
    const second = await device.once()
    t.hasStrict(failure(second), { status: 11, code: 'edge_daemon_running' })
    const paired = await device.pair()
    t.hasStrict(failure(paired), { status: 11, code: 'edge_daemon_running' })
    const next = await device.capture(2)
    await until('the next is sent', () => service.stored.has(next))
    t.equal(service.requests.length, 2)
    // As on a Mac there is no such file; where there is, any other process may read it.
    const command = `/proc/${child!.pid}/cmdline`
    if (existsSync(command)) {
      t.notOk(readFileSync(command, 'utf8').includes(device.pairing().credential))
    }
    child!.kill('SIGTERM')
    const ran = await running
    t.strictSame([ran.status, ran.stderr], [0, ''])
    t.strictSame(linesOf(ran).map(({ event }) => event), ['ready', 'sent', 'sent', 'stopped'])
  })

t.test('SIGTERM ends a daemon that waits for an answer or between two tries; nothing is lost',
  async (t) => {
    const device = await deviceOf(t, { settings: { retry: { first_ms: 60_000 } } })
    const { place, service } = device
    const id = await device.capture(1)
    for (const fault of ['silent', { status: 503 }] as const) {
      service.fault(fault)
      const before = service.uploads.length
      let child: ChildProcess | null = null
      const running = place.spawn(['edge', 'daemon', '--json'], { onChild: (one) => (child = one) })
      await until('it was tried', () => service.uploads.length > before
        && (fault === 'silent' || service.uploads.at(-1)?.status === 503))
      child!.kill('SIGTERM')
      const ran = await running
      t.equal(ran.status, 0, ran.stderr)
      t.equal(linesOf(ran).at(-1)?.event, 'stopped')
      t.equal(onDisk(place.edgeDir).items, 1)
    }
    must(await device.once())
    t.strictSame([...service.stored.keys()], [id])
  })

t.test('text is for people: no picture, path or credential is in it', async (t) => {
  const device = await deviceOf(t)
  const id = await device.capture(1, '--source', 'A Window Title')
  const ran = must(await device.place.run(['edge', 'daemon', '--once']))
  t.match(ran.stdout, new RegExp(`ready: 1 waiting.*\\n.*sent ${id} as edge_art_.*\\n.*stopped: 0`))
  t.notMatch(ran.stdout, /Window|shot-1|spe_/)
})

t.test('S-036 S-037 S-040 whatever is killed at random, each capture is stored once, in order', async (t) => {
  const { answered, killed, stored, violations } = await killSpool(6)
  t.strictSame(violations, [])
  t.ok(stored >= answered, 'one that was killed at its answer may wait as well')
  t.ok(killed > 0, `${killed} of 6 were killed at their work`)
})
