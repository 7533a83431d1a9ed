import { readFileSync } from 'node:fs'
import t from 'tap'
import { SallyportError, fail } from '../../src/base/errors.js'
import type { ErrorKind } from '../../src/base/errors.js'
import { errorBody, exitStatus, gravest, precedence } from '../../src/base/outcome.js'
import { Degraded } from '../../src/base/contract.js'
import type { Ran, RunOptions, Teardown } from '../world/place.js'
import { World } from '../world/world.js'
import { fakeCommands } from '../support/cli/fake-verbs.js'
import type { Act } from '../support/cli/fake-verbs.js'

const nothing: Act = async () => 'done\n'

const runFake = (
  t: Teardown, line: string, act: Act = nothing, options: RunOptions = {},
): Promise<Ran> =>
  World.in(t).place
    .run(line.split(' ').filter(Boolean), { ...options, commands: fakeCommands(act) })

/** Options that the fake verb saw. */
const seenBy = async (t: Teardown, line: string): Promise<Record<string, unknown>> => {
  let seen: Record<string, unknown> = {}
  await runFake(t, line, async (options) => {
    seen = { ...options }
    return ''
  })
  return seen
}

t.test('results go to stdout, notes to stderr, and --quiet drops the notes', async (t) => {
  const loud = await runFake(t, 'thing do')
  t.strictSame([loud.status, loud.stdout, loud.stderr], [0, 'done\n', 'a note\n'])
  const quiet = await runFake(t, 'thing do --quiet')
  t.strictSame([quiet.status, quiet.stdout, quiet.stderr], [0, 'done\n', ''])
})

t.test('global flags are accepted anywhere on the line', async (t) => {
  const lines = ['--json thing do', 'thing --json do', 'thing do --json', 'thing do x --json']
  for (const line of lines) {
    const ran = await runFake(t, line, async () => ({ a: 1 }))
    t.strictSame(ran.json(), { a: 1 }, line)
  }
  const ran = await runFake(t, '--wait 3 thing do', async (_o, { globals }) => globals.waitMs)
  t.equal(ran.stdout, '3000')
  const equals = await runFake(t, 'thing do --wait=4', async (_o, { globals }) => globals.waitMs)
  t.equal(equals.stdout, '4000')
})

t.test('after -- a global flag is an ordinary word', async (t) => {
  t.strictSame(await seenBy(t, 'thing do -- --json'), { word: '--json' })
})

t.test('flags and arguments arrive typed, under their names in camel case', async (t) => {
  t.strictSame(await seenBy(t, 'thing do w --count 7 --for 30m --kind red'), {
    word: 'w', count: 7, for: 1_800_000, kind: 'red',
  })
})

t.test('a verb without a noun takes its words at once', async (t) => {
  t.strictSame(await seenBy(t, 'single w'), { word: 'w' })
})

t.test('values that break a rule are refused with status 3, and are not repeated', async (t) => {
  const refused = [
    '--count 0', '--count 10', '--count 1.0', '--count 1e0', '--count 0x1', '--count +1',
    '--count -0',
    '--count 01', '--count 99999999999999999999', '--for 30', '--for 30M', '--for 2h', '--for 0s',
    '--for 1.5m', '--for 999ms', '--kind green', '--wait -1', '--wait 1.0', '--wait 90000',
  ]
  for (const flag of refused) {
    const ran = await runFake(t, `thing do ${flag} --json`)
    t.equal(ran.status, exitStatus.rejected, flag)
    t.equal(ran.stdout, '', flag)
    t.equal(ran.error().code, 'flag_invalid', flag)
    const [name = '', value = ''] = flag.split(' ')
    t.match(ran.error().message, name, flag)
    if (value.length > 3) t.notMatch(ran.stderr, value, flag)
  }
})

t.test('words that are too many are told where they belong', async (t) => {
  const { place } = World.in(t)
  const hint = async (...line: string[]) => (await place.run([...line, '--json'])).error().hint
  t.match(await hint('alpha', 'ask', 'MARK-what', 'MARK-is'), / A question comes on stdin \(-\)/)
  t.match(await hint('shots', 'find', 'MARK-two', 'MARK-words'), / A value of several words goes in quotes/)
})

