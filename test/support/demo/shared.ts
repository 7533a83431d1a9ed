/**
 * The scene `shared`: two machines, one PostgreSQL server over TLS, one ceiling, one revoke. It
 * plays the real program, and needs a server that only a development install has.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exitStatus } from '../../../src/base/outcome.js'
import { alphaSetup } from '../../../src/cli/commands/demo/alpha.js'
import { openedGates, seeingModel, writingModel } from '../../../src/cli/commands/demo/shots.js'
import type { Sandbox } from '../../../src/sandbox/start.js'
import type { Teardown } from '../../world/place.js'
import { sandboxOf } from '../../world/sandbox.js'
import { World } from '../../world/world.js'
import { newAuthority } from '../net/certs.js'
import { startPostgres, type Postgres } from '../place/postgres.js'
import { until } from '../until.js'
import { stageOn, type MachineStage } from './machine-stage.js'

/** Who plays. */
interface Cast {
  readonly anna: MachineStage
  readonly ben: MachineStage
  readonly sandbox: Sandbox
  readonly server: Postgres
  readonly address: string
}

const password = 'of-the-server'
/** How long the code host takes over one creation, ms: time enough for a revoke elsewhere. */
const creationMs = 8_000

const makeCast = async (t: Teardown, write: (text: string) => void): Promise<Cast> => {
  const authority = await newAuthority('Authority of the server')
  const server = await startPostgres(t, {
    tls: await authority.issue(['127.0.0.1']), password,
  })
  await server.query(`create role ops login password '${password}'`)
  await server.query('create database state owner ops')
  const sandbox = await sandboxOf(t)
  const [anna, ben] = ['anna', 'ben'].map((name) => stageOn(name, World.in(t).place, write))
  if (anna === undefined || ben === undefined) throw new TypeError('both are there')
  anna.place.write('ca.pem', authority.ca)
  for (const [name, text] of [['server.pw', password], ['invite.pw', 'goes by another way']]) {
    for (const { place } of [anna, ben]) place.write(name as string, `${text}\n`)
  }
  return {
    anna, ben, sandbox, server, address: `postgres://ops@127.0.0.1:${server.port}/state`,
  }
}

const becomesTwo = async ({ anna, ben, sandbox, address }: Cast): Promise<void> => {
  await anna.play({
    say: '1. Anna makes a state for several machines. It lies at the server, sealed.',
    argv: ['init', '--shared', address, '--server-ca', 'ca.pem', '--server-password-file',
      'server.pw', '--machine-name', 'anna', '--owner', 'team', '--profile', sandbox.profileFile],
    head: 2,
  })
  await anna.ask(['login'])
  await anna.play({
    say: 'She invites another one: the key goes in this file, and never by the server.',
    argv: ['machine', 'invite', 'ben', '--to', 'ben.invite', '--passphrase-file', 'invite.pw'],
    head: 1,
  })
  copyFileSync(anna.place.path('ben.invite'), ben.place.path('ben.invite'))
  await ben.play({
    say: 'It is carried to Ben, who joins by it.',
    argv: ['machine', 'join', 'ben.invite', '--passphrase-file', 'invite.pw'],
  })
  await ben.ask(['login'])
}

const oneCeiling = async ({ anna, ben, sandbox }: Cast): Promise<void> => {
  await anna.ask(alphaSetup(sandbox))
  await anna.play({
    say: '2. Both logged in, and Anna consented, with a ceiling of six cents. She asks.',
    argv: ['alpha', 'ask', '-'], stdin: 'What is a sally port?',
  })
  sandbox.faults.set('billing_status_500', { service: 'provider' })
  await ben.play({
    say: 'Ben asks, too; the provider does not say what it cost. The bound stays held.',
    argv: ['alpha', 'ask', '-'], stdin: 'And a postern?', status: exitStatus.blocked,
  })
  sandbox.faults.clear()
  await anna.play({
    say: 'It is one ceiling: what Ben may owe leaves Anna no room. Nothing was sent.',
    argv: ['alpha', 'ask', '-'], stdin: 'And a bailey?', status: exitStatus.budget,
  })
  const [{ operation_id: operation }] = await ben.ask(['alpha', 'tasks', '--limit', '1']) as [
    { readonly operation_id: string },
  ]
  await anna.ask(['ledger', 'settle', operation, '--amount-microusd', '17', '--yes'])
  await ben.ask(['machine', 'list'])
  await ben.play({
    say: 'Anna settles it with `ledger settle`; Ben sees the same ledger.',
    argv: ['ledger', 'show'], head: 2,
  })
}

