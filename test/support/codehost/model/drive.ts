/**
 * Drives the program and the reference model side by side: each operation is done to both, what it
 * came to is compared with what it must come to, and after it every row that the model knows.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalJson } from '../../../../src/base/canonical.js'
import { closeCapacity } from '../../../../src/codehost/closure/close.js'
import { discardKept, inspectText } from '../../../../src/codehost/closure/look.js'
import { observeClosed } from '../../../../src/codehost/closure/observe/observe.js'
import { closeRequestOf } from '../../../../src/codehost/closure/request.js'
import { closureCollection } from '../../../../src/codehost/closure/rows.js'
import { reconnect } from '../../../../src/codehost/connect.js'
import { adoptJob } from '../../../../src/codehost/jobs/adopt.js'
import { approveJob } from '../../../../src/codehost/jobs/approve.js'
import { cancelJob } from '../../../../src/codehost/jobs/cancel.js'
import { jobEntries, readHistory } from '../../../../src/codehost/jobs/histories.js'
import { followThroughKind } from '../../../../src/codehost/jobs/kinds.js'
import { ledgerOf } from '../../../../src/codehost/jobs/ledger.js'
import { prepareFollowThrough } from '../../../../src/codehost/jobs/prepare.js'
import { reconcileJob } from '../../../../src/codehost/jobs/reconcile.js'
import { jobCollection, type Job } from '../../../../src/codehost/jobs/rows.js'
import { runFailure, runJob, type RunVerb } from '../../../../src/codehost/jobs/run.js'
import { revokeConsent, setMode } from '../../../../src/codehost/narrow.js'
import { recoverState } from '../../../../src/fabric/recovery.js'
import { listAudit } from '../../../../src/governance/audit.js'
import { connectionCollection, type Connection }
  from '../../../../src/governance/connections/rows.js'
import type { View } from '../../../../src/state/types.js'
import type { Deployment, Line, Told } from './deployment.js'
import type { ReadFault } from './host.js'
import type { CloseWish, CrashWish, Operation, RunFault } from './operations.js'
import {
  applyClosure, authorizes, closeFate, freshModel, isKept, isSpent, lookFate, verdictOf,
  type Model, type ModelJob, type SentRequest,
} from './reference.js'

const text = 'text'
const missing = 99

interface Rows {
  readonly connection: Connection
  readonly jobs: readonly Job[]
  readonly receipts: ReadonlyMap<string, string>
  readonly fenced: readonly string[]
  readonly told: readonly (number | null)[]
  readonly looks: readonly number[]
}

type Closed = Told<string>

const requestJson = (request: SentRequest) => ({
  acknowledged_capacity_close: true, expected_job_revision: request.jobRevision,
  expected_connection_revision: request.connectionRevision,
  expected_connection_fence: request.fence, idempotency_key: request.key,
  ...(request.remoteId === undefined ? {} : { remote_id: request.remoteId }),
})

const looksOf = (view: View, jobId: string): number =>
  jobEntries(view, readHistory, jobId)
    .filter(({ purpose }) => purpose === 'observation').length

/** One history, as it is lived. */
export class Drive {
  /** What the operations came to, counted. */
  readonly outcomes = new Map<string, number>()
  readonly #at: Deployment
  readonly #model: Model
  readonly #ids: string[] = []
  readonly #sent: { readonly job: number; readonly request: SentRequest }[] = []
  #mode: string

  constructor(at: Deployment) {
    at.reset()
    this.#at = at
    const { revision, active_fence: fence, mode } = at.connection()
    this.#model = freshModel(revision, fence)
    this.#mode = mode
  }

  /** Does all of it; throws where program and model differ. */
  async live(history: readonly Operation[]): Promise<void> {
    for (const operation of history) await this.#step(operation)
  }

