/**
 * Real signals to real processes. Before the first request byte an interrupt ends the ask with
 * nothing sent; after it the cancel is recorded, the charge settled and the answer dropped; a
 * second one ends the process at once.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { acquireLane } from '../../src/state/holds/lane.js'
import { collections, type Task } from '../../src/governance/rows.js'
import { checkLedger, recover } from '../support/ledger.js'
import { timeOf } from '../support/speed.js'
import { limits, question } from '../world/alpha.js'
import type { Ran, SpawnOptions } from '../world/place.js'
import { builtApp } from '../world/process.js'
import { World, type AlphaWorld } from '../world/world.js'
import { until } from '../support/until.js'
import { tasksOf } from '../support/board.js'
import { t } from '../support/tests-in-slices.js'

const theTask = (rig: AlphaWorld): Task => {
  const [task, other] = tasksOf(rig)
  if (task === undefined || other !== undefined) throw new Error('there is not exactly one task')
  return task
}

const ask = (rig: AlphaWorld, options: SpawnOptions): Promise<Ran> =>
  rig.place.spawn(['alpha', 'ask', '-', '--json'], { stdin: question, ...options })

/** An ask that waits at a step until the signal was sent. */
const signalledAt = async (
  rig: AlphaWorld, step: string, signal: NodeJS.Signals,
): Promise<Ran> => {
  const go = rig.place.path('go')
  return ask(rig, {
    entry: 'test', env: { TEST_STOP_AT: step, TEST_STOP_DO: 'wait', TEST_GO_FILE: go },
    onChild: (child) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        if (!chunk.includes('stopped at')) return
        child.kill(signal)
        writeFileSync(go, '')
      })
    },
  })
}

const checkCancelled = (t: Test, rig: AlphaWorld, ran: Ran): void => {
  t.equal(ran.status, 130, ran.stderr)
  t.equal(ran.stdout, '', 'no answer')
  t.equal(ran.error().code, 'ask_cancelled')
  t.equal(theTask(rig).state, 'cancelled')
  t.equal(theTask(rig).result_artifact_id, null)
  const job = rig.view().get(collections.jobs, theTask(rig).job_id)
  t.hasStrict(job?.receipt, { schema: 'svc.alpha.text.receipt.v1' }, 'the receipt tells it')
  t.equal(ran.error().details.task_id, theTask(rig).task_id, 'and the error names the task')
  const account = checkLedger(t, rig)
  t.equal(account?.held_microusd, 0)
  t.equal(account?.unknown_microusd, 0)
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const before = ['ask.queued', 'ask.reserved', 'ask.contact_intent'] as const

for (const [at, step] of before.entries()) {
  const signal = signals[at] ?? 'SIGINT'
  t.test(`A-183 ${signal} at ${step}: nothing sent, hold released, status 130`, async (t) => {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const ran = await signalledAt(rig, step, signal)
    checkCancelled(t, rig, ran)
    t.equal(rig.sandbox.log.all().length, 0, 'no request')
    t.equal(checkLedger(t, rig)?.settled_microusd, 0)
  })
}

t.test('A-183 an interrupt while waiting for the lane ends the wait', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const lane = await acquireLane({
    dir: rig.place.stateDir, priority: 'interactive', clock: systemClock,
    deadlineMs: systemClock.monotonicMs() + 60_000,
  })
  const ran = await ask(rig, {
    onChild: (child) => {
      void until('it is queued', () => tasksOf(rig).some(({ state }) => state === 'queued'))
        .then(() => child.kill('SIGINT'))
    },
  })
  // Only now: the ask ended although the lane was never free.
  lane.release()
  checkCancelled(t, rig, ran)
  t.equal(rig.sandbox.log.connections('provider').opened, 0)
})

/** A rig whose provider calls `act` at one moment and goes on when it is done. */
const rigThat = (
  t: Test, moment: 'onConnect' | 'completion' | 'billing', act: () => Promise<void>,
): World<AlphaWorld> => World.in(t).sandbox({
  hooks: {
    onConnect: async () => { if (moment === 'onConnect') await act() },
    onRequest: async (_service, { route }) => { if (route === moment) await act() },
  },
}).state().session().alpha()

const silentMs = 3_000

t.test('A-183 an interrupt while the provider does not finish TLS ends the ask', async (t) => {
  let child: ChildProcess | null = null
  let signalledMs = Number.NaN
  const rig = await rigThat(t, 'onConnect', async () => {
    child?.kill('SIGINT')
    signalledMs = performance.now()
    // The provider is in this process: it says nothing at all while this thread stands still.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, silentMs)
  })
  const longest = ['--timeout-seconds', '45', '--acknowledge-plaintext-egress']
  const revision = ['--expected-policy-revision', String(await rig.revision())]
  t.equal((await rig.run(['alpha', 'setup', ...longest, ...revision])).status, 0)
  const ran = await ask(rig, { onChild: (one) => { child = one } })
  t.ok(performance.now() - signalledMs < silentMs + timeOf(600), 'not only the deadline ended it')
  checkCancelled(t, rig, ran)
  t.equal(rig.inferences().length, 0)
  t.equal(checkLedger(t, rig)?.settled_microusd, 0)
})

