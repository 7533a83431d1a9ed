import { closeTask } from '../governance/board/close.js'
import { nowIso, type Gov, type Session } from '../governance/context.js'
import type { Task } from '../governance/rows.js'

/** Closes a task whose charge was settled by hand, of whichever capability; see `closeTask`. */
export const closeAnyTask = (gov: Gov, session: Session, taskId: string): Promise<Task> =>
  gov.store.transact('task close', (tx) => closeTask(tx, nowIso(gov), session, taskId).task)
