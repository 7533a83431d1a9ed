/** What is done on the machines, by chance. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../src/base/clock.js'
import { collections } from '../../../src/governance/rows.js'
import { openStore } from '../../../src/state/store.js'
import type { View } from '../../../src/state/types.js'
import { roomy, setupFlags } from '../../world/alpha.js'
import { slotFlags } from '../../world/gateway.js'
import type { Chance } from '../chance.js'
import { image } from '../png.js'
import type { Attacked, Machine } from './attacked.js'
import type { Notes } from './notes.js'

/** What an operation works with. */
export interface Doing {
  readonly at: Attacked
  readonly notes: Notes
  readonly machine: Machine
  readonly chance: Chance
  /** Folder of a build that says that it writes less. */
  readonly older: string
}

/** Of all lines so many run in this process, where nothing can kill them. */
const hereOften = 0.6

type Operation = (doing: Doing) => Promise<void>

/** What a machine knows; asks nobody. */
export const seen = <T>({ place }: Pick<Machine, 'place'>, look: (view: View) => T): T => {
  const store = openStore({ dir: place.stateDir, configDir: place.configDir, mode: 'read' })
  try {
    return look(store.read())
  } finally {
    store.close()
  }
}

const line = async (
  { notes, machine, chance }: Doing, argv: readonly string[],
  more: { stdin?: string; app?: string } = {},
) => {
  notes.operations += 1
  // A program of another version is a process of its own.
  const isHere = more.app === undefined && machine.app === undefined && chance.next() < hereOften
  const ran = await (isHere ? machine.runHere(argv, more) : machine.run(argv, more))
  notes.end(argv.slice(0, 2).join(' '), ran)
  return ran
}

const askOnce = async (doing: Doing, key: string, question: string, app?: string) =>
  line(doing, ['alpha', 'ask', '-', '--idempotency-key', key, '--wait-turn', '5'],
    { stdin: question, ...(app === undefined ? {} : { app }) })

const newAsk = ({ notes }: Doing) => {
  const [key, name] = [randomUUID(), `ASK ${randomUUID()}`]
  const sent = { key, name, answered: false }
  notes.asks.push(sent)
  return sent
}

const ask: Operation = async (doing) => {
  const sent = newAsk(doing)
  sent.answered = (await askOnce(doing, sent.key, sent.name)).status === 0
}

/** One key on two machines of one owner at once, and once more afterwards. */
const askTwice: Operation = async (doing) => {
  const sent = newAsk(doing)
  const [a, , c] = doing.at.machines
  const rans = await Promise.all([a, c].map((machine) =>
    askOnce({ ...doing, machine }, sent.key, sent.name)))
  rans.push(await askOnce(doing, sent.key, sent.name))
  sent.answered = rans.some(({ status }) => status === 0)
}

/** A program that is too old for this state sends nothing. */
const askByOlder: Operation = async (doing) => {
  const { key, name } = newAsk(doing)
  const ran = await askOnce(doing, key, name, doing.older)
  if (ran.status === 0) doing.notes.break('a program that is too old was let in')
}

const goal: Operation = async (doing) => {
  const title = `Goal ${randomUUID()}`
  const { status } = await line(doing, ['goal', 'add', title])
  doing.notes.goals[status === 0 ? 'told' : 'maybe'].push(title)
}

/** A charge that nobody knows is looked up by a person, perhaps by two at once. */
const settle: Operation = async (doing) => {
  const open = seen(doing.machine, (view) => view.all(collections.openReservations))
    .filter(({ doc }) => doc.state === 'unknown')
  if (open.length === 0) return goal(doing)
  const { doc: { operation_id: id } } = doing.chance.pick(open)
  const { at: { machines }, chance } = doing
  await Promise.all(machines.slice(0, 1 + chance.below(3)).map((machine) => line(
    { ...doing, machine },
    ['ledger', 'settle', id, '--amount-microusd', String(chance.below(50)), '--yes'])))
}

let pictures = 0

