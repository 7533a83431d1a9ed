import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { fault, type SandboxFaultOptions } from '../../../src/cli/commands/sandbox/faults.js'
import { describingDeps } from '../../../src/cli/describing.js'
import { runVerb, verbFor } from '../../../src/cli/line.js'
import { faultTable } from '../../../src/sandbox/faults/table.js'
import { ask } from '../../support/sandbox/asks.js'
import { t } from '../../support/tests-in-slices.js'
import type { Place } from '../../world/place.js'
import { World } from '../../world/world.js'

/** Runs `sandbox start` as a process, calls `use` once it has printed, then ends it by `signal`. */
const started = async (
  place: Place,
  argv: readonly string[],
  signal: NodeJS.Signals,
  use: (printed: string) => Promise<void>,
) => {
  const failures: unknown[] = []
  const ran = await place.spawn(['sandbox', 'start', ...argv], {
    onChild: (child) => {
      let printed = ''
      let used = false
      child.stdout?.on('data', (chunk: Buffer) => {
        printed += chunk.toString()
        if (used || !/\n\}\n|Ctrl-C stops it\.\n/.test(printed)) return
        used = true
        use(printed)
          .catch((error: unknown) => failures.push(error))
          .finally(() => child.kill(signal))
      })
    },
  })
  if (failures.length > 0) throw new Error('used in vain', { cause: failures[0] })
  return ran
}

const refused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.on('connect', () => resolve(socket.destroy() && false))
    socket.on('error', () => resolve(true))
  })

t.test('sandbox start serves until SIGTERM, is steered, and leaves nothing', async (t) => {
  const place = World.in(t).place
  const dir = place.path('box')
  let ports: Record<string, number> = {}
  const ran = await started(place, ['--dir', dir, '--json'], 'SIGTERM', async (printed) => {
    const json = JSON.parse(printed) as Record<string, unknown>
    t.matchStrict(json, { profile_file: `${dir}/profile.json`, pid: Number, dir })
    const status = await place.run(['sandbox', 'status', '--dir', dir, '--json'])
    t.equal(status.status, 0)
    t.hasStrict(status.json(), { pid: json['pid'], faults: [], requests: 0, violations: [] })
    ports = status.json<{ ports: Record<string, number> }>().ports
    const set = await place.run([
      ...['sandbox', 'fault', 'set', 'gzip', '--dir', dir, '--times', '3', '--json'],
    ])
    t.hasStrict(set.json(), { cleared: 0, faults: [{ name: 'gzip', times: 3 }] })
    const clear = await place.run(['sandbox', 'fault', 'clear', '--dir', dir, '--json'])
    t.strictSame(clear.json(), {
      schema: 'sallyport.sandbox.fault.v1', cleared: 1, faults: [],
    })
    const second = await place.run(['sandbox', 'start', '--dir', dir, '--json'])
    t.equal(second.status, 5)
    t.equal(second.error().code, 'sandbox_running')
  })
  t.equal(ran.status, 0)
  t.equal(ran.stderr, '')
  t.not(Object.keys(ports).length, 0)
  for (const port of Object.values(ports)) t.ok(await refused(port))
  const after = await place.run(['sandbox', 'status', '--dir', dir, '--json'])
  t.equal(after.status, 6)
  t.equal(after.error().code, 'sandbox_not_running')
})

t.test('as text, sandbox start prints commands to try and ends at SIGINT', async (t) => {
  const place = World.in(t).place
  const dir = place.path("my 'box")
  const ran = await started(place, ['--dir', dir], 'SIGINT', async () => undefined)
  t.equal(ran.status, 0)
  t.match(ran.stdout, "sallyport init --profile '")
  t.match(ran.stdout, "my '\\''box/profile.json'")
  t.match(ran.stdout, /^gateway key: +\S.*gateway/m)
  t.match(ran.stdout, /alpha ask/)
  t.match(await readFile(`${dir}/provider-api.key`, 'utf8'), /^sandbox-/)
})

/** The commands that `sandbox start` prints, each on one line, without the prompt. */
const printedCommands = (text: string): readonly string[] =>
  text
    .replaceAll(/ \\\n +/g, ' ')
    .split('\n')
    .flatMap((line) => /^ {2}\$ (.*)$/.exec(line)?.[1] ?? [])

