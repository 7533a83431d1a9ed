/** What each verb does while nobody answers for a state that machines share. */
import type { Place } from '../../world/place.js'

/**
 * - `shows`: answers from the replica, as it did while the server was there; on a terminal it says
 *   how old that is;
 * - `here`: needs no more than files of this machine: as ever;
 * - `apart`: opens no state that is there, or asks a person first: not run here;
 * - `refuses`: `place_unreachable` (11), with nothing sent and nothing changed;
 * - `stops`: in force on this machine at once, and `stop_out_of_reach` (11);
 * - `says`: tells of the server by itself.
 */
export type AwayRule = 'shows' | 'here' | 'apart' | 'refuses' | 'stops' | 'says'

/** Ids of what the state holds. */
export interface Held {
  readonly goal: string
  readonly task: string
  readonly operation: string
  readonly audit: string
  readonly image: string
  readonly connection: string
  readonly job: string
  readonly preview: string
  readonly otherSession: string
}

/** A verb, what stands behind its words, and what it does. */
export type AwayRow = readonly [rule: AwayRule, words: readonly string[]]

const shows = (...words: readonly string[]): AwayRow => ['shows', words]
const here = (...words: readonly string[]): AwayRow => ['here', words]
const apart: AwayRow = ['apart', []]
const refuses = (...words: readonly string[]): AwayRow => ['refuses', words]
const stops = (...words: readonly string[]): AwayRow => ['stops', words]
const says = (...words: readonly string[]): AwayRow => ['says', words]

const people = ({ otherSession }: Held): Readonly<Record<string, AwayRow>> => ({
  login: refuses('--replace'),
  logout: stops(),
  'session show': shows(), 'session list': shows(), 'session revoke': stops(otherSession),
  'principal add': refuses('bob', '--passphrase-file', 'passphrase'),
  'principal list': shows(),
  'principal disable': stops('eve', '--yes'), 'principal enable': refuses('eve'),
})

const board = ({ goal, task, operation, audit }: Held): Readonly<Record<string, AwayRow>> => ({
  'goal add': refuses('Read'), 'goal list': shows(), 'goal show': shows(goal),
  'goal update': refuses(goal, '--title', 'Write', '--expected-revision', '1'),
  'goal close': refuses(goal, '--expected-revision', '1'),
  'task list': shows(), 'task show': shows(task), 'task review': refuses(task, '--approve'),
  'task cancel': refuses(task), 'task recover': refuses('--all'), 'task close': refuses(task),
  'ledger show': shows(), 'ledger reservations': shows('--all'),
  'ledger review': refuses(operation, '--accept'),
  'ledger settle': refuses(operation, '--amount-microusd', '1', '--yes'),
  'audit list': shows(), 'audit show': shows(audit), explain: shows(task),
  'policy show': shows(), 'policy history': shows(), 'policy revoke': stops(),
  'receipt export': shows(task), 'receipt key': shows(), 'receipt verify': here('none.json'),
})

const routes = ({ task }: Held): Readonly<Record<string, AwayRow>> => ({
  'alpha setup': refuses('--disable'),
  'alpha acknowledge': refuses('--acknowledge-plaintext-egress'),
  'alpha show': shows(), 'alpha ask': refuses('-'), 'alpha output': shows(task),
  'alpha tasks': shows(), 'alpha task': shows(task), 'alpha review': refuses(task, '--approve'),
  'alpha cancel': refuses(task), 'alpha inputs': shows(), 'alpha drop': refuses('art_x'),
  'gateway setup': refuses('--disable'), 'gateway show': shows(),
  'gateway prove': refuses('screenshot'),
  'config show': shows(), 'config save': refuses('--from', 'config.json'),
})

const screenshots = ({ image }: Held): Readonly<Record<string, AwayRow>> => ({
  'shots setup': apart, 'shots config': refuses('set', '--analysis', 'off'),
  'shots scan': refuses(), 'shots watch': refuses(), 'shots run': refuses('--once'),
  'shots day': shows(), 'shots estimate': shows(), 'shots analyze': refuses(),
  'shots reanalyze': refuses(image, '--reason', 'manual_operator_request'),
  'shots list': shows(), 'shots show': shows(image), 'shots explain': shows('a.png'),
  'shots find': shows('anything'), 'shots clear-stale': refuses(), 'shots status': shows(),
  'shots digest': refuses(), 'shots digests': shows(), 'shots report': shows(),
})

