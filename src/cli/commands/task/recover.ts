import { countText } from '../../../base/counted.js'
import { fail } from '../../../base/errors.js'
import { taskRecover } from '../../../fabric/tasks-contract.js'
import { recoverAllTasks, recoverAnyTask } from '../../../fabric/tasks.js'
import { loginToMutate } from '../../mutate.js'
import { verb } from '../../verb.js'
import { boardTaskText } from '../../task-text.js'

const allText = (count: number): string => count === 0
  ? 'No finished task of yours belongs to another session.\n'
  : `${countText(count, 'finished task')} of yours ${count === 1 ? 'belongs' : 'belong'} to this `
    + 'session now.\n'

export const recover = verb(taskRecover, {
  summary: 'take over your tasks from an earlier session of yours',
  description:
    'Lets the session in use read, review and cancel a task that an earlier session of the same '
    + 'owner admitted; the step is audited and moves the anchor. A paid answer that is held for '
    + 'a review can be accepted by it then. It never lets the task be contacted: that needs the '
    + 'session that admitted it. A finished task also follows its goal to the present revision. '
    + 'With --all every finished task of yours is taken over in one audited act; those that are '
    + 'under way, wait to be started or whose charge is not known are taken over one by one.',
  examples: ['$ sallyport task recover task_0190f…', '$ sallyport task recover --all'],
  session: 'required',
  ids: { task: 'task' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'no_state', 'locked', 'damaged'],
  flags: (command) => command
    .argument('[task]', 'id of the task')
    .option('--all', 'every finished task of yours'),
  text: (found) => 'id' in found ? boardTaskText(found) : allText(found.recovered),
  run: async ({ task: id, all = false }, deps) => {
    if (all !== (id === undefined)) {
      throw fail.usage('one_task_or_all', 'Name one task, or give --all.', {
        next: 'Run `sallyport task list`, or `sallyport task recover --all`.',
      })
    }
    const { gov, session } = await loginToMutate(deps)
    if (id === undefined) return recoverAllTasks(gov, session)
    const task = await recoverAnyTask(gov, session, id)
    return { view: gov.store.read(), session, task }
  },
})