t.test('misuse ends with 2, prints usage, and repeats no value', async (t) => {
  const secret = 'sk-live-0123456789'
  const cases: [string, string][] = [
    ['thing', 'verb_missing'],
    ['thing dont', 'unknown_command'],
    ['thang do', 'unknown_command'],
    ['constructor', 'unknown_command'],
    [secret, 'unknown_command'],
    [`thing ${secret}`, 'unknown_command'],
    [`thing do --nome=${secret}`, 'unknown_flag'],
    [`thing do --${secret}X`, 'unknown_flag'],
    [`thing do a ${secret}`, 'too_many_arguments'],
    ['thing do --name', 'option_missing_argument'],
    ['thing do --wait', 'flag_needs_value'],
    ['thing do --state-dir=', 'flag_needs_value'],
    [`thing do --json=${secret}`, 'flag_takes_no_value'],
  ]
  for (const [line, code] of cases) {
    const text = await runFake(t, line)
    t.equal(text.status, exitStatus.usage, line)
    t.equal(text.stdout, '', line)
    t.match(text.stderr, /^sallyport: .*\nusage: sallyport /, line)
    t.notMatch(text.stderr, secret, line)
    const json = await runFake(t, `${line} --json`)
    if (line.endsWith('--name') || line.endsWith('--wait')) continue
    t.strictSame([json.status, json.stdout, json.error().code], [exitStatus.usage, '', code], line)
    t.notMatch(json.stderr, secret, line)
  }
})

t.test('misuse of a verb says what is missing, and the command that is told explains it', async (t) => {
  const { place } = World.in(t)
  const cases: [string, RegExp, string][] = [
    ['codehost publish', /<target> is missing: the folder/, 'help codehost publish'],
    ['shots scan --folder', /--folder <dir> has no value: this folder/, 'help shots scan'],
    ['goal add one --colour', /no flag --colour/, 'help goal add'],
    ['state restore a b', /more arguments/, 'help state restore'],
    ['ledger', /Which one: ledger show,/, 'help ledger'],
  ]
  for (const [line, message, next] of cases) {
    const ran = await place.run(line.split(' '))
    t.equal(ran.status, exitStatus.usage, line)
    t.match(ran.stderr, message, line)
    t.match(ran.stderr, `next: \`sallyport ${next}\` tells what `, line)
    const page = await place.run(next.split(' '))
    t.strictSame([page.status, page.stdout.includes(next.slice('help '.length))], [0, true], next)
  }
  t.equal((await place.run(['task', 'show', '--json'])).error().code, 'missing_argument')
})

t.test('a near miss names what was meant', async (t) => {
  t.match((await runFake(t, 'thong do')).stderr, 'Did you mean thing?')
  t.match((await runFake(t, 'th do')).stderr, /Did you mean thing/, 'what a word begins')
  t.match((await runFake(t, 'thing do --nam x')).stderr, 'Did you mean --name?')
  t.match((await runFake(t, `${'x'.repeat(99)} do`)).stderr, 'sallyport --help')
})

t.test('every kind of failure has its exit status and its HTTP status', async (t) => {
  const http: Record<ErrorKind, number> = {
    failed: 500, usage: 400, rejected: 400, unauthorized: 403, conflict: 409, not_found: 404,
    blocked: 423, budget: 402, remote: 502, no_state: 503, locked: 503, damaged: 500,
    cancelled: 499, partial: 207,
  }
  const exits: Record<ErrorKind, number> = {
    failed: 1, usage: 2, rejected: 3, unauthorized: 4, conflict: 5, not_found: 6, blocked: 7,
    budget: 8, remote: 9, no_state: 10, locked: 11, damaged: 12, partial: 13,
    cancelled: 130,
  }
  for (const [kind, status] of Object.entries(http) as [ErrorKind, number][]) {
    const ran = await runFake(t, 'thing do --json', async () => {
      throw new SallyportError({ kind, code: 'a_code', message: 'A sentence.', details: { n: 1 } })
    })
    t.equal(ran.status, exits[kind], kind)
    t.strictSame(ran.error(), {
      code: 'a_code', message: 'A sentence.', reason: null, status, details: { n: 1 },
      hint: null, next: [],
    })
  }
})