const devices: Readonly<Record<string, AwayRow>> = {
  'edge pair': refuses('--file', 'pairing.txt'), 'edge list': shows(),
  'edge revoke': refuses('edge_dev_01890000-0000-7000-8000-000000000000'),
  'edge artifacts': shows(), 'edge show': shows('edge_art_01890000-0000-7000-8000-000000000000'),
  'edge capture': here('none.png'), 'edge daemon': here('--once'),
}

const host = (held: Held): Readonly<Record<string, AwayRow>> => {
  const { connection, job, preview } = held
  const expected = ['--expected-revision', '1']
  return {
    'codehost connect': refuses('--repo', 'operator/other', '--token-file', 'token'),
    'codehost connections': shows(), 'codehost mode': stops(connection, 'disabled'),
    'codehost disconnect': refuses(connection),
    'codehost consent': refuses(
      connection, '--action', 'issue.create', '--acknowledge', ...expected),
    'codehost grants': shows(), 'codehost revoke': stops(connection),
    'codehost publish': refuses(job, '--preview-digest', preview),
    'codehost prepare': refuses(
      'issue', '--connection', connection, '--title', 'x', '--body-file', 'config.json'),
    'codehost preview': shows(job), 'codehost approve': refuses(job, '--preview-digest', preview),
    'codehost run': refuses(job), 'codehost resume': refuses(job), 'codehost jobs': shows(),
    'codehost job': shows(job), 'codehost cancel': refuses(job),
    'codehost recover reconcile': refuses(job, '--expected-read-revision', '1'),
    'codehost recover adopt': refuses(job),
    'codehost close-capacity': refuses(
      job, '--acknowledged-capacity-close', '--expected-job-revision', '1',
      '--expected-connection-revision', '1', '--expected-connection-fence', '1'),
    'codehost recover closures': shows(), 'codehost recover inspect': shows(job),
    'codehost recover discard': shows(job),
    'codehost recover observe': refuses(
      job, '--acknowledged-closure-observation', '--expected-read-revision', '1'),
    'codehost recover verify': here('config.json'),
  }
}

const care: Readonly<Record<string, AwayRow>> = {
  setup: apart, init: here(), status: shows(), doctor: says(),
  'machine list': refuses(), 'machine join': here('none.invite'),
  'machine invite': refuses('c', '--to', 'c.invite', '--passphrase-file', 'passphrase'),
  'machine retire': refuses('b', '--yes'),
  'state path': here(), 'state check': shows(), 'state repair': shows(),
  'state backup': says('kept'), 'state verify': here('none'),
  'state restore': here('none', '--yes'), 'state compact': refuses(),
  'state export': shows('--jsonl'),
  'state kept': here(), 'state keys': shows(),
  'state prune': refuses('--older-than', '30d', '--yes'),
  'state share': refuses('postgres://ops@127.0.0.1/sallyport', '--yes'),
  'state unshare': refuses('--yes'), 'state accept-server': refuses('--yes'),
  'state destroy': refuses('--acknowledged-destroy', 'state'),
}

const others: Readonly<Record<string, AwayRow>> = {
  'at add': here('other', 'other'), 'at list': here(), 'at remove': here('other'),
  'timers install': here('--dry-run'), 'timers remove': here(), 'timers show': here(),
  serve: refuses(), 'sandbox start': apart, 'sandbox stop': apart, 'sandbox status': apart,
  'sandbox fault': apart, 'sandbox faults': apart, 'sandbox samples': apart, demo: apart,
  schema: apart, completion: apart, help: here('shared'),
}

/** Every verb. */
export const awayRows = (held: Held): Readonly<Record<string, AwayRow>> => ({
  ...people(held), ...board(held), ...routes(held), ...screenshots(held), ...devices,
  ...host(held), ...care, ...others,
})

/** Files that lines name. */
export const awayFiles = (place: Pick<Place, 'write'>): void => {
  place.write('passphrase', 'correct horse battery\n')
  place.write('config.json', '{}')
  place.write('token', 'none')
}
