/** Taken back while a publication runs: nothing later leaves, and what was made stays known. */
import t from 'tap'
import { connectionCollection } from '../../../../src/governance/connections/connection-rows.js'
import { failure, must } from '../../../support/must.js'
import { publishing, type Publishing } from '../../../support/codehost/publishing.js'
import { slice } from '../../../support/slice.js'

type Act = (at: Publishing, job: string) => Promise<unknown>

const put = (at: Publishing, change: object): Promise<void> => at.transact((tx) =>
  tx.put(connectionCollection, at.id, { ...at.connection(), ...change }))

const acts: Readonly<Record<string, Act>> = {
  'codehost revoke': async (at) => must(await at.run(['codehost', 'revoke', at.id])),
  'codehost mode': async (at) => must(await at.run(['codehost', 'mode', at.id, 'reconcile_only'])),
  'policy revoke': async (at) => must(await at.run(['policy', 'revoke'])),
  'codehost cancel': async (at, job) => must(await at.run(['codehost', 'cancel', job])),
  'another revision': (at) => put(at, { revision: at.connection().revision + 1 }),
  'another repository': (at) => put(at, { repository_id: 9 }),
  'no consent': (at) => put(at, { consent: null }),
  'another session': (at) => {
    const { consent } = at.connection()
    return put(at, { consent: consent && { ...consent, root: 'root_x' } })
  },
  'another job in its place': (at) => put(at, { active_job_id: 'job_x' }),
}

/** The moment, what is done, how many POSTs leave, and where the job stands then. */
const cases: readonly (readonly [string, string, number, object])[] = [
  ['preflight.before_dial', 'codehost revoke', 0, { state: 'approved', reserved: false }],
  ['codehost.claimed', 'policy revoke', 0, { state: 'blocked', reserved: false }],
  ['codehost.claimed', 'codehost cancel', 0, { state: 'cancelled', reserved: false }],
  // The local work is done once: proved to be over, it frees the connection and never goes on.
  ['codehost.spawn_intended', 'codehost mode', 0, { state: 'failed', reserved: false }],
  ['codehost.before_resolve', 'no consent', 0, { state: 'failed', reserved: false }],
  ['codehost.before_dial', 'another revision', 0, { state: 'failed', reserved: false }],
  ['codehost.contact_intent', 'codehost revoke', 0, { state: 'failed', reserved: false }],
  ['codehost.before_first_byte', 'codehost cancel', 0, { state: 'cancelled', reserved: false }],
  ['codehost.before_resolve#2', 'another session', 1, { state: 'blocked', reserved: true }],
  ['codehost.before_dial#3', 'another repository', 2, { state: 'blocked', reserved: true }],
  ['codehost.before_first_byte#3', 'codehost revoke', 2, { state: 'blocked', reserved: true }],
  ['codehost.before_first_byte#4', 'policy revoke', 3, { state: 'blocked', reserved: true }],
  ['codehost.contact_begin#5', 'codehost cancel', 4, { state: 'blocked', reserved: true }],
  ['codehost.replied#2', 'codehost mode', 2, { state: 'blocked', reserved: true }],
  ['codehost.replied#6', 'codehost revoke', 6, { state: 'unknown_external_effect' }],
]

t.test('C-001 C-011 C-012 C-015 C-018 C-215 what is taken back at a boundary of a publication ends it there: no later byte, nothing lost', async (t) => {
  const at = await publishing(t)
  const cells = slice('taken back', cases, {
    axesOf: ([, act, , row]) => [act, JSON.stringify(row)],
    idOf: ([step, act]) => `${step} ${act}`,
  })
  for (const [step, act, posts, row] of cells) {
    const job = await at.approvedPublication()
    const told = `${act} at ${step}`
    const before = at.posts().length
    const sound = at.connection()
    const [name, number = '1'] = step.split('#')
    let seen = 0
    const ran = await at.runJob(job, {
      at: async (announced) => {
        if (announced === name && (seen += 1) === Number(number)) await acts[act]?.(at, job)
      },
    })
    t.ok(seen >= Number(number), `${told}: it happened`)
    t.not(failure(ran).status, 0, told)
    t.equal(at.posts().length - before, posts, `${told}: POSTs`)
    t.hasStrict(at.job(job), { ...row, contacted: posts, created: posts }, told)
    const isHeld = at.job(job).reserved
    if (posts > 0 && posts < 6) {
      const resumed = await at.run(['codehost', 'resume', job])
      t.not(resumed.status, 0, `${told}: resume`)
      if (isHeld && act.startsWith('codehost')) {
        t.match(resumed.stderr, `codehost close-capacity ${job}`, `${told}: proof frees it`)
        const [own] = await at.json(['codehost', 'connections'])
        t.equal(own.occupied_for_good, false, told)
      }
      t.equal(at.posts().length - before, posts, `${told}: nothing goes on without it`)
    }
    if (posts === 6) must(await at.reconcile(job))
    else if (isHeld) await at.free(job)
    if (act.startsWith('another') || act === 'no consent') {
      await put(at, { ...sound, active_job_id: null, active_fence: at.connection().active_fence })
    } else {
      must(await at.consentToPublish())
    }
  }
  const sent = at.posts().map(({ path, bodySha256 }) => `${path} ${bodySha256}`)
  t.equal(new Set(sent).size, sent.length, 'no effect was sent twice')
})

t.test('C-017 C-108 a publication that was stopped between two POSTs goes on under the same consent, from where it stopped', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const stop = new AbortController()
  let seen = 0
  const ran = await at.runJob(job, {
    stop: stop.signal,
    at: (step) => {
      if (step === 'codehost.before_resolve' && (seen += 1) === 4) stop.abort()
    },
  })
  t.not(ran.status, 0)
  t.hasStrict(at.job(job), { state: 'blocked', contacted: 3, created: 3, reserved: true })
  t.match((await at.run(['codehost', 'job', job])).stdout, `codehost run ${job} --resume`)
  must(await at.run(['codehost', 'resume', job]))
  t.hasStrict(at.job(job), { state: 'succeeded', attempt: 2, contacted: 6, reserved: false })
  t.equal(at.posts().length, 6)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stderr)
})