  async #step(operation: Operation): Promise<void> {
    try {
      await this.#do(operation)
      this.#compare()
    } catch (error) {
      const at = JSON.stringify(operation)
      if (error instanceof Error && !error.message.includes('\nin ')) {
        error.message = `${error.message}\nin ${at}`
      }
      throw error
    }
  }

  #count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1)
  }

  #do(one: Operation): Promise<void> {
    switch (one.op) {
      case 'made': return this.#made(one.title)
      case 'prepare': return this.#prepare(one.title).then(() => undefined)
      case 'lost': return this.#lost(one.title, one.fault)
      case 'approve': return this.#onJob(one.job, (job) => this.#approve(job))
      case 'cancel': return this.#onJob(one.job, (job) => this.#cancel(job))
      case 'adopt': return this.#onJob(one.job, (job) => this.#adopt(job))
      case 'run': case 'resume':
        return this.#onJob(one.job, (job) => this.#run(one.op, job, one.fault, one.crash))
      case 'close': return this.#onHolder(one.job, (job) => this.#closeWish(job, one))
      case 'twins': return this.#onHolder(one.job, (job) => this.#twins(job, one.wish, one.keys))
      case 'retry': return this.#onKept(one.kept, (key) => this.#retry(key, one.crash))
      case 'inspect': return this.#onSent(one.kept, (job, request) => this.#inspect(job, request))
      case 'discard': return this.#onKept(one.kept, (key) => this.#discard(key))
      case 'reconcile': return this.#onHolder(one.job, (job) => this.#reconcile(job, one.read))
      case 'observe': return this.#onClosed(one.job, (job) => this.#observe(job, one))
      case 'paused': return this.#paused(one.title)
      case 'revoke': return this.#narrow((line) =>
        revokeConsent(line.gov, line.session, this.#at.connectionId))
      case 'disable': return this.#narrow((line) => setMode(line.gov, line.session, {
        connectionId: this.#at.connectionId, mode: 'disabled',
      }))
      case 'rotate': return this.#rotate()
      case 'login': return this.#login()
      case 'consent': return this.#consent()
    }
  }

  /** Somebody makes by hand what a job of that title would make. */
  async #made(title: string): Promise<void> {
    this.#at.host.make({ title, body: text })
  }

  async #onJob(number: number, work: (job: number) => Promise<void>): Promise<void> {
    const { length } = this.#ids
    if (length > 0) await work(length - 1 - number % length)
  }

  /** The job that occupies the connection, mostly. */
  async #onHolder(number: number, work: (job: number) => Promise<void>): Promise<void> {
    const { active } = this.#model
    await (active === null || number > 4 ? this.#onJob(number, work) : work(active))
  }

  /** A job that was closed, mostly. */
  async #onClosed(number: number, work: (job: number) => Promise<void>): Promise<void> {
    const closed = this.#model.jobs.findLastIndex((job) => job.closed !== null)
    await (closed === -1 || number > 5 ? this.#onJob(number, work) : work(closed))
  }

  async #onKept(number: number, work: (key: string) => Promise<void>): Promise<void> {
    const keys = [...this.#model.pending.keys()].reverse()
    const key = keys[number % Math.max(1, keys.length)]
    if (key !== undefined) await work(key)
  }

  async #onSent(
    number: number, work: (job: number, request: SentRequest) => Promise<void>,
  ): Promise<void> {
    const found = [...this.#sent].reverse()[number % Math.max(1, this.#sent.length)]
    if (found !== undefined) await work(found.job, found.request)
  }

  /** Requests of a piece of work. */
  async #counted<T>(
    work: () => Promise<T>,
  ): Promise<readonly [T, { readonly gets: number; readonly posts: number }]> {
    const { seen } = this.#at.host
    const before = seen.length
    const value = await work()
    const now = seen.slice(before)
    const posts = now.filter(({ method }) => method === 'POST').length
    return [value, { gets: now.length - posts, posts }]
  }

  async #silent<T>(work: () => Promise<T>): Promise<T> {
    const [value, { gets, posts }] = await this.#counted(work)
    assert.deepEqual([gets, posts], [0, 0], 'nobody is contacted')
    return value
  }

  #job(number: number): ModelJob {
    return this.#model.jobs[number] as ModelJob
  }

  #id(number: number): string {
    return this.#ids[number] as string
  }

  #rows(): Rows {
    return this.#at.look(({ store }) => {
      const view = store.read()
      const connection = view.get(connectionCollection, this.#at.connectionId) as Connection
      return {
        connection, jobs: this.#ids.map((id) => view.get(jobCollection, id) as Job),
        receipts: new Map(view.all(closureCollection).map(({ doc }) =>
          [doc.job_id, canonicalJson(doc.receipt)])),
        fenced: listAudit(view).filter(({ what }) => what === 'codehost.fenced')
          .map(({ subject, facts }) => `${String(subject)} ${String(facts['route'])}`),
        told: this.#ids.map((id) => ledgerOf(view, id).effects[0]?.remoteId ?? null),
        looks: this.#ids.map((id) => looksOf(view, id)),
      }
    })
  }

  /** Every row that the model knows is what the model says. */
  #compare(): void {
    const { connection, jobs, receipts, fenced, told, looks } = this.#rows()
    const model = this.#model
    const { active } = model
    assert.deepEqual({
      active: connection.active_job_id, fence: connection.active_fence,
      revision: connection.revision,
    }, {
      active: active === null ? null : this.#id(active), fence: model.fence,
      revision: model.revision,
    }, 'the connection')
    for (const [number, row] of jobs.entries()) {
      const { state, revision, reserved, closed } = this.#job(number)
      assert.deepEqual({
        state: row.state, revision: row.revision, reserved: row.reserved,
        closed: row.closed !== null,
      }, { state, revision, reserved, closed: closed !== null }, `job ${number}`)
      assert.equal(told[number], this.#job(number).told, `the number of job ${number}`)
      assert.equal(looks[number], this.#job(number).looks, `looks at job ${number}`)
    }
    assert.deepEqual([...receipts].sort(), model.jobs.flatMap(({ closed }, number) =>
      (closed === null ? [] : [[this.#id(number), closed.receipt]])).sort(), 'receipts')
    assert.deepEqual(fenced, model.fenced, 'what the fence rejected is written down')
    this.#comparePending()
    this.#requireOnce()
  }

  /** Names of the kept requests. */
  #keptNames(): readonly string[] {
    const folder = join(this.#at.stateDir, 'pending')
    return existsSync(folder) ? readdirSync(folder).sort() : []
  }

  #comparePending(): void {
    const folder = join(this.#at.stateDir, 'pending')
    const kept = this.#keptNames()
    const expected = [...this.#model.pending].map(([key]) => `${key}.json`).sort()
    assert.deepEqual(kept, expected, 'kept requests')
    for (const [key, { job, request }] of this.#model.pending) {
      const read = JSON.parse(readFileSync(join(folder, `${key}.json`), 'utf8')) as unknown
      assert.deepEqual(read, {
        schema: 'svc.codehost.close-pending.v1', job_id: this.#id(job), kind: followThroughKind,
        request: requestJson(request),
      }, 'a kept request')
    }
  }

  /** No job was sent twice: each body is sent at most as often as there are jobs with it. */
  #requireOnce(): void {
    const posts = this.#at.host.seen.filter(({ method }) => method === 'POST')
    for (const body of new Set(posts.map((one) => one.body))) {
      const sent = posts.filter((one) => one.body === body).length
      const { title } = JSON.parse(body) as { title: string }
      const jobs = this.#model.jobs.filter((job) => job.title === title).length
      assert.ok(sent <= jobs, `${sent} POSTs of ${jobs} jobs`)
    }
  }

  /** Takes over what the specification leaves open; numbers only ever rise. */
  #absorb(job?: number): void {
    const { connection, jobs, told } = this.#rows()
    assert.ok(connection.revision >= this.#model.revision, 'a revision fell')
    this.#model.revision = connection.revision
    this.#mode = connection.mode
    if (job === undefined) return
    const row = jobs[job] as Job
    assert.ok(row.revision >= this.#job(job).revision, 'the revision of a job fell')
    this.#job(job).revision = row.revision
    this.#job(job).told = told[job] ?? null
  }

  async #prepare(title: string): Promise<number | null> {
    const model = this.#model
    const told = await this.#silent(() => this.#at.line({}, ({ gov, session }) =>
      prepareFollowThrough(gov, session, {
        connectionId: this.#at.connectionId, wish: { what: 'issue', title, body: text },
      })))
    assert.equal(told.kind, authorizes(model) ? 'done' : 'refused', JSON.stringify(told))
    if (told.kind !== 'done') {
      // Behind a closure a person consents anew, and goes on.
      if (!model.consent.live || !isSpent(model) || model.active !== null) return null
      await this.#consent()
      return authorizes(model) ? this.#prepare(title) : null
    }
    this.#ids.push(told.value.job_id)
    return model.jobs.push({
      title, root: model.root, consent: model.consent.id, vault: model.vault, state: 'prepared',
      revision: told.value.revision, reserved: false, told: null, closed: null, looks: 0,
    }) - 1
  }

  async #approve(number: number): Promise<void> {
    const job = this.#job(number)
    const digest = this.#rows().jobs[number]?.preview_sha256 ?? ''
    const told = await this.#silent(() => this.#at.line({}, ({ gov, session }) =>
      approveJob(gov, session, { jobId: this.#id(number), previewDigest: digest })))
    const may = ['prepared', 'approved'].includes(job.state) && authorizes(this.#model, job)
    assert.equal(told.kind, may ? 'done' : 'refused', JSON.stringify(told))
    if (!may) return
    job.state = 'approved'
    this.#absorb(number)
  }

  /** What leads to an unknown job: prepared, approved, run, and something lost. */
  async #lost(title: string, fault: RunFault): Promise<void> {
    const number = await this.#prepare(title)
    if (number === null) return
    await this.#approve(number)
    await this.#run('run', number, fault, null)
  }

  /** The route by which a closed job is tried; the fence rejects it and writes it down. */
  #rejected(number: number, route: string, told: Told<unknown>): void {
    assert.equal(told.kind, 'refused', JSON.stringify(told))
    assert.equal(told.kind === 'refused' ? told.code : '', 'job_closed')
    this.#model.fenced.push(`${this.#id(number)} ${route}`)
  }

  #wrong(fault: RunFault | null): void {
    const { host } = this.#at
    host.post = fault === 'readback_lost' ? null : fault
    if (fault === 'readback_lost') host.readFault = { fault: 'reset', skip: 1 }
  }

  #heal(): void {
    this.#at.host.post = null
    this.#at.host.readFault = null
  }

  async #run(
    verb: RunVerb, number: number, fault: RunFault | null, crash: CrashWish | null,
  ): Promise<void> {
    const job = this.#job(number)
    const closed = job.closed !== null
    const ready = authorizes(this.#model, job) && this.#model.active === null && !job.reserved
      && job.state === (verb === 'run' ? 'approved' : 'blocked')
    this.#wrong(fault)
    const [told, { posts }] = await this.#counted(() => this.#at.line(
      { crash: ready ? crash : null }, async ({ ctx, gov, session }) => {
        const ran = await runJob(ctx, session, this.#id(number), { verb })
        const failure = runFailure(gov, ran)
        if (failure !== null) throw failure
      }))
    this.#heal()
    if (closed) {
      assert.equal(posts, 0)
      return this.#rejected(number, verb === 'run' ? 'execute' : 'approved_resume', told)
    }
    if (!ready) {
      assert.equal(told.kind, 'refused', JSON.stringify(told))
      assert.equal(posts, 0, 'nothing is sent')
      return
    }
    if (told.kind === 'crashed') return this.#crashedRun(number, told.steps, posts)
    this.#ran(number, fault, told, posts)
  }

  #ran(number: number, fault: RunFault | null, told: Told<unknown>, posts: number): void {
    const job = this.#job(number)
    const model = this.#model
    const states = {
      reply_lost: 'unknown_external_effect', request_lost: 'unknown_external_effect',
      readback_lost: 'unknown_external_effect', refused: 'failed', unreachable: 'blocked',
    } as const
    job.state = fault === null ? 'succeeded' : states[fault]
    job.reserved = fault !== null && fault !== 'unreachable'
    model.fence += 1
    model.active = job.reserved ? number : null
    assert.equal(told.kind, fault === null ? 'done' : 'refused', JSON.stringify(told))
    assert.equal(posts, fault === 'unreachable' ? 0 : 1)
    this.#absorb(number)
    const known = fault === null || fault === 'readback_lost'
    assert.equal(job.told, known ? this.#at.host.issues.length : null, 'the number that was told')
    if (fault === null) model.proved.set(this.#at.host.issues.length, number)
  }

  /** What may have been sent is unknown and occupies; what was not is not. */
  async #crashedRun(number: number, steps: readonly string[], posts: number): Promise<void> {
    await this.#silent(() => this.#at.line({}, async () => undefined))
    const row = this.#rows().jobs[number] as Job
    const job = this.#job(number)
    const model = this.#model
    const fence = this.#at.connection().active_fence
    assert.ok(fence === model.fence || fence === model.fence + 1, 'the fence')
    const isUnknown = row.state === 'unknown_external_effect'
    const may = posts > 0
      ? ['unknown_external_effect', 'succeeded']
      : ['approved', 'blocked', ...(steps.length > 0 ? ['unknown_external_effect'] : [])]
    assert.ok(may.includes(row.state), `${row.state} after ${posts} POSTs, ${steps.join(' ')}`)
    assert.equal(row.reserved, isUnknown, 'what is unknown occupies')
    if (posts === 0 && isUnknown) {
      assert.ok(steps.includes('codehost.contact_begin'), 'nothing was contacted')
    }
    model.fence = fence
    model.active = isUnknown ? number : null
    job.state = row.state as ModelJob['state']
    job.reserved = row.reserved
    this.#absorb(number)
    if (row.state === 'succeeded') model.proved.set(job.told ?? 0, number)
    if (job.told !== null) assert.equal(job.told, this.#at.host.issues.length)
  }

  #titles(): readonly string[] {
    return this.#at.host.issues.map(({ title }) => title)
  }

  #hint(number: number, { hint }: CloseWish): number | undefined {
    const { title } = this.#job(number)
    const { proved } = this.#model
    if (hint === 'none') return undefined
    if (hint === 'proved') return [...proved.keys()].at(-1) ?? missing
    const at = this.#titles().findLastIndex((one, index) =>
      (hint === 'right') === (one === title) && !proved.has(index + 1))
    return at === -1 ? missing : at + 1
  }

  #request(number: number, wish: CloseWish): SentRequest {
    const { numbers, key } = wish
    const model = this.#model
    const { revision } = this.#job(number)
    const past = (value: number, name: CloseWish['numbers']): number =>
      Math.max(1, numbers === name ? value - 1 : value)
    return {
      key: key === 'used' ? this.#sent.at(-1)?.request.key ?? randomUUID() : randomUUID(),
      jobRevision: numbers === 'job_next' ? revision + 1 : past(revision, 'job_past'),
      connectionRevision: past(model.revision, 'connection_past'),
      fence: past(Math.max(1, model.fence), 'fence_past'), remoteId: this.#hint(number, wish),
    }
  }

  #send(
    number: number, request: SentRequest,
    how: { readonly crash?: CrashWish | null; readonly at?: (step: string) => Promise<void> } = {},
  ): Promise<Closed> {
    const read = closeRequestOf(requestJson(request), followThroughKind)
    return this.#at.line({ mode: 'alone', ...how }, async ({ ctx, session }) => {
      const { closure } = await closeCapacity(ctx, session, { jobId: this.#id(number), read })
      return canonicalJson(closure.receipt)
    })
  }

  async #closeWish(
    number: number, one: Extract<Operation, { readonly op: 'close' }>,
  ): Promise<void> {
    const { wish, crash, meanwhile } = one
    const request = this.#request(number, wish)
    this.#sent.push({ job: number, request })
    if (wish.read !== null) this.#at.host.readFault = { fault: wish.read, skip: wish.skip }
    if (meanwhile !== null && wish.read === null) return this.#raced(number, request, meanwhile)
    await this.#close(number, request, crash)
    this.#heal()
  }

  #fate(number: number, request: SentRequest) {
    const { host } = this.#at
    return closeFate(this.#model, number, request, {
      titles: this.#titles(), faulty: host.readFault !== null,
    })
  }

  #keep(number: number, request: SentRequest): void {
    if (isKept(this.#model, number, request)) {
      this.#model.pending.set(request.key, { job: number, request })
    }
  }

  async #close(
    number: number, request: SentRequest, crash: CrashWish | null,
  ): Promise<void> {
    const fate = this.#fate(number, request)
    const [told, { gets, posts }] = await this.#counted(() =>
      this.#send(number, request, { crash }))
    assert.equal(posts, 0, 'a closure only reads')
    if (told.kind === 'crashed') return this.#crashedClose(number, request, told.steps)
    this.#keep(number, request)
    this.#judge(number, request, fate, told, gets)
  }

  #judge(
    number: number, request: SentRequest, fate: ReturnType<typeof closeFate>, told: Closed,
    gets: number,
  ): void {
    const seen = JSON.stringify(told)
    if (fate.kind === 'refused') {
      assert.equal(told.kind, 'refused', seen)
      if (told.kind !== 'refused') return
      const names = [told.code, `${told.code} ${told.reason ?? ''}`]
      assert.ok(fate.codes.some((code) => names.includes(code)), `${fate.codes.join()}: ${seen}`)
      if (fate.gets !== null) assert.equal(gets, fate.gets, 'requests')
      assert.ok(gets <= 2, 'nothing is read again')
      return this.#count(names[1]?.trim() ?? '')
    }
    assert.equal(told.kind, 'done', seen)
    if (told.kind !== 'done') return
    if (fate.kind === 'applied') {
      assert.equal(told.value, fate.receipt, 'the very same receipt')
      assert.equal(gets, 0, 'what was applied is not read again')
      return this.#count('applied')
    }
    assert.equal(gets, 2, 'the repository and what was made')
    applyClosure(this.#model, number, request, fate.number, told.value)
    this.#count(`closed ${this.#job(number).state}`)
  }

  /** It was closed, once and whole, or nothing happened; kept once it was announced. */
  #crashedClose(number: number, request: SentRequest, steps: readonly string[]): void {
    const fate = this.#fate(number, request)
    const receipt = this.#rows().receipts.get(this.#id(number))
    const wasClosed = this.#job(number).closed !== null
    const kept = this.#keptNames().includes(`${request.key}.json`)
    if (steps.includes('closure.kept')) assert.ok(kept, 'kept before anybody is contacted')
    if (kept) this.#keep(number, request)
    if (wasClosed || receipt === undefined) {
      assert.ok(!steps.includes('closure.committed') || wasClosed, 'a commit that was lost')
      return this.#count('crashed, unchanged')
    }
    assert.equal(fate.kind, 'closed', 'what may not be closed was closed')
    assert.ok(steps.includes('closure.staged'), 'closed before it was proved')
    if (fate.kind === 'closed') applyClosure(this.#model, number, request, fate.number, receipt)
    this.#count('crashed, closed')
  }

  /** Something happens between the reads and the record. */
  async #raced(number: number, request: SentRequest, meanwhile: Operation): Promise<void> {
    const fate = this.#fate(number, request)
    this.#keep(number, request)
    let now = fate
    let changed = false
    const told = await this.#whole((inside) => this.#send(number, request, {
      at: (step) => inside(async () => {
        if (step !== 'closure.staged') return
        const before = this.#bound(number)
        await this.#step(meanwhile)
        changed = this.#bound(number) !== before
        now = this.#fate(number, request)
      }),
    }))
    if (fate.kind !== 'closed') return this.#judge(number, request, fate, told, 0)
    const seen = JSON.stringify(told)
    if (changed || now.kind === 'refused') {
      assert.equal(told.kind, 'refused', seen)
      return this.#count('raced, refused')
    }
    assert.equal(told.kind, 'done', seen)
    if (told.kind === 'done') {
      applyClosure(this.#model, number, request, fate.number, told.value)
    }
  }

  /** What fails inside a line, which may take it for its own, fails the history. */
  async #whole<T>(
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

  /** What a closure rests on. */
  #bound(number: number): string {
    const { root, vault, revision, fence, active } = this.#model
    return JSON.stringify([root, vault, revision, fence, active, this.#mode, this.#job(number)])
  }

  /** What a look behind a closure rests on: the reservation of a successor is none of it. */
  #lasting(): string {
    const { root, vault, revision } = this.#model
    return JSON.stringify([root, vault, revision])
  }

  /** The same request, or two, at once: one closes, one reads. */
  async #twins(number: number, wish: CloseWish, keys: 1 | 2): Promise<void> {
    const request = this.#request(number, { ...wish, key: 'new' })
    const requests = [request, keys === 1 ? request : { ...request, key: randomUUID() }]
    const fate = this.#fate(number, request)
    const [told, { gets, posts }] = await this.#counted(() =>
      Promise.all(requests.map((one) => this.#send(number, one))))
    assert.equal(posts, 0)
    requests.forEach((one) => this.#sent.push({ job: number, request: one }))
    const done = told.findIndex(({ kind }) => kind === 'done')
    if (fate.kind !== 'closed') {
      assert.equal(done, -1, JSON.stringify(told))
      requests.forEach((one) => this.#keep(number, one))
      return
    }
    const first = requests[done] ?? request
    this.#keep(number, first)
    this.#judge(number, first, fate, told[done] ?? told[0] as Closed, gets)
    const other = told[1 - done] as Closed
    if (keys === 1) return assert.deepEqual(other, told[done], 'one answer')
    assert.equal(other.kind === 'refused' ? other.code : '', 'job_closed')
  }

  async #retry(key: string, crash: CrashWish | null): Promise<void> {
    const kept = this.#model.pending.get(key)
    if (kept !== undefined) await this.#close(kept.job, kept.request, crash)
  }

  async #inspect(number: number, request: SentRequest): Promise<void> {
    const told = await this.#silent(() => this.#at.line({ mode: 'read' }, async (line) =>
      inspectText(line.gov, line.session, this.#id(number), JSON.stringify(requestJson(request)))))
    assert.equal(told.kind, 'done', JSON.stringify(told))
    if (told.kind !== 'done') return
    const { verdict } = told.value
    assert.equal(verdict.verdict, verdictOf(this.#model, number, request), 'the verdict')
    if (verdict.verdict === 'applied') {
      assert.equal(canonicalJson(verdict.closure.receipt), this.#job(number).closed?.receipt)
    }
  }

  async #discard(key: string): Promise<void> {
    const { job, request } = this.#model.pending.get(key) as { job: number; request: SentRequest }
    const verdict = verdictOf(this.#model, job, request)
    const told = await this.#silent(() => this.#at.line({ mode: 'read' }, async (line) =>
      discardKept(line.gov, line.session, { jobId: this.#id(job), key })))
    if (verdict === 'inconclusive') {
      assert.equal(told.kind === 'refused' ? told.code : '', 'pending_inconclusive')
      return
    }
    assert.equal(told.kind, 'done', JSON.stringify(told))
    this.#model.pending.delete(key)
  }

  async #reconcile(number: number, read: ReadFault | null): Promise<void> {
    const job = this.#job(number)
    const model = this.#model
    if (read !== null) this.#at.host.readFault = { fault: read, skip: 1 }
    const [told, { gets, posts }] = await this.#counted(() => this.#at.line(
      {}, ({ ctx, session }) => reconcileJob(ctx, session, {
        jobId: this.#id(number), expectedReadRevision: model.revision,
      })))
    this.#heal()
    assert.equal(posts, 0, 'reconciling only reads')
    if (job.closed !== null) {
      assert.equal(gets, 0)
      return this.#rejected(number, 'finalize', told)
    }
    const may = job.root === model.root && job.vault === model.vault
      && job.state === 'unknown_external_effect' && job.told !== null
    const proved = may && read === null
    if (job.state === 'succeeded') return this.#absorb(number)
    assert.equal(told.kind, proved ? 'done' : 'refused', JSON.stringify(told))
    if (!may) assert.equal(gets, 0)
    if (!proved) return
    job.state = 'succeeded'
    job.reserved = false
    model.active = null
    model.proved.set(job.told ?? 0, number)
    this.#absorb(number)
  }

  async #observe(
    number: number, one: Extract<Operation, { readonly op: 'observe' }>,
  ): Promise<void> {
    const { read, numbers, meanwhile } = one
    const revision = Math.max(1, this.#model.revision - (numbers === 'past' ? 1 : 0))
    if (read !== null) this.#at.host.readFault = { fault: read, skip: 1 }
    const fate = lookFate(this.#model, number, revision, {
      titles: this.#titles(), faulty: read !== null,
    })
    let changed = false
    const [told, { gets, posts }] = await this.#counted(() => this.#whole((inside) =>
      this.#at.line({
        mode: 'alone',
        at: (step) => inside(async () => {
          if (step !== 'observe.sealed' || meanwhile === null) return
          const before = this.#lasting()
          await this.#step(meanwhile)
          changed = this.#lasting() !== before
        }),
      }, ({ ctx, session }) => observeClosed(ctx, session, {
        jobId: this.#id(number),
        request: { acknowledged_closure_observation: true, expected_read_revision: revision },
      }))))
    this.#heal()
    assert.equal(posts, 0, 'a look only reads')
    this.#judgeLook(number, fate, told, { gets, changed, isRaced: meanwhile !== null })
  }

  #judgeLook(
    number: number, fate: ReturnType<typeof lookFate>, told: Told<unknown>,
    { gets, changed, isRaced }: {
      readonly gets: number; readonly changed: boolean; readonly isRaced: boolean
    },
  ): void {
    const seen = JSON.stringify(told)
    if (fate === 'seen' && !changed) {
      assert.equal(told.kind, 'done', seen)
      if (!isRaced) assert.equal(gets, 2, 'the repository and what was made')
      this.#job(number).looks += 1
      return this.#count('looked')
    }
    assert.equal(told.kind, 'refused', seen)
    if (told.kind !== 'refused') return
    if (fate === 'seen') return this.#count('raced, not looked')
    if (fate === 'blocked') assert.equal(told.code, 'observation_blocked', seen)
    else {
      assert.equal(told.code, fate.code, seen)
      assert.equal(gets, 0, 'nobody is asked')
    }
    this.#count(`look ${told.code}`)
  }

  async #cancel(number: number): Promise<void> {
    const job = this.#job(number)
    const told = await this.#silent(() => this.#at.line({ mode: 'write' }, async (line) => {
      await cancelJob(line.gov, line.session, this.#id(number))
      await recoverState(line.gov)
    }))
    const idle = ['prepared', 'approved', 'blocked'].includes(job.state) && !job.reserved
    if (job.state === 'cancelled') return this.#absorb(number)
    assert.equal(told.kind, idle && job.closed === null ? 'done' : 'refused', JSON.stringify(told))
    if (told.kind !== 'done') return
    job.state = 'cancelled'
    this.#absorb(number)
  }

  async #adopt(number: number): Promise<void> {
    const told = await this.#silent(() => this.#at.line({}, ({ gov, session }) =>
      adoptJob(gov, session, this.#id(number))))
    if (this.#job(number).closed !== null) this.#rejected(number, 'adopt', told)
    else if (this.#job(number).state !== 'succeeded') assert.equal(told.kind, 'refused')
  }

  async #narrow(work: (line: Line) => Promise<unknown>): Promise<void> {
    const told = await this.#silent(() => this.#at.line({ mode: 'write' }, async (line) => {
      await work(line)
      await recoverState(line.gov)
    }))
    assert.equal(told.kind, 'done', JSON.stringify(told))
    this.#model.consent.live = false
    this.#absorb()
  }

  async #rotate(): Promise<void> {
    const { revision } = this.#model
    const told = await this.#silent(() => this.#at.line({}, ({ gov, session }) =>
      reconnect(gov, session, {
        connectionId: this.#at.connectionId, expectedRevision: revision,
        token: Buffer.from('ghp_model_token'),
      })))
    assert.equal(told.kind, 'done', JSON.stringify(told))
    this.#model.vault += 1
    this.#model.consent.live = false
    this.#absorb()
    assert.ok(this.#model.revision > revision, 'another token is another revision')
  }

  async #login(): Promise<void> {
    await this.#silent(() => this.#at.login())
    this.#model.root += 1
    this.#absorb()
  }

  async #consent(): Promise<void> {
    const model = this.#model
    const { revision } = model
    const told = await this.#at.consent()
    assert.equal(told.kind, model.active === null ? 'done' : 'refused', JSON.stringify(told))
    if (told.kind !== 'done') return
    model.consent = { id: model.consents, root: model.root, live: true }
    model.consents += 1
    this.#absorb()
    assert.ok(model.revision > revision, 'a consent is another revision')
  }

  /**
   * A worker stands still before its first byte, and is taken for dead; somebody makes by hand what
   * it was about to make, and its capacity is closed by that. Then it wakes.
   */
  async #paused(title: string): Promise<void> {
    const number = await this.#prepare(title)
    if (number === null) return
    await this.#approve(number)
    if (this.#model.active !== null) return
    let closed: SentRequest | null = null
    const [, { posts }] = await this.#counted(() => this.#whole((inside) => this.#at.line({
      at: (step) => inside(async () => {
        if (step !== 'codehost.before_first_byte' || closed !== null) return
        closed = await this.#closeBehind(number)
      }),
    }, async ({ ctx, session }) => runJob(ctx, session, this.#id(number)))))
    assert.equal(posts, 0, 'a worker that wakes behind the closure sends nothing')
    assert.notEqual(closed, null, 'it was closed')
    this.#model.fenced.push(`${this.#id(number)} post_handoff`)
    this.#count('woke behind its closure')
  }

  async #closeBehind(number: number): Promise<SentRequest> {
    const job = this.#job(number)
    const model = this.#model
    this.#at.dropGuards()
    await this.#at.line({}, async () => undefined)
    model.fence += 1
    model.active = number
    job.state = 'unknown_external_effect'
    job.reserved = true
    this.#absorb(number)
    this.#at.host.make({ title: job.title, body: text })
    const request = this.#request(number, {
      hint: 'right', numbers: 'now', key: 'new', read: null, skip: 0,
    })
    this.#sent.push({ job: number, request })
    await this.#close(number, request, null)
    this.#compare()
    return request
  }
}
