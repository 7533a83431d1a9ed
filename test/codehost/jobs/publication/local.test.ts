/** The local work of a publication that ends otherwise than it must: nothing is sent behind it. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stagePath } from '../../../../src/codehost/producer/stage.js'
import { failure, must } from '../../../support/must.js'
import { observed } from '../../../support/codehost/producing.js'
import { publishing, type Publishing } from '../../../support/codehost/publishing.js'
import { t } from '../../../support/tests-in-slices.js'

const observe = (at: Publishing, how: object): void =>
  writeFileSync(join(at.place.stateDir, 'observe.json'), JSON.stringify(how))

/** What the supervisor does, and where the job stands then. */
const cases: readonly (readonly [string, object, object])[] = [
  ['killed before it was told anything', { stopAt: 'admitted', do: 'kill' },
    { state: 'blocked', reason: 'producer_start_missing', reserved: true }],
  ['killed at its work', { stopAt: 'fed', do: 'kill' },
    { state: 'blocked', reason: 'producer_marker_missing', reserved: true }],
  ['a disk that is full', { stopAt: 'spawned', do: 'full' },
    { state: 'blocked', reserved: true }],
  ['out of time, and over', { wallMs: 20_000, reapMs: 19_999 },
    { state: 'failed', reason: 'producer_wall', reserved: false }],
]

t.test('C-081 C-206 C-207 C-268 local work without proof of its end keeps the connection for good; with proof it frees it; nothing is sent either way', async (t) => {
  const at = await publishing(t, { producer: { helper: observed() } })
  for (const [what, how, row] of cases) {
    const job = await at.approvedPublication()
    observe(at, how)
    const ran = await at.runJob(job)
    observe(at, {})
    t.not(ran.status, 0, what)
    t.equal(failure(ran).code, 'codehost_not_sent', what)
    t.hasStrict(at.job(job), { ...row, contacted: 0, created: 0 }, `${what}: ${ran.stderr}`)
    t.equal(at.posts().length, 0, what)
    const isHeld = at.job(job).reserved
    t.equal(at.connection().active_job_id, isHeld ? job : null)
    t.equal(existsSync(stagePath(at.place.stateDir, job)), isHeld, `${what}: its stage`)
    const [connection] = await at.json(['codehost', 'connections'])
    t.equal(connection.occupied_for_good, isHeld ? true : null, what)
    t.equal(failure(await at.run(['codehost', 'resume', job, '--json'])).status === 0, false)
    t.equal(at.posts().length, 0, 'a second run does not make it up')
    const check = await at.run(['state', 'check'])
    t.equal(check.status, 0, `${what}: ${check.stderr}`)
    if (isHeld) await at.free(job)
  }
})

t.test('a publication whose approval was for another run is refused before anything, and approved again', async (t) => {
  const at = await publishing(t)
  const [first, second] = [await at.approvedPublication(), await at.approvedPublication()]
  must(await at.runJob(first))
  const posts = at.posts().length
  const asked = at.requests().length
  const ran = await at.run(['codehost', 'run', second])
  t.match(ran.stderr, `codehost preview ${second}`)
  t.equal(at.requests().length, asked, 'nobody is asked')
  t.hasStrict(at.job(second), { state: 'approved', reserved: false })
  const shown = must(await at.run(['codehost', 'preview', second])).stdout
  t.match(shown, /To approve it again:/)
  must(await at.approve(second))
  must(await at.runJob(second))
  t.equal(at.posts().length, posts + 6)
})

t.test('a job that runs between the look and the claim of another makes its approval one for another run', async (t) => {
  const at = await publishing(t)
  const [first, second] = [await at.approvedPublication(), await at.approvedPublication()]
  let done = false
  const ran = await at.runJob(second, {
    at: async (step) => {
      if (step !== 'preflight.finished' || done) return
      done = true
      must(await at.runJob(first))
    },
  })
  t.ok(done)
  t.equal(failure(ran).code, 'producer_changed')
  t.hasStrict(at.job(second), { state: 'approved', attempt: 0, reserved: false })
  t.equal(at.connection().active_job_id, null)
  t.equal(at.posts().length, 6, 'of the first alone')
})

t.test('a publication that was cut off before any of it was begun is approved again and run', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const stop = new AbortController()
  const ran = await at.runJob(job, {
    stop: stop.signal, at: (step) => {
      if (step === 'codehost.reserved') stop.abort()
    },
  })
  t.not(ran.status, 0)
  t.hasStrict(at.job(job), { state: 'blocked', reserved: false, contacted: 0 })
  const way = async () => (await at.json(['codehost', 'job', job])).way_on.command
  t.equal(await way(), `sallyport codehost preview ${job}`)
  must(await at.approve(job))
  must(await at.runJob(job))
  t.equal(at.posts().length, 6)
})

t.test('whoever is killed while a publication is approved once more leaves a sound job, which can be cancelled', async (t) => {
  const at = await publishing(t)
  const [job, other] = [await at.approvedPublication(), await at.approvedPublication()]
  const stop = new AbortController()
  await at.runJob(job, {
    stop: stop.signal, at: (step) => {
      if (step === 'codehost.reserved') stop.abort()
    },
  })
  must(await at.approve(job))
  must(await at.approve(other))
  must(await at.runJob(other))
  const { preview_sha256: digest } = at.job(job)
  const ran = await at.run(['codehost', 'approve', job, '--preview-digest', digest], {
    at: (step) => {
      if (step === 'codehost.bound') throw new TypeError('the process ends')
    },
  })
  t.not(ran.status, 0)
  t.hasStrict(at.job(job), { state: 'prepared', approval: null, attempt: 1, contacted: 0 })
  t.equal((await at.json(['state', 'check'])).ok, true)
  must(await at.run(['codehost', 'cancel', job]))
  t.equal((await at.json(['state', 'check'])).ok, true)
})

t.test('one that was cut off by the end of its consent is given up', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const ran = await at.runJob(job, {
    at: async (step) => {
      if (step === 'codehost.reserved') must(await at.run(['codehost', 'mode', at.id, 'disabled']))
    },
  })
  t.not(ran.status, 0)
  t.hasStrict(at.job(job), { state: 'blocked', reserved: false, contacted: 0 })
  const { way_on: way } = await at.json(['codehost', 'job', job])
  t.equal(way.command, `sallyport codehost cancel ${job}`)
  must(await at.run(['codehost', 'cancel', job]))
})

t.test('C-081 a stop ends the local work only where its end can be proved: the connection is free, and nothing was sent', async (t) => {
  const at = await publishing(t)
  for (const step of ['codehost.spawn_intended', 'codehost.produced']) {
    const job = await at.approvedPublication()
    const stop = new AbortController()
    const ran = await at.runJob(job, {
      stop: stop.signal, at: (announced) => {
        if (announced === step) stop.abort()
      },
    })
    t.not(ran.status, 0)
    t.hasStrict(at.job(job), { state: 'failed', contacted: 0, reserved: false }, step)
    t.equal(at.connection().active_job_id, null, step)
    const { codehost } = await at.json(['status'])
    t.equal(codehost.status, 'configured', 'nobody waits for a connection that is free')
  }
  t.equal(at.posts().length, 0)
})
