/**
 * What each verb that reads may ask of the disk and of Node at most: the one table of it. A figure
 * that a change lowers is lowered here; one that a change raises needs a reason that is worth it.
 */

/** What a process asked for. */
export interface Counts {
  /** Public modules of Node that the program loaded. */
  readonly builtins: number
  /** Files of the program that were read. */
  readonly modules: number
  readonly syncs: number
  readonly renames: number
  /** Reads of files of the state. */
  readonly reads: number
  /** What they gave. */
  readonly bytes: number
}

/** Reads of files of the state, and thousands of bytes. */
type Read = readonly [reads: number, kilobytes: number]

/** A line, and its ceilings. */
export interface Ceiling {
  /** `{task}` and the like stand for a row of the state, or for none where it has none. */
  readonly line: string
  readonly program: Pick<Counts, 'builtins' | 'modules' | 'syncs' | 'renames'>
  /** Over a state with a session and nothing else. */
  readonly empty: Read
  /** Over one of 100,000 images or fewer, whose order of capture is not that of their ids. */
  readonly full: Read
  /** Counted in every run. */
  readonly always: boolean
}

const of = (
  line: string, [builtins, modules, syncs, renames]: readonly [number, number, number, number],
  empty: Read, full: Read, when?: 'always',
): Ceiling => ({
  line, program: { builtins, modules, syncs, renames }, empty, full, always: when === 'always',
})

/**
 * Every verb that reads: line; modules of Node, files of the program, syncs and renames; reads and
 * kilobytes of a state of nothing, and of a full one. One module of Node reads the compiled
 * code: the program as text, which a file of tests by itself runs, has one less.
 */
export const ceilings: readonly Ceiling[] = [
  of('session show', [7, 117, 0, 1], [11, 20], [28, 650]),
  of('session list', [7, 117, 0, 1], [11, 20], [2715, 2000]),
  of('session list --limit 50', [7, 117, 0, 1], [11, 20], [99, 750]),
  of('session list --all --limit 50', [7, 117, 0, 1], [10, 20], [97, 700]),
  of('principal list', [7, 116, 0, 1], [10, 20], [34, 950]),
  of('goal list', [7, 112, 0, 1], [10, 20], [38, 1000]),
  of('goal show {goal}', [7, 112, 0, 1], [10, 20], [32, 900]),
  of('alpha show', [7, 126, 0, 1], [10, 20], [42, 1200]),
  of('alpha output {task}', [7, 176, 0, 1], [10, 20], [34, 800]),
  of('alpha tasks', [7, 173, 0, 1], [10, 20], [52, 1200]),
  of('alpha task {task}', [7, 176, 0, 1], [12, 20], [39, 950]),
  of('alpha inputs', [7, 124, 0, 1], [10, 20], [26, 650]),
  of('receipt export {task}', [7, 157, 0, 1], [10, 20], [36, 900]),
  of('receipt key', [7, 142, 0, 0], [7, 20], [8, 100]),
  of('gateway show', [7, 142, 0, 1], [10, 20], [43, 1200]),
  of('shots config show', [7, 172, 0, 1], [11, 20], [49, 1300]),
  of('shots list', [7, 177, 0, 0], [7, 20], [138, 3400]),
  of('shots list --limit 10000', [7, 177, 0, 0], [7, 20], [7884, 125400], 'always'),
  of('shots list --status blocked --since 2026-11-20T12:00Z',
    [7, 172, 0, 0], [7, 20], [147, 3600]),
  of('shots show {image}', [7, 181, 0, 1], [10, 20], [41, 1100]),
  of('shots show {text} --analysis', [7, 181, 0, 1], [10, 20], [45, 1200]),
  of('shots explain x.png', [7, 169, 0, 0], [7, 20], [30, 850]),
  of('shots find harbour', [7, 161, 0, 1], [9, 20], [110, 2000], 'always'),
  of('shots find nowhere --since 2026-11-20T12:00Z',
    [7, 159, 0, 1], [10, 20], [110, 2000], 'always'),
  of('shots status', [7, 187, 0, 0], [8, 20], [60, 1750]),
  // As the log is folded there is a run more at times: filter and index of it are 96 kB.
  of('shots digests', [7, 175, 0, 0], [7, 20], [11, 250]),
  of('shots report --since 2026-11-20T10:00Z --until 2026-11-20T12:00Z',
    [7, 213, 0, 0], [8, 20], [4162, 66900]),
  // A day before and behind it, too, as of a report: no row says how long a run was let be.
  of('shots day 2026-11-20 --from 10:00 --to 12:00', [7, 187, 0, 0], [7, 20], [3300, 53000]),
  of('edge list', [7, 119, 0, 1], [9, 20], [33, 900]),
  of('edge artifacts', [7, 119, 0, 1], [9, 20], [33, 900]),
  of('codehost connections', [7, 175, 0, 1], [9, 20], [34, 950]),
  of('codehost grants', [7, 142, 0, 1], [9, 20], [33, 900]),
  of('codehost jobs', [7, 187, 0, 1], [10, 20], [34, 950]),
  of('codehost recover closures', [7, 137, 0, 0], [9, 20], [33, 900]),
  of('config show', [7, 160, 0, 1], [11, 20], [45, 1200]),
  of('task list', [7, 167, 0, 1], [9, 20], [51, 1100]),
  of('task list --state failed --limit 10', [7, 167, 0, 1], [9, 20], [59, 1300]),
  of('task show {task}', [7, 170, 0, 1], [10, 20], [39, 950]),
  of('policy show', [7, 119, 0, 1], [10, 20], [34, 900]),
  of('policy history', [7, 122, 0, 1], [10, 20], [30, 700]),
  of('ledger show', [7, 163, 0, 1], [9, 20], [36, 950]),
  of('ledger reservations', [7, 163, 0, 1], [9, 20], [30, 750]),
  of('ledger reservations --all', [7, 163, 0, 1], [9, 20], [37, 800]),
  of('audit list', [7, 118, 0, 1], [10, 20], [41, 1000]),
  of('audit list --what session', [7, 118, 0, 1], [9, 20], [41, 1000]),
  of('audit show {row}', [7, 118, 0, 1], [9, 20], [37, 950]),
  of('at list', [7, 54, 0, 0], [0, 0], [0, 0]),
  of('status', [7, 229, 0, 0], [8, 20], [51, 1400]),
  of('explain {task}', [7, 166, 0, 0], [12, 20], [62, 1300]),
  of('explain {image}', [7, 194, 0, 0], [12, 20], [62, 1300]),
  of('explain {row}', [7, 166, 0, 0], [12, 20], [62, 1300]),
  of('explain 1a2b3c4d', [7, 220, 0, 0], [12, 20], [62, 1300]),
  of('state path', [7, 107, 0, 0], [0, 0], [0, 0]),
  of('state kept', [7, 116, 0, 0], [0, 0], [0, 0]),
  of('state keys', [7, 114, 0, 1], [9, 20], [33, 900]),
  of('doctor', [9, 219, 0, 0], [10, 20], [45, 1300]),
  of('timers show', [11, 148, 0, 0], [8, 20], [43, 1200]),
  of('schema', [26, 501, 0, 0], [0, 0], [0, 0]),
  of('completion bash', [26, 490, 0, 0], [0, 0], [0, 0]),
  of('help', [24, 253, 0, 0], [0, 0], [0, 0]),
]

