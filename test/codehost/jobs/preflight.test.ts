/** What the host says of the repository and of the token before a run, and what each kind needs. */
import t from 'tap'
import type { CodehostContext } from '../../../src/codehost/context.js'
import { runJob } from '../../../src/codehost/jobs/run.js'
import type { HttpsReply } from '../../../src/net/types.js'
import { remote } from '../../support/codehost/elsewhere.js'
import { publishing } from '../../support/codehost/publishing.js'
import { working, type Working } from '../../support/codehost/working.js'

type Alter = (told: Record<string, unknown>, headers: Map<string, readonly string[]>) => void

/** The host of a world, with what it says of the repository altered. */
const telling = (at: Working, alter: Alter): CodehostContext => {
  const ctx = remote(at)
  const altered = (reply: HttpsReply): HttpsReply => {
    const told = JSON.parse(Buffer.from(reply.body).toString()) as Record<string, unknown>
    const headers = new Map(reply.headers)
    alter(told, headers)
    return { ...reply, headers, body: Buffer.from(JSON.stringify(told)) }
  }
  return {
    ...ctx, gov: at.gov,
    client: async () => {
      const client = await ctx.client()
      return {
        request: async (request) => {
          const reply = await client.request(request)
          return request.url.endsWith('/repos/operator/notes') ? altered(reply) : reply
        },
      }
    },
  }
}

const withoutIssues = (at: Working): CodehostContext =>
  telling(at, (told) => { told.has_issues = false })
const left = (at: Working, number: number): CodehostContext =>
  telling(at, (_told, headers) => { headers.set('x-ratelimit-remaining', [String(number)]) })

t.test('an issue needs a repository with issues, a comment needs what it is on, and neither more than its POST and its readback', async (t) => {
  const at = await working(t)
  const issue = await at.approved()
  const run = (ctx: CodehostContext, job: string) => runJob(ctx, at.session(), job)
  await t.rejects(run(withoutIssues(at), issue), { code: 'issues_disabled' })
  await t.rejects(run(left(at, 1), issue), {
    code: 'codehost_rate_limited', details: { left: 1, needed: 2 },
  })
  t.equal(at.posts().length, 0)
  t.hasStrict(at.job(issue), { state: 'approved', reserved: false })
  t.hasStrict((await run(left(at, 2), issue)).job, { state: 'succeeded' })
  const comment = await at.prepareComment(at.job(issue).remote?.id ?? 0)
  await at.approve(comment)
  t.hasStrict((await run(withoutIssues(at), comment)).job, { state: 'succeeded' })
})

t.test('a publication needs no issues, and requests for its POSTs and the four that prove it', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const needed = at.job(job).plan.effects + 4
  const run = (ctx: CodehostContext) => runJob(ctx, at.session(), job)
  await t.rejects(run(left(at, needed - 1)), {
    code: 'codehost_rate_limited', details: { left: needed - 1, needed },
  })
  t.equal(at.posts().length, 0)
  t.hasStrict((await run(telling(at, (told, headers) => {
    told.has_issues = false
    headers.set('x-ratelimit-remaining', [String(needed)])
  }))).job, { state: 'succeeded' })
})
