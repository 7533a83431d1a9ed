/** Long output through a pager, where a person reads it and nowhere else. */
import { readFileSync } from 'node:fs'
import type { VerbEntry } from '../../src/cli/verb.js'
import { isLong, showPaged } from '../../src/cli/pager.js'
import type { Act } from '../support/cli/fake-verbs.js'
import { fakeCommands } from '../support/cli/fake-verbs.js'
import { t } from '../support/tests-in-slices.js'
import type { RunOptions, Teardown } from '../world/place.js'
import { systemClock } from '../../src/base/clock.js'
import { World } from '../world/world.js'

/** The verb that explains the others. */
const helpEntry: VerbEntry = {
  verb: 'help', load: async () => (await import('../../src/cli/commands/help/help.js')).help,
}

const terminal = { stdin: true, stdout: true, stderr: true }
const long = `${Array.from({ length: 40 }, (_, at) => `line ${at} \u001b[2J`).join('\n')}\n`

/** Runs the fake verb; gives what the pager was handed and what was written past it. */
const paged = async (
  t: Teardown, options: RunOptions = {}, argv: readonly string[] = [], act: Act = async () => long,
) => {
  const calls: [string, string][] = []
  const ran = await World.in(t).place.run(['thing', 'do', ...argv], {
    terminal, commands: fakeCommands(act),
    page: async (command, text) => calls.push([command, text]) > 0, ...options,
  })
  return { calls, ran }
}

t.test('what is longer than the screen goes through PAGER, harmless, and the status is the verb’s', async (t) => {
  const { calls: [[command, text] = ['', '']], ran } = await paged(t)
  t.strictSame([command, ran.stdout, ran.status], ['less', '', 0])
  t.match(text, 'line 39 \\u001b[2J')
  t.notMatch(text, '\u001b')
  const own = await paged(t, { env: { PAGER: 'most -w' } })
  t.equal(own.calls[0]?.[0], 'most -w')
  t.equal((await paged(t, {}, [], async () => 'short\n')).ran.stdout, 'short\n')
  t.strictSame([isLong('a\nb\n', 3), isLong('a\nb\n', 2)], [false, true])
})

t.test('nothing is paged in a pipe, without questions, in JSON, or where it was turned off', async (t) => {
  const cases: readonly [RunOptions, readonly string[]][] = [
    [{ terminal: { ...terminal, stdout: false } }, []],
    [{ terminal: { ...terminal, stdin: false } }, []],
    [{}, ['--no-input']], [{}, ['--no-pager']], [{}, ['--json']],
    [{ env: { TERM: 'dumb' } }, []], [{ env: { PAGER: '' } }, []], [{ env: { PAGER: 'cat' } }, []],
  ]
  for (const [options, argv] of cases) {
    const { calls, ran } = await paged(t, options, argv)
    t.strictSame(calls, [], JSON.stringify([options, argv]))
    t.match(ran.stdout, 'line 39')
  }
  const none = await paged(t, { page: async () => false })
  t.match(none.ran.stdout, 'line 39', 'where no pager can be started it is printed')
})

t.test('help that is longer than the screen goes through the pager, like any other result', async (t) => {
  const lines = [
    ['--help'], ['thing', '--help'], ['thing', 'do', '--help'], ['help', 'thing', 'do'],
  ]
  for (const line of lines) {
    const shown = async (options: RunOptions, argv: readonly string[] = []) => {
      const calls: string[] = []
      const { place } = World.in(t)
      const ran = await place.run([...line, ...argv], {
        terminal, rows: 5, commands: [...fakeCommands(async () => ''), helpEntry],
        page: async (_, text) => calls.push(text) > 0, ...options,
      })
      return { calls, ran }
    }
    const words = line.join(' ')
    const { calls, ran } = await shown({})
    t.strictSame([calls.length, ran.stdout, ran.status], [1, '', 0], words)
    t.match(calls[0], 'sallyport')
    for (const [options, argv] of [
      [{ rows: 500 }, []], [{ terminal: { ...terminal, stdout: false } }, []],
      [{ env: { TERM: 'dumb' } }, []], [{}, ['--no-pager']], [{}, ['--no-input']],
      [{ env: { PAGER: 'cat' } }, []],
    ] as const) {
      const other = await shown(options, argv)
      t.strictSame(other.calls, [], `${words} ${JSON.stringify(options)} ${argv.join(' ')}`)
      t.match(other.ran.stdout, 'sallyport')
    }
  }
})

t.test('whoever answered questions sees a long result below them, and need not leave a pager', async (t) => {
  const { calls, ran } = await paged(t, { answers: [true] }, [], async (_, deps) => {
    await deps.confirm('Do it?', '--yes')
    return long
  })
  t.strictSame(calls, [])
  t.match(ran.stdout, 'line 39')
})

t.test('a pager reads the text, is secured, keeps no history and is told no session', async (t) => {
  const { place } = World.in(t)
  const [text, env] = [place.path('text'), place.path('env')]
  const command = `cat > '${text}'; env > '${env}'`
  t.ok(await showPaged(command, long, { PATH: process.env['PATH'], SALLYPORT_SESSION: 'secret' }))
  t.equal(readFileSync(text, 'utf8'), long)
  const told = readFileSync(env, 'utf8')
  for (const line of ['LESS=FRX', 'LESSSECURE=1', 'LESSHISTFILE=-']) t.match(told, `${line}\n`)
  t.notMatch(told, 'secret')
  t.ok(await showPaged('exit 3', 'x'.repeat(1_000_000), {}), 'whoever leaves has seen enough')
  t.notOk(await showPaged('no-such-pager-here', long, {}))
})

t.test('what goes on behind its result is not paged: a pager would hold it up and take its signals', async (t) => {
  const at = World.in(t)
  const paged: string[] = []
  const ran = await at.place.run(['sandbox', 'start', '--dir', at.place.path('box')], {
    terminal, rows: 2, stop: AbortSignal.abort(),
    page: async (command) => {
      paged.push(command)
      return true
    },
  })
  t.strictSame([ran.status, paged], [0, []], ran.stderr)
  t.match(ran.stdout, 'Ctrl-C stops it.')
})

t.test('status --watch ends where nobody reads it any more', async (t) => {
  const { place } = await World.in(t).state()
  const ran = await place.spawn(['status', '--watch'], {
    onChild: ({ stdout }) => void stdout?.once('data', () => stdout.destroy()),
  })
  t.strictSame([ran.status, ran.stderr], [0, ''])
})

t.test('status --watch shows what changes until it is stopped, and is never paged', async (t) => {
  const at = await World.in(t).state().session()
  const stop = new AbortController()
  let naps = 0
  const clock = {
    ...systemClock,
    async sleep() {
      naps += 1
      if (naps === 1) await at.run(['policy', 'revoke'])
      else stop.abort()
    },
  }
  const ran = await at.run(['status', '--watch'], {
    clock, stop: stop.signal, terminal, rows: 2, page: async () => false,
  })
  t.equal(ran.status, 0)
  const screens = ran.stdout.split('\u001b[H\u001b[2J')
  t.equal(screens.length, 4, 'two looks, and what it was when it was stopped')
  const [, first = '', second = '', last = ''] = screens
  t.match(first, /^state /)
  t.not(first, second, 'what changed meanwhile is shown')
  t.equal(second, last)
  const refused = await at.run(['status', '--watch', '--json'])
  t.hasStrict([refused.status, refused.error().code], [2, 'watch_is_text'])
})
