/** `sallyport principal`: who may log in. */
import { countText } from '../../../base/counted.js'
import { fail } from '../../../base/errors.js'
import { operation } from '../../../fabric/operation.js'
import { enablePrincipal } from '../../../governance/enable.js'
import { passphraseLimits } from '../../../governance/passphrase.js'
import {
  principalAdd, principalList, principalDisable, principalEnable, type PrincipalDocument,
  type PrincipalAddedDocument,
} from '../../../governance/principals-contract.js'
import { addPrincipal, defaultPrincipal, listPrincipals } from '../../../governance/principals.js'
import { disablePrincipal } from '../../../governance/stops/people.js'
import { readSecret } from '../../input.js'
import { requestOf } from '../../request.js'
import { renderTable } from '../../table.js'
import { fieldLines } from '../../text.js'
import { verb, type VerbRecord, type VerbDeps } from '../../verb.js'
import { verbOf } from '../../verb-of.js'
import { workFor } from '../../work.js'

/** How an owner stands, in a few words. */
const principalState = (
  { disabled_at: at, disabled_for_good: forGood }: PrincipalDocument,
): string => {
  if (at === null) return 'enabled'
  return forGood ? 'disabled for good' : 'disabled by a restore'
}

const principalText = (facts: PrincipalDocument): string => fieldLines([
  ['owner', facts.name],
  ['id', facts.id],
  ['state', principalState(facts)],
  ['passphrase', facts.has_passphrase ? 'yes' : 'none'],
])

type PrincipalAddOptions = { readonly name: string; readonly passphraseFile?: string }

const passphraseOf = async (deps: VerbDeps, from: string | undefined): Promise<string> => {
  const flag = '--passphrase-file'
  if (from !== undefined) {
    return readSecret(deps, { from, flag, bytesMax: passphraseLimits.bytesMax + 2 })
  }
  const person = await deps.ask(`Give ${flag}.`)
  const first = await person.secret('Passphrase of the new owner')
  const second = await person.secret('The same again')
  deps.secrets.add(first)
  deps.secrets.add(second)
  if (first === second) return first
  throw fail.rejected('passphrase_differs', 'The two passphrases differ; nobody was added.')
}

export const add: VerbRecord<PrincipalAddOptions, PrincipalAddedDocument> = {
  summary: 'add an owner',
  description:
    'Adds an owner with a passphrase (8 to 1024 bytes) and a default goal. Each owner sees and '
    + 'reviews only its own tasks and goals; all share one policy and one spend ceiling.',
  examples: ['$ sallyport principal add maria --passphrase-file ./passphrase'],
  exits: ['rejected', 'conflict', 'locked'],
  json: principalAdd,
  flags: (command) => command
    .argument('<name>', 'name of the owner')
    .option('--passphrase-file <file>', 'the passphrase; - for stdin (asked for on a terminal)'),
  text: ({ principal }) => principalText(principal),
  run: async (options, deps) => {
    const { gov, session } = await workFor(deps, 'mutate')
    const passphrase = await passphraseOf(deps, options.passphraseFile)
    const request = requestOf(principalAdd, { ...options, passphrase })
    return principalAdd.answer(await addPrincipal(gov, session, request))
  },
}

export const list = verbOf(operation(principalList, 'read', ({ gov }) => {
  const view = gov.store.read()
  return { principals: listPrincipals(view), byDefault: defaultPrincipal(view) }
}), {
  summary: 'list the owners',
  description: 'Lists the owners, oldest first; of a passphrase only whether there is one.',
  examples: ['$ sallyport principal list', '$ sallyport principal list --json'],
  text: (rows, view) => renderTable(
    view, ['owner', 'state', 'passphrase', 'added', 'id'],
    rows.map((row) => [
      row.name, principalState(row), row.has_passphrase ? 'yes' : 'none',
      view.time(row.created_at), row.id,
    ]),
  ),
})

const question = 'Disable this owner for good? No command lets them in again, unless an older '
  + 'backup replaces this state.'

export const disable = verb(principalDisable, {
  summary: 'disable an owner for good',
  description:
    'Ends every session of an owner and lets them log in no more. Their tasks, goals and debts '
    + 'stay. The last owner cannot be disabled. Nothing enables an owner again whom a '
    + 'person has disabled, not even `principal enable`, while the state knows it. A backup '
    + 'from before, where the state of after is lost, knows nothing of it, and neither does a '
    + 'repair that lost the record. This owner waits for `principal enable` then as every '
    + 'other one does. To end only what somebody does now, revoke the session (`session '
    + 'revoke`).',
  examples: ['$ sallyport principal disable maria', '$ sallyport principal disable maria --yes'],
  exits: ['conflict', 'not_found', 'locked'],
  flags: (command) => command
    .argument('<name>', 'name or id of the owner')
    .option('--yes', 'do not ask; where nobody can answer, nothing is asked'),
  text: ({ principal, sessions_ended: ended }) =>
    `${principalText(principal)}${countText(ended, 'session')} ended.\n`,
  run: async ({ name }, deps, line: { readonly yes?: boolean }) => {
    const { gov, session, stopped } = await workFor(deps, 'stop')
    if (deps.interactive && line.yes !== true) {
      await deps.confirm(question, '--yes')
    }
    const disabled = await disablePrincipal(gov, session, name)
    await stopped(disabled.recorded)
    return disabled
  },
})

export const enable = verbOf(operation(principalEnable, 'mutate', ({ gov, session }, { name }) =>
  enablePrincipal(gov, session, name)), {
  summary: 'let an owner log in again after a restore',
  description:
    'Where a backup was put in place, or a damaged state repaired, only the one who did it '
    + 'may log in. This lets another owner log in again, by name; consents and acknowledgments '
    + 'that it gave before do not come back. An owner that a person disabled stays disabled '
    + 'for good where the state still tells so. Where that is lost, whoever runs this has to '
    + 'remember.',
  examples: ['$ sallyport principal enable maria'],
  exits: ['conflict', 'not_found', 'locked'],
  flags: (command) => command.argument('<name>', 'name or id of the owner'),
  text: ({ principal }) => principalText(principal),
})
