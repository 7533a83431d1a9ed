/**
 * The books behind an attack: of each machine, of the server and of the providers. What does not
 * fit together is told in sentences.
 */
import { createHash } from 'node:crypto'
import { collections, type Reservation } from '../../../src/governance/rows.js'
import { verifyLedger } from '../../../src/governance/ledger/verify-ledger.js'
import { firstChain } from '../../../src/state/log/format.js'
import { decodePayload } from '../../../src/state/log/record.js'
import type { PlacedStore } from '../../../src/state/place/placed-store.js'
import { openStore } from '../../../src/state/store.js'
import type { View } from '../../../src/state/types.js'
import type { SeenRequest } from '../../../src/sandbox/types.js'
import { reckon } from '../soak/reckoning.js'
import { until } from '../until.js'
import type { Attacked, Machine } from './attacked.js'
import type { Notes, Sent } from './notes.js'
import { loginLine, seen } from './operations.js'

/** Between the answer of a revoke and what left before it, as the provider counts, ms. */
const slackMs = 1_000

const twice = (names: readonly string[]): readonly string[] => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > 1).map(([name]) => name)
}

const reservationOf = (view: View, key: string | null): Reservation | undefined => {
  const id = view.get(collections.idempotency, key ?? '')?.task_id ?? ''
  const task = view.get(collections.openTasks, id) ?? view.get(collections.closedTasks, id)
  const operation = task?.operation_id ?? ''
  return view.get(collections.openReservations, operation)
    ?? view.get(collections.closedReservations, operation)
}

const manual = (view: View, { row_ids: ids }: Reservation): boolean =>
  ids.some((id) => view.get(collections.ledgerRows, id)?.kind === 'manual_settle')

const ofAsk = (view: View, sent: number, { name, key, answered }: Sent): readonly string[] => {
  const row = reservationOf(view, key)
  const state = row?.state ?? 'nothing held'
  const fits = sent === 1 ? ['settled', 'unknown'] : ['nothing held', 'released', 'unknown']
  const wasSettledByHand = row !== undefined && state === 'settled' && manual(view, row)
  const say = (ok: boolean, what: string): string[] => (ok ? [] : [`${name}: ${what}`])
  return [
    ...say(sent <= 1, `${sent} requests`),
    ...say(fits.includes(state) || wasSettledByHand, `${sent} sent and ${state}`),
    ...say(!answered || (sent === 1 && state === 'settled'), `answered, ${sent} sent, ${state}`),
  ]
}

const bodiesOf = (requests: readonly SeenRequest[]): readonly string[] =>
  requests.map(({ body }) => body.toString('utf8'))

/** How often each text came there. */
const timesIn = (
  bodies: readonly string[], names: readonly string[],
): ReadonlyMap<string, number> =>
  new Map(names.map((name) => [name, bodies.filter((body) => body.includes(name)).length]))

const ofProvider = ({ first }: Attacked, notes: Notes, view: View): readonly string[] => {
  const requests = first.inferences()
  const times = timesIn(bodiesOf(requests), notes.asks.map(({ name }) => name))
  const known = [...times.values()].reduce((sum, count) => sum + count, 0)
  return [
    ...notes.asks.flatMap((sent) => ofAsk(view, times.get(sent.name) ?? 0, sent)),
    ...(known === requests.length ? [] : ['the provider saw a question that nobody asked']),
    ...notes.never.filter((name) => (times.get(name) ?? 0) > 0)
      .map((name) => `${name} left a machine that had been retired`),
  ]
}

const reservationsIn = (view: View): readonly Reservation[] =>
  [...view.all(collections.openReservations), ...view.all(collections.closedReservations)]
    .map(({ doc }) => doc)

const ofGateway = ({ first }: Attacked, view: View): readonly string[] => {
  const completions = first.calls().filter(({ route }) => route === 'completion')
  const rows = reservationsIn(view).filter(({ runtime }) => runtime === 'gateway_route')
  const paid = rows.filter(({ state }) => state === 'settled' || state === 'unknown')
  const read = rows.filter((row) => row.state === 'settled' && !manual(view, row))
  const images = completions.filter(({ body }) => body.includes('svc_screenshot_analysis_v1'))
    .map(({ bodySha256 }) => bodySha256)
  return [
    ...(completions.length <= paid.length ? []
      : [`${completions.length} requests to the gateway and ${paid.length} rows of them`]),
    ...(read.length <= completions.length ? []
      : [`${read.length} settled rows of ${completions.length} requests to the gateway`]),
    ...twice(images).map(() => 'an image was sent twice'),
  ]
}

const ofHost = ({ first }: Attacked, notes: Notes): readonly string[] => {
  const posts = first.posts()
  const created = new Set(['issue_create', 'comment_create', 'pull_create'])
  const times = timesIn(bodiesOf(posts.filter(({ route }) => created.has(route))),
    notes.effects.map(({ name }) => name))
  return [
    ...twice(posts.map(({ path, bodySha256 }) => `${path} ${bodySha256}`))
      .map((what) => `twice at the code host: ${what}`),
    ...notes.effects.filter(({ name, answered }) => answered && (times.get(name) ?? 0) < 1)
      .map(({ name }) => `${name} was answered and did not leave`),
  ]
}

/** Nothing that is paid for or writes left while nothing might. */
const ofQuiet = ({ first }: Attacked, { quiet }: Notes): readonly string[] => {
  const leaving = [
    ...first.inferences(), ...first.calls().filter(({ route }) => route === 'completion'),
    ...first.posts(),
  ]
  return quiet.flatMap(({ sinceMs, untilMs }) => leaving
    .filter(({ receivedAtMs: at }) => at > sinceMs + slackMs && at < (untilMs ?? Infinity))
    .map(({ path, receivedAtMs }) =>
      `${path} left ${Math.round(receivedAtMs - sinceMs)} ms after a revoke had answered`))
}