t.test('a rule between values is 422, a missing session 401', async (t) => {
  const statusOf = (error: SallyportError): number => errorBody(error).error.status
  t.equal(statusOf(fail.rejected('x', 'y', { reason: 'rule' })), 422)
  t.equal(statusOf(fail.unauthorized('session_expired', 'y')), 401)
  t.equal(statusOf(fail.unauthorized('consent_revoked', 'y')), 403)
})

t.test('of several failures damage speaks first, then a block, then the other side', async (t) => {
  const [remote, blocked, damaged, budget] = [
    fail.remote('r', ''), fail.blocked('b', ''), fail.damaged('d', ''), fail.budget('m', ''),
  ]
  const partial = fail.partial('p', 'part of it was done')
  t.equal(gravest([budget, remote, partial, blocked, damaged]), damaged)
  t.equal(gravest([budget, remote, blocked, partial]), partial, '13 before 7, as the contract says')
  t.equal(gravest([budget, remote, blocked]), blocked)
  const numbers = precedence.map((kind) => exitStatus[kind]).join(', then ')
  t.match(readFileSync('docs/scripting.md', 'utf8'), `Where several fit: ${numbers}.`)
  t.equal(gravest([budget, remote]), remote)
  t.equal(gravest([budget]), budget)
  const stopped = fail.cancelled('c', '')
  t.equal(gravest([budget, stopped]), stopped, 'a stop before what merely refused')
  t.equal(gravest([]), null)
})

t.test('an expected failure is one line and the next step, without usage or stack', async (t) => {
  const ran = await runFake(t, 'thing do', async () => {
    throw fail.conflict('stale', 'It is stale.', { next: 'Read it again.' })
  })
  t.equal(ran.stderr, 'sallyport: It is stale.\nnext: Read it again.\n')
})

t.test('--verbose shows the stack of an expected failure too, JSON stays last', async (t) => {
  const act: Act = async () => {
    throw fail.remote('gone', 'It is gone.', { cause: new Error('below') })
  }
  const ran = await runFake(t, 'thing do --verbose --json', act)
  t.match(ran.stderr, /SallyportError: It is gone[\s\S]*caused by: Error: below/)
  t.equal(ran.error().code, 'gone')
})

t.test('a defect ends with 1 and shows a stack with every secret cut out', async (t) => {
  const secret = 'hunter2-and-more'
  const token = 'A'.repeat(43)
  const act: Act = async (_options, deps) => {
    deps.secrets.add(secret)
    throw new TypeError(`broke on ${secret}, Bearer abcdefgh12345678, sk-abcdefgh1234 and ${token}`)
  }
  const text = await runFake(t, 'thing do', act)
  t.equal(text.status, exitStatus.failed)
  t.match(text.stderr, /TypeError: broke on \[cut\], \[cut\], \[cut\] and \[cut\]\n\s+at /)
  const json = await runFake(t, 'thing do --json', act)
  t.strictSame([json.stdout, json.error().code, json.error().status], ['', 'unexpected', 500])
  t.notMatch(text.stderr + json.stderr, secret)
  const thrown = await runFake(t, 'thing do', async () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    throw 'a text'
  })
  t.match(thrown.stderr, 'a text')
})

t.test('a refusal of the operating system is no defect', async (t) => {
  const ran = await runFake(t, 'thing do --json', async () => {
    throw Object.assign(new Error('x'), { code: 'EACCES', syscall: 'open', path: '/secret' })
  })
  t.strictSame(ran.error().details, { errno: 'EACCES', syscall: 'open' })
  t.notMatch(ran.stderr, 'secret')
})

t.test('a degraded batch prints its receipt and ends with its failure', async (t) => {
  const ran = await runFake(t, 'thing do --json', async () => {
    throw new Degraded({ done: 1 }, fail.locked('lock_held', 'The lock is held.'))
  })
  t.strictSame([ran.status, ran.json(), ran.error().code], [11, { done: 1 }, 'lock_held'])
})