const shots: Operation = async (doing) => {
  const { at: { first, machines: [machine] } } = doing
  if (pictures < 250) {
    writeFileSync(join(first.pictures, `Screenshot ${pictures}.png`), image(pictures))
    pictures += 1
  }
  await line({ ...doing, machine }, ['shots', 'scan'])
  await line({ ...doing, machine }, ['shots', 'analyze', '--limit', '2'])
}

const prove: Operation = async (doing) =>
  void await line(doing, ['gateway', 'prove', doing.chance.pick(['report', 'screenshot'])])

const jobOf = async (doing: Doing, words: readonly string[], name: string) => {
  const sent = { name, key: null, answered: false }
  doing.notes.effects.push(sent)
  const prepared = await line(doing, ['codehost', 'prepare', ...words])
  if (prepared.status !== 0) return
  const job = String(prepared.json().id)
  const preview = await line(doing, ['codehost', 'preview', job])
  if (preview.status !== 0) return
  const digest = String(preview.json().digest)
  const approved = await line(doing, ['codehost', 'approve', job, '--preview-digest', digest])
  if (approved.status !== 0) return
  const runs = [line(doing, ['codehost', 'run', job])]
  const [a, , c] = doing.at.machines
  const other = doing.machine === a ? c : a
  if (doing.chance.next() < 0.3) {
    runs.push(line({ ...doing, machine: other }, ['codehost', 'run', job]))
  }
  sent.answered = (await Promise.all(runs)).some(({ status }) => status === 0)
}

const fileOf = ({ machine: { place } }: Doing, text: string): string =>
  place.write(`body-${randomUUID()}.md`, `${text}\n`)

const hosted = async (doing: Doing): Promise<void> => {
  const { at: { first: { id }, issue }, chance, machine } = doing
  const text = `EFFECT ${randomUUID()}`
  const rest = ['--connection', id, '--body-file', fileOf(doing, text)]
  const what = chance.below(5)
  if (what < 2) return jobOf(doing, ['issue', '--title', text, ...rest], text)
  if (what < 4) return jobOf(doing, ['comment', '--issue', String(issue), ...rest], text)
  const source = join(machine.place.cwd, `source-${randomUUID()}`)
  mkdirSync(source)
  writeFileSync(join(source, 'README.md'), `${text}\n`)
  await jobOf(doing, [
    'publication', '--source', source, '--base', 'main', '--branch', `topic/${randomUUID()}`,
    '--title', text, '--author', 'Ann <ann@example.org>', ...rest,
  ], text)
  rmSync(source, { recursive: true, force: true })
}

const host: Operation = (doing) => {
  const [a, , c] = doing.at.machines
  return hosted({ ...doing, machine: doing.machine === c ? c : a })
}

const consentAnew = async (doing: Doing): Promise<void> => {
  const connections = await line(doing, ['codehost', 'connections'])
  if (connections.status !== 0) return
  const { at: { first: { id } } } = doing
  const rows = connections.json<readonly { id: string; revision: number }[]>()
  await line(doing, ['codehost', 'consent', id, '--acknowledge', '--action', 'issue.create',
    'comment.create', 'git.object.create', 'git.ref.create', 'pull_request.create',
    '--expected-revision', String(rows.find((row) => row.id === id)?.revision)])
}

/** The policy as it is now: revision numbers are what each save expects. */
const revisionOf = async (doing: Doing): Promise<string | null> => {
  const shown = await line(doing, ['alpha', 'show'])
  return shown.status === 0 ? String(shown.json().policy_revision) : null
}

/** What a person goes on with behind a revoke. */
const granted: Operation = async (doing) => {
  const { at: { machines: [a, b] }, notes } = doing
  if (notes.isGranted) return
  const on = { ...doing, machine: a }
  const revision = await revisionOf(on)
  if (revision === null) return
  for (const quiet of notes.quiet) quiet.untilMs ??= systemClock.monotonicMs()
  const words = setupFlags(a.place, Number(revision), roomy).filter((word) => word !== '--json')
  const set = await line(on, words)
  notes.isGranted = set.status === 0
  for (const flags of [
    slotFlags('screenshot', 'gateway.vision'),
    slotFlags('report', 'gateway.report', 'gateway.digest'),
  ]) {
    const now = await revisionOf(on)
    if (now === null) return
    await line(on, ['gateway', 'setup', ...flags, '--acknowledge-cloud-egress',
      '--expected-policy-revision', now])
  }
  await consentAnew(on)
  await line({ ...doing, machine: b },
    ['alpha', 'acknowledge', '--acknowledge-plaintext-egress'])
}

