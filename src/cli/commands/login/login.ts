import { fail } from '../../../base/errors.js'
import { pathFrom } from '../../../base/user-folders.js'
import type { Gov } from '../../../governance/context.js'
import { passphraseLimits } from '../../../governance/passphrase.js'
import { sessionLogin, type LoginDocument } from '../../../governance/session/session-contract.js'
import { logout } from '../../../governance/stops/people.js'
import { sessionFacts } from '../../../governance/session/live.js'
import {
  login as logIn, sessionLimits, takesPassphrase,
} from '../../../governance/session/login.js'
import { saveToken, tokenPath } from '../../../governance/session/token.js'
import { requestsDocument } from '../../../governance/stops/requests.js'
import { durationFlag } from '../../flags.js'
import { readSecret } from '../../input.js'
import { requestOf } from '../../request.js'
import { fieldLines } from '../../text.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { recoverFirst } from '../../work.js'
import { sentBeforeLines } from '../../sent-before.js'

/** Flags of `login`; durations in milliseconds. */
export interface LoginOptions extends Omit<LineOf<typeof sessionLogin>, 'passphrase'> {
  readonly passphraseFile?: string
  readonly tokenFile?: string
}

const { idleMsMin, idleMsMax, ttlMsMin, ttlMsMax } = sessionLimits

/** The passphrase of an owner: out of a file, or asked for where one is taken. */
export const passphraseOf = async (
  deps: VerbDeps, gov: Gov,
  { owner, passphraseFile: from }: Pick<LoginOptions, 'owner' | 'passphraseFile'>,
): Promise<string | undefined> => {
  const flag = '--passphrase-file'
  if (from !== undefined) {
    // Two more for the line end that editors write.
    return readSecret(deps, { from, flag, bytesMax: passphraseLimits.bytesMax + 2 })
  }
  if (!deps.interactive || !takesPassphrase(gov.store.read(), owner)) return undefined
  const given = await (await deps.ask(`Give ${flag}.`)).secret('Passphrase')
  deps.secrets.add(given)
  return given
}

const tokenPlace = (deps: VerbDeps, gov: Gov, file: string | undefined): string => {
  if (file === '-') {
    throw fail.usage('token_to_stdout', 'The token is never printed: --token-file takes a path.')
  }
  return file === undefined ? tokenPath(gov.store.dir) : pathFrom(deps.cwd, file)
}

/** A session whose token nobody holds would stay open unused: it is ended again. */
const keepToken = async (gov: Gov, path: string, token: string): Promise<void> => {
  try {
    saveToken(path, token)
  } catch (error) {
    await logout(gov, token)
    throw error
  }
}

export const login: VerbRecord<LoginOptions, LoginDocument> = {
  summary: 'open a session',
  description:
    'Opens a session of an owner and keeps its token in the state directory, or in --token-file '
    + 'alone; the token is never printed. CI passes it on in SALLYPORT_SESSION. An owner without '
    + 'a passphrase logs in by possession of the state directory and its key. A second login '
    + 'ends no session. With --replace the others of the same owner end, and nothing more of '
    + 'what they admitted is sent or used.',
  examples: [
    '$ sallyport login',
    '$ sallyport login --owner maria --passphrase-file ./passphrase --ttl 1h',
    '$ sallyport login --token-file ./token --json',
    '$ SALLYPORT_SESSION="$(cat ./token)" sallyport status',
  ],
  session: 'none',
  exits: ['rejected', 'unauthorized', 'no_state', 'locked', 'damaged'],
  json: sessionLogin,
  flags: (command) => command
    .option('--owner <name>', 'who logs in (needed where there are several owners)')
    .option('--passphrase-file <file>', 'the passphrase of the owner; - for stdin')
    .addOption(durationFlag('--idle <time>', 'ends after so long without use', {
      min: idleMsMin, max: idleMsMax,
    }).default(30 * 60_000, '30m'))
    .addOption(durationFlag('--ttl <time>', 'ends after so long in any case', {
      min: ttlMsMin, max: ttlMsMax,
    }).default(8 * 3_600_000, '8h'))
    .option('--replace', 'end the other sessions of this owner')
    .option('--token-file <file>', 'write the token to this file (mode 600) and nowhere else'),
  text: ({ root }, view) => fieldLines([
    ['session', root.id],
    ['owner', root.principal],
    ['idle until', view.time(root.idle_expires_at)],
    ['expires', view.time(root.expires_at)],
  ]),
  run: async (options, deps) => {
    const gov = await deps.gov('write')
    const path = tokenPlace(deps, gov, options.tokenFile)
    const passphrase = await passphraseOf(deps, gov, options)
    const { idle, ttl, ...request } = requestOf(sessionLogin, { ...options, passphrase })
    const times = { idleMs: idle, ttlMs: ttl }
    const { root, sent } = await logIn(gov, { ...request, ...times }, async (token) => {
      deps.secrets.add(token)
      await keepToken(gov, path, token)
    })
    for (const line of sentBeforeLines(requestsDocument(sent))) deps.note(line)
    await recoverFirst(deps, gov)
    if (deps.env['SALLYPORT_SESSION']) {
      deps.note('note: SALLYPORT_SESSION is set and overrides the session that was just opened')
    }
    const session = sessionFacts(gov.store.read(), gov, root)
    return sessionLogin.answer({ session, sent })
  },
}
