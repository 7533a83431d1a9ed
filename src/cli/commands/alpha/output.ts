import { alphaOutput } from '../../../alpha/task-contract.js'
import { readOutput } from '../../../alpha/output.js'
import { verb } from '../../verb.js'
import { answerText } from './ask.js'

export const output = verb(alphaOutput, {
  summary: 'print the answer and receipt of a task again',
  description:
    'Reads the stored answer of a succeeded task. It contacts nobody. The owner, the session '
    + 'and the goal revision of the task must be current.',
  examples: [
    '$ sallyport alpha output task_0190f…', '$ sallyport alpha output task_0190f… --json',
  ],
  session: 'required',
  ids: { task: 'task' },
  damage: 'refuses',
  exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'damaged'],
  flags: (command) => command.argument('<task>', 'id of the task'),
  text: answerText,
  run: async (request, deps) => {
    const { gov, session } = await deps.login('see')
    await gov.observer.at('ask.output')
    const output = readOutput(gov, session, request.task)
    return { ...output, view: gov.store.read() }
  },
})
