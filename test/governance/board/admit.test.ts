import { randomUUID } from 'node:crypto'
import t from 'tap'
import { registerArtifact } from '../../../src/governance/artifacts.js'
import { admitTask, findIdempotent } from '../../../src/governance/board/admit.js'
import { moveTask } from '../../../src/governance/board/move.js'
import { verifyBoard } from '../../../src/governance/board/verify-board.js'
import { addGoal, closeGoal, defaultGoal } from '../../../src/governance/goals.js'
import { collections } from '../../../src/governance/rows.js'
import { logout } from '../../../src/governance/stops/people.js'
import { sha256Hex } from '../../../src/base/canonical.js'
import type { SallyportError } from '../../../src/base/errors.js'
import { addAndSignIn, admissionOf, admit, kind, signIn } from '../../support/tasks.js'
import { World } from '../../world/world.js'

t.test('A-102 a task names its input artifact and its UUID key, and other keys are refused', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const idempotencyKey = randomUUID().toUpperCase()
  const { task, job } = await admit(bench, session, { idempotencyKey })
  t.equal(task.idempotency_key, idempotencyKey.toLowerCase())
  t.hasStrict(bench.view().get(collections.artifacts, task.input_artifact_id), {
    task_id: task.task_id, owner: session.principal.principal_id,
  })
  t.hasStrict(job, { task_id: task.task_id, attempt: 1, operation_id: task.operation_id })
  const wrong = ['', 'key', `{${randomUUID()}}`, `urn:uuid:${randomUUID()}`, ` ${randomUUID()}`,
    randomUUID().replaceAll('-', '')]
  for (const bad of wrong) {
    await t.rejects(admit(bench, session, { idempotencyKey: bad }), {
      kind: 'rejected', code: 'idempotency_key',
    })
  }
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('A-103 owner, root, goal revision and purpose come from the session and rows', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const goal = defaultGoal(bench.view(), ada.session.principal.principal_id)
  const { task } = await admit(bench, ada.session)
  const root = ada.session.root.root_id
  t.hasStrict(task, {
    owner: ada.session.principal.principal_id,
    original_root: root,
    current_root: root,
    goal_id: goal.goal_id,
    goal_revision: goal.revision,
    state: 'accepted',
    review: 'none',
    purpose: { root },
    provenance: { face: 'cli', principal: ada.session.principal.principal_id, root },
  })
  const foreign = { face: 'cli', principal: ada.session.principal.principal_id, root } as const
  await t.rejects(admit(bench, bob.session, { provenance: foreign }), {
    kind: 'rejected', code: 'provenance_mismatch',
  })
  await t.rejects(admit(bench, bob.session, { purpose: task.purpose }), {
    kind: 'rejected', code: 'purpose_mismatch',
  })
  await t.rejects(admit(bench, bob.session, { goalId: goal.goal_id }), {
    kind: 'not_found', code: 'goal_not_found',
  })
  await t.rejects(admit(bench, bob.session, { inputArtifactId: task.input_artifact_id }), {
    kind: 'not_found', code: 'artifact_not_found',
  })
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('a session whose row says otherwise cannot be forged into another owner', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const forged = { principal: ada.session.principal, root: bob.session.root }
  await t.rejects(admit(bench, forged), { kind: 'rejected', code: 'provenance_mismatch' })
})

t.test('a session that ended before the transaction admits nothing', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session, token } = await signIn(bench)
  await logout(bench.gov, token)
  await t.rejects(admit(bench, session), { kind: 'unauthorized', code: 'session_ended' })
  t.strictSame(bench.view().all(collections.openTasks), [])
})

t.test('a purpose or deadline that has passed admits nothing', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const past = new Date(bench.clock.wallMs()).toISOString()
  const purpose = {
    consent_id: 'con_1', purpose: 'alpha.text', revision: 1, root: session.root.root_id,
    expires_at: past,
  }
  await t.rejects(admit(bench, session, { purpose }), { code: 'purpose_expired' })
  await t.rejects(admit(bench, session, { deadlineAt: past }), { code: 'deadline_passed' })
  await t.rejects(admit(bench, session, { budgetMs: 0 }), { code: 'deadline_passed' })
})

