/** The end of an attempt, by its time or by whoever asked, at each of its waits. */
import t from 'tap'
import { Attempt } from '../../src/net/attempt.js'
import { movedClock } from '../support/clock.js'
import { readByAll } from '../support/net/world.js'

const timeoutMs = 60_000
const never = new Promise<never>(() => undefined)

/** An attempt, and the two ways in which it may end; neither is told to it. */
const begun = (t: { teardown(done: () => void): void }) => {
  const clock = movedClock()
  const stop = new AbortController()
  const attempt = new Attempt(clock, 'provider.test', timeoutMs, stop.signal)
  t.teardown(() => attempt.end())
  return {
    attempt,
    ends: {
      timeout: () => clock.advance(timeoutMs),
      cancelled: () => stop.abort(),
    },
  }
}
type Begun = ReturnType<typeof begun>
type Ending = keyof Begun['ends']
const endings = ['timeout', 'cancelled'] as const

/** Ways to wait for something, each with a callback. */
type Waits = Readonly<Record<string, (attempt: Attempt, act: () => void) => Promise<unknown>>>

/** The code that work ends with; `waits` where it does not end. */
const codeOf = (work: Promise<unknown>): Promise<string> => Promise.race([
  work.then(() => 'none', (error: { code: string }) => error.code),
  readByAll().then(() => 'waits'),
])

t.test('what is over waits for nothing, asks nobody and writes nothing', async (t) => {
  const waits: Waits = {
    'a wait': (attempt) => attempt.during(never),
    'a question': (attempt, called) => attempt.ask(called),
    'a record': (attempt, called) => attempt.askToTheEnd(called),
  }
  for (const [what, wait] of Object.entries(waits)) {
    for (const ending of endings) {
      const { attempt, ends } = begun(t)
      ends[ending]()
      const called = (): void => void t.fail(`${what} was begun`)
      t.equal(await codeOf(wait(attempt, called)), ending, `${what}, ${ending}`)
    }
  }
})

t.test('what ends while it is waited for is told behind the wait, whatever came of that', async (t) => {
  const waits: Waits = {
    'a wait': (attempt, end) => attempt.during(Promise.resolve().then(end)),
    'a question': (attempt, end) => attempt.ask(end),
    'a record': (attempt, end) => attempt.askToTheEnd(end),
  }
  for (const [what, wait] of Object.entries(waits)) {
    for (const ending of endings satisfies readonly Ending[]) {
      const { attempt, ends } = begun(t)
      t.equal(await codeOf(wait(attempt, ends[ending])), ending, `${what}, ${ending}`)
    }
  }
})

t.test('a record is waited for to its end, also where the attempt is over before', async (t) => {
  const { attempt, ends } = begun(t)
  let isWritten = false
  const code = await codeOf(attempt.askToTheEnd(async () => {
    ends.cancelled()
    await Promise.resolve()
    isWritten = true
  }))
  t.strictSame([code, isWritten], ['cancelled', true])
})
