/** The part of the demo about a code host. */
import { exitStatus } from '../../../base/outcome.js'
import type { Sandbox } from '../../../sandbox/start.js'
import type { Stage } from './stage.js'

/** The repository that every sandbox has. */
const repository = 'operator/notes'

const revisionOf = (rows: unknown): { readonly id: string; readonly revision: number } => {
  const [first] = rows as readonly { id: string; revision: number }[]
  if (first === undefined) throw new TypeError('the demo connected before')
  return first
}

/** Connects, consents, and takes the consent back. */
export const playCodehost = async (stage: Stage, sandbox: Sandbox): Promise<void> => {
  await stage.play({
    say: 'Connect to one repository of a code host. A token identifies an account; it allows '
      + 'nothing.',
    argv: ['codehost', 'connect', '--repo', repository, '--token-file',
      sandbox.keyFiles.codehost],
  })
  const { id, revision } = revisionOf(await stage.ask(['codehost', 'connections']))
  const consent = [
    'codehost', 'consent', id, '--action', 'issue.create', 'comment.create', '--duration', '30m',
    '--expected-revision', String(revision),
  ]
  await stage.play({
    say: 'Writes need a consent, and a consent the acknowledgment of its words: this is refused.',
    argv: consent, status: exitStatus.rejected,
  })
  await stage.play({
    say: 'Consent to two kinds of writes for half an hour. One GET shows what it is about.',
    argv: [...consent, '--acknowledge'],
  })
  await stage.play({ say: 'What is allowed, and until when.', argv: ['codehost', 'grants'] })
  await stage.play({
    say: 'Take it back: in force at once.', argv: ['codehost', 'revoke', id],
  })
}
