/** The rows of the capability of nothing, and what must hold of them. */
import * as v from 'valibot'
import type { CapabilityRows } from '../../../src/governance/capability.js'
import { findTask } from '../../../src/governance/board/place.js'
import type { CollectionSpec } from '../../../src/state/types.js'

const shape = v.strictObject({
  task_id: v.string(),
  /** `unsent` is proof that nothing left; `lost` that nobody knows. */
  state: v.picklist(['open', 'done', 'unsent', 'lost']),
  /** HTTP status of the reply, with `done` alone. */
  status: v.nullable(v.number()),
})
/** One look at the other side. */
export type Nothing = v.InferOutput<typeof shape>

/** Looks by task id. */
export const nothingCollection: CollectionSpec<Nothing> = {
  name: 'nothings', schema: shape, partition: 'one',
}

export const nothingRows: CapabilityRows = {
  collections: [nothingCollection],
  rules: [(view) => view.all(nothingCollection).flatMap(({ id, doc }) => {
    const task = findTask(view, id)
    const answered = (doc.state === 'done') === (doc.status !== null)
    const agrees = (doc.state === 'done') === (task?.state === 'succeeded')
    return doc.task_id === id && answered && agrees ? [] : [{
      code: 'nothing_differs', subject: id, text: 'A look and its task contradict each other.',
    }]
  })],
}
