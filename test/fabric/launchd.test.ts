/** Agents of launchd: their rules, their times, what launchctl says of them, and the stand-in. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { darwin } from '../../src/base/platform/darwin.js'
import { agentProblem } from '../../src/fabric/launchd/agent-rules.js'
import { agentRunsOf } from '../../src/fabric/launchd/agent-state.js'
import { isGuarded } from '../../src/fabric/launchd/guarded-folder.js'
import {
  propertyListOf, propertyListText, type PropertyDict,
} from '../../src/fabric/launchd/property-list.js'
import { agentSchedule } from '../../src/fabric/timers/agents.js'
import { launchd } from '../support/cli/launchd.js'
import { serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const base = {
  Label: 'local.sallyport.x', ProgramArguments: ['/bin/x', 'serve'], ExitTimeOut: 150,
}
const timer: PropertyDict = { ...base, StartInterval: 60 }
const service: PropertyDict = {
  ...base, RunAtLoad: true, KeepAlive: { SuccessfulExit: false }, ThrottleInterval: 30,
}
const runs = (path: string): boolean => path === '/bin/x'
const wrongIn = (kind: 'timer' | 'service', agent: unknown, file = 'local.sallyport.x.plist') =>
  agentProblem(agent, { kind, file, verb: 'serve', runs })

t.test('an agent names itself, one program by its whole path, and leaves a stop its time', async (t) => {
  for (const [kind, good] of [['timer', timer], ['service', service]] as const) {
    t.equal(wrongIn(kind, good), null)
    t.equal(wrongIn(kind, { ...good, Program: '/bin/x', StandardErrorPath: '/log' }), null)
    for (const [more, why] of [
      [{ Label: undefined }, /no Label/], [{ Label: 'sallyport' }, /no Label/],
      [{ Label: 'local.sally port.x' }, /no Label/], [{ Label: 'local.sallyport.y' }, /its file/],
      [{ ProgramArguments: undefined }, /no ProgramArguments/],
      [{ ProgramArguments: ['/bin/x', 1] }, /no ProgramArguments/],
      [{ ProgramArguments: ['x', 'serve'] }, /absolute/], [{ Program: 'x' }, /absolute/],
      [{ ProgramArguments: [] }, /absolute/],
      [{ ProgramArguments: ['/bin/y', 'serve'] }, /cannot be run/],
      [{ ProgramArguments: ['/bin/x', 'status'] }, /does not run `serve`/],
      [{ EnvironmentVariables: { SALLYPORT_SESSION: 'x' } }, /holds a session/],
      [{ EnvironmentVariables: { A: 1 } }, /no texts/], [{ EnvironmentVariables: [] }, /no texts/],
      [{ StandardErrorPath: 'log' }, /log/], [{ StandardOutPath: 1 }, /log/],
      [{ ExitTimeOut: 149 }, /150/], [{ ExitTimeOut: undefined }, /150/],
    ] as const) t.matchStrict(wrongIn(kind, { ...good, ...more }), why, JSON.stringify(more))
  }
  for (const none of [null, [], 'x']) t.matchStrict(wrongIn('timer', none), /one dictionary/)
  t.matchStrict(wrongIn('timer', timer, 'LOCAL.sallyport.x.plist'), /its file/)
})

t.test('a timer has one kind of times and is not kept alive, and a service stays until it is stopped', async (t) => {
  const at = (calendar: unknown) =>
    ({ ...base, StartCalendarInterval: calendar })
  for (const good of [{ Minute: 0 }, [{ Hour: 23, Minute: 59 }, { Weekday: 7, Month: 12 }]]) {
    t.equal(wrongIn('timer', at(good)), null)
  }
  for (const [agent, why] of [
    [base, /exactly one/], [{ ...at({ Minute: 0 }), StartInterval: 60 }, /exactly one/],
    [{ ...base, StartInterval: 59 }, /minute to a day/],
    [{ ...base, StartInterval: 60.5 }, /minute to a day/],
    [{ ...base, StartInterval: 86_401 }, /minute to a day/],
    [at([]), /no clock/], [at({}), /no clock/], [at([{ Minute: 60 }]), /no clock/],
    [at({ Hour: 24 }), /no clock/], [at({ Second: 0 }), /no clock/], [at(['x']), /no clock/],
    [{ ...timer, KeepAlive: true }, /without end/], [{ ...timer, RunAtLoad: true }, /each login/],
  ] as const) t.matchStrict(wrongIn('timer', agent), why, JSON.stringify(agent))
  for (const [more, why] of [
    [{ KeepAlive: true }, /SuccessfulExit false alone/],
    [{ KeepAlive: { SuccessfulExit: true } }, /SuccessfulExit false alone/],
    [{ KeepAlive: { SuccessfulExit: false, NetworkState: true } }, /SuccessfulExit false alone/],
    [{ RunAtLoad: undefined }, /at a login/], [{ ThrottleInterval: 9 }, /10 seconds/],
    [{ ThrottleInterval: undefined }, /10 seconds/],
  ] as const) t.matchStrict(wrongIn('service', { ...service, ...more }), why, JSON.stringify(more))
})

t.test('what is due by the hour has times of the clock, and all else an interval', async (t) => {
  t.strictSame([1, 59, 90, 300].map(agentSchedule),
    [60, 3_540, 5_400, 18_000].map((StartInterval) => ({ StartInterval })))
  t.strictSame(agentSchedule(60), { StartCalendarInterval: [{ Minute: 0 }] })
  t.strictSame(agentSchedule(480), { StartCalendarInterval:
    [{ Hour: 0, Minute: 0 }, { Hour: 8, Minute: 0 }, { Hour: 16, Minute: 0 }] })
  t.strictSame(agentSchedule(1_440), { StartCalendarInterval: [{ Hour: 0, Minute: 0 }] })
  for (let minutes = 1; minutes <= 1_440; minutes += 1) {
    t.equal(wrongIn('timer', { ...base, ...agentSchedule(minutes) }), null, String(minutes))
  }
})

t.test('what launchctl prints is read where it is there, and is not known where it is not', async (t) => {
  const told = (...lines: string[]) =>
    agentRunsOf(['gui/501/x = {', ...lines.map((line) => `\t${line}`), '}'].join('\n'))
  const none = { state: 'waiting', runs: null, lastExit: null, lastSignal: null }
  t.strictSame(told(), none)
  t.strictSame(told('state = not running', 'runs = 3', 'last exit code = 78: EX_CONFIG'),
    { ...none, runs: 3, lastExit: 78 })
  t.strictSame(told('state = running', 'last exit code = (never exited)'),
    { ...none, state: 'running' })
  t.strictSame(told('last terminating signal = Killed: 9'), { ...none, lastSignal: 9 })
  t.strictSame(told('endpoints = {', '\tstate = running', '\truns = 9', '}'), none,
    'what is of its parts is not of itself')
})

t.test('a text that is no property list is none, and nothing of it is told', async (t) => {
  const list = { a: 'x & <y>', b: [1, true, { c: '' }] }
  const text = propertyListText(list, 'Made here.')
  t.strictSame(propertyListOf(text), list)
  t.match(text.split('\n')[2], '<!-- Made here. -->')
  const { error, warn } = console
  const told: unknown[] = []
  Object.assign(console, { error: (one: unknown) => told.push(one) })
  t.teardown(() => Object.assign(console, { error, warn }))
  for (const bad of [
    '', 'x', '<plist>', '{ a = b; }', text.replace('</dict>', ''), text.slice(0, -10),
    text.replace('&amp;', '&x;'), '<dict/>',
  ]) t.equal(propertyListOf(bad), null, bad)
  t.strictSame(told, [])
})

const page = 'docs/dev/launchd.md'

/** The agent of the service, as the page gives it to paste. */
const pasted = (): string => /^```xml\n([^]*?)^```$/m.exec(readFileSync(page, 'utf8'))?.[1] ?? ''