const grant: Operation = (doing) => doing.notes.inTurn(() => granted(doing))

const revoke: Operation = async (doing) => {
  const { notes } = doing
  if (!notes.isGranted) return grant(doing)
  await notes.inTurn(async () => {
    notes.isGranted = false
    const { status } = await line(doing, ['policy', 'revoke'])
    if (status === 0) notes.quiet.push({ sinceMs: systemClock.monotonicMs(), untilMs: null })
  })
  if (doing.chance.next() < 0.5) await ask(doing)
}

/** The line of a login. */
export const loginLine = ({ first }: Attacked, { owner }: Machine): readonly string[] => [
  'login', '--owner', owner,
  ...owner === 'other' ? ['--passphrase-file', first.place.path('passphrase')] : [],
]

const login: Operation = async (doing) => {
  await line(doing, ['logout'])
  await line(doing, loginLine(doing.at, doing.machine))
}

let kept = 0

const care: Operation = async (doing) => {
  const what = doing.chance.below(6)
  if (what === 0) {
    const folder = doing.machine.place.path(`kept-${kept += 1}`)
    if ((await line(doing, ['state', 'backup', folder])).status !== 0) return
    const verified = await line(doing, ['state', 'verify', folder])
    if (verified.status !== 0 && !verified.wasKilled) {
      doing.notes.break(`a backup does not verify: ${verified.stderr.slice(0, 300)}`)
    }
  } else if (what === 1) await line(doing, ['state', 'prune', '--older-than', '1d', '--yes'])
  else if (what === 2) await line(doing, ['state', 'compact'])
  else if (what === 3) await line(doing, ['machine', 'list'])
  else if (what === 4) await line(doing, ['doctor'])
  else await line(doing, ['state', 'check'])
}

let joins = 0

/** A machine that comes, asks and is retired while it asks; then it sends nothing more. */
const comeAndGo: Operation = async (doing) => {
  const { at: { first, machines: [a], further }, notes } = doing
  const name = `d${joins += 1}`
  const file = first.place.path(`${name}.invite`)
  const secret = first.place.write('invite.pw', 'goes by another way\n')
  const on = { ...doing, machine: a }
  const invited = await line(on, ['machine', 'invite', name, '--to', file, '--passphrase-file',
    secret])
  if (invited.status !== 0) return
  const machine = await further(name)
  machine.app = a.app
  const there = { ...doing, machine }
  const came = await line(there, ['machine', 'join', file, '--passphrase-file', secret])
  if (came.status === 0 && (await line(there, ['login', '--owner', 'operator'])).status === 0) {
    const sent = newAsk(there)
    const [ran, gone] = await Promise.all([
      askOnce(there, sent.key, sent.name), line(on, ['machine', 'retire', name, '--yes']),
    ])
    sent.answered = ran.status === 0
    if (gone.status !== 0) return
    const late = newAsk(there)
    if ((await askOnce(there, late.key, late.name)).status === 0) {
      notes.break('a machine that was retired asked')
    }
    notes.never.push(late.name)
  } else await line(on, ['machine', 'retire', name, '--yes'])
}

/** Operations and how often each is drawn. */
const drawn: readonly (readonly [number, Operation])[] = [
  [26, ask], [6, askTwice], [3, askByOlder], [10, goal], [7, settle], [9, shots], [5, prove],
  [12, host], [6, revoke], [4, login], [10, care], [2, comeAndGo],
]

/** Does something. */
export const doSomething = async (doing: Doing): Promise<void> => {
  const { notes, chance } = doing
  if (!notes.isGranted && chance.next() < 0.25) return grant(doing)
  let left = chance.below(drawn.reduce((sum, [often]) => sum + often, 0))
  for (const [often, operation] of drawn) {
    if (left < often) return operation(doing)
    left -= often
  }
}
