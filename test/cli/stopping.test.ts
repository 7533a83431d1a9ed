/** What is said at a first and at a second signal; test/contact has the real ones. */
import t from 'tap'
import type { Waiting } from '../../src/base/observer.js'
import type { VerbDeps } from '../../src/cli/verb.js'
import type { Insist } from '../../src/cli/io.js'
import { interruption, waitingLine } from '../../src/cli/stopping.js'
import { stillClock } from '../support/clock.js'
import type { RunOptions } from '../world/place.js'
import { fakeCommands } from '../support/cli/fake-verbs.js'
import { World } from '../world/world.js'

const sent: Waiting = {
  step: 'ask', operationId: 'op_1', taskId: 'tk_1', for: 'reply', sent: true, untilMs: 13_400,
}
const unsent: Waiting = { ...sent, for: 'connection', sent: false }

interface Signals {
  readonly waits: (now: Waiting | null) => void
  readonly stop: () => void
  /** What a second signal does; answers the last words once they are spoken. */
  readonly insist: () => Promise<string>
}

/** Runs a command during which `during` happens; answers what was written to stderr. */
const told = async (
  t: { teardown(fn: () => void): void }, line: string, during: (world: Signals) => Promise<void>,
  options: RunOptions = {},
): Promise<string> => {
  const stop = new AbortController()
  let act: Insist = () => undefined
  const run = async (_options: unknown, deps: VerbDeps): Promise<unknown> => {
    await during({
      waits: (now) => deps.observer.waits?.(now), stop: () => stop.abort(),
      insist: () => new Promise((resolve) => act(resolve)),
    })
    return {}
  }
  const ran = await World.in(t).place.run(line.split(' '), {
    stop: stop.signal, onInsist: (one) => { act = one }, clock: stillClock(Date.UTC(2026, 0, 1)),
    terminal: { stderr: true }, commands: fakeCommands(run), ...options,
  })
  return ran.stderr
}

t.test('a first signal says on a terminal what is waited for and how long', async (t) => {
  t.equal(waitingLine({ ...sent, for: 'bill' }, 0),
    'sent; waiting up to 14 s for the bill; again leaves it unknown')
  t.equal(waitingLine(unsent, 0), 'nothing was sent; stopping')
  t.equal(waitingLine(sent, 99_000),
    'sent; waiting up to 0 s for the reply; again leaves it unknown')
  const during = async ({ waits, stop }: Signals): Promise<void> => {
    waits(unsent)
    waits(sent)
    stop()
    waits({ ...sent, for: 'bill', untilMs: 2_000 })
    waits({ ...sent, for: 'bill', untilMs: 3_000 })
    waits({ ...sent, for: 'record' })
    waits(null)
  }
  t.equal(await told(t, 'thing do', during),
    'sallyport: sent; waiting up to 14 s for the reply; again leaves it unknown\n'
    + 'sallyport: sent; waiting up to 2 s for the bill; again leaves it unknown\n')
  t.equal(await told(t, 'thing do --quiet', during), '')
  t.equal(await told(t, 'thing do', during, { terminal: {} }), '', 'a pipe is told the end only')
  t.equal(await told(t, 'thing do', async ({ stop }) => stop()), '', 'nothing is waited for')
})

t.test('the last words name task and operation, in JSON as well', async (t) => {
  let words = ''
  const during = async ({ waits, stop, insist }: Signals): Promise<void> => {
    waits(sent)
    stop()
    words = await insist()
  }
  await told(t, 'thing do', during)
  t.match(words, /^sallyport: Ended by a second signal: .* op_1 \(task tk_1\) may have been sent/)
  t.match(words, /\nnext: .*`sallyport ledger reservations`\.\n$/)
  await told(t, 'thing do --json', during)
  const { error } = JSON.parse(words) as { error: unknown }
  t.hasStrict(error, {
    code: 'interrupted', reason: 'outcome_not_recorded',
    details: { operation_id: 'op_1', task_id: 'tk_1' },
  })
})

t.test('unknown is claimed only where a request byte may have left', async (t) => {
  t.hasStrict(interruption(sent), { kind: 'cancelled', reason: 'outcome_not_recorded' })
  for (const waiting of [unsent, null]) {
    t.hasStrict(interruption(waiting), { kind: 'cancelled', reason: null })
    t.notMatch(interruption(waiting).message, /may have been sent|unknown/)
  }
})

t.test('a second signal gives an unsent operation a moment, a third one none', async (t) => {
  const clock = stillClock(Date.UTC(2026, 0, 1))
  let sleeps = 0
  const sleep = (): Promise<void> => {
    sleeps += 1
    return new Promise(() => undefined)
  }
  const patient = { ...clock, sleep }
  await told(t, 'thing do --json', async ({ waits, stop, insist }) => {
    waits(unsent)
    stop()
    const second = insist()
    t.equal(await Promise.race([second, Promise.resolve('not yet')]), 'not yet')
    t.match(await insist(), 'that could not be recorded')
  }, { clock: patient })
  t.equal(sleeps, 1)
  await told(t, 'thing do', async ({ stop, insist }) => {
    stop()
    t.equal(await insist(), 'sallyport: Ended by a second signal.\n', 'nothing is under way')
  })
})
