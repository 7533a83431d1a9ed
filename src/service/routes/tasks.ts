/** The work board, the policy and the status over HTTP. */
import * as v from 'valibot'
import { closedObject } from '../../base/schema.js'
import { openState } from '../../fabric/open-work.js'
import { openingAny } from '../../state/store.js'
import { operation } from '../../fabric/operation.js'
import { policy, session } from '../../fabric/operations/policy.js'
import { tasks } from '../../fabric/operations/tasks.js'
import { statusShow } from '../../fabric/status-contract.js'
import { nameInForce } from '../../fabric/names/look-up.js'
import { readStatus } from '../../fabric/status.js'
import { taskVerdicts } from '../../fabric/tasks-contract.js'
import type { Gov } from '../../governance/context.js'
import { policyRevoke } from '../../governance/policy/policy-contract.js'
import { recordWaitMs, revokePolicy } from '../../governance/policy/revoke.js'
import { afterField, limitField } from '../query.js'
import type { Route } from '../route.js'
import { routeOf, smallJson } from '../route-of.js'

const revoke = operation(policyRevoke, 'read', async ({ gov, session: by, world }) => {
  const { stateDir, configDir } = world.places
  let own: Gov | null = null
  const open = async (): Promise<Gov> => {
    const store = await openingAny(() =>
      openState({ stateDir, configDir, waitMs: recordWaitMs }, 'write'))
    return (own = { ...gov, store })
  }
  try {
    return await revokePolicy({
      stateHolds: gov.store.holds, boards: [gov.store.stops], clock: gov.clock, open,
      isShared: gov.store.machine !== null,
      by: { principal: by.principal.principal_id, root: by.root.root_id },
    })
  } finally {
    (own as Gov | null)?.store.close()
  }
})

const statusOf = operation(statusShow, 'read', ({ gov, session: asker, world }) =>
  readStatus(gov, { at: nameInForce(world), session: asker, world }))

const verdictShape = closedObject({ verdict: v.picklist(taskVerdicts) })

/** The routes. */
export const taskRoutes: readonly Route[] = [
  routeOf(tasks.list, 'GET /api/work-board/tasks', 'Your tasks, newest first.', {
    paged: true, query: [
      limitField,
      { name: 'open', what: 'Only those that have not ended.', kind: 'boolean' },
      { name: 'state', what: 'Only those in this state.', kind: 'text' },
      { name: 'kind', what: 'Only those of this kind.', kind: 'text' },
      { name: 'goal', what: 'Only those of this goal.', kind: 'text' },
      afterField,
    ],
  }),
  routeOf(tasks.show, 'GET /api/work-board/tasks/{task_id}',
    'One task and the receipt of its capability.'),
  routeOf(tasks.review, 'POST /api/work-board/tasks/{task_id}/review',
    'A verdict on a result, or on a charge that waits.', {
      body: smallJson(verdictShape, 'sallyport.task.review.body.v1'),
    }),
  routeOf(tasks.cancel, 'POST /api/work-board/tasks/{task_id}/cancel',
    'Asks for a cancel: at once where nothing runs, else at the next step.'),
  routeOf(tasks.recover, 'POST /api/work-board/tasks/{task_id}/recover',
    'Takes an own task over from an earlier session.'),
  routeOf(tasks.recoverAll, 'POST /api/work-board/recover',
    'Takes every finished task of yours over from earlier sessions, in one act.', {
      verb: 'task recover --all', where: 'thread',
    }),
  routeOf(policy.show, 'GET /api/policy', 'The one policy of every route.'),
  routeOf(revoke, 'POST /api/policy/revoke',
    'Stops every route at once. Over HTTP it needs a session; uploads go on.',
    // Damage must not keep anybody from stopping: the session that is left is enough.
    { anchor: 'vouches' }),
  routeOf(statusOf, 'GET /api/status', 'The status of every capability.'),
  routeOf(session.show, 'GET /api/session', 'The session behind the token.'),
]
