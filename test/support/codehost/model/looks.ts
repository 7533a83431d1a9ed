/** What only reads: reconciling a job, and looking again behind its closure. */
import assert from 'node:assert/strict'
import { observeClosed } from '../../../../src/codehost/closure/observe/observe.js'
import { reconcileJob } from '../../../../src/codehost/jobs/reconcile.js'
import type { Told } from './deployment.js'
import type { ReadFault } from './host.js'
import type { Lived } from './lived.js'
import type { Operation } from './operations.js'
import { lookFate } from './reference.js'

/** Reads by the number that was told what became of a job. */
export const reconcile = async (
  lived: Lived, number: number, read: ReadFault | null,
): Promise<void> => {
  const job = lived.job(number)
  const model = lived.model
  if (read !== null) lived.at.host.readFault = { fault: read, skip: 1 }
  const [told, { gets, posts }] = await lived.counted(() => lived.at.line(
    {}, ({ ctx, session }) => reconcileJob(ctx, session, {
      jobId: lived.id(number), expectedReadRevision: model.revision,
    })))
  lived.heal()
  assert.equal(posts, 0, 'reconciling only reads')
  if (job.closed !== null) {
    assert.equal(gets, 0)
    return lived.rejected(number, 'finalize', told)
  }
  const may = job.root === model.root && job.vault === model.vault
    && job.state === 'unknown_external_effect' && job.told !== null
  const proved = may && read === null
  if (job.state === 'succeeded') return lived.absorb(number)
  assert.equal(told.kind, proved ? 'done' : 'refused', JSON.stringify(told))
  if (!may) assert.equal(gets, 0)
  if (!proved) return
  job.state = 'succeeded'
  job.reserved = false
  model.active = null
  model.proved.set(job.told ?? 0, number)
  lived.absorb(number)
}

/** What a look behind a closure rests on: the reservation of a successor is none of it. */
const lasting = (lived: Lived): string => {
  const { root, vault, revision } = lived.model
  return JSON.stringify([root, vault, revision])
}

const judgeLook = (
  lived: Lived, number: number, fate: ReturnType<typeof lookFate>, told: Told<unknown>,
  { gets, changed, isRaced }: {
    readonly gets: number; readonly changed: boolean; readonly isRaced: boolean
  },
): void => {
  const seen = JSON.stringify(told)
  if (fate === 'seen' && !changed) {
    assert.equal(told.kind, 'done', seen)
    if (!isRaced) assert.equal(gets, 2, 'the repository and what was made')
    lived.job(number).looks += 1
    return lived.count('looked')
  }
  assert.equal(told.kind, 'refused', seen)
  if (told.kind !== 'refused') return
  if (fate === 'seen') return lived.count('raced, not looked')
  if (fate === 'blocked') assert.equal(told.code, 'observation_blocked', seen)
  else {
    assert.equal(told.code, fate.code, seen)
    assert.equal(gets, 0, 'nobody is asked')
  }
  lived.count(`look ${told.code}`)
}

/** Looks once more at what a closure proved, while something else may happen. */
export const observe = async (
  lived: Lived, number: number, one: Extract<Operation, { readonly op: 'observe' }>,
): Promise<void> => {
  const { read, numbers, meanwhile } = one
  const revision = Math.max(1, lived.model.revision - (numbers === 'past' ? 1 : 0))
  if (read !== null) lived.at.host.readFault = { fault: read, skip: 1 }
  const fate = lookFate(lived.model, number, revision, {
    titles: lived.titles(), faulty: read !== null,
  })
  let changed = false
  const [told, { gets, posts }] = await lived.counted(() => lived.whole((inside) =>
    lived.at.line({
      mode: 'alone',
      at: (step) => inside(async () => {
        if (step !== 'observe.sealed' || meanwhile === null) return
        const before = lasting(lived)
        await lived.step(meanwhile)
        changed = lasting(lived) !== before
      }),
    }, ({ ctx, session }) => observeClosed(ctx, session, {
      jobId: lived.id(number),
      request: { acknowledged_closure_observation: true, expected_read_revision: revision },
    }))))
  lived.heal()
  assert.equal(posts, 0, 'a look only reads')
  judgeLook(lived, number, fate, told, { gets, changed, isRaced: meanwhile !== null })
}
