import { Option } from 'commander'
import { issueConsent, prepareConsent, type PreparedConsent } from '../../../codehost/consent.js'
import { codehostConsent, type ConnectionDocument } from '../../../codehost/codehost-contract.js'
import { actionTexts, codehostActions, codehostLimits } from '../../../codehost/constants.js'
import { durationText } from '../../../base/duration.js'
import { requireOwnConnection } from '../../../governance/connections/find-connection.js'
import type { Connection } from '../../../governance/connections/connection-rows.js'
import { requireYes } from '../../ask-verdict.js'
import { durationFlag, numberFlag, offered } from '../../flags.js'
import type { Prompter } from '../../prompt.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'
import { connectionText } from './connections.js'

type ConsentOptions = Partial<LineOf<typeof codehostConsent>> & { readonly connection: string }

/** Somebody to ask, the same one for every question of this line; null where nobody can be. */
const personOf = async ({ action, acknowledge }: ConsentOptions, deps: VerbDeps) => {
  const asks = action === undefined || acknowledge !== true
  return asks && deps.interactive ? deps.ask('Give --action and --acknowledge.') : null
}

/** On a terminal each action is asked for, unchecked; elsewhere they are named on the line. */
const actionsOf = async (
  { action }: ConsentOptions, prompter: Prompter | null,
): Promise<readonly string[]> => {
  const given = action?.flatMap((one) => one.split(','))
  if (given !== undefined || prompter === null) return given ?? []
  const chosen: string[] = []
  for (const one of codehostActions) {
    if (await prompter.confirm(`Allow ${one} (${actionTexts[one]})?`)) chosen.push(one)
  }
  return chosen
}

/** On a terminal the connection is shown as it is, and that is what the consent is for. */
const shownRevision = (
  { expectedRevision }: ConsentOptions, deps: VerbDeps, prompter: Prompter | null,
  connection: () => Connection,
): { readonly expectedRevision?: number } => {
  if (prompter === null || expectedRevision !== undefined) return {}
  const { repository, mode, revision } = connection()
  deps.note(`The connection is for ${repository}, ${mode}, revision ${revision}.`)
  return { expectedRevision: revision }
}

const toldOfToken = (
  { look: { repository, author }, wish }: PreparedConsent,
): readonly string[] => {
  const { roles, scopes, fullName, isPrivate, archived } = repository
  const role = roles.at(-1)
  return [
    `The host has ${isPrivate ? 'a private' : 'a public'} repository ${fullName}`
      + `${archived ? ', archived: it takes no writes' : ''}.`,
    role === undefined
      ? 'It tells no role of this token there.' : `The token’s account has the role ${role} there.`,
    author === null
      ? 'It does not say whose this token is, so authorship will prove nothing.'
      : `The token’s account has the number ${author.id}.`,
    scopes === null
      ? 'It tells nothing of what the token itself may do.'
      : `The token’s scopes: ${scopes.length === 0 ? 'none' : scopes.join(', ')}.`,
    `This consent: ${wish.actions.join(', ')}, for ${durationText(wish.durationMs)} at most.`,
  ]
}

/** The words are shown before they count; a prompt starts unchecked. */
export const acknowledged = async (
  prepared: PreparedConsent, options: Pick<ConsentOptions, 'acknowledge'>, deps: VerbDeps,
  prompter: Prompter | null,
): Promise<boolean> => {
  if (options.acknowledge !== true && prompter === null) return false
  for (const line of toldOfToken(prepared)) deps.note(line)
  deps.note(`\n${prepared.statement.text}`)
  const asked = options.acknowledge === true ? null : prompter
  if (asked !== null) await requireYes(asked, 'I consent to these writes')
  return true
}

export const consent: VerbRecord<ConsentOptions, ConnectionDocument> = {
  summary: 'allow named writes to one repository, for an hour at most',
  description:
    'Asks the code host what the repository is and whose the token is (two GETs). It shows what '
    + 'the host tells of the token beside the exact words of the consent, and saves it. The '
    + 'connection is active until the consent ends, never later than this session. Each action is '
    + 'named by itself. Only the default owner can give one. Jobs still need an '
    + 'approval each. On a terminal it is a form: what is not on the line is asked for, and starts '
    + 'unchecked.',
  examples: [
    '$ sallyport codehost consent ID',
    '$ sallyport codehost consent ID --action issue.create --duration 30m --acknowledge '
      + '--expected-revision 1',
    '$ sallyport codehost consent ID --action git.object.create git.ref.create '
      + 'pull_request.create --acknowledge --expected-revision 4 --json',
  ],
  of: 'connection',
  decides: true,
  contacts: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'remote', 'locked'],
  json: codehostConsent,
  flags: (command) => command
    .addOption(offered(new Option(
      '--action <action...>', `what to allow: ${codehostActions.join(', ')}`,
    ), codehostActions))
    .addOption(durationFlag('--duration <time>', 'how long; first 30m', {
      min: codehostLimits.grantMsMin, max: codehostLimits.grantMsMax,
    }))
    .option('--acknowledge', 'the text that is shown is what you consent to')
    .addOption(numberFlag('--expected-revision <n>', 'as `codehost connections` shows it')),
  text: connectionText,
  run: async (options, deps) => {
    const { gov, session } = await workFor(deps, 'mutate')
    const prompter = await personOf(options, deps)
    const request = requestOf(codehostConsent, {
      duration: codehostLimits.grantMsDefault, ...options,
      action: await actionsOf(options, prompter),
      ...shownRevision(options, deps, prompter, () => requireOwnConnection(
        gov.store.read(), session, options.connection)),
    })
    const ctx = codehostContext(deps, gov)
    const prepared = await prepareConsent(ctx, session, {
      connectionId: request.connection, expectedRevision: request.expected_revision,
      actions: request.action, durationMs: request.duration,
      canAcknowledge: request.acknowledge === true || prompter !== null,
    })
    const agreed = await acknowledged(prepared, options, deps, prompter)
    return codehostConsent.answer(await issueConsent(ctx, session, prepared, agreed))
  },
}