const oneReport = async ({ anna, ben, sandbox }: Cast): Promise<void> => {
  const folder = anna.place.path('screens')
  await anna.ask(['sandbox', 'samples', folder])
  await anna.ask(['shots', 'config', 'set', '--folder', folder])
  await anna.ask(openedGates)
  await anna.ask(await seeingModel(anna, sandbox))
  await anna.ask(await writingModel(anna))
  await anna.ask(['gateway', 'prove', '--all'])
  await anna.play({
    say: '3. Anna scans a folder of screenshots. The folder stays hers.', argv: ['shots', 'scan'],
    head: 2,
  })
  await anna.ask(['shots', 'analyze'])
  await anna.ask(['shots', 'digest'])
  await anna.play({ say: 'What came of it, on her machine …', argv: ['shots', 'report'], head: 2 })
  await ben.ask(['machine', 'list'])
  await ben.play({ say: '… and on his.', argv: ['shots', 'report'], head: 2 })
}

/** An approved publication of a small folder; gives its job. */
const approved = async ({ anna, sandbox }: Cast): Promise<string> => {
  const source = anna.place.path('notes')
  await anna.ask(['codehost', 'connect', '--repo', 'operator/notes', '--token-file',
    sandbox.keyFiles.codehost])
  const [{ id, revision }] = await anna.ask(['codehost', 'connections']) as [
    { readonly id: string; readonly revision: number },
  ]
  await anna.ask(['codehost', 'consent', id, '--action', 'git.object.create', 'git.ref.create',
    'pull_request.create', '--duration', '30m', '--expected-revision', String(revision),
    '--acknowledge'])
  mkdirSync(source)
  writeFileSync(join(source, 'README.md'), '# Notes, mended\n')
  writeFileSync(join(source, 'today.md'), '# Today\n')
  await anna.ask(['codehost', 'prepare', 'publication', '--connection', id, '--source', source,
    '--base', 'main', '--branch', 'topic/notes', '--title', 'Mend the notes', '--author',
    'Anna <anna@example.org>'])
  const [job] = await anna.ask(['codehost', 'jobs']) as [
    { readonly id: string; readonly preview_digest: string },
  ]
  await anna.ask(['codehost', 'approve', job.id, '--preview-digest', job.preview_digest])
  return job.id
}

const oneRevoke = async (cast: Cast): Promise<void> => {
  const { anna, ben, sandbox } = cast
  const job = await approved(cast)
  const sent = (): number => sandbox.log.all({ service: 'codehost' })
    .filter(({ method }) => method === 'POST').length
  sandbox.faults.set('write_delay', { service: 'codehost', after: 1, times: 1, value: creationMs })
  const running = anna.begin({
    say: '4. Anna publishes a folder as a pull request. The code host is slow …',
    argv: ['codehost', 'run', job],
  })
  await until('the second creation is under way', () => sent() === 2)
  await ben.play({
    say: '… and Ben stops everything, in the middle of it.', argv: ['policy', 'revoke'],
  })
  const before = sent()
  anna.say(`Creations that the code host has seen until now: ${before}. What Anna's command says:`)
  await running.end(exitStatus.blocked)
  anna.say(`Creations that it has seen in the end: ${sent()}. Nothing left after the revoke.`)
  if (sent() !== before) throw new Error('something left after the revoke')
  await ben.play({
    say: 'Nor does a question, on any machine.',
    argv: ['alpha', 'ask', '-'], stdin: 'Still there?', status: exitStatus.unauthorized,
  })
}

const becomesOne = async ({ anna, ben, server, sandbox }: Cast): Promise<void> => {
  const [{ count } = { count: '' }] = await server.query<{ count: string }>(
    "select count(*) from pg_stat_ssl join pg_stat_activity using (pid) "
    + "where usename = 'ops' and not ssl")
  if (count !== '0') throw new Error('a connection was without TLS')
  await anna.play({
    say: '5. Anna takes the state back into one directory.', argv: ['state', 'unshare', '--yes'],
  })
  await ben.play({
    say: "Ben's machine writes nothing any more.", argv: ['goal', 'add', 'Never'],
    status: exitStatus.blocked,
  })
  await anna.play({ say: 'And hers is whole.', argv: ['state', 'check'], last: 1 })
  const asks = sandbox.log.all({ service: 'provider', route: 'completion' }).length
  anna.say(`\nThat was it: ${asks} questions left in all. Nothing of it stays.`)
}

/** Plays it: at most 120 lines of 80 columns. Throws where a step ends in another way. */
export const play = async (t: Teardown, write: (text: string) => void): Promise<void> => {
  const cast = await makeCast(t, write)
  write(
    'Two machines share one state. Its server is a real PostgreSQL on loopback, by\n'
    + 'TLS alone; provider, gateway and code host are a sandbox. Nothing has a cost.\n')
  await becomesTwo(cast)
  await oneCeiling(cast)
  await oneReport(cast)
  await oneRevoke(cast)
  await becomesOne(cast)
}
