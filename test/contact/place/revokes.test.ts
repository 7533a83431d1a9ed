/**
 * A revoke on one machine and what another one is sending: nothing leaves once it has answered,
 * what had left before is named, and who does not answer is named too.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { RunOptions } from '../../world/place.js'
import type { AlphaWorld, Placed } from '../../world/world.js'
import { newStop } from '../../../src/governance/stops/act.js'
import { loadToken, tokenPath } from '../../../src/governance/session/token.js'
import { openStore } from '../../../src/state/store.js'
import { newestTask } from '../../support/board.js'
import { must } from '../../support/must.js'
import { askOn, firstMachine, nextMachine } from '../../support/place/machines.js'
import { startPostgres, type Postgres } from '../../support/place/postgres.js'
import { rounds } from '../../support/slice.js'
import { soakSharedRevokes } from '../../support/soak/shared-revokes.js'
import { until } from '../../support/until.js'
import { t } from '../../support/tests-in-slices.js'

t.test('A-071 A-168 nothing leaves a machine once a revoke of another one has answered', async (t) => {
  const seen = await soakSharedRevokes(t, rounds('shared revokes', { short: 8, all: 20 }))
  t.comment(JSON.stringify(seen))
  t.strictSame([seen.leftAfter, seen.unnamed, seen.broken], [0, 0, []])
  t.equal(seen.kept + seen.sent, seen.rounds, 'at most one request a round')
})

const twoMachines = async (
  t: Test,
): Promise<{ server: Postgres; one: AlphaWorld; two: Placed }> => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  // A request that is held ends at its own time: at the longest that there is.
  must(await one.run(['alpha', 'setup', '--timeout-seconds', '45', '--acknowledge-plaintext-egress',
    '--expected-policy-revision', String(await one.revision())]))
  return { server, one, two: await nextMachine(t, one) }
}

t.test('A-167 a request that another machine had sent whole is named while its reply is waited for',
  async (t) => {
    const { server, one, two } = await twoMachines(t)
    one.sandbox.faults.set('hang_before_headers', { times: 1 })
    const asking = one.ask()
    await until('the provider has it', () => one.inferences().some(({ complete }) => complete))
    const fences = join(one.place.stateDir, 'run', 'fence')
    await until('it is noted', () => readdirSync(fences).some((name) =>
      readFileSync(join(fences, name), 'utf8').includes('"whole"')))
    // A busy machine says so later than a revoke waits for it.
    await until('it is told to the server', async () =>
      (await server.query('select from sallyport.fences where taken')).length === 0)
    const revoked = must(await two.run(['policy', 'revoke', '--json'])).json()
    const { task_id: task, operation_id: operation } = newestTask(one)
    t.strictSame(revoked.requests, [{ operation_id: operation, task_id: task, sent: 'wholly' }])
    t.strictSame(revoked.under_way, [])
    t.not((await asking).status, 0)
    t.equal(one.inferences().length, 1)
  })

t.test('a stop of another machine is recorded by one that never had any of its own', async (t) => {
  const { one, two } = await twoMachines(t)
  const stop = newStop(one.clock, { kind: 'all', target: null }, {
    principal: null, root: null, verb: 'policy revoke',
  })
  const store = openStore({
    dir: two.place.stateDir, configDir: two.place.configDir, mode: 'write',
  })
  await store.stops.put(stop)
  store.close()
  must(await one.run(['goal', 'add', 'next']))
  t.equal((await one.json(['policy', 'show'])).policy.reason, 'operator_revoke')
})

/** An ask in a process of its own whose first write is held; its fence is taken. */
const heldAsk = async (t: Test, { one }: { readonly one: AlphaWorld }) => {
  const go = one.place.path('go')
  const preload = new URL('../../support/net/held-writes.js', import.meta.url).href
  let signal = (_name: NodeJS.Signals): void => undefined
  const asking = one.place.spawn(['alpha', 'ask', '-', '--json'], {
    stdin: 'MARK: a question', env: { HELD_WRITES_GO_FILE: go }, coverage: false,
    nodeArgs: ['--import', preload],
    onChild: (child) => { signal = (name) => void child.kill(name) },
  })
  t.teardown(() => signal('SIGKILL'))
  const fences = join(one.place.stateDir, 'run', 'fence')
  await until('the request waits to be written', () =>
    existsSync(fences) && readdirSync(fences).some((name) =>
      readFileSync(join(fences, name), 'utf8').includes('"begun"')))
  return {
    asking, signal, go: () => writeFileSync(go, ''),
    cutOff: () => until('it was cut off', () => readdirSync(fences).length === 0),
  }
}

