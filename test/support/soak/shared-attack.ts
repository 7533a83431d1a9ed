/**
 * Operations of three machines and more on one shared state, while chance strikes the ways to its
 * server, the server, processes and providers, and one machine after another gets a program that
 * writes more. In between, and at the end, the books of machines, server and providers are
 * compared. `npm run soak -- OPERATIONS shared-attack`; `--seed N` makes the same choices again.
 */
import { writesVersion } from '../../../src/state/place/writes.js'
import { attacked, type Attacked } from '../attack/attacked.js'
import { judgeBooks } from '../attack/books.js'
import { Mischief } from '../attack/mischief.js'
import { Notes } from '../attack/notes.js'
import { doSomething } from '../attack/operations.js'
import { builtToWrite } from '../attack/other-version.js'
import { chanceOf } from '../chance.js'
import type { Teardown } from '../../world/place.js'

/** Books are compared so often. */
const checks = 4
/** Of all operations: when one machine gets a newer program, and when all of them do. */
const [oneIsNewer, allAreNewer] = [0.6, 0.7]

/** What came of it. */
export interface AttackReport {
  readonly operations: number
  readonly happened: Readonly<Record<string, number>>
  readonly onTheWay: Readonly<Record<string, number>>
  readonly ends: Readonly<Record<string, number>>
  /** Requests that provider, gateway and code host saw; creations alone of the last. */
  readonly requests: readonly [number, number, number]
  readonly violations: readonly string[]
}

interface Builds {
  readonly older: string
  readonly newer: string
}

/** Some operations on all machines at once, until there were so many. */
const work = async (
  at: Attacked, notes: Notes, { older, newer }: Builds, until: number, total: number,
): Promise<void> => {
  const upgradeAll = (): void => {
    for (const machine of at.machines) machine.app = newer
  }
  const upgrade = (): void => {
    const part = notes.operations / total
    const [, , c] = at.machines
    if (part >= oneIsNewer) c.app = newer
    if (part >= allAreNewer) upgradeAll()
  }
  await Promise.all(at.machines.map(async (machine) => {
    const chance = chanceOf(`operations of ${machine.name} from ${notes.operations}`)
    while (notes.operations < until) {
      upgrade()
      await doSomething({ at, notes, machine, chance, older })
    }
  }))
  // The books are compared on every machine, and no older program reads what a newer one wrote.
  if (at.machines.some(({ app }) => app === newer)) upgradeAll()
}

const added = (counts: readonly Readonly<Record<string, number>>[]): Record<string, number> => {
  const sum: Record<string, number> = {}
  for (const [name, count] of counts.flatMap(Object.entries) as [string, number][]) {
    sum[name] = (sum[name] ?? 0) + count
  }
  return sum
}

/** Runs it. */
export const attackShared = async (t: Teardown, total: number): Promise<AttackReport> => {
  const builds = {
    older: await builtToWrite(writesVersion - 1), newer: await builtToWrite(writesVersion + 1),
  }
  const at = await attacked(t)
  const notes = new Notes()
  const mischief = new Mischief(at, notes, chanceOf('mischief'))
  for (let check = 1; check <= checks && notes.violations.length === 0; check += 1) {
    mischief.begin()
    await work(at, notes, builds, Math.ceil(total * check / checks), total)
    await mischief.end()
    for (const wrong of await judgeBooks(at, notes)) notes.break(wrong)
  }
  const { first } = at
  return {
    operations: notes.operations, happened: mischief.counts,
    onTheWay: added(at.machines.map(({ way }) => way.counts)), ends: notes.ends,
    requests: [first.inferences().length, first.calls().length, first.posts().length],
    violations: notes.violations,
  }
}

/** `npm run soak`: prints what was seen and fails at a violation. */
export const run = async (total: number): Promise<void> => {
  const ends: (() => Promise<void> | void)[] = []
  const t: Teardown = { teardown: (done) => void ends.push(done) }
  try {
    const { ends: how, violations, ...seen } = await attackShared(t, total)
    const lines = [
      ...Object.entries(how).sort().map(([what, count]) => `${count} ${what}`),
      `shared attack: ${JSON.stringify(seen)}`,
      ...violations.map((violation) => `VIOLATION ${violation}`),
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
    if (violations.length > 0) process.exitCode = 1
  } finally {
    for (const done of ends.reverse()) await done()
  }
}

/** So many operations where none are said. */
export const usual = 500
/** What is counted: lines that are typed on some machine. */
export const unit = 'operations'
