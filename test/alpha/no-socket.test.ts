/**
 * Commands that read open no socket. Seen from two sides: from inside, by a hook on every native
 * network handle of the process; and from outside, where strace exists and may trace, by the system
 * calls themselves. Without strace the second side is left out and the first still decides.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { needsStrace } from '../support/soak/strace.js'
import { t } from '../support/tests-in-slices.js'
import { question } from '../world/alpha.js'
import { builtApp } from '../world/process.js'
import { World, type AlphaWorld } from '../world/world.js'

const hook = join(process.cwd(), 'test/support/watch-sockets.mjs')

/** Network handles of a process of the shipped bundle, by the hook inside it. */
const handlesOf = async (
  rig: AlphaWorld, argv: readonly string[], stdin = '',
): Promise<{ status: number; handles: string[] }> => {
  const file = rig.place.path('sockets.json')
  rmSync(file, { force: true })
  const { status } = await rig.place.spawn(argv, {
    nodeArgs: ['--import', hook], env: { SOCKETS_SEEN_FILE: file }, stdin, coverage: false,
  })
  return { status, handles: JSON.parse(readFileSync(file, 'utf8')) as string[] }
}

/** Network system calls of a process of the shipped bundle and all its threads and children. */
const callsOf = async (rig: AlphaWorld, argv: readonly string[], input = ''): Promise<string[]> => {
  const file = rig.place.path('calls.txt')
  rmSync(file, { force: true })
  const script = join(await builtApp(), 'sallyport.js')
  spawnSync('strace', [
    '-f', '-qq', '-e', 'trace=network', '-e', 'signal=none', '-o', file, process.execPath, script,
    ...argv,
  ], { cwd: rig.place.cwd, env: rig.place.env, input })
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8').split('\n').filter((line) => /\b(socket|connect)\(/.test(line))
}

const readers = (task: string): string[][] => [
  ['alpha', 'show'], ['alpha', 'show', '--json'], ['status'], ['alpha', 'output', task],
  ['alpha', 'output', task, '--json'], ['alpha', 'tasks'], ['alpha', 'task', task],
  ['config', 'show'], ['policy', 'show'], ['policy', 'history'], ['ledger', 'show'],
  ['ledger', 'reservations'], ['gateway', 'show'], ['task', 'list'], ['session', 'show'],
  ['doctor'], ['state', 'check'], ['state', 'path'], ['help', 'money'],
]

t.test('A-057 A-132 no reading command makes a network handle or looks a name up', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { task } = (await rig.ask()).json<{ task: { id: string } }>()
  const connections = rig.sandbox.log.connections('provider')
  for (const argv of readers(task.id)) {
    const { status, handles } = await handlesOf(rig, argv)
    t.strictSame(handles, [], `${argv.slice(0, 2).join(' ')} opens nothing`)
    t.equal(status, 0, `${argv.slice(0, 2).join(' ')} answers`)
  }
  t.strictSame(rig.sandbox.log.connections('provider'), connections)
  const control = await handlesOf(rig, ['alpha', 'ask', '-'], question)
  t.ok(control.handles.includes('TCPCONNECTWRAP'), 'the hook sees the connection of an ask')
})

t.test('A-057 A-132 no reading command makes a socket by the system calls', {
  skip: needsStrace,
}, async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { task } = (await rig.ask()).json<{ task: { id: string } }>()
  const traced = [
    ['alpha', 'show'], ['status'], ['alpha', 'output', task.id], ['alpha', 'tasks'],
    ['config', 'show'], ['policy', 'show'], ['ledger', 'show'],
  ]
  for (const argv of traced) t.strictSame(await callsOf(rig, argv), [], argv.slice(0, 2).join(' '))
})
