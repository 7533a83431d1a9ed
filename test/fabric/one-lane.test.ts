/** Asks of the text capability and proofs of the gateway share one lane over all processes. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { ChildProcess } from 'node:child_process'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { acquireLane } from '../../src/state/holds/lane.js'
import type { SandboxHooks } from '../../src/sandbox/types.js'
import { laneWaiters } from '../support/lanes.js'
import { checkLedger, recover } from '../support/ledger.js'
import { must } from '../support/must.js'
import { question } from '../world/alpha.js'
import type { Ran } from '../world/place.js'
import { World, type RoutesWorld } from '../world/world.js'
import { until } from '../support/until.js'

/** Counts requests that provider and gateway hold open at once. */
const counting = () => {
  let open = 0
  const seen = { peak: 0 }
  const hooks: SandboxHooks = {
    async onRequest() {
      open += 1
      seen.peak = Math.max(seen.peak, open)
      // Long enough for another process to come in between, if anything let it.
      await systemClock.sleep(60)
    },
    onDone() { open -= 1 },
  }
  return { hooks, seen }
}

/** Another owner with a session of its own: an owner has one ask outstanding. */
const otherOwner = async (rig: RoutesWorld, name: string): Promise<Record<string, string>> => {
  const passphrase = ['--passphrase-file', rig.place.path(`${name}-passphrase`)]
  writeFileSync(rig.place.path(`${name}-passphrase`), 'correct horse battery\n')
  must(await rig.run(['principal', 'add', name, ...passphrase, '--json']))
  const token = rig.place.path(`${name}-token`)
  must(await rig.run([
    'login', '--owner', name, ...passphrase, '--token-file', token, '--json',
  ]))
  const env = { SALLYPORT_SESSION: readFileSync(token, 'utf8').trim() }
  must(await rig.run(['alpha', 'acknowledge', '--acknowledge-plaintext-egress'], { env }))
  return env
}

const spawnAsk = (rig: RoutesWorld, env: Record<string, string> = {}): Promise<Ran> =>
  rig.place.spawn(['alpha', 'ask', '-', '--json'], { stdin: question, env, coverage: false })

const spawnProof = (
  rig: RoutesWorld, slot: string, onChild?: (child: ChildProcess) => void,
): Promise<Ran> => rig.place.spawn(['gateway', 'prove', slot, '--json'], {
  coverage: false, ...(onChild === undefined ? {} : { onChild }),
})

t.test('A-197 asks and proofs of five processes at once never overlap at the other side', async (t) => {
  const { hooks, seen } = counting()
  const rig = await World.in(t).sandbox({ hooks }).state().session().alpha().gateway()
  const other = await otherOwner(rig, 'second')
  const ran = await Promise.all([
    spawnAsk(rig), spawnProof(rig, 'chat'), spawnAsk(rig, other), spawnProof(rig, 'report'),
    spawnProof(rig, 'screenshot'),
  ])
  for (const one of ran) t.equal(one.status, 0, one.stderr)
  t.equal(rig.inferences().length, 2)
  t.equal(rig.calls().length, 3)
  t.equal(seen.peak, 1, 'provider and gateway together saw one open request at most')
  t.strictSame(rig.sandbox.log.violations(), [])
  checkLedger(t, rig)
})

t.test('A-197 a killed holder frees the lane for the other route, and nobody doubles up', async (t) => {
  const { hooks, seen } = counting()
  let holder: ChildProcess | undefined
  const rig = await World.in(t).sandbox({
      hooks: {
        ...hooks,
        async onRequest(service, request) {
          if (service === 'gateway' && holder !== undefined) {
            holder.kill('SIGKILL')
            holder = undefined
          }
          await hooks.onRequest?.(service, request)
        },
      },
    }).state().session().alpha().gateway()
  const proof = spawnProof(rig, 'chat', (child) => { holder = child })
  await until('the gateway being asked', () => rig.calls().length === 1)
  const asked = await spawnAsk(rig)
  t.equal((await proof).status, 137)
  t.equal(asked.status, 0, asked.stderr)
  await recover(rig)
  t.equal(rig.calls().length, 1, 'the dead proof was not sent again')
  t.equal(seen.peak, 1)
  checkLedger(t, rig)
})

t.test('A-198 an ask goes before a report\'s proof, and that before a screenshot\'s', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha().gateway()
  const dir = rig.place.stateDir
  const lane = await acquireLane({
    dir, priority: 'normal', deadlineMs: systemClock.monotonicMs() + 100_000, clock: systemClock,
  })
  const waiting = (priority: 'interactive' | 'high' | 'normal') => () =>
    laneWaiters(dir)[priority] === 1
  const screenshot = spawnProof(rig, 'screenshot')
  await until('the screenshot waiting', waiting('normal'))
  const report = spawnProof(rig, 'report')
  await until('the report waiting', waiting('high'))
  const asked = spawnAsk(rig)
  await until('the ask waiting', waiting('interactive'))
  t.equal(rig.calls().length + rig.inferences().length, 0)
  lane.release()
  for (const one of await Promise.all([screenshot, report, asked])) {
    t.equal(one.status, 0, one.stderr)
  }
  const order = rig.sandbox.log.all().map(({ service, body }) => {
    const { model } = JSON.parse(body.toString()) as { model?: string }
    return service === 'gateway' ? model : service
  })
  t.strictSame([...new Set(order)], ['provider', 'acme/report-1', 'acme/screenshot-1'])
})
