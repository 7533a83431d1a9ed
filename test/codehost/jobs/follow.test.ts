/** A script that follows the way on of a job comes to an end, wherever it begins. */
import type { Test } from 'tap'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { closing } from '../../support/codehost/closing.js'
import { serving } from '../../support/service/serving.js'
import { must } from '../../support/must.js'
import { working, type Working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

const wayOf = async (at: Working, job: string) => {
  const { state, reason, way_on: way } = await at.json(['codehost', 'job', job])
  return { state, reason, ...way }
}

/** Runs what may be run with nobody there; gives the states it went through. */
const follow = async (t: Test, at: Working, job: string): Promise<string> => {
  const passed: string[] = []
  for (;;) {
    const { state, reason, command, unattended } = await wayOf(at, job)
    const here = reason === null ? state : `${state} (${reason})`
    t.notOk(passed.includes(here), `${here} leads to itself: ${command}`)
    passed.push(here)
    if (!unattended) return passed.join(' > ')
    const { status } = await at.run(command.split(' ').slice(1))
    if (status !== 0) return [...passed, `exit ${status}`].join(' > ')
  }
}

const readBack = /^unknown_external_effect \(interrupted_after_contact\) > succeeded$/

/** Where a killed run is seen, and where a script that follows its way on ends. */
const kills: readonly (readonly [string, RegExp])[] = [
  ['codehost.claimed', /^blocked \(interrupted_before_contact\) > succeeded$/],
  ['codehost.reserved', /^blocked \(interrupted_before_contact\) > succeeded$/],
  ['codehost.before_dial', /^blocked \(interrupted_before_contact\) > succeeded$/],
  ['codehost.created', readBack],
  ['codehost.sealed', readBack],
  ['codehost.contact_intent', /^unknown_external_effect \(interrupted_after_contact\)$/],
]

t.test('a job whose process was killed is told as interrupted before anybody writes, and its way on leads to its end', async (t) => {
  const at = await working(t)
  for (const [step, path] of kills) {
    const job = await at.approved(`At ${step}`)
    await at.place.spawn(['codehost', 'run', job], {
      entry: 'test', coverage: false, env: { TEST_STOP_AT: step },
    })
    const stored = at.job(job)
    const seen = await wayOf(at, job)
    t.not(seen.state, 'running', step)
    if (seen.reason === 'interrupted_after_contact') {
      t.match(seen.text, /^It was interrupted\. /)
      t.hasStrict(await at.json(['task', 'list', '--state', 'blocked']), [
        { blocked: { reason: 'unknown_external_effect' } },
      ])
      const [listed] = await at.json(['codehost', 'jobs', '--state', 'unknown_external_effect'])
      t.equal(listed.id, job)
      t.equal((await at.json(['status'])).attention.unknown_effects, 1)
    }
    t.strictSame(at.job(job), stored, 'nothing was written')
    t.match(await follow(t, at, job), path, step)
    if (step === kills.at(-1)?.[0]) break
    await at.transact((tx) =>
      tx.put(connectionCollection, at.id, { ...at.connection(), active_job_id: null }))
  }
})

t.test('a job that was cancelled while its dead process was told as running is told as cancelled', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  await at.place.spawn(['codehost', 'run', job], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.before_dial' },
  })
  must(await at.run(['codehost', 'cancel', job]))
  t.equal((await wayOf(at, job)).state, 'cancelled')
})

t.test('a job that a process works on is told as running, and no script is sent on', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  must(await at.runJob(job, {
    at: async (step) => {
      if (step !== 'codehost.before_dial') return
      t.hasStrict(await wayOf(at, job), { state: 'running', unattended: false })
    },
  }))
})

t.test('a job whose capacity was closed has come to its end', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Unknown', 'numbered')
  must(await at.close(job, at.request(job)))
  t.equal((await wayOf(at, job)).unattended, false)
})

t.test('over HTTP a job whose process was killed is told as interrupted too, with the same way on', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  await at.place.spawn(['codehost', 'run', job], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.created' },
  })
  const service = await serving(t, at)
  const stored = at.job(job)
  t.equal(stored.state, 'running')
  const told = await service.get(`/capabilities/codehost/jobs/${job}`)
  t.hasStrict(told, { state: 'unknown_external_effect', reason: 'interrupted_after_contact' })
  t.strictSame(told.way_on, (await at.json(['codehost', 'job', job])).way_on)
  const [listed] = await service.get('/capabilities/codehost/jobs')
  t.strictSame(listed.way_on, told.way_on)
  t.hasStrict(await service.get('/api/work-board/tasks?state=blocked'), [
    { blocked: { reason: 'unknown_external_effect' } },
  ])
  t.equal((await service.get('/api/status')).attention.unknown_effects, 1)
  t.strictSame(at.job(job), stored, 'nothing was written')
})
