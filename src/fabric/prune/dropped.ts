/**
 * Sealed files whose rows a prune has removed, until the last of them may go. There may be as many
 * as a state has; as objects they would take more memory than all the rest of a prune.
 */
import type { DroppedArtifact } from '../../governance/retention/tasks.js'

/** Digits of a name that its folder is called by. */
const shardDigits = 2
/** Lines that are held as texts, for each folder. */
const linesMax = 32

interface Shard {
  lines: string[]
  readonly packed: Buffer[]
}

/** What is known of one: the id that its row had, and its name. */
type DroppedName = Pick<DroppedArtifact, 'artifactId' | 'name'>

/** Files in any order, given back by folder. */
export class DroppedNames {
  readonly #shards = new Map<string, Shard>()
  #count = 0

  /** How many were added. */
  get count(): number {
    return this.#count
  }

  /** Takes one in; ids have no space in them. */
  add({ artifactId, name }: DroppedName): void {
    const key = name.slice(0, shardDigits)
    let shard = this.#shards.get(key)
    if (shard === undefined) {
      shard = { lines: [], packed: [] }
      this.#shards.set(key, shard)
    }
    shard.lines.push(`${name} ${artifactId}`)
    this.#count += 1
    if (shard.lines.length < linesMax) return
    shard.packed.push(Buffer.from(shard.lines.join('\n')))
    shard.lines = []
  }

  /** Every one of them, folder by folder. */
  * [Symbol.iterator](): Generator<DroppedName> {
    for (const { lines, packed } of this.#shards.values()) {
      const all = [...packed.flatMap((bytes) => bytes.toString().split('\n')), ...lines]
      for (const line of all) {
        const end = line.indexOf(' ')
        yield { name: line.slice(0, end), artifactId: line.slice(end + 1) }
      }
    }
  }
}
