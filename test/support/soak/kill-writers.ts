/**
 * Kills processes that write packs, streams and histories, at any time. What was told as durable is
 * there, whole; nothing half lies under a name; each append is there whole or not at all.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { checkState } from '../../../src/state/care/check.js'
import { isTemporary } from '../../../src/state/files.js'
import { historyHead, historyLines } from '../../../src/state/history/read-history.js'
import { openStore } from '../../../src/state/store.js'
import type { ArtifactRef, HistoryHead } from '../../../src/state/types.js'
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'
import { startChild } from '../children.js'
import type { Step } from '../state/histories.js'
import { historyCollections, steps } from '../state/histories.js'
import { placeOf, specs } from '../state/notes.js'

/** What the loop showed. */
export interface WriterKills {
  readonly dir: string
  readonly rounds: number
  /** Artifacts and appends that were told as durable. */
  readonly told: number
  /** Temporary files that killed writers left. */
  readonly rests: number
  readonly broken: readonly string[]
}

interface Line {
  readonly ref?: ArtifactRef
  readonly head?: HistoryHead
}

/** Kills `rounds` writers, one after the other, on one state. */
export const killWriters = async (t: Teardown, rounds: number): Promise<WriterKills> => {
  const { store } = await World.in(t).store()
  const places = placeOf(store)
  store.close()
  const broken: string[] = []
  let [told, entries] = [0, 0]
  for (let round = 0; round < rounds; round += 1) {
    const child = startChild(t, 'large-writer', { ...places, bytes: 70_000 + 90_000 * (round % 4) })
    const lines: Line[] = []
    for (let n = 0; n <= round % 6; n += 1) lines.push(JSON.parse(await child.line()) as Line)
    await new Promise((wake) => setTimeout(wake, (3 * round) % 40))
    await child.kill()
    const after = openStore({ ...places, mode: 'read' })
    for (const { ref } of lines) if (ref !== undefined) after.artifacts.verify('x', ref)
    const head = historyHead(after.read(), steps, 'a')
    const numbers = [...historyLines(after.read(), steps, 'a')]
      .map((line) => (JSON.parse(line) as Step).n)
    after.close()
    entries = Math.max(entries, ...lines.map((line) => line.head?.entries ?? 0))
    if (head.entries < entries || head.entries % 3 !== 0) broken.push(`${head.entries} entries`)
    if (numbers.some((n, at) => n !== at)) broken.push('entries out of their order')
    entries = head.entries
    told += lines.length - 1
  }
  const { problems } = checkState({ ...places, specs: [...specs, ...historyCollections] })
  // A killed fold leaves temporary files, which are named.
  broken.push(...problems.filter(({ severity }) => severity === 'damage').map(({ code }) => code))
  const left = readdirSync(join(places.dir, 'artifacts')).filter((name) => name.length > 2)
  broken.push(...left.filter((name) => !isTemporary(name)))
  return { dir: places.dir, rounds, told, rests: left.length, broken }
}

/** The long loop. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => Promise<void> | void)[] = []
  try {
    const report = await killWriters({ teardown: (done) => void undo.push(done) }, rounds)
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    if (report.broken.length > 0) throw new Error(report.broken.join('\n'))
  } finally {
    for (const done of undo.reverse()) await done()
  }
}
