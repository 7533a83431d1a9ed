import { connect as makeConnection, freeConnections, reconnect } from '../../../codehost/connect.js'
import { codehostConnect, type ConnectionDocument } from '../../../codehost/codehost-contract.js'
import { codehostLimits } from '../../../codehost/constants.js'
import { fail } from '../../../base/errors.js'
import { requireOwnConnection } from '../../../governance/connections/find-connection.js'
import type { Connection } from '../../../governance/connections/connection-rows.js'
import type { Gov, Session } from '../../../governance/context.js'
import { deploymentProfile } from '../../../governance/profile.js'
import { choiceFlag, numberFlag } from '../../flags.js'
import { readSecret } from '../../input.js'
import { requestOf } from '../../request.js'
import { sentBeforeLines } from '../../sent-before.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { newConnectionForm, savedConnectionForm, type FilledConnection } from './connect-form.js'
import { savedConnectionText } from './connections.js'

type ConnectOptions =
  Omit<LineOf<typeof codehostConnect>, 'token'> & { readonly tokenFile?: string }

const requireMade = ({ repo, tokenFile }: ConnectOptions): void => {
  if (repo !== undefined && tokenFile !== undefined) return
  throw fail.usage('connect_flags', 'A new connection needs --repo and --token-file.', {
    next: 'To change one, give --connection and --expected-revision.',
  })
}

const requireChanged = ({ repo, tokenFile, mode, expectedRevision }: ConnectOptions): void => {
  if (expectedRevision === undefined) {
    throw fail.usage('connect_flags', 'A change needs --expected-revision.', {
      next: 'See its revision: `sallyport codehost connections`.',
    })
  }
  if ([repo, tokenFile, mode].some((value) => value !== undefined)) return
  throw fail.usage('nothing_to_save', 'Name what to save: --repo, --token-file or --mode.')
}

const tokenOf = async (options: ConnectOptions, deps: VerbDeps): Promise<Buffer | undefined> => {
  if (options.tokenFile === undefined) return undefined
  return Buffer.from(await readSecret(deps, {
    from: options.tokenFile, flag: '--token-file', bytesMax: codehostLimits.tokenBytesMax + 2,
  }))
}

/** Whether nothing is said of what to save, and somebody is there to ask. */
const isForm = ({ connection: _, ...options }: ConnectOptions, { interactive }: VerbDeps) =>
  interactive && Object.values(options).every((value) => value === undefined)

/** What is said of a free connection that was there already. */
const offerText = ({ connection_id: id, repository, revision }: Connection): string =>
  `There was a free connection to ${repository} already. To give that one a token: `
    + `\`sallyport codehost connect --connection ${id} --token-file F `
    + `--expected-revision ${revision}\`.`

/** On a terminal without flags the form, and what it says as flags would. */
const filled = async (
  options: ConnectOptions, deps: VerbDeps,
  { gov, session }: { readonly gov: Gov, readonly session: Session },
): Promise<FilledConnection> => (options.connection === undefined
  ? newConnectionForm(deps, deploymentProfile(gov.store), (repository) =>
    freeConnections(gov, session, repository))
  : savedConnectionForm(deps, requireOwnConnection(gov.store.read(), session, options.connection)))

export const connect: VerbRecord<ConnectOptions, ConnectionDocument> = {
  summary: 'save a connection to a repository, or change one',
  description:
    'Stores a token for one exact repository. It identifies an account and allows nothing: '
    + 'writes need a consent of their own (`codehost consent`). Nobody is contacted. With '
    + '--connection an existing one gets another token, repository or mode; whatever consent '
    + 'it had has ended then. A new one reuses a disconnected connection to that '
    + 'repository; a free one that has a token is offered. One that a job occupies is '
    + 'left alone. A token that is stored again, the same one too, is another credential: a '
    + 'job that is not settled cannot be closed with it. Without flags on a terminal it is a '
    + 'form; its confirmation starts unchecked.',
  examples: [
    '$ sallyport codehost connect',
    '$ sallyport codehost connect --repo octo-org/hello --token-file token',
    '$ sallyport codehost connect --connection ID --token-file token --expected-revision 3',
  ],
  ids: { connection: 'connection' },
  decides: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked'],
  json: codehostConnect,
  flags: (command) => command
    .option('--connection <id>', 'change this one instead of making one')
    .option('--repo <owner/name>', 'the one repository that it is for')
    .option('--token-file <file>', 'the host’s token; - for stdin')
    .addOption(choiceFlag('--mode <mode>', 'what it may be used for until a consent', [
      'disabled', 'reconcile_only',
    ]))
    .addOption(numberFlag('--expected-revision <n>', 'as `codehost connections` shows it')),
  text: savedConnectionText,
  run: async (options, deps) => {
    const { connection: named, mode, ...flags } = requestOf(codehostConnect, options)
    const asks = isForm(options, deps)
    if (!asks) (named === undefined ? requireMade : requireChanged)(options)
    let token = await tokenOf(options, deps)
    try {
      const opened = await workFor(deps, 'mutate')
      const { gov, session } = opened
      const form: FilledConnection = asks ? await filled(options, deps, opened) : {}
      token ??= form.token
      const connectionId = named ?? form.connectionId
      const repo = form.repo ?? flags.repo
      const expectedRevision = form.expectedRevision ?? flags.expected_revision
      const free = asks || connectionId !== undefined
        ? [] : freeConnections(gov, session, repo ?? '')
      const saved = connectionId === undefined
        ? makeConnection(gov, session, {
          repository: repo ?? '', mode: mode ?? 'disabled', token: token ?? Buffer.alloc(0),
        })
        : reconnect(gov, session, {
          connectionId, expectedRevision: expectedRevision ?? 0, repository: repo, mode, token,
        })
      const document = codehostConnect.answer(await saved)
      for (const line of sentBeforeLines(document.requests ?? [])) deps.note(line)
      for (const one of free) deps.note(offerText(one))
      return document
    } finally {
      token?.fill(0)
    }
  },
}