t.test('the agents that the page gives are ones that the rules find nothing wrong with', async (t) => {
  const rows = [...readFileSync(page, 'utf8').matchAll(
    /^\| [^|]+ \| `(local\.sallyport\.\w+)` \| `(.+)` \| (\d+) \|$/gm)]
  t.strictSame(rows.map(([, label]) => label), ['serve', 'edge', 'shots'].map((name) =>
    `local.sallyport.${name}`))
  for (const [, label = '', words = '', gap = ''] of rows) {
    const text = pasted().replaceAll('local.sallyport.serve', label)
      .replace('<string>serve</string>', words).replace('>30<', `>${gap}<`)
    const verb = [...words.matchAll(/>(\w+)</g)].map(([, word = '']) => word).join(' ')
    const asked = { kind: 'service', file: `${label}.plist`, verb, runs: () => true } as const
    t.equal(agentProblem(propertyListOf(text), asked), null, label)
  }
})

t.test('doctor reads the agent of the service where it lies, and says what is wrong with it', async (t) => {
  const world = await World.in(t).state().session()
  await serving(t, world)
  const folder = join(world.place.env['HOME'] ?? '', 'Library/LaunchAgents')
  const path = join(folder, 'local.sallyport.serve.plist')
  mkdirSync(folder, { recursive: true })
  const agentOf = async () =>
    (await world.json(['doctor'], {})).checks.find(({ name }: { name: string }) =>
      name === 'service agent')
  t.equal(await agentOf(), undefined)
  const text = pasted()
  const put = (agent: string, mode = 0o600): void => {
    writeFileSync(path, agent)
    chmodSync(path, mode)
  }
  const own = text.replace('/opt/homebrew/bin/node', process.execPath)
  put(own)
  t.hasStrict(await agentOf(),
    { result: 'ok', text: 'local.sallyport.serve.plist fits the service' })
  const ran = async () => JSON.parse((await world.run(['doctor', '--json'])).stdout).checks
    .find(({ name }: { name: string }) => name === 'service agent')
  for (const [agent, mode, why] of [
    [own, 0o622, /changed by others/], [text, 0o600, /cannot be run/],
    [own.slice(0, 300), 0o600, /no property list/],
    [own.replace('<string>serve', '<string>status'), 0o600, /does not run/],
  ] as const) {
    put(agent, mode)
    t.matchStrict(await ran(), { result: 'problem', text: why, next: /docs\/start-at-login\.md/ })
  }
})

