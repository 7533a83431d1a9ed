/** The table of states in docs/dev/codehost.md, and which jobs each of its rows is about. */
import { readFileSync } from 'node:fs'
import { followThroughKind } from '../../../src/codehost/jobs/kinds.js'
import type { Job } from '../../../src/codehost/jobs/job-rows.js'

/** One row of the page. */
export interface StateRow {
  readonly state: string
  readonly connection: 'free' | 'occupied' | 'occupied for good'
  /** Commands that its way on names, without `codehost`. */
  readonly commands: readonly string[]
}

const connections: readonly StateRow['connection'][] = ['free', 'occupied', 'occupied for good']

const isConnection = (text: string): text is StateRow['connection'] =>
  (connections as readonly string[]).includes(text)

/** The verb of a way on, by its words behind `codehost`; going on with a run is one of its own. */
export const verbOfWay = (words: string): string => (/ --resume\b/.test(words)
  ? 'resume' : /^(?:recover )?([a-z-]+)/.exec(words)?.[1] ?? '')

/** Every row, in the order of the page. */
export const stateRows = (): readonly StateRow[] => {
  const page = readFileSync('docs/dev/codehost.md', 'utf8')
  const table = page.slice(page.indexOf('| state | what it means | connection | way on |'))
  return table.slice(0, table.indexOf('\n\n')).split('\n').slice(2).map((line) => {
    const [, state = '', , connection = '', way = ''] = line.split(' |').map((cell) =>
      cell.replace(/^\|? ?/, '').trim()).reduce<string[]>((all, cell) => [...all, cell], [''])
    if (!isConnection(connection)) throw new Error(`a row of another form: ${line}`)
    return {
      state, connection,
      commands: [...way.matchAll(/`(?:codehost )?([a-z-]+(?: [A-Za-z-]+)*)`/g)]
        .map(([, words = '']) => verbOfWay(words)),
    }
  })
}

const sentAll = ({ created, plan }: Job): boolean => created === plan.effects

/** Of local work that somebody looked at, without a proof of its end. */
const isJudged = (reason: string | null): boolean => reason?.startsWith('producer_') === true

/** Which jobs a row is about, by the rows of the job alone; `succeeded` needs its task besides. */
export const rowIsOf: Readonly<Record<string, (job: Job) => boolean>> = {
  '`prepared`': ({ state }) => state === 'prepared',
  '`approved`': ({ state }) => state === 'approved',
  '`running`': ({ state }) => state === 'running',
  '`succeeded`': ({ state }) => state === 'succeeded',
  '`succeeded`, read back after its run': () => false,
  '`blocked`, nothing sent or begun': ({ state, reason, reserved, contacted }) =>
    state === 'blocked' && contacted === 0 && !reserved && reason !== 'records_unread',
  '`blocked`, `records_unread`': ({ state, reason }) =>
    state === 'blocked' && reason === 'records_unread',
  '`blocked`, `interrupted_after_spawn`': ({ state, reason, contacted, reserved }) =>
    state === 'blocked' && contacted === 0 && reserved && !isJudged(reason),
  '`blocked`, `producer_…`': ({ state, reason, contacted, reserved }) =>
    state === 'blocked' && contacted === 0 && reserved && isJudged(reason),
  '`blocked`, sent in part': (job) => job.state === 'blocked' && job.contacted > 0
    && !sentAll(job) && !['cancelled_by_owner', 'remote_taken'].includes(job.reason ?? ''),
  '`blocked`, `cancelled_by_owner`': ({ state, reason, contacted }) =>
    state === 'blocked' && contacted > 0 && reason === 'cancelled_by_owner',
  '`blocked`, `remote_taken`': ({ state, reason, contacted }) =>
    state === 'blocked' && contacted > 0 && reason === 'remote_taken',
  '`blocked`, all sent': (job) => job.state === 'blocked' && job.contacted > 0 && sentAll(job)
    && !['cancelled_by_owner', 'remote_taken'].includes(job.reason ?? ''),
  '`unknown_external_effect`': ({ state, remote, contacted, plan }) =>
    state === 'unknown_external_effect' && contacted > 0
    && (remote !== null || contacted < plan.effects),
  '`unknown_external_effect`, no number': ({ state, remote, contacted, plan }) =>
    state === 'unknown_external_effect' && remote === null && contacted === plan.effects,
  '`unknown_external_effect`, put back': ({ state, contacted }) =>
    state === 'unknown_external_effect' && contacted === 0,
  '`failed`, refused': ({ state, reserved }) => state === 'failed' && reserved,
  '`failed`, nothing sent': ({ state, reserved }) => state === 'failed' && !reserved,
  '`cancelled`': ({ state, reason }) => state === 'cancelled' && reason !== 'records_unread',
  '`cancelled`, `records_unread`': ({ state, reason }) =>
    state === 'cancelled' && reason === 'records_unread',
  closed: () => false,
}

/** The row of the page that a job is in; throws where it is in none or in several. */
export const rowOf = (job: Job, rows: readonly StateRow[]): StateRow => {
  const found = job.closed !== null ? rows.filter(({ state }) => state === 'closed')
    : rows.filter(({ state }) => rowIsOf[state]?.(job) === true)
  const [row, another] = found
  if (row === undefined || another !== undefined) {
    throw new Error(`${found.length} rows are of ${job.state} (${job.reason})`)
  }
  return row
}

/** Whether a job is an issue or a comment. */
export const isFollow = ({ native_kind: kind }: Job): boolean => kind === followThroughKind
