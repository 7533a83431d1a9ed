/** Likenesses at a code host that nobody here wrote: what others made there is no evidence. */
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPublication } from '../../../src/codehost/jobs/publication/open.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import {
  emulatedRepository, emulatedToken, startEmulated, strangersToken, type Instead,
} from '../../support/codehost/emulated.js'
import { must } from '../../support/must.js'
import { t } from '../../support/tests-in-slices.js'
import type { Loose, Ran, RunOptions, Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'

const worldOf = async (t: Teardown) => {
  const world = World.in(t)
  const host = await startEmulated(t, world.place.dir)
  const at = await world.state({ owner: 'ada', profileFile: host.profileFile }).session()
  const { place, run, json } = at
  const { id } = must(await run(['codehost', 'connect', '--repo', emulatedRepository,
    '--token-file', place.write('token', `${emulatedToken}\n`), '--json'])).json()
  const consent = async (): Promise<void> => {
    const [{ revision }] = await json(['codehost', 'connections'])
    must(await run(['codehost', 'consent', id, '--acknowledge', '--expected-revision',
      String(revision), '--action', 'issue.create', 'comment.create', 'git.object.create',
      'git.ref.create', 'pull_request.create']))
  }
  const approved = async (words: readonly string[]): Promise<string> => {
    await consent()
    const { id: job } = await json(['codehost', 'prepare', ...words, '--connection', id])
    const { digest } = await json(['codehost', 'preview', job])
    must(await run(['codehost', 'approve', job, '--preview-digest', digest]))
    return job
  }
  const row = (job: string) => at.view().get(jobCollection, job)
  const codeOf = (ran: Ran): string =>
    (ran.status === 0 ? 'done' : ran.error().reason ?? ran.error().code)
  return {
    ...at, at, host, id, approved, row, codeOf,
    start: (job: string, how?: RunOptions) => run(['codehost', 'run', job, '--json'], how),
    reconcile: async (job: string) => {
      const [{ revision }] = await json(['codehost', 'connections'])
      return codeOf(await run(['codehost', 'reconcile', job, '--json',
        '--expected-read-revision', String(revision)]))
    },
    close: async (job: string, more: Loose = {}) => {
      const [connection] = await json(['codehost', 'connections'])
      return codeOf(await run(['codehost', 'close-capacity', job, '--json', '--from', place.write(
        `${randomUUID()}.json`, JSON.stringify({
          acknowledged_capacity_close: true, expected_job_revision: row(job)?.revision,
          expected_connection_revision: connection.revision,
          expected_connection_fence: connection.active_fence, idempotency_key: randomUUID(),
          ...more,
        }))]))
    },
    occupied: async (job: string) =>
      (await json(['codehost', 'connections']))[0].active_job_id === job,
  }
}

/** Longer than two clocks of whole seconds and a look can be apart. */
const apartMs = 4_000

t.test('C-021 C-154 C-196 at a host of others an issue or a comment that is old, reopened, edited, somebody else’s or transferred is no evidence, and the one of the job is', async (t) => {
  const at = await worldOf(t)
  const { host, place } = at
  const body = place.write('body.md', 'The same words.')
  const first = await host.ask('POST', '/issues', { title: 'First', body: 'Talk here.' })
  for (const kind of ['issue', 'comment'] as const) {
    const list = kind === 'issue' ? '/issues' : `/issues/${first.number}/comments`
    const sent = kind === 'issue' ? { title: 'Nightly', body: 'The same words.' }
      : { body: 'The same words.' }
    const make = async (token?: string): Promise<number> => {
      const made = await host.ask('POST', list, sent, token)
      return kind === 'issue' ? made.number : made.id
    }
    const path = (number: number) =>
      kind === 'issue' ? `/issues/${number}` : `/issues/comments/${number}`
    const old = await make()
    const reopened = await make()
    if (kind === 'issue') {
      await host.ask('PATCH', path(reopened), { state: 'closed' })
      await host.ask('PATCH', path(reopened), { state: 'open' })
    }
    await sleep(apartMs)
    const job = await at.approved(kind === 'issue'
      ? ['issue', '--title', 'Nightly', '--body-file', body]
      : ['comment', '--issue', String(first.number), '--body-file', body])
    host.instead.set(`POST ${list}`, { status: 500 })
    await at.start(job)
    host.instead.clear()
    t.hasStrict(at.row(job), { state: 'unknown_external_effect', contacted: 1, remote: null })
    // The host goes on for some seconds behind the contact: what is of the job is made first.
    const own = await make()
    const foreign = await make(strangersToken)
    const edited = await make()
    await host.ask('PATCH', path(edited), { body: 'Other words.' })
    const away = await make()
    host.instead.set(`GET ${path(away)}`, { status: 301, location: '/repositories/9/issues/1' })
    t.equal((await at.run(['codehost', 'adopt', job, '--json'])).error().code,
      'codehost_not_adopted')
    for (const [number, reason] of [
      [old, 'readback_other_time'], [reopened, 'readback_other_time'],
      [foreign, 'readback_other_author'], [away, 'readback_redirected'],
      [away + 50, 'remote_not_found'],
    ] as const) {
      t.equal(await at.close(job, { remote_id: number }), reason, `${kind} ${reason}`)
      t.ok(await at.occupied(job))
    }
    const told = await at.close(job, { remote_id: edited })
    t.match(told, /^readback_(?:edited|differs)$/, `${kind}: ${told}`)
    host.instead.clear()
    t.equal(await at.close(job, { remote_id: own }), 'done',
      'one of the same words, moment and maker is not told apart: see the decision')
    const seen = await at.approved(kind === 'issue'
      ? ['issue', '--title', 'Nightly', '--body-file', body]
      : ['comment', '--issue', String(first.number), '--body-file', body])
    const alter: Instead = { alter: (json) => {
      json.created_at = '2020-01-02T03:04:05Z'
    } }
    host.instead.set(`POST ${list}`, alter)
    await at.start(seen)
    host.instead.clear()
    t.hasStrict(at.row(seen), { reason: 'reply_other_time', remote: null }, `${kind}: an old 201`)
    const all = await host.get(kind === 'issue' ? '/issues?per_page=100&state=all' : list)
    const last = Math.max(...all.map((one: Loose) => (kind === 'issue' ? one.number : one.id)))
    t.equal(await at.close(seen, { remote_id: last }), 'done')
  }
})

t.test('C-021 C-104 C-247 at a host of others a pull request that is told otherwise is no evidence; what is named by its id is, whatever made it', async (t) => {
  const at = await worldOf(t)
  const { host, place } = at
  mkdirSync(place.path('source/deep'), { recursive: true })
  let made = 0
  const publication = async (): Promise<string> => {
    made += 1
    place.write('source/README.md', `# Notes ${made}\n`)
    place.write('source/deep/binary', Buffer.from([0, made, 255]))
    return at.approved(['publication', '--source', place.path('source'), '--base', 'main',
      '--branch', `topic/${made}`, '--title', 'Nightly', '--author', 'Ann <ann@example.org>'])
  }
  for (const [what, change, reason] of [
    ['old', { created_at: '2020-01-02T03:04:05Z' }, 'other_time'],
    ['of the next night', { created_at: '2100-01-02T03:04:05Z' }, 'other_time'],
    ['foreign', { user: { id: 999_999, login: 'stranger' } }, 'other_author'],
    ['without a time', { created_at: null }, 'time_missing'],
    ['edited', { title: 'Other', updated_at: '2100-01-02T03:04:05Z' }, 'edited'],
  ] as const) {
    const job = await publication()
    let path = ''
    await at.start(job, {
      at: (step) => {
        if (step !== 'codehost.created') return
        path = `GET /pulls/${String(at.row(job)?.remote?.id)}`
        host.instead.set(path, { alter: (json) => void Object.assign(json, change) })
      },
    })
    t.equal(at.row(job)?.reason, `readback_${reason}`, what)
    t.equal(await at.reconcile(job), `readback_${reason}`, what)
    t.equal((await at.run(['codehost', 'adopt', job, '--json'])).error().code,
      'codehost_not_adopted', what)
    t.equal(await at.close(job), `readback_${reason}`, what)
    t.ok(await at.occupied(job), what)
    host.instead.set(path, { status: 301, location: '/repositories/9/pulls/1' })
    t.equal(await at.reconcile(job), 'repository_moved', `${what}: transferred away`)
    host.instead.clear()
    t.equal(await at.reconcile(job), 'done', what)
    must(await at.run(['codehost', 'adopt', job]))
  }
  const kinds = new Map<string, number>()
  const count = at.row(await publication())?.plan.effects ?? 0
  for (let number = 1; number < count; number += 1) {
    const job = await publication()
    let posted = ''
    await at.start(job, {
      at: async (step) => {
        if (step !== `codehost.post_${number}_of_${count}`) return
        const row = at.row(job)
        if (row === undefined) throw new Error('no such job')
        const open = openPublication(at.gov, at.view(), row)
        try {
          const post = open.posts[number - 1]
          if (post === undefined) throw new Error('no such POST')
          kinds.set(post.kind, (kinds.get(post.kind) ?? 0) + 1)
          posted = post.path.replace(`/repos/${emulatedRepository}`, '')
          await host.ask('POST', posted,
            JSON.parse((await open.bodyOf(post)).toString('utf8')))
        } finally {
          open.close()
        }
        host.instead.set(`POST ${posted}`, { status: 500 })
      },
    })
    host.instead.clear()
    t.hasStrict(at.row(job), {
      state: 'unknown_external_effect', contacted: number, created: number - 1,
    })
    t.equal(await at.close(job), 'done', `effect ${number}: its id is the evidence`)
  }
  t.strictSame([...kinds.keys()].sort(), ['blob', 'chunk', 'commit', 'growth', 'ref'])
})