t.test('leaving a prompt or being stopped is 130', async (t) => {
  for (const name of ['ExitPromptError', 'AbortError']) {
    const ran = await runFake(t, 'thing do', async () => {
      throw Object.assign(new Error('x'), { name })
    })
    t.strictSame([ran.status, ran.stderr], [130, 'sallyport: Cancelled.\n'])
  }
})

t.test('a confirmation starts at no; no is 130 and nobody to ask is 2', async (t) => {
  const act: Act = async (_options, deps) => {
    await deps.confirm('Go on?', '--yes')
    return 'went on'
  }
  const terminal = { stdin: true, stdout: true }
  const asked = (answers: boolean[], line = 'thing do'): Promise<Ran> =>
    runFake(t, line, act, { terminal, answers })
  t.strictSame([(await asked([true])).stdout, (await asked([false])).status], ['went on', 130])
  const piped = await runFake(t, 'thing do --json', act, { terminal: { stdout: true } })
  t.strictSame([piped.status, piped.error().code], [2, 'input_required'])
  const told = await asked([true], 'thing do --no-input')
  t.equal(told.status, 2)
  t.match(told.stderr, 'next: Give --yes to say yes.')
})

t.test('colour needs a terminal and neither --no-color, NO_COLOR nor a dumb one', async (t) => {
  const act: Act = async (_options, { view }) => view.paint('red', 'x')
  const out = async (line: string, options: RunOptions): Promise<string> =>
    (await runFake(t, line, act, options)).stdout
  const terminal = { stdout: true }
  t.match(await out('thing do', { terminal }), '\u001b[31m')
  t.equal(await out('thing do', {}), 'x')
  t.equal(await out('thing do --no-color', { terminal }), 'x')
  t.equal(await out('thing do', { terminal, env: { NO_COLOR: '1' } }), 'x')
  t.equal(await out('thing do', { terminal, env: { TERM: 'dumb' } }), 'x')
  t.match(await out('thing do', { terminal, env: { NO_COLOR: '' } }), '\u001b[31m')
})

t.test('text of others is escaped on a terminal and exact in a pipe', async (t) => {
  const hostile = 'a\u001b]0;x\u0007\tb\n\u009b2J\u202ec\u0000'
  const act: Act = async (_options, { view }) => view.foreign(hostile)
  t.equal((await runFake(t, 'thing do', act)).stdout, hostile)
  t.equal(
    (await runFake(t, 'thing do', act, { terminal: { stdout: true } })).stdout,
    'a\\u001b]0;x\\u0007\tb\n\\u009b2J\\u202ec\\u0000',
  )
})

t.test('--verbose names each step; a terminal gets a spinner; a pipe gets nothing', async (t) => {
  const act: Act = async (_options, { observer, note }) => {
    await observer.at('one.step')
    note('noted')
    await observer.at('two')
    return ''
  }
  const { stderr } = await runFake(t, 'thing do --verbose', act)
  t.match(stderr, /^step one\.step at \d+ ms\nnoted\nstep two/)
  const seen: string[] = []
  const spun = await runFake(t, 'thing do', act, {
    terminal: { stderr: true }, at: (step) => void seen.push(step),
  })
  t.strictSame([seen, spun.stderr], [['one.step', 'two'], 'noted\na note\n'])
  t.equal((await runFake(t, 'thing do', act)).stderr, 'noted\na note\n')
})

t.test('JSON is one document, text of the same value is not', async (t) => {
  const ran = await runFake(t, 'thing do --json', async () => [])
  t.equal(ran.stdout, '[]\n')
})

t.test('--help of everything ends with 0 and touches nothing', async (t) => {
  for (const line of ['--help', '-h', '', 'thing --help', 'thing do --help', 'thing do -h']) {
    const ran = await runFake(t, line, async () => {
      throw new Error('ran')
    })
    t.equal(ran.status, 0, line)
    t.match(ran.stdout, /^Usage: sallyport/, line)
    t.equal(ran.stderr, '', line)
  }
})