t.test('A-071 a stopped process of another machine that holds a request is named, and the stop stays',
  async (t) => {
    const { one, two } = await twoMachines(t)
    const held = await heldAsk(t, { one })
    held.signal('SIGSTOP')
    const revoked = await two.run(['policy', 'revoke', '--json'])
    const { task_id: task, operation_id: operation } = newestTask(one)
    t.equal(revoked.status, 11, revoked.stderr)
    t.equal(revoked.error().code, 'contact_under_way')
    t.match(revoked.stderr, `Stopped for every other request; a process of another machine (task ${
      task}) does not answer and may still send`)
    t.match(revoked.error().hint, /^Kill that process, .+ `sallyport machine retire NAME`\.$/)
    t.hasStrict(revoked.json().under_way, [{ operation_id: operation, task_id: task }])
    held.signal('SIGCONT')
    await held.cutOff()
    held.go()
    await held.asking
    t.equal(one.inferences().length, 0, 'it saw the stop when it woke')
    must(await two.run(['policy', 'revoke']))
  })

t.test('A-071 what stops something says again that a process of another machine does not answer',
  async (t) => {
    const { one, two } = await twoMachines(t)
    const file = two.place.write('passphrase', 'another person')
    must(await two.run(['principal', 'add', 'other', '--passphrase-file', file]))
    const held = await heldAsk(t, { one })
    held.signal('SIGSTOP')
    const { task_id: task, original_root: root, operation_id: operation } = newestTask(one)
    const its = { env: { SALLYPORT_SESSION: String(loadToken(tokenPath(one.place.stateDir))) } }
    const says = async (
      line: readonly string[], times: readonly string[], as: RunOptions = {},
    ): Promise<void> => {
      for (const time of times) {
        const ran = await two.run([...line, '--json'], as)
        t.equal(ran.status, 11, `${line.join(' ')}, ${time}: ${ran.stdout}${ran.stderr}`)
        const { code, details } = ran.error()
        t.strictSame([code, details.operation_id], ['contact_under_way', operation])
        t.equal(details.stop_id === undefined, time === 'second', 'put once')
      }
    }
    const times = ['first', 'second']
    await says(['task', 'cancel', task], times, its)
    await says(['alpha', 'setup', '--disable'], times)
    await says(['logout'], times, its)
    must(await two.run(['login', '--owner', 'other', '--passphrase-file', file]))
    await says(['session', 'revoke', root], ['second'])
    await says(['principal', 'disable', 'owner'], times)
    held.signal('SIGKILL')
    await held.asking
    must(await one.run(['login', '--owner', 'other', '--passphrase-file', file]))
    must(await one.run(['goal', 'add', 'next']))
    t.hasStrict(must(await two.run(['session', 'revoke', root, '--json'])).json(), {})
    t.equal(one.inferences().length, 0)
  })

t.test('A-071 A-168 a machine that was retired is no less named while a request of it may leave',
  async (t) => {
    const { one, two } = await twoMachines(t)
    const held = await heldAsk(t, { one })
    held.signal('SIGSTOP')
    const { operation_id: operation } = newestTask(one)
    const retired = must(await two.run(['machine', 'retire', 'a', '--yes', '--json'])).json()
    t.strictSame(retired.under_way, [operation])
    t.type(retired.under_way_until, 'string')
    t.match((await two.run(['machine', 'retire', 'a', '--yes'])).stdout,
      `It may still be sending ${operation}; what it has is free at `)
    t.not((await askOn(two, { args: ['--wait-turn', '1'] })).status, 0, 'its lane is not free')
    const revoked = await two.run(['policy', 'revoke', '--json'])
    t.equal(revoked.status, 11, revoked.stderr)
    t.hasStrict(revoked.json().under_way, [{ operation_id: operation }])
    held.go()
    held.signal('SIGCONT')
    await held.asking
    t.equal(one.inferences().length, 1, 'what was past the fence left')
  })

t.test('a request whose process was killed is named until its machine says that it died', async (t) => {
  const { one, two } = await twoMachines(t)
  const held = await heldAsk(t, { one })
  held.signal('SIGKILL')
  await held.asking
  const unsure = await two.run(['policy', 'revoke', '--json'])
  t.equal(unsure.status, 11, 'from elsewhere a dead process looks like one that is stopped')
  t.equal(unsure.error().code, 'contact_under_way')
  must(await one.run(['goal', 'add', 'next']))
  const sure = must(await two.run(['policy', 'revoke', '--json'])).json()
  t.strictSame(sure.under_way, [])
  t.equal(one.inferences().length, 0)
})
