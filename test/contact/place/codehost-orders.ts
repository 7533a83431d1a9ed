/** What goes to a code host: jobs, and what only reads there. */
import { execFileSync } from 'node:child_process'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import type { SeenRequest } from '../../../src/sandbox/types.js'
import type { View } from '../../../src/state/types.js'
import { closingOf } from '../../support/codehost/closing.js'
import { publishingOf } from '../../support/codehost/publishing.js'
import { settledJob } from '../../support/codehost/settled-job.js'
import { working, type Working } from '../../support/codehost/working.js'
import { must } from '../../support/must.js'
import type { Outside } from '../../world/sandbox.js'
import { hooksOf } from '../interrupts/orders.js'
import type { Outcome } from '../interrupts/rule.js'
import type { SharedOrder } from './cell.js'

/** What the host has by now; what it gives puts that back. */
const keptHost = ({ sandbox }: Outside): (() => void) => {
  const host = sandbox.codehost.find('operator', 'notes')
  if (host === undefined) throw new Error('the sandbox has a repository')
  const { issues, comments, git: { gitDir } } = host
  const saved = structuredClone({ issues, comments })
  const git = (...words: readonly string[]): string =>
    execFileSync('git', [...words], { cwd: gitDir, encoding: 'utf8' })
  const branches = (): readonly string[] =>
    git('for-each-ref', '--format=%(refname)').split('\n').filter((name) => name !== '')
  const before = new Set(branches())
  return () => {
    const { issues: wereIssues, comments: wereComments } = structuredClone(saved)
    issues.splice(0, issues.length, ...wereIssues)
    comments.splice(0, comments.length, ...wereComments)
    for (const name of branches()) if (!before.has(name)) git('update-ref', '-d', name)
  }
}

const isPost = ({ service, method }: SeenRequest): boolean =>
  service === 'codehost' && method === 'POST'

/** How a job ended; `open`: it goes on where it stopped. */
const endOf = (view: View, id: string): Outcome['end'] => {
  const job = view.get(jobCollection, id)
  if (job === undefined) throw new Error('there is no such job')
  if (job.state === 'succeeded') return 'done'
  if (job.state === 'unknown_external_effect') return 'unknown'
  if (job.state === 'running') return 'held'
  return job.contacted === 0 ? 'failed' : 'open'
}

const common = {
  session: true, task: true, charge: null, capWithBound: false, route: null,
  ended: 'every step', kept: () => 0, counts: isPost, outside: keptHost,
} as const satisfies Partial<SharedOrder>

/** What a job of one POST is, one after the other: an issue, and a comment on another one. */
export const follow = (): SharedOrder => {
  let at: Working | undefined
  let jobs: readonly string[] = []
  let turn = 0
  const current = (): string => jobs[turn % jobs.length] ?? ''
  return {
    ...common, name: 'follow-through', steps: 'codehost',
    argv: () => {
      turn += 1
      return ['codehost', 'run', current(), '--json']
    },
    world: async (t, outskirts, state) => {
      at = await working(t, hooksOf(outskirts), state)
      must(await at.runJob(await at.approved('The issue that comments are on')))
      await at.freshConsent()
      jobs = [await at.prepare(), await at.prepareComment(1)]
      for (const job of jobs) must(await at.approve(job))
      return at
    },
    end: (view) => endOf(view, current()),
    ends: { unsent: ['failed', 'unknown'], sent: ['done', 'unknown'] },
    goOn: async () => at === undefined ? '' : settledJob(at, current()),
  }
}

/** A blob, a chunk, one growth, commit, branch and pull request. */
const posts = 6

/** A publication, with the work on this machine that comes before its POSTs. */
export const publication = (): SharedOrder => {
  let at: Working | undefined
  let job = ''
  return {
    ...common, name: 'publication', steps: 'codehost', sends: posts,
    argv: () => ['codehost', 'run', job, '--json'],
    world: async (t, outskirts, state) => {
      const made = await publishingOf(await working(t, hooksOf(outskirts), state))
      at = made
      job = await made.preparedPublication()
      return made
    },
    // The stage that an approval makes is known by what its files are, too.
    begin: async () => must(await at!.approve(job)),
    end: (view) => endOf(view, job),
    ends: { unsent: ['failed', 'unknown', 'open'], sent: ['done', 'unknown', 'open'] },
    goOn: async () => at === undefined ? '' : settledJob(at, job),
  }
}

/** The readback of an issue whose first one was lost. */
export const readback = (): SharedOrder => {
  let at: Working | undefined
  let job = ''
  return {
    ...common, name: 'readback', steps: 'reconcile',
    argv: () => ['codehost', 'reconcile', job, '--json', '--expected-read-revision',
      String(at?.connection().revision)],
    world: async (t, outskirts, state) => {
      const made = closingOf(await working(t, hooksOf(outskirts), state))
      at = made
      job = await made.unknown('A title', 'numbered')
      return made
    },
    end: (view) => endOf(view, job),
    ends: { unsent: ['done', 'unknown'], sent: [] },
    goOn: async () => at === undefined ? '' : settledJob(at, job),
  }
}

/** The closure of what an unknown issue occupies. */
export const closure = (): SharedOrder => {
  let job = ''
  const line: string[] = []
  return {
    ...common, name: 'closure', steps: 'closure',
    argv: () => line,
    world: async (t, outskirts, state) => {
      const at = closingOf(await working(t, hooksOf(outskirts), state))
      job = await at.unknown('A title', 'numbered')
      line.splice(0, line.length, 'codehost', 'close-capacity', job, '--json', '--from',
        at.place.write('request.json', JSON.stringify(at.request(job))))
      return at
    },
    end: (view) => {
      const closed = view.get(jobCollection, job)?.closed !== null
      const rows = view.all(closureCollection).filter(({ doc }) => doc.job_id === job).length
      if (rows !== (closed ? 1 : 0)) throw new Error(`closed is ${closed}, by ${rows} records`)
      return closed ? 'done' : 'unknown'
    },
    ends: { unsent: ['done', 'unknown'], sent: [] },
    // The same request closes it, or is answered.
    goOn: async ({ run }) => {
      must(await run(line))
      must(await run(line))
      return 'closed'
    },
  }
}
