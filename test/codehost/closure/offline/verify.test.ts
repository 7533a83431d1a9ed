/** Receipts that are verified offline: from a copy, without session or host, and byte for byte. */
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../../../src/base/errors.js'
import {
  areKept, areOfJob, areOfPlan, objectIdsOf,
} from '../../../../src/codehost/closure/offline/readbacks.js'
import { verifyReceipt } from '../../../../src/codehost/closure/offline/verify-receipt.js'
import { closureCollection } from '../../../../src/codehost/jobs/closed/closed-job-rows.js'
import {
  appendEntry, artifactHistory, effectHistory, readHistory,
} from '../../../../src/codehost/jobs/histories.js'
import { openPublication } from '../../../../src/codehost/jobs/publication/open.js'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import { receiptCollection } from '../../../../src/codehost/jobs/receipt.js'
import { collections } from '../../../../src/governance/rows.js'
import type { View } from '../../../../src/state/types.js'
import { failure, must } from '../../../support/must.js'
import { closing, type Closing } from '../../../support/codehost/closing.js'
import { publishing } from '../../../support/codehost/publishing.js'
import { t } from '../../../support/tests-in-slices.js'
import type { Loose } from '../../../world/place.js'

interface Kept {
  readonly job: string
  readonly closure: string
  readonly closureFile: string
  readonly readFile: string
}

/** A closed job and its two receipts, each in a file as the program prints it. */
const kept = async (at: Closing): Promise<Kept> => {
  const job = await at.unknown('Kept', 'numbered')
  must(await at.close(job, at.request(job)))
  const closure = at.job(job).closed?.closure_id ?? ''
  const [receipt] = at.view().all(receiptCollection)
  const printed = async (words: readonly string[]): Promise<Buffer> =>
    must(await at.run(['codehost', ...words])).bytes
  return {
    job, closure,
    closureFile: at.place.write('r.json', await printed(['closures', closure, '--receipt'])),
    readFile: at.place.write(
      'read.json', await printed(['job', job, '--readback', receipt?.id ?? ''])),
  }
}

const refusalOf = (gov: Parameters<typeof verifyReceipt>[0], bytes: Uint8Array): string => {
  try {
    verifyReceipt(gov, bytes)
  } catch (error) {
    if (error instanceof SallyportError) return error.code
    throw error
  }
  return 'verified'
}

const closeAll = (dir: string, way: 'shut' | 'open'): void => {
  const [folder, file] = way === 'shut' ? [0o500, 0o400] : [0o700, 0o600]
  if (way === 'open') chmodSync(dir, folder)
  for (const name of readdirSync(dir)) {
    const path = join(dir, name)
    if (statSync(path).isDirectory()) closeAll(path, way)
    else chmodSync(path, file)
  }
  chmodSync(dir, folder)
}

t.test('C-069 C-124 a receipt of a closure and one of a read hold, from a copy that nothing may write to, without session and host', async (t) => {
  const at = await closing(t)
  const { job, closure, closureFile, readFile } = await kept(at)
  const copy = join(at.place.dir, 'copy')
  must(await at.run(['state', 'backup', copy]))
  must(await at.run(['logout']))
  const state = join(copy, 'state')
  closeAll(state, 'shut')
  t.teardown(() => closeAll(state, 'open'))
  t.strictSame(await at.during(async () => {
    const verify = async (file: string) => must(await at.run(
      ['--state-dir', state, 'codehost', 'verify', file, '--json'])).json()
    const whole = await verify(closureFile)
    t.hasStrict(whole, {
      receipt: 'closure', id: closure, closure, job, proves_record: true, proves_host: false,
      readbacks: [{ effect: 1, action: 'issue.create', path: '/repos/operator/notes/issues/1' }],
    })
    t.match(whole.statement, /not the host/)
    t.strictSame(whole.checks.slice(0, 2), ['seal', 'stored'])
    t.hasStrict(await verify(readFile), { receipt: 'read', job, closure: null })
    const text = must(await at.run(['--state-dir', state, 'codehost', 'verify', closureFile]))
    t.match(text.stdout, /proves our record and not the host/)
  }), [])
})