t.test('folders for which a Mac asks are known however they are spelled', async (t) => {
  const asks = (folder: string) => isGuarded({ home: '/Users/me', system: darwin }, folder)
  t.strictSame(['/Users/me/Desktop', '/users/ME/desktop/Shots', '/Users/me/Documents/x',
    '/Users/me/Library/Mobile Documents/x', '/Users/me/Desktops', '/Users/me/Pictures',
    '/Desktop'].map(asks), [true, true, true, true, false, false, false])
})

t.test('the stand-in refuses what launchctl refuses, by the same status', async (t) => {
  const { place } = World.in(t)
  const { launchctl } = launchd(place)
  const put = (name: string, text: string, mode = 0o600): string => {
    const path = place.write(name, text)
    chmodSync(path, mode)
    return path
  }
  const textOf = (agent: PropertyDict): string => propertyListText(agent, 'x')
  const file = put('local.sallyport.x.plist', textOf(timer))
  const boot = (path: string, domain = 'gui/1000') => launchctl(['bootstrap', domain, path]).status
  t.equal(boot(place.path('nothing.plist')), 2)
  t.equal(boot(basename(file)), 2, 'a relative path')
  t.equal(boot(file, 'gui/501'), 112)
  t.equal(boot(file, 'system'), 125)
  for (const mode of [0o620, 0o602]) {
    chmodSync(file, mode)
    t.equal(boot(file), 122)
  }
  chmodSync(file, 0o644)
  for (const [agent, status] of [
    ['no list', 109], [textOf(timer).slice(0, 200), 109],
    [textOf(timer).replace('local', '&local;'), 109], [propertyListText({}, 'x'), 110],
    [textOf({ ...timer, Label: 'local.sallyport.y' }), 110],
    [textOf({ ...timer, ProgramArguments: ['x'] }), 111],
  ] as const) t.equal(boot(put('local.sallyport.x.plist', agent)), status)
  const label = 'gui/1000/local.sallyport.x'
  for (const [verb, status] of [['print', 113], ['bootout', 3], ['kickstart', 113]] as const) {
    t.equal(launchctl([verb, label]).status, status, verb)
  }
  put('local.sallyport.x.plist', textOf(timer))
  t.equal(boot(file), 0)
  t.equal(boot(file), 5)
  t.equal(launchctl(['print', label]).status, 0)
  t.equal(launchctl(['bootout', label]).status, 0)
  t.equal(launchctl(['unload', label]).status, 64)
})