for (const [at, moment] of (['completion', 'billing'] as const).entries()) {
  const signal = signals[at] ?? 'SIGINT'
  t.test(`A-128 A-167 A-183 ${signal} while ${moment} is open: charged once, no answer`,
    async (t) => {
      let child: ChildProcess | null = null
      const rig: AlphaWorld = await rigThat(t, moment, async () => {
        child?.kill(signal)
        await until('it is asked to stop', () => theTask(rig).cancel_requested_at !== null)
      })
      const ran = await ask(rig, { onChild: (one) => { child = one } })
      checkCancelled(t, rig, ran)
      t.equal(rig.inferences().length, 1)
      t.equal(rig.billings().length, 1)
      t.ok((checkLedger(t, rig)?.settled_microusd ?? 0) > 0, 'the charge stands')
      t.strictSame(rig.view().all(collections.artifacts).map(({ doc }) => doc.label), [
        'svc.alpha.text.input.v1',
      ], 'the answer is dropped')
    })
}

t.test('A-123 A-183 an interrupt does not win against an unknown charge', async (t) => {
  let child: ChildProcess | null = null
  const rig: AlphaWorld = await rigThat(t, 'completion', async () => {
    child?.kill('SIGINT')
    await until('it is asked to stop', () => theTask(rig).cancel_requested_at !== null)
  })
  rig.sandbox.faults.set('billing_status_500')
  const ran = await ask(rig, { onChild: (one) => { child = one } })
  t.equal(ran.status, 7, ran.stderr)
  t.equal(theTask(rig).state, 'blocked')
  t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`A-026 A-124 A-183 a second ${signal} ends the process at once`, async (t) => {
    let child: ChildProcess | null = null
    let gone: Promise<unknown> = Promise.resolve()
    const rig: AlphaWorld = await rigThat(t, 'completion', async () => {
      child?.kill(signal)
      await until('it is asked to stop', () => theTask(rig).cancel_requested_at !== null)
      child?.kill(signal)
      // The provider answers nobody before the process is gone.
      await gone
    })
    const ran = await ask(rig, {
      onChild: (one) => {
        child = one
        gone = new Promise((resolve) => one.once('exit', resolve))
      },
    })
    t.equal(ran.status, 130)
    t.equal(ran.stdout, '')
    const { task_id, operation_id } = theTask(rig)
    t.hasStrict(ran.error(), {
      code: 'interrupted', reason: 'outcome_not_recorded', details: { task_id, operation_id },
    }, 'its last act names what is unknown')
    await recover(rig)
    t.equal(theTask(rig).state, 'blocked', 'the cost is unknown: that beats the cancel')
    t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd)
    t.equal(rig.inferences().length, 1)
    t.equal(rig.billings().length, 0)
  })
}

t.test('SIGUSR1 opens no port through which the key could be read', async (t) => {
  let child: ChildProcess | null = null
  const rig = await rigThat(t, 'completion', async () => {
    child?.kill('SIGUSR1')
    await sleep(200)
  })
  const ran = await ask(rig, { onChild: (one) => { child = one } })
  t.equal(ran.status, 0, ran.stderr)
  t.notMatch(ran.stderr, /[Dd]ebugger/)
})

t.test('an interrupt after the closing record changes nothing of it', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const ran = await signalledAt(rig, 'ask.finished', 'SIGINT')
  t.equal(ran.status, 0, ran.stderr)
  const { task, answer } = ran.json<{ task: { id: string }; answer: string }>()
  const output = await rig.run(['alpha', 'output', task.id, '--json'])
  t.equal(output.json().answer, answer)
  t.equal(theTask(rig).cancel_requested_at, null)
})

/** Whether a process waits for what comes over its stdin. */
const readsStdin = (pid: number): boolean => {
  const facts = `/proc/${pid}/fdinfo`
  return readdirSync(facts).some((fd) => {
    try {
      return /^tfd: +0 /m.test(readFileSync(join(facts, fd), 'utf8'))
    } catch {
      // Closed since it was listed.
      return false
    }
  })
}

t.test('A-104 one interrupt ends a command that reads stdin, with nothing written', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const { sequence } = rig.view()
  const script = join(await builtApp(), 'sallyport.js')
  const child = spawn(process.execPath, [script, 'alpha', 'ask', '-'], {
    cwd: rig.place.cwd, env: rig.place.env, stdio: 'pipe',
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = new Promise((resolve) => child.once('close', (...how) => resolve(how)))
  child.stdin.write('MARK-QUESTION, not all of it')
  await until('it reads', () => readsStdin(child.pid ?? 0))
  child.kill('SIGINT')
  t.strictSame(await ended, [130, null])
  t.equal(rig.view().sequence, sequence)
})
