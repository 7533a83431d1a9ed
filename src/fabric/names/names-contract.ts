/** What goes in and comes out of the operations on names of states. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, text } from '../../base/schema.js'
import { command, commandLine } from '../../base/told.js'
import { isStateAt } from '../../state/paths.js'
import type { NamedState } from './file.js'
import { foldersOf } from './look-up.js'

/** An entry, and the file that it stands in. */
interface Entry {
  readonly path: string
  readonly named: NamedState
}

const entryShape = {
  name: text, state_dir: text,
  /** The folder of vault keys and anchors, also where it is the default. */
  config_dir: text,
  /** Whether a state is there. */
  exists: v.boolean(),
}

const entryOf = ({ path, named }: Entry) => {
  const { stateDir, configDir } = foldersOf(path, named)
  return {
    name: named.name, state_dir: stateDir, config_dir: configDir, exists: isStateAt(stateDir),
  }
}

export const atAdd = contract({
  name: 'at.add',
  input: closedObject({ name: v.string(), dir: v.string() }),
  output: v.strictObject({
    ...entryShape,
    /** What to type next: it makes the state where there is none. */
    next: command,
  }),
  toDocument: (entry: Entry) => {
    const facts = entryOf(entry)
    const verb = facts.exists ? 'status' : 'init'
    return { ...facts, next: commandLine(`${verb} --at ${facts.name}`) }
  },
})

export const atRemove = contract({
  name: 'at.remove',
  input: closedObject({ name: v.string() }),
  output: v.strictObject(entryShape),
  toDocument: entryOf,
})

const listedShape = v.strictObject({
  ...entryShape,
  /** Whether this line is about it, however that was said. */
  in_force: v.boolean(),
})
export type ListedName = v.InferOutput<typeof listedShape>

/** All names, in their order; `inForce`: the one of this line, or none. */
export const atList = contract({
  name: 'at.list',
  output: v.array(listedShape),
  toDocument: ({ path, names, inForce }: {
    readonly path: string
    readonly names: readonly NamedState[]
    readonly inForce: string | null
  }) => names.map((named) => ({ ...entryOf({ path, named }), in_force: named.name === inForce })),
})