t.test('a receipt of which any byte is another one is refused, whichever it is', async (t) => {
  const at = await closing(t)
  const { closureFile, readFile } = await kept(at)
  const gov = { store: at.open() }
  for (const file of [closureFile, readFile]) {
    const bytes = readFileSync(file)
    t.equal(refusalOf(gov, bytes), 'verified')
    const passed = [...bytes.keys()].filter((place) => [0x01, 0x20, 0x80].some((bit) => {
      const other = Buffer.from(bytes)
      other[place] = (other[place] ?? 0) ^ bit
      return !['receipt_invalid', 'receipt_altered'].includes(refusalOf(gov, other))
    }))
    t.strictSame(passed, [])
    t.equal(refusalOf(gov, Buffer.concat([bytes, Buffer.from('\n')])), 'receipt_invalid')
    t.equal(refusalOf(gov, Buffer.from(JSON.stringify(JSON.parse(String(bytes)), null, 1))),
      'receipt_invalid', 'the same values, written otherwise')
  }
})

t.test('a receipt of another store, or out of the air, is refused, and nothing of it is quoted', async (t) => {
  const at = await closing(t)
  const { closureFile } = await kept(at)
  const receipt = JSON.parse(readFileSync(closureFile, 'utf8'))
  const given = (value: unknown) => at.run(['codehost', 'verify', at.place.write(
    'given.json', typeof value === 'string' ? value : JSON.stringify(value)), '--json'])
  const foreign = await given({ ...receipt, seal: '0'.repeat(64) })
  t.hasStrict(failure(foreign), { status: 3, code: 'receipt_altered' })
  for (const value of ['{"MARK":1}', '[]', 'MARK', '', { receipt }]) {
    const ran = await given(value)
    t.hasStrict(failure(ran), { status: 3, code: 'receipt_invalid' })
    t.notMatch(ran.stderr, /MARK/)
  }
})

t.test('a sealed receipt that the rows do not bear out any more is told as such, with what fails', async (t) => {
  const at = await closing(t)
  const { job, closure, closureFile, readFile } = await kept(at)
  const row = at.view().get(closureCollection, closure)
  const readback = at.view().all(receiptCollection)[0]
  if (row === undefined || readback === undefined) throw new Error('both are there')
  const reasons = async (file: string): Promise<string> => {
    const ran = await at.run(['codehost', 'verify', file, '--json'])
    t.hasStrict(failure(ran), { status: 7, code: 'receipt_unproved' }, ran.stdout)
    return ran.error().details.failed
  }
  const during = async (
    change: Parameters<Closing['transact']>[0], back: Parameters<Closing['transact']>[0],
    look: () => Promise<unknown>,
  ): Promise<void> => {
    await at.transact(change)
    await look()
    await at.transact(back)
  }
  await during((tx) => tx.remove(closureCollection, closure),
    (tx) => tx.put(closureCollection, closure, row),
    async () => t.equal(await reasons(closureFile), 'stored'))
  const artifact = at.view().get(collections.artifacts, row.artifact.artifact_id)
  if (artifact === undefined) throw new Error('it is there')
  await during((tx) => tx.remove(collections.artifacts, row.artifact.artifact_id),
    (tx) => tx.put(collections.artifacts, row.artifact.artifact_id, artifact),
    async () => t.match(await reasons(closureFile), /account bindings/))
  const was = at.job(job)
  await during((tx) => tx.put(jobCollection, job, { ...was, run_sha256: 'f'.repeat(64) }),
    (tx) => tx.put(jobCollection, job, was),
    async () => {
      t.match(await reasons(closureFile), /bindings.*readbacks_bound/)
      t.equal(await reasons(readFile), 'readbacks_bound')
    })
  const receipt = { ...readback.doc.receipt, raw_sha256: 'e'.repeat(64) }
  const other = { ...readback.doc, receipt }
  await during((tx) => tx.put(receiptCollection, readback.id, other),
    (tx) => tx.put(receiptCollection, readback.id, readback.doc),
    async () => {
      t.match(await reasons(closureFile), /readbacks_sealed/)
      t.equal(await reasons(readFile), 'stored')
    })
  const plan = at.view().get(collections.artifacts, was.plan.artifact_id)
  if (plan === undefined) throw new Error('it is there')
  await during((tx) => tx.remove(collections.artifacts, was.plan.artifact_id),
    (tx) => tx.put(collections.artifacts, was.plan.artifact_id, plan),
    async () => t.equal(await reasons(closureFile), 'plan_and_object_ids'))
  must(await at.run(['codehost', 'verify', closureFile]))
  must(await at.run(['codehost', 'verify', readFile]))
})