const ofMoney = (view: View): readonly string[] => {
  const [account] = view.all(collections.ledgerAccounts)
  if (account === undefined) return ['there is no ledger']
  const { settled_microusd: settled, held_microusd: held, unknown_microusd: unknown,
    ceiling_microusd: ceiling } = account.doc
  const rows = view.all(collections.ledgerRows).map(({ doc }) => doc)
  const of = (...kinds: string[]) => rows.filter(({ kind }) => kinds.includes(kind))
    .map(({ operation_id: id }) => id)
  return [
    ...verifyLedger(view).map((problem) => JSON.stringify(problem)),
    ...(settled + held + unknown <= ceiling ? [] : ['more is spent than the ceiling']),
    ...(held === 0 ? [] : ['a hold is left']),
    ...twice(of('settle', 'manual_settle')).map((id) => `${id} was settled twice`),
    ...twice(of('reserve')).map((id) => `${id} was reserved twice`),
    ...twice(of('contact')).map((id) => `${id} was contacted twice`),
  ]
}

interface Row { sequence: string, link: Buffer, body: Buffer }

/** The whole chain at the server, opened by one machine's key; and every blob. */
const ofServer = async ({ server, first }: Attacked): Promise<readonly string[]> => {
  const { stateDir: dir, configDir } = first.place
  const store = openStore({ dir, configDir, mode: 'read' }) as PlacedStore
  try {
    const all = await server.query<Row>(
      'select sequence, link, body from sallyport.records where store = $1 order by sequence',
      [store.storeId])
    const records = all.map(({ sequence, ...rest }) => ({ sequence: Number(sequence), ...rest }))
    const opened = store.seal.open(records.slice(1),
      { sequence: 0, chain: firstChain(store.storeId) }, store.replica.generation.binding)
    const puts = opened.flatMap(({ payload }) => decodePayload(payload)?.ops ?? [])
      .filter(([name, , , doc]) => name === 'ledger_rows' && doc !== undefined)
      .map(([, , id]) => id)
    store.read()
    return [
      ...twice(puts).map((id) => `the ledger row ${id} was written twice`),
      ...(store.replica.end.chain === opened.at(-1)?.chain ? []
        : ['a replica does not end where the server does']),
      ...await ofBlobs(server),
    ]
  } catch (error) {
    return [`the chain at the server: ${String(error)}`]
  } finally {
    store.close()
  }
}

const ofBlobs = async (server: Attacked['server']): Promise<readonly string[]> => {
  const names = await server.query<{ name: string; attempt: string; pieces: number }>(
    'select name, attempt, pieces from sallyport.blob_names')
  const wrong: string[] = []
  for (const { name, attempt, pieces } of names) {
    const rows = await server.query<{ body: Buffer }>(
      'select body from sallyport.blobs where name = $1 and attempt = $2 order by piece',
      [name, attempt])
    const sum = createHash('sha256')
    for (const { body } of rows) sum.update(body)
    if (rows.length !== pieces || sum.digest('hex') !== name) wrong.push(`the blob ${name}`)
  }
  return wrong
}

const mustRun = async (machine: Machine, argv: readonly string[]) => {
  const ran = await machine.run(argv)
  if (ran.status === 0) return ran.json()
  throw new Error(`${machine.name}: ${argv.join(' ')} ended with ${ran.status}: ${ran.stderr}`)
}

/** Every replica has all that there is, its leftovers are resolved, and all of them agree. */
const ofMachines = async (at: Attacked): Promise<readonly string[]> => {
  const { server, machines } = at
  await until('the leases are over', async () => (await server.query(
    'select from sallyport.leases where ends > clock_timestamp()')).length === 0)
  for (const machine of machines) {
    // A login may have been cut off behind the end of the session before it.
    const { status } = await machine.run(['goal', 'add', 'first'])
    if (status === 4) await mustRun(machine, loginLine(at, machine))
  }
  for (const machine of machines) await mustRun(machine, ['goal', 'add', `of ${machine.name}`])
  for (const machine of machines) await mustRun(machine, ['machine', 'list'])
  const ledgers = await Promise.all(machines.map((one) => mustRun(one, ['ledger', 'show'])))
  const wrong: string[] = []
  if (new Set(ledgers.map((one) => JSON.stringify(one))).size > 1) wrong.push('ledgers differ')
  for (const machine of machines) {
    const { ok, problems } = (await machine.run(['state', 'check'])).json()
    if (ok !== true) wrong.push(`state check of ${machine.name}: ${JSON.stringify(problems)}`)
  }
  return wrong
}

/** Judges everything, once nothing is attacked any more. */
export const judgeBooks = async (at: Attacked, notes: Notes): Promise<readonly string[]> => {
  const ofAll = await ofMachines(at)
  const views = at.machines.map((machine) => seen(machine, (view) => [
    ...ofProvider(at, notes, view), ...ofGateway(at, view), ...ofMoney(view),
    ...reckon({
      kind: 'goals', ...notes.goals, found: view.all(collections.goals)
        .map(({ doc }) => doc.title).filter((title) => title.startsWith('Goal ')),
    }),
  ]))
  return [...new Set([
    ...ofAll, ...views.flat(), ...ofHost(at, notes), ...ofQuiet(at, notes), ...await ofServer(at),
  ])]
}
