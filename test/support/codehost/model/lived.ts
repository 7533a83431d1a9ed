/** One history as it is lived: program and model side by side, and what both are asked of. */
import assert from 'node:assert/strict'
import { canonicalJson } from '../../../../src/base/canonical.js'
import { closureCollection } from '../../../../src/codehost/jobs/closed/closed-job-rows.js'
import { jobEntries, readHistory } from '../../../../src/codehost/jobs/histories.js'
import { ledgerOf } from '../../../../src/codehost/jobs/ledger.js'
import { jobCollection, type Job } from '../../../../src/codehost/jobs/job-rows.js'
import { listAudit } from '../../../../src/governance/audit.js'
import { connectionCollection, type Connection }
  from '../../../../src/governance/connections/connection-rows.js'
import type { View } from '../../../../src/state/types.js'
import type { Deployment, Told } from './deployment.js'
import type { Operation } from './operations.js'
import { freshModel, type Model, type ModelJob, type SentRequest } from './reference.js'

/** What every text that is made says. */
export const bodyText = 'text'

interface Rows {
  readonly connection: Connection
  readonly jobs: readonly Job[]
  readonly receipts: ReadonlyMap<string, string>
  readonly fenced: readonly string[]
  readonly told: readonly (number | null)[]
  readonly looks: readonly number[]
}

const looksOf = (view: View, jobId: string): number =>
  jobEntries(view, readHistory, jobId)
    .filter(({ purpose }) => purpose === 'observation').length

/** Does one operation of a history and compares behind it. */
export type Step = (operation: Operation) => Promise<void>

/** The two sides of a history. */
export class Lived {
  /** What the operations came to, counted. */
  readonly outcomes = new Map<string, number>()
  readonly at: Deployment
  readonly model: Model
  /** Ids of the jobs, by the numbers that the model has. */
  readonly ids: string[] = []
  /** Requests of closures that were sent, oldest first. */
  readonly sent: { readonly job: number; readonly request: SentRequest }[] = []
  readonly step: Step
  mode: string

  constructor(at: Deployment, step: Step) {
    at.reset()
    this.at = at
    this.step = step
    const { revision, active_fence: fence, mode } = at.connection()
    this.model = freshModel(revision, fence)
    this.mode = mode
  }

  /** Counts what an operation came to. */
  count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1)
  }

  /** Requests of a piece of work. */
  async counted<T>(
    work: () => Promise<T>,
  ): Promise<readonly [T, { readonly gets: number; readonly posts: number }]> {
    const { seen } = this.at.host
    const before = seen.length
    const value = await work()
    const now = seen.slice(before)
    const posts = now.filter(({ method }) => method === 'POST').length
    return [value, { gets: now.length - posts, posts }]
  }

  /** The same for work that asks nobody. */
  async silent<T>(work: () => Promise<T>): Promise<T> {
    const [value, { gets, posts }] = await this.counted(work)
    assert.deepEqual([gets, posts], [0, 0], 'nobody is contacted')
    return value
  }

  /** A job as the model has it. */
  job(number: number): ModelJob {
    return this.model.jobs[number] as ModelJob
  }

  /** Its id in the program. */
  id(number: number): string {
    return this.ids[number] as string
  }

  /** Every row that the model knows, as the program has it now. */
  rows(): Rows {
    return this.at.look(({ store }) => {
      const view = store.read()
      const connection = view.get(connectionCollection, this.at.connectionId) as Connection
      return {
        connection, jobs: this.ids.map((id) => view.get(jobCollection, id) as Job),
        receipts: new Map(view.all(closureCollection).map(({ doc }) =>
          [doc.job_id, canonicalJson(doc.receipt)])),
        fenced: listAudit(view).filter(({ what }) => what === 'codehost.fenced')
          .map(({ subject, facts }) => `${String(subject)} ${String(facts['route'])}`),
        told: this.ids.map((id) => ledgerOf(view, id).effects[0]?.remoteId ?? null),
        looks: this.ids.map((id) => looksOf(view, id)),
      }
    })
  }

  /** Takes over what the specification leaves open; numbers only ever rise. */
  absorb(job?: number): void {
    const { connection, jobs, told } = this.rows()
    assert.ok(connection.revision >= this.model.revision, 'a revision fell')
    this.model.revision = connection.revision
    this.mode = connection.mode
    if (job === undefined) return
    const row = jobs[job] as Job
    assert.ok(row.revision >= this.job(job).revision, 'the revision of a job fell')
    this.job(job).revision = row.revision
    this.job(job).told = told[job] ?? null
  }

  /** The route by which a closed job is tried; the fence rejects it and writes it down. */
  rejected(number: number, route: string, told: Told<unknown>): void {
    assert.equal(told.kind, 'refused', JSON.stringify(told))
    assert.equal(told.kind === 'refused' ? told.code : '', 'job_closed')
    this.model.fenced.push(`${this.id(number)} ${route}`)
  }

  /** The host answers as it should from now on. */
  heal(): void {
    this.at.host.post = null
    this.at.host.readFault = null
  }

  /** Titles of what was made at the host, in order. */
  titles(): readonly string[] {
    return this.at.host.issues.map(({ title }) => title)
  }

  /** What fails inside a line, which may take it for its own, fails the history. */
  async whole<T>(
    work: (inside: (act: () => Promise<void>) => Promise<void>) => Promise<T>,
  ): Promise<T> {
    const failures: unknown[] = []
    const value = await work(async (act) => {
      try {
        await act()
      } catch (error) {
        failures.push(error)
      }
    })
    if (failures.length > 0) throw failures[0]
    return value
  }
}
