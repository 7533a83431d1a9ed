/** The work board, the policy and the status over HTTP. */
import * as v from 'valibot'
import { firstRows } from '../../base/page.js'
import { closedObject, parseClosed } from '../../base/schema.js'
import { openState } from '../../fabric/open-work.js'
import { recoverState } from '../../fabric/recovery.js'
import { statusShow } from '../../fabric/status-contract.js'
import { readStatus } from '../../fabric/status.js'
import {
  taskCancel, taskList, taskRecoverAll, taskRecoverOne, taskReview, taskShow, taskVerdicts,
} from '../../fabric/tasks-contract.js'
import {
  cancelAnyTask, recoverAllTasks, recoverAnyTask, reviewAnyTask,
} from '../../fabric/tasks.js'
import { listTasks, requireOwnTask } from '../../governance/board/read.js'
import type { Gov } from '../../governance/context.js'
import { policyRevoke, policyShow } from '../../governance/policy/contract.js'
import { revokePolicy } from '../../governance/policy/revoke.js'
import { showPolicy } from '../../governance/policy/show.js'
import { sessionShow } from '../../governance/session/contract.js'
import { sessionFacts } from '../../governance/session/live.js'
import {
  jsonOf, ListPart, smallBody, type Call, type Operation, type QueryField,
} from '../operation.js'
import { pagedField, requestOfQuery } from '../query.js'

const taskOf = ({ asked: { params } }: Call): string => params['task_id'] ?? ''

/** How long recording a revocation waits for the lock, ms; it is in force before. */
const recordWaitMs = 2_000

const revoke = async ({ gov, session, world }: Call): Promise<unknown> => {
  const { stateDir, configDir } = world.places
  let own: Gov | null = null
  const open = async (): Promise<Gov> => {
    const store = openState({ stateDir, configDir, waitMs: recordWaitMs }, 'write')
    return (own = { ...gov, store })
  }
  try {
    return policyRevoke.answer(await revokePolicy({
      stateDir, folders: [gov.store.stopsDir], clock: gov.clock, open,
      by: { principal: session.principal.principal_id, root: session.root.root_id },
    }))
  } finally {
    (own as Gov | null)?.store.close()
  }
}

const listFields: readonly QueryField[] = [
  { name: 'limit', what: 'At most so many (default 50).', kind: 'integer' },
  { name: 'open', what: 'Only those that have not ended.', kind: 'boolean' },
  { name: 'state', what: 'Only those in this state.', kind: 'text' },
  { name: 'kind', what: 'Only those of this kind.', kind: 'text' },
  { name: 'goal', what: 'Only those of this goal.', kind: 'text' },
  { name: 'after', what: 'Only those older than this one.', kind: 'text' },
  pagedField,
]

const verdictShape = closedObject({ verdict: v.picklist(taskVerdicts) })

/** The operations. */
export const taskOperations: readonly Operation[] = [
  {
    contract: taskList, method: 'GET', path: '/api/work-board/tasks',
    summary: 'Your tasks, newest first.', verb: 'task list', mode: 'see', body: null,
    status: 200, where: 'here',
    query: listFields, paged: true,
    run: async ({ gov, session, asked }) => {
      const { limit, open, state, kind, goal, after } =
        taskList.request({ limit: 50, ...requestOfQuery(asked, listFields) })
      const view = gov.store.read()
      const { rows, last } = firstRows(listTasks(view, session, {
        limit: limit + 1, openOnly: open === true, state, kind, goalId: goal, after,
      }), limit)
      return new ListPart(
        taskList.answer(rows.map((task) => ({ view, session, task }))), last?.task_id ?? null)
    },
  },
  {
    contract: taskShow, method: 'GET', path: '/api/work-board/tasks/{task_id}',
    summary: 'One task and the receipt of its capability.', verb: 'task show', mode: 'see',
    body: null, status: 200, where: 'here',
    run: async (call) => {
      const { gov, session } = call
      const view = gov.store.read()
      const task = requireOwnTask(view, session, taskOf(call), { for: 'show' })
      return taskShow.answer({ view, session, task })
    },
  },
  {
    contract: taskReview, method: 'POST', path: '/api/work-board/tasks/{task_id}/review',
    summary: 'A verdict on a result, or on a charge that waits.', verb: 'task review',
    mode: 'mutate', status: 200, where: 'here',
    body: {
      shape: verdictShape, name: 'sallyport.task.review.body.v1', required: true,
      bytesMax: smallBody,
    },
    run: async (call) => {
      const { gov, session, asked } = call
      const { verdict } = parseClosed(verdictShape, jsonOf(asked), {
        code: 'request_invalid', what: 'the request',
      })
      const id = taskOf(call)
      const task = await reviewAnyTask(gov, session, id, verdict)
      return taskReview.answer({ view: gov.store.read(), session, task })
    },
  },
  {
    contract: taskCancel, method: 'POST', path: '/api/work-board/tasks/{task_id}/cancel',
    summary: 'Asks for a cancel: at once where nothing runs, else at the next step.',
    verb: 'task cancel', mode: 'write', body: null, status: 200, where: 'here',
    run: async (call) => {
      const { gov, session } = call
      const cancelled = await cancelAnyTask(gov, session, taskOf(call))
      if (cancelled.recorded === null || cancelled.recorded.why === null) await recoverState(gov)
      const view = gov.store.read()
      return taskCancel.answer({
        view, session, task: cancelled.seenIn(view), told: cancelled.told,
      })
    },
  },
  {
    contract: taskRecoverOne, method: 'POST', path: '/api/work-board/tasks/{task_id}/recover',
    summary: 'Takes an own task over from an earlier session.', verb: 'task recover',
    mode: 'mutate', body: null, status: 200, where: 'here',
    run: async (call) => {
      const { gov, session } = call
      const task = await recoverAnyTask(gov, session, taskOf(call))
      return taskRecoverOne.answer({ view: gov.store.read(), session, task })
    },
  },
  {
    contract: taskRecoverAll, method: 'POST', path: '/api/work-board/recover',
    summary: 'Takes every finished task of yours over from earlier sessions, in one act.',
    verb: 'task recover --all', mode: 'mutate', body: null, status: 200, where: 'thread',
    run: async ({ gov, session }) =>
      taskRecoverAll.answer(await recoverAllTasks(gov, session)),
  },
  {
    contract: policyShow, method: 'GET', path: '/api/policy',
    summary: 'The one policy of every route.', verb: 'policy show', mode: 'read', body: null,
    status: 200, where: 'here',
    run: async ({ gov }) => policyShow.answer(showPolicy(gov)),
  },
  {
    contract: policyRevoke, method: 'POST', path: '/api/policy/revoke',
    summary: 'Stops every route at once. Over HTTP it needs a session; uploads go on.',
    verb: 'policy revoke', mode: 'read', body: null, status: 200, where: 'here', run: revoke,
  },
  {
    contract: statusShow, method: 'GET', path: '/api/status',
    summary: 'The status of every capability.', verb: 'status', mode: 'read', body: null,
    status: 200, where: 'here',
    run: async ({ gov }) => statusShow.answer(await readStatus(gov)),
  },
  {
    contract: sessionShow, method: 'GET', path: '/api/session',
    summary: 'The session behind the token.', verb: 'session show', mode: 'read', body: null,
    status: 200, where: 'here',
    run: async ({ gov, session }) =>
      sessionShow.answer(sessionFacts(gov.store.read(), gov, session.root)),
  },
]
