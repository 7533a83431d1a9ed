/**
 * Which runs are merged into one. Runs are tiered by size: four of a level become one, and each
 * level has one merge under way at most. Pure: it looks at sizes and places only.
 */

/** How many runs of a level become one. */
const runsPerLevel = 4
/** A run of the lowest level has at most so many bytes, each level above four times as many. */
const levelBytes = 256 * 1024

/** What the plan has to know of a run. */
export interface RunSize {
  readonly id: number
  readonly level: number
  readonly bytes: number
}

/** A merge that is to begin. */
interface MergePlan {
  /** The highest level among them: the result lies there or above. */
  readonly level: number
  /** Ids of the runs, the newest first. */
  readonly inputs: readonly number[]
}

const levelOfSize = (bytes: number): number => {
  let level = 0
  while (bytes > levelBytes * runsPerLevel ** level) level += 1
  return level
}

/**
 * The level of a new run: by its size, but not below the newer ones (`atLeast`) and not above the
 * next older one, so that levels never fall from new to old.
 */
export const levelOf = (bytes: number, atLeast: number, older: number | undefined): number =>
  Math.max(atLeast, Math.min(levelOfSize(bytes), older ?? Number.POSITIVE_INFINITY))

/** A merge of so many bytes may take in the next level when that would be due right after it. */
const cascadeBytesMax = 16 * 1024 * 1024

const bytesOf = (runs: readonly RunSize[]): number =>
  runs.reduce((sum, { bytes }) => sum + bytes, 0)

/**
 * The merges that begin now, lowest level first: of each level without one under way the four
 * oldest runs; with them the runs of the next level, where the result would make four of these and
 * all of it is small enough for one go, so that they are not written twice. `runs` newest first;
 * `busy` names the runs that are being merged already.
 */
export const dueMerges = (
  runs: readonly RunSize[], busy: ReadonlySet<number>,
): readonly MergePlan[] => {
  const taken = new Set(busy)
  const at = (level: number): RunSize[] => runs.filter((run) => run.level === level)
  const free = (level: number): RunSize[] =>
    at(level).some(({ id }) => taken.has(id)) ? [] : at(level)
  const due: MergePlan[] = []
  for (const level of [...new Set(runs.map((run) => run.level))].sort((a, b) => a - b)) {
    const here = free(level)
    if (here.length < runsPerLevel) continue
    let inputs = here.slice(-runsPerLevel)
    let top = level
    for (let next = free(top + 1); next.length >= runsPerLevel - 1; next = free(top + 1)) {
      if (bytesOf(inputs) + bytesOf(next) > cascadeBytesMax) break
      inputs = [...inputs, ...next]
      top += 1
    }
    for (const { id } of inputs) taken.add(id)
    due.push({ level: top, inputs: inputs.map(({ id }) => id) })
  }
  return due
}