t.test('the commands that sandbox start prints work as they stand', async (t) => {
  const place = World.in(t).place
  const dir = place.path('box')
  const statuses: [string, number][] = []
  const run = async (line: string): Promise<void> => {
    const [, stdin, rest = line] = /^echo '(.*)' \| (.*)$/.exec(line) ?? []
    const words = rest.replace(/ +#.*$/, '').split(' ').slice(1)
    const show = words.includes('N') ? await place.run(['alpha', 'show', '--json']) : null
    const revision = show?.json<{ policy_revision: number }>().policy_revision
    const argv = words.map((word) => (word === 'N' ? String(revision) : word))
    const ran = await place.run(argv, stdin === undefined ? {} : { stdin })
    statuses.push([words.slice(0, 2).join(' '), ran.status])
  }
  await started(place, ['--dir', dir], 'SIGTERM', async (printed) => {
    const lines = printedCommands(printed).filter((line) => !line.startsWith('export '))
    for (const line of lines) await run(line)
  })
  t.strictSame(statuses, [
    ['init --profile', 0],
    ['login', 0],
    ['alpha show', 0],
    ['alpha setup', 0],
    ['alpha ask', 0],
    ['gateway setup', 0],
    ['gateway prove', 0],
    ['sandbox fault', 0],
    ['sandbox status', 0],
  ])
})

t.test('without --dir the folder lies in the state home, beside the state', async (t) => {
  const place = World.in(t).place
  const stop = AbortSignal.abort()
  const ran = await place.run(['sandbox', 'start', '--json'], { stop })
  t.equal(ran.status, 0)
  const home = `${place.dir}/home/.local/state/sallyport-sandbox`
  t.hasStrict(ran.json(), { dir: home, profile_file: `${home}/profile.json` })
  const env = { XDG_STATE_HOME: place.path('xdg') }
  const other = await place.run(['sandbox', 'start', '--json'], { stop, env })
  t.hasStrict(other.json(), { dir: place.path('xdg/sallyport-sandbox') })
  t.notOk(existsSync(place.stateDir))
})

t.test('faults set by command strike, and status counts what came', async (t) => {
  const place = World.in(t).place
  const dir = place.path('box')
  const { sandbox } = await World.in(t).sandbox({ dir })
  const set = await place.run([
    ...['sandbox', 'fault', 'set', 'status_429', '--dir', dir, '--service', 'provider'],
    ...['--times', '1', '--after', '1', '--value', '9'],
  ])
  t.equal(set.stdout, 'status_429 (provider), after 1, 1 times, value 9\n')
  t.equal((await ask(sandbox)).status, 200)
  t.hasStrict(await ask(sandbox), { status: 429, headers: { 'retry-after': '9' } })
  await ask(sandbox, { n: 2 })
  await place.run(['sandbox', 'fault', 'set', 'gzip', '--dir', dir])
  const status = await place.run(['sandbox', 'status', '--dir', dir])
  t.match(status.stdout, /provider: +port \d+, 3 requests, 3 connections/)
  t.match(status.stdout, /faults: +gzip \(provider\), until cleared/)
  t.match(status.stdout, /#3 provider: n is not 1/)
  const clear = await place.run(['sandbox', 'fault', 'clear', 'gzip', '--dir', dir])
  t.hasStrict(clear, { status: 0, stdout: '', stderr: 'cleared: 1\nno fault is on\n' })
})

t.test('the sandbox’s own refusal reaches the operator', async (t) => {
  const place = World.in(t).place
  const dir = place.path('box')
  await World.in(t).sandbox({ dir })
  const fault = (...words: string[]) =>
    place.run(['sandbox', 'fault', ...words, '--dir', dir, '--json'])
  const unknown = await fault('set', 'nonsense')
  t.equal(unknown.status, 3)
  t.equal(unknown.error().code, 'sandbox_fault_unknown')
  t.notMatch(unknown.stderr, 'nonsense')
  const service = await fault('set', 'billing_float', '--service', 'gateway')
  t.equal(service.error().code, 'sandbox_fault_service')
})

t.test('a wrong line is misuse and asks nobody', async (t) => {
  const place = World.in(t).place
  for (const words of [
    ['fault'],
    ['fault', 'toggle'],
    ['fault', 'set'],
    ['fault', 'clear', 'gzip', '--times', '2'],
    ['start', 'now'],
  ]) {
    t.equal((await place.run(['sandbox', ...words])).status, 2, words.join(' '))
  }
  const range = await place.run(['sandbox', 'fault', 'set', 'gzip', '--times', '1e3'])
  t.equal(range.status, 3)
})

t.test('where no sandbox runs, and where none ever was, that is said', async (t) => {
  const place = World.in(t).place
  const status = () => place.run(['sandbox', 'status', '--dir', place.path('box'), '--json'])
  t.equal((await status()).error().code, 'sandbox_not_running')
  t.notOk(existsSync(place.path('box')))
  const { sandbox } = await World.in(t).sandbox({ dir: place.path('box') })
  t.equal((await status()).status, 0)
  await sandbox.stop()
  t.equal((await status()).status, 6)
})

t.test('a folder of something else is refused', async (t) => {
  const place = World.in(t).place
  const dir = t.testdir({ mine: 'x' })
  const ran = await place.run(['sandbox', 'start', '--dir', dir, '--json'])
  t.equal(ran.status, 3)
  t.equal(ran.error().code, 'sandbox_dir_not_empty')
})

t.test('sandbox faults lists every fault without a running sandbox', async (t) => {
  const place = World.in(t).place
  const ran = await place.run(['sandbox', 'faults', '--json'])
  t.strictSame(
    ran.json<{ name: string }[]>().map((one) => one.name),
    faultTable.map((one) => one.name),
  )
  const text = await place.run(['sandbox', 'faults'])
  t.match(text.stdout, /^billing_overrun\tprovider\t.*\tthe bound in micro-USD \(100000\)$/m)
})

t.test('arguments and flags of sandbox fault reach its run', async (t) => {
  let seen: SandboxFaultOptions | null = null
  const note = async (options: SandboxFaultOptions) => {
    seen = options
    // Ends here: these dependencies can print nothing.
    throw new Error('seen')
  }
  const deps = describingDeps()
  const verb = verbFor({ ...fault, run: note }, 'sandbox fault', deps)
  const words = ['set', 'delay', '--value', '5', '--after', '0', '--dir', 'x']
  await t.rejects(runVerb(verb, words, deps), { message: 'seen' })
  t.strictSame(seen, { action: 'set', name: 'delay', value: 5, after: 0, dir: 'x' })
})
