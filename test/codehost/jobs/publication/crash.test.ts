/** The process is killed at each step of a publication: no effect is sent twice, ever. */
import t from 'tap'
import { clientOf, settled } from '../../../support/sandbox/host-client.js'
import { must } from '../../../support/must.js'
import { publishing, type Publishing } from '../../../support/codehost/publishing.js'
import { slice } from '../../../support/slice.js'

/** POSTs of the publication of these tests. */
const all = 6

/**
 * What a crash leaves and how it goes on. `clean`: nothing was begun. `unproved`: local work was
 * begun and no proof of its end lies there. `ended`: it ended before it was begun.
 * `made`: the proof lies there. `marked`: a POST was
 * marked and did not leave. `sent`: it left. `lost`: so did the pull request, whose number nobody
 * saw. `whole`: all is known. `done`: it had come to its end.
 */
type Left = 'clean' | 'unproved' | 'ended' | 'made' | 'marked' | 'sent' | 'lost' | 'whole' | 'done'

const steps: readonly (readonly [string, Left])[] = [
  ['preflight.before_first_byte', 'clean'], ['codehost.claimed', 'clean'],
  ['codehost.reserved', 'clean'],
  ['codehost.spawn_intended', 'unproved'], ['codehost.spawned', 'ended'],
  ['codehost.produced', 'made'], ['codehost.post_1_of_6', 'made'],
  ['codehost.contact_begin', 'made'],
  ['codehost.contact_intent', 'marked'], ['codehost.replied', 'sent'],
  ['codehost.post_2_of_6', 'sent'], ['codehost.before_first_byte#3', 'marked'],
  ['codehost.replied#3', 'sent'], ['codehost.contact_begin#5', 'sent'],
  ['codehost.replied#5', 'sent'], ['codehost.post_6_of_6', 'sent'],
  ['codehost.contact_intent#6', 'lost'], ['codehost.replied#6', 'lost'],
  ['codehost.created', 'whole'], ['codehost.replied#7', 'whole'], ['codehost.sealed', 'whole'],
  ['codehost.finished', 'done'],
]

const killedAt = async (at: Publishing, job: string, step: string): Promise<void> => {
  const killed = await at.place.spawn(['codehost', 'run', job, '--json'], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: step },
  })
  if (killed.status === 0) throw new Error(`${step} was not reached`)
  // The next command that changes something resolves what the dead one left.
  must(await at.run(['goal', 'add', step]))
}

const code = async (at: Publishing, verb: string, job: string): Promise<string> => {
  const ran = await (verb === 'reconcile' ? at.reconcile(job)
    : at.run(['codehost', verb, job, '--json']))
  return ran.status === 0 ? '' : ran.error().code
}

/** Per kind of crash: the row, and what reconcile and resume say of it. */
const expected: Readonly<Record<Left, {
  readonly row: object
  readonly reconcile: string
  /** Null: it is approved again and run instead. */
  readonly resume: string | null
}>> = {
  clean: {
    row: { contacted: 0, reserved: false }, reconcile: 'nothing_to_reconcile', resume: null,
  },
  unproved: {
    row: { state: 'blocked', reason: 'interrupted_after_spawn', contacted: 0, reserved: true },
    reconcile: 'nothing_to_reconcile', resume: 'codehost_not_sent',
  },
  ended: {
    row: { state: 'blocked', reason: 'interrupted_after_spawn', contacted: 0, reserved: true },
    reconcile: 'nothing_to_reconcile', resume: 'codehost_not_sent',
  },
  made: {
    row: { state: 'blocked', reason: 'interrupted_after_spawn', contacted: 0, reserved: true },
    reconcile: 'nothing_to_reconcile', resume: '',
  },
  marked: {
    row: { state: 'unknown_external_effect', reserved: true },
    reconcile: 'remote_not_found', resume: 'job_state',
  },
  sent: {
    row: { state: 'unknown_external_effect', reserved: true },
    reconcile: 'codehost_incomplete', resume: '',
  },
  lost: {
    row: { state: 'unknown_external_effect', reserved: true, contacted: all, created: all - 1 },
    reconcile: 'remote_id_required', resume: 'job_state',
  },
  whole: {
    row: { state: 'unknown_external_effect', reserved: true, contacted: all, created: all },
    reconcile: '', resume: 'job_state',
  },
  done: { row: { state: 'succeeded' }, reconcile: 'nothing_to_reconcile', resume: 'job_state' },
}

t.test('C-045 C-206 a killed publication sends no effect twice; what can be known is known again, and the rest goes on', async (t) => {
  const at = await publishing(t)
  const cells = slice('killed at', steps, {
    axesOf: ([, left]) => [left], idOf: ([step]) => step,
  })
  for (const [step, left] of cells) {
    const job = await at.approvedPublication()
    await killedAt(at, job, step)
    const { row, reconcile, resume } = expected[left]
    t.hasStrict(at.job(job), row, step)
    const isHeld = at.job(job).reserved
    t.equal(at.connection().active_job_id, isHeld ? job : null, step)
    if (isHeld) t.equal(await code(at, 'cancel', job), 'effect_stands', step)
    if (at.job(job).state !== 'approved') t.equal(await code(at, 'run', job), 'job_state', step)
    t.equal(await code(at, 'reconcile', job), reconcile, step)
    if (resume === null) {
      must(await at.approve(job))
      must(await at.runJob(job))
    } else t.equal(await code(at, 'resume', job), resume, step)
    if (left === 'ended') {
      t.hasStrict(at.job(job), { state: 'failed', reason: 'producer_not_begun', reserved: false })
      t.equal(at.connection().active_job_id, null, 'its own run frees it by the proof')
    }
    if ((resume ?? '') === '') t.equal(at.job(job).state, 'succeeded', step)
    const check = await at.run(['state', 'check'])
    t.equal(check.status, 0, `${step}: ${check.stderr}`)
    if (at.connection().active_job_id !== null) await at.free(job)
  }
  const sent = at.posts().map(({ path, bodySha256 }) => `${path} ${bodySha256}`)
  t.equal(new Set(sent).size, sent.length, 'no effect was sent twice')
  await settled(t, clientOf(at.sandbox))
})