type Stored = Pick<Closing['gov'], 'store'>

/** The same store, in which the rows of one collection are read as other ones. */
const readAs = (
  { store }: Stored, collection: string, other: (doc: Loose) => Loose,
): Stored => {
  const over = <T extends object>(real: T, own: Partial<Record<keyof T, unknown>>): T =>
    new Proxy(real, {
      get: (target, name) => {
        const found: unknown = name in own
          ? own[name as keyof T] : Reflect.get(target, name, target)
        return typeof found === 'function' ? found.bind(target) : found
      },
    })
  const view = store.read()
  const seen: Pick<View, 'get' | 'range' | 'rows'> = {
    // What was worked out of the rows before is not of these.
    rows: undefined,
    get: (spec, id) => {
      const doc = view.get(spec, id)
      return doc === undefined || spec.name !== collection ? doc : other(doc) as typeof doc
    },
    range: (spec, options) => view.range(spec, options).map((one) =>
      (spec.name === collection ? { ...one, doc: other(one.doc) as typeof one.doc } : one)),
  }
  return { store: over(store, { read: () => over(view, seen) }) }
}

t.test('what a receipt rests on is looked at, and told by its own name where it does not hold', async (t) => {
  const at = await closing(t)
  const { job, closureFile, readFile } = await kept(at)
  const [closure, readback] = [closureFile, readFile].map((file) => readFileSync(file))
  const failed = (gov: Stored, bytes: Buffer | undefined): string => {
    try {
      verifyReceipt(gov, bytes ?? Buffer.alloc(0))
    } catch (error) {
      if (error instanceof SallyportError) return String(error.details['failed'])
      throw error
    }
    return ''
  }
  const none = '0'.repeat(64)
  const cases: readonly (readonly [string, (doc: Loose) => Loose, string, string])[] = [
    [closureCollection.name, (doc) => ({ ...doc, receipt: { ...doc.receipt, seal: none } }),
      'stored request_job_and_checkpoint', ''],
    [jobCollection.name, (doc) => ({ ...doc, reserved: true }), 'request_job_and_checkpoint', ''],
    [artifactHistory.entries.name, (doc) => ({ ...doc, digest: none }), 'histories', 'histories'],
    [readHistory.entries.name, (doc) => ({ ...doc, digest: none }),
      'histories journals readbacks_kept readbacks_bound plan_and_object_ids',
      'histories readbacks_kept'],
    [collections.artifacts.name, (doc) => (doc.artifact_id === at.job(job).plan.artifact_id
      ? { ...doc, label: 'other' } : doc), 'plan_and_object_ids', 'plan_and_object_ids'],
  ]
  for (const [collection, other, ofClosure, ofRead] of cases) {
    const gov = readAs(at.gov, collection, other)
    t.equal(failed(gov, closure), ofClosure, collection)
    t.equal(failed(gov, readback), ofRead, collection)
  }
  t.equal(failed(at.gov, closure), '')
  await at.transact((tx) => appendEntry(tx, effectHistory, job, {
    type: 'contacted', at: '2026-01-01T00:00:00.000Z', effect: 1, attempt: 1, operation_id: 'op',
    fence: 1, body_sha256: none,
  }))
  t.equal(failed(at.gov, closure), 'ledger')
  t.equal(failed(at.gov, readback), '')
})