t.test('A-196 an owner has one outstanding operation of a kind', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const { task } = await admit(bench, ada.session)
  const outstanding = { kind: 'conflict', code: 'operation_outstanding' } as const
  const again = () => admit(bench, ada.session, { requestDigest: sha256Hex('other') })
  await t.rejects(again(), { ...outstanding, details: { task_id: task.task_id } })
  await t.resolves(admit(bench, bob.session), 'another owner is free')
  await t.resolves(admit(bench, ada.session, { kind: 'other.kind' }), 'another kind is free')
  const hintOf = (more: object) =>
    admit(bench, ada.session, { requestDigest: sha256Hex('third'), ...more })
      .then(() => 'none', (error: unknown) => (error as SallyportError).next)
  t.match(await hintOf({}), 'alpha ask --wait-turn 60')
  const other = await hintOf({ kind: 'other.kind' })
  t.match(other, 'Wait until it has ended')
  t.notMatch(other, 'wait-turn', 'only a question can wait for its turn')
  await bench.transact((tx, now) => moveTask(tx, now, task.task_id, 'queued'))
  await t.rejects(again(), outstanding)
  await bench.transact((tx, now) => moveTask(tx, now, task.task_id, 'failed', { reason: 'test' }))
  await t.resolves(again())
  t.strictSame(verifyBoard(bench.view()), [])
})

t.test('A-196 of two admissions at once one is refused', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const first = await signIn(bench)
  const second = await signIn(bench)
  const both = await Promise.allSettled([admit(bench, first.session), admit(bench, second.session)])
  t.strictSame(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  t.equal(bench.view().all(collections.openTasks).length, 1)
})

t.test('A-186 the same key and content make one task, whatever became of it', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const idempotencyKey = randomUUID()
  const { task, replayed } = await admit(bench, session, { idempotencyKey })
  t.equal(replayed, false)
  const again = await admit(bench, session, { idempotencyKey })
  t.hasStrict(again, { replayed: true, task: { task_id: task.task_id } })
  await bench.transact((tx, now) => moveTask(tx, now, task.task_id, 'failed', { reason: 'test' }))
  const later = await admit(bench, session, { idempotencyKey: idempotencyKey.toUpperCase() })
  t.hasStrict(later, { replayed: true, task: { task_id: task.task_id, state: 'failed' } })
  const request = { kind, key: idempotencyKey, requestDigest: task.request_digest }
  t.equal(findIdempotent(bench.view(), session, request)?.task_id, task.task_id)
  const other = { ...request, key: randomUUID() }
  t.equal(findIdempotent(bench.view(), session, other), null)
  t.equal(bench.view().all(collections.closedTasks).length, 1)
  t.equal(bench.view().all(collections.openTasks).length, 0)
})

t.test('A-186 the same key with other content, kind or owner is a conflict', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const idempotencyKey = randomUUID()
  const { task } = await admit(bench, ada.session, { idempotencyKey })
  const conflict = { kind: 'conflict', code: 'idempotency_conflict' } as const
  const other = { idempotencyKey, requestDigest: sha256Hex('other') }
  await t.rejects(admit(bench, ada.session, other), conflict)
  await t.rejects(admit(bench, ada.session, { idempotencyKey, kind: 'other.kind' }), conflict)
  try {
    await admit(bench, bob.session, { idempotencyKey })
    t.fail('a foreign key was replayed')
  } catch (error) {
    t.hasStrict(error, conflict)
    t.notOk(JSON.stringify(error).includes(task.task_id), 'nothing is said of a foreign task')
  }
})

t.test('a goal that is closed takes no task', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { goal_id: goalId } = await addGoal(bench.gov, session, 'Tides')
  await closeGoal(bench.gov, session, { goalId })
  await t.rejects(admit(bench, session, { goalId }), { kind: 'conflict', code: 'goal_closed' })
  const open = await addGoal(bench.gov, session, 'Moons')
  const { task } = await admit(bench, session, { goalId: open.goal_id })
  t.equal(task.goal_id, open.goal_id)
})

t.test('an input belongs to one task, and ids are used once', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { task } = await admit(bench, session)
  await bench.transact((tx, now) => moveTask(tx, now, task.task_id, 'failed', { reason: 'test' }))
  const taken = { inputArtifactId: task.input_artifact_id }
  await t.rejects(admit(bench, session, taken), { code: 'input_artifact_taken' })
  await t.rejects(admit(bench, session, { taskId: task.task_id }), { code: 'task_exists' })
  await t.rejects(admit(bench, session, { jobId: task.job_id }), { code: 'task_exists' })
})

t.test('an input registered for its task beforehand is bound to it', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const owner = session.principal.principal_id
  const { task } = await bench.transact((tx, now) => {
    const draft = admissionOf(bench, tx, now, session)
    const ref = bench.gov.store.artifacts.write('test.input', Buffer.from('another'))
    const entry = { label: 'test.input', ref, owner, taskId: draft.taskId, adopted: true }
    const { artifact_id: inputArtifactId } = registerArtifact(tx, now, entry)
    return admitTask(tx, now, { ...draft, inputArtifactId })
  })
  t.equal(
    bench.view().get(collections.artifacts, task.input_artifact_id)?.task_id, task.task_id,
  )
})
