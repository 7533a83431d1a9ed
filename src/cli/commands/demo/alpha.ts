import { exitStatus } from '../../../base/outcome.js'
import type { Sandbox } from '../../../sandbox/start.js'
import type { Stage } from './stage.js'

/** The line that sets the capability up: the ceiling leaves room for one hold and a little. */
export const alphaSetup = (sandbox: Sandbox): readonly string[] => [
  'alpha', 'setup', '--enable', '--api-key-file', sandbox.keyFiles.provider,
  '--max-output-tokens', '200', '--timeout-seconds', '20',
  '--request-cost-bound', '0.05usd', '--spend-ceiling', '0.06usd',
  '--acknowledge', '--expected-revision', '1',
]

const taskIdsOf = (rows: unknown): readonly { id: string; operation_id: string }[] =>
  rows as readonly { id: string; operation_id: string }[]

const newestTask = async (stage: Stage) => {
  const [newest] = taskIdsOf(await stage.ask(['task', 'list', '--limit', '1']))
  if (newest === undefined) throw new TypeError('the demo asked before')
  return newest
}

const setUp = async (stage: Stage, sandbox: Sandbox): Promise<void> => {
  await stage.play({
    say: 'Nothing is sent before consent: this ask is refused.',
    argv: ['alpha', 'ask', '-'], stdin: 'Hello?', status: exitStatus.unauthorized,
  })
  await stage.play({
    say: 'Set up the text capability: limits, key, and consent to what the provider sees.',
    argv: alphaSetup(sandbox),
  })
}

const askOnce = async (stage: Stage): Promise<void> => {
  await stage.play({
    say: 'Ask. One request goes out, the charge is read back, the answer comes with a receipt.',
    argv: ['alpha', 'ask', '-'], stdin: 'What is a sally port?',
  })
  const { id } = await newestTask(stage)
  await stage.play({
    say: 'Read the answer again. This contacts nobody.', argv: ['task', 'show', id, '--output'],
  })
  await stage.play({
    say: 'Review it: a person says that the task is done.',
    argv: ['task', 'review', id, '--approve'],
  })
  await stage.play({ say: 'What it cost.', argv: ['ledger', 'show'] })
}

const askWithoutBill = async (stage: Stage, sandbox: Sandbox): Promise<void> => {
  sandbox.faults.set('billing_status_500', { service: 'provider' })
  await stage.play({
    say: 'Now the provider answers but does not say what it cost. No answer is released; the '
      + 'full bound stays held, and nothing is sent a second time.',
    argv: ['alpha', 'ask', '-'], stdin: 'And what does this one cost?', status: exitStatus.blocked,
  })
  sandbox.faults.clear()
  const { id, operation_id: operation } = await newestTask(stage)
  await stage.play({ say: 'The task says why it waits.', argv: ['task', 'show', id] })
  await stage.play({
    say: 'The held amount counts against the ceiling, so the next ask is refused before contact.',
    argv: ['alpha', 'ask', '-'], stdin: 'One more?', status: exitStatus.budget,
  })
  await stage.play({
    say: 'A person looks it up with the provider and settles the charge by hand.',
    argv: ['ledger', 'settle', operation, '--amount', '0.000017usd', '--yes'],
  })
}

/** The part of the demo about the text capability. */
export const playAlpha = async (stage: Stage, sandbox: Sandbox): Promise<void> => {
  await setUp(stage, sandbox)
  await askOnce(stage)
  await askWithoutBill(stage, sandbox)
  await stage.play({ say: 'One command stops every route.', argv: ['policy', 'revoke'] })
  await stage.play({
    say: 'And nothing goes out any more.',
    argv: ['alpha', 'ask', '-'], stdin: 'Still there?', status: exitStatus.unauthorized,
  })
}