t.test('a journal whose stored bytes are gone or altered bears nothing out', async (t) => {
  const at = await closing(t)
  const { closureFile, readFile } = await kept(at)
  const [readback] = at.view().all(receiptCollection)
  const ref = at.view().get(collections.artifacts, readback?.doc.journal.artifact_id ?? '')?.ref
  const name = ref?.stored_sha256 ?? ''
  const path = join(at.place.stateDir, 'artifacts', name.slice(0, 2), name)
  const bytes = readFileSync(path)
  bytes[20] = (bytes[20] ?? 0) ^ 1
  writeFileSync(path, bytes)
  for (const file of [closureFile, readFile]) {
    const ran = await at.run(['codehost', 'verify', file, '--json'])
    t.equal(ran.status, 7)
    t.match(ran.error().details.failed, /readbacks_kept/)
  }
})

t.test('C-244 C-245 readbacks of a publication hold: ids of its objects follow from the sealed contents, by git’s own rule', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  must(await at.runJob(job))
  const printed: string[] = []
  for (const { id, doc: { receipt: { effect } } } of at.view().all(receiptCollection)) {
    const file = at.place.write('read.json',
      must(await at.run(['codehost', 'job', job, '--readback', id])).bytes)
    const held = must(await at.run(['codehost', 'verify', file, '--json'])).json()
    t.hasStrict(held.readbacks, [{ id, object_id: effect.object_id ?? null }])
    printed.push(`${effect.action} ${effect.object_id === undefined ? 'number' : 'object'}`)
  }
  t.strictSame(printed.sort(), [
    'git.object.create object', 'git.object.create object', 'git.ref.create object',
    'pull_request.create number',
  ])
  t.equal(failure(await at.run(['codehost', 'job', job, '--readback', 'rdb_none', '--json'])).code,
    'readback_not_found')
})

t.test('an object id that the sealed contents do not have is not borne out', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  must(await at.runJob(job))
  const row = at.view().all(receiptCollection).map(({ doc }) => doc)
    .find(({ receipt: { effect } }) => effect.object_id !== undefined)
  if (row === undefined) throw new Error('there are three')
  const rows = { gov: at.gov, view: at.view(), job: at.job(job) }
  t.ok(areOfPlan(rows, [row.receipt]))
  t.ok(areKept(rows, [row]))
  t.notOk(areKept(rows, [{ ...row, receipt: { ...row.receipt, raw_sha256: '0'.repeat(64) } }]),
    'its journal holds another one')
  t.ok(areOfJob(rows, [row.receipt]))
  t.notOk(areOfJob(rows, [{ ...row.receipt, raw_sha256: '0'.repeat(64) }]), 'not of its digest')
  for (const id of ['0'.repeat(40), undefined]) {
    const { object_id: own, ...effect } = row.receipt.effect
    t.not(own, id)
    const other = { ...row, receipt: { ...row.receipt, effect: {
      ...effect, ...(id === undefined ? {} : { object_id: id }),
    } } }
    t.notOk(areOfPlan(rows, [other.receipt]))
  }
  const plan = openPublication(at.gov, at.view(), at.job(job))
  t.teardown(() => plan.close())
  const flipped = { ...plan, piecesOf: function* (id: string) {
    for (const piece of plan.piecesOf(id)) yield Buffer.from(piece.map((byte) => byte ^ 1))
  } }
  const [tree] = plan.posts.filter(({ kind }) => kind === 'growth')
  if (tree === undefined) throw new Error('there is one')
  t.equal(objectIdsOf(plan)(tree), tree.id)
  t.not(objectIdsOf(flipped)(tree), tree.id, 'a content with another byte has another id')
})