const acts = 'changes something: what it costs is its records'
const contacts = 'waits for somebody else'
const whole = 'reads everything, which is what it is for'
const folder = 'looks through a folder of pictures'
const stays = 'stays, or starts what stays'
const rare = 'needs a row that is rare'

const named = (reason: string, names: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.split(', ').map((name) => [name, reason]))

/** Every other verb, and why it has no ceilings. */
export const uncounted: Readonly<Record<string, string>> = {
  ...named(acts, 'setup, init, login, logout, session revoke, principal add, principal disable, '
    + 'principal enable, goal add, goal update, goal close, alpha setup, alpha acknowledge, '
    + 'alpha review, alpha cancel, alpha drop, gateway setup, shots setup, shots clear-stale, '
    + 'edge pair, edge revoke, codehost connect, codehost mode, codehost disconnect, '
    + 'codehost consent, codehost revoke, codehost prepare, codehost approve, codehost cancel, '
    + 'codehost recover adopt, codehost recover discard, config save, task review, task cancel, '
    + 'task recover, '
    + 'task close, policy revoke, ledger review, ledger settle, state repair, state restore, '
    + 'state compact, state prune, state destroy, timers install, timers remove, at add, '
    + 'at remove, machine invite, machine join, machine retire, state share, state unshare, '
    + 'state accept-server'),
  ...named(contacts, 'alpha ask, gateway prove, shots run, shots analyze, shots reanalyze, '
    + 'shots digest, codehost preview, codehost run, codehost resume, codehost recover reconcile, '
    + 'codehost close-capacity, codehost recover observe, codehost publish, machine list'),
  ...named(whole, 'state check, state backup, state verify, state export'),
  ...named(folder, 'shots scan, shots watch, shots estimate, edge capture'),
  ...named(stays, 'serve, edge daemon, demo, sandbox start, sandbox stop, sandbox status, '
    + 'sandbox fault, '
    + 'sandbox faults, sandbox samples'),
  ...named(rare, 'edge show, codehost job, codehost recover inspect, codehost recover verify, '
    + 'receipt verify'),
}

/** What a run of a line asked for more than it may, one line each. */
export const overCeiling = (
  { line, program, ...reading }: Ceiling, kind: 'empty' | 'full', counts: Counts,
): readonly string[] => {
  const [reads, kilobytes] = reading[kind]
  const most: Counts = { ...program, reads, bytes: kilobytes * 1_000 }
  return (Object.keys(most) as (keyof Counts)[])
    .filter((name) => counts[name] > most[name])
    .map((name) => `${line}: ${name} ${counts[name]} of ${most[name]}`)
}
