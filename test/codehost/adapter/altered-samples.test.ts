/**
 * Recorded replies of a real host as readbacks, each with one member removed, renamed or of another
 * type: where the member is read that is a named reason, and elsewhere it changes nothing.
 */
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import t from 'tap'
import { publishedReadback, type Published } from '../../../src/codehost/adapter/published.js'
import { readbackOf, type ReadVerdict } from '../../../src/codehost/adapter/readback.js'
import { blockerOf } from '../../../src/codehost/closure/readback.js'
import { followPlan, type FollowWish } from '../../../src/codehost/jobs/plan.js'
import { anyTimeBy } from '../../support/codehost/provenance.js'
import type { Loose } from '../../world/place.js'
import { forAll } from '../../support/for-all.js'

const samples = JSON.parse(readFileSync('test/support/codehost/host-samples.json', 'utf8')) as
  Record<'issue' | 'comment' | 'pull', Loose[]>
const host = 'https://api.github.com'

type Judge = (value: unknown) => ReadVerdict

const judging = (judge: ReturnType<typeof readbackOf>['judge']): Judge => (value) =>
  judge({ status: 200, headers: new Map(), body: Buffer.from(JSON.stringify(value)) })

const repositoryIn = (url: string): string => /\/repos\/([^/]+\/[^/]+)/.exec(url)?.[1] ?? 'o/r'

const followJudge = (value: Loose, wish: FollowWish, remoteId: number): Judge => {
  const plan = followPlan({
    jobId: 'job_1', host, repository: repositoryIn(value.url), wish, effectId: 'eff_1',
    idempotency: 'idp_1',
  })
  const [effect] = plan.effects
  if (effect === undefined) throw new Error('a plan has an effect')
  return judging(readbackOf(plan, effect, remoteId, anyTimeBy(value)).judge)
}

const person = { name: 'Ann', email: 'ann@example', date: '2024-02-29T23:59:59Z' }

const pullJudge = (pull: Loose): Judge => {
  const of: Published = {
    repository: { owner: pull.base.repo.owner.login, name: pull.base.repo.name },
    repositoryId: pull.base.repo.id, base: { branch: pull.base.ref }, branch: pull.head.ref,
    title: pull.title, body: pull.body ?? '', commit: pull.head.sha,
    pull: anyTimeBy(pull),
    draft: { tree: pull.head.sha, parents: [], author: person, committer: person, message: 'x\n' },
  }
  return judging(publishedReadback(of, { kind: 'pull_request', id: null }, pull.number).judge)
}

interface Recorded {
  readonly value: Loose
  readonly judge: Judge
  readonly read: readonly string[]
}

/** Those that are evidence of themselves, with the members that make them so. */
const recorded: readonly Recorded[] = [
  ...samples.issue.map((value): Recorded => ({
    value, read: ['number', 'title', 'body', 'created_at', 'user'], judge: followJudge(
      value, { what: 'issue', title: value.title, body: value.body ?? '' }, value.number),
  })),
  ...samples.comment.map((value): Recorded => ({
    value, read: ['id', 'body', 'issue_url', 'created_at', 'user'], judge: followJudge(value, {
      what: 'comment', issue: Number(value.issue_url.split('/').at(-1)), body: value.body,
    }, value.id),
  })),
  ...samples.pull.filter(({ base }) => base?.repo !== undefined).map((value): Recorded => ({
    value, judge: pullJudge(value),
    read: ['number', 'title', 'body', 'state', 'head', 'base', 'created_at', 'user'],
  })),
].filter(({ value, judge }) => judge(value).kind === 'matches')

const retyped = (value: unknown): unknown => (typeof value === 'number' ? String(value)
  : typeof value === 'string' ? 7 : [value])

const changes: Readonly<Record<string, (of: Loose, name: string) => void>> = {
  removed: (of, name) => { delete of[name] },
  renamed: (of, name) => {
    of[`${name}_`] = of[name]
    delete of[name]
  },
  retyped: (of, name) => { of[name] = retyped(of[name]) },
}

t.test('C-194 C-198 a recorded reply with one member removed, renamed or retyped is no evidence where the member is read', async (t) => {
  t.ok(recorded.length >= 40, `${recorded.length} recorded replies are evidence of themselves`)
  const wrong: string[] = []
  for (const { value, judge, read } of recorded) {
    for (const name of read) {
      for (const [how, change] of Object.entries(changes)) {
        const altered = structuredClone(value)
        change(altered, name)
        const verdict = judge(altered)
        if (verdict.kind !== 'no_evidence' || blockerOf[verdict.reason] === undefined) {
          wrong.push(`${value.url} ${name} ${how}: ${verdict.kind}`)
        }
      }
    }
  }
  t.strictSame(wrong, [])
})

/** Every member at any depth, by its path. */
const pathsIn = (value: unknown, at: readonly string[] = []): (readonly string[])[] =>
  (typeof value !== 'object' || value === null ? [] : Object.entries(value).flatMap(
    ([name, below]) => [[...at, name], ...pathsIn(below, [...at, name])]))

t.test('C-198 whatever one member of a recorded reply is made into, it is evidence, or none with a reason, and never an error', (t) => {
  const one = fc.constantFrom(...recorded).chain(({ value, judge, read }) => fc.record({
    path: fc.constantFrom(...pathsIn(value)), to: fc.jsonValue(), value: fc.constant(value),
    judge: fc.constant(judge), read: fc.constant(read),
  }))
  forAll(t, fc.property(one, ({ path, to, value, judge, read }) => {
    const altered = structuredClone(value)
    const parent = path.slice(0, -1).reduce((of: Loose, name) => of[name], altered)
    parent[path.at(-1) ?? ''] = to
    const verdict = judge(altered)
    const told = verdict.kind === 'matches' || blockerOf[verdict.reason] !== undefined
    const [top = ''] = path
    const isText = path.length === 1 && ['title', 'body'].includes(top)
    const isOther = isText && JSON.stringify(to) !== JSON.stringify(value[top])
      // No body and an empty one are one thing to the host, whichever of the two it says.
      && !((to ?? '') === '' && (value[top] ?? '') === '')
    return told && !(isOther && read.includes(top) && verdict.kind === 'matches')
  }), { numRuns: 3000 })
  t.end()
})
