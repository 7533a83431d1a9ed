/** A task as lines of text. */
import { moneyText } from '../base/money.js'
import type { BoardTaskDocument, TaskDocument } from '../governance/board/task-document.js'
import type { View } from './output.js'

const costText = (
  { state, bound_microusd: bound, charged_microusd: charged }: NonNullable<TaskDocument['cost']>,
): string => {
  if (state === 'released') return 'released, nothing was charged'
  if (charged === null) return `${state}, at most ${moneyText(bound)} held`
  return `${state}, ${moneyText(charged)} of at most ${moneyText(bound)}`
}

/** The lines that every task has. */
export const taskText = (task: TaskDocument, view: View): string => {
  const line = (name: string, value: string): string => `${name.padEnd(14)}${value}\n`
  const cost = task.cost
  return [
    line('task', task.id),
    line('kind', task.kind),
    line('state', task.state + (task.done ? ' (done)' : '')),
    ...(task.blocked ? [line('blocked', `${task.blocked.kind}: ${task.blocked.reason}`)] : []),
    ...(task.reason === null ? [] : [line('reason', task.reason)]),
    line('review', task.review),
    line('goal', `${task.goal_id} at revision ${task.goal_revision}`),
    line('operation', task.operation_id),
    ...(cost === null ? [] : [
      line('cost', costText(cost)),
      ...(cost.overrun === 'none' ? [] : [line('overrun', cost.overrun)]),
    ]),
    line('created', view.time(task.created_at)),
    line('updated', view.time(task.updated_at)),
  ].join('')
}

/** The lines of a task on its owner's board. */
export const boardTaskText = (task: BoardTaskDocument, view: View): string => {
  const next = task.access === 'current'
    ? '' : `, see: ${view.command(`task recover ${task.id}`)}`
  return `${taskText(task, view)}${'access'.padEnd(14)}${task.access}${next}\n`
}
