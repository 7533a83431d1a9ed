/**
 * From a valibot shape to JSON Schema 2020-12. What JSON Schema can say is said: names, required,
 * closedness, types, limits, forms. Rules between fields (`check`) are the program's alone. What
 * the converter does not know throws, so that no shape turns silently into one that takes all.
 */
import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'

/** A JSON Schema document. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The parts of a valibot schema that hold others; each kind has some of them. */
interface Parts {
  readonly kind: string
  readonly type: string
  readonly entries?: Readonly<Record<string, Parts>>
  readonly item?: Parts
  readonly wrapped?: Parts
  readonly key?: Parts
  readonly value?: unknown
  readonly options?: readonly unknown[]
  readonly pipe?: readonly Parts[]
}

const isShape = (part: unknown): part is Parts =>
  typeof part === 'object' && part !== null && (part as Parts).kind === 'schema'

/**
 * The shape without what only JavaScript sees: the guard of `closedObject` before its fields, and
 * the class that keeps a number's spelling beside the number.
 */
const plain = (part: Parts): Parts => {
  const { pipe, entries, item, wrapped, value, options } = part
  if (pipe !== undefined) {
    const [first, second, ...rest] = pipe
    if (first?.type === 'custom' && isShape(second)) return plainPipe(plain(second), rest)
    if (first === undefined) throw new TypeError('a pipe has parts')
    return plainPipe(plain(bare(first)), pipe.slice(1))
  }
  if (part.type === 'union') return plainUnion(part, options ?? [])
  return {
    ...part,
    ...(entries === undefined ? {} : {
      entries: Object.fromEntries(
        Object.entries(entries).map(([name, entry]) => [name, plain(entry)]),
      ),
    }),
    ...(item === undefined ? {} : { item: plain(item) }),
    ...(wrapped === undefined ? {} : { wrapped: plain(wrapped) }),
    ...(isShape(value) ? { value: plain(value) } : {}),
  }
}

/** The schema that a pipe begins with: valibot makes pipes by giving it a pipe that holds it. */
const bare = (first: Parts): Parts =>
  Object.fromEntries(Object.entries(first).filter(([name]) => name !== 'pipe')) as unknown as Parts

const plainPipe = (first: Parts, rest: readonly Parts[]): Parts => {
  if (rest.length === 0) return first
  const before = first.pipe ?? [first]
  return { ...first, pipe: [...before, ...rest] }
}

const plainUnion = (part: Parts, options: readonly unknown[]): Parts => {
  const kept = options.filter(isShape).filter(({ type }) => type !== 'instance').map(plain)
  const [only] = kept
  return kept.length === 1 && only !== undefined ? only : { ...part, options: kept }
}

/** Actions that say nothing JSON Schema could: the others of a pipe say the rest. */
const silent = new Set(['check', 'finite', 'readonly', 'transform'])

/** The JSON Schema of a shape, under its name. Throws where a part cannot be said. */
export const jsonSchemaOf = (shape: GenericSchema, name: string): JsonSchema => {
  const { $schema, ...rest } = toJsonSchema(plain(shape) as never, {
    target: 'draft-2020-12',
    overrideAction: ({ valibotAction, jsonSchema }) => {
      // Every character has a byte at least: the bound in characters is the nearest that it has.
      if (valibotAction.type === 'max_bytes') {
        const { requirement } = valibotAction as unknown as { readonly requirement: number }
        return { ...jsonSchema, maxLength: requirement }
      }
      return silent.has(valibotAction.type) ? jsonSchema : undefined
    },
  }) as Record<string, unknown>
  return { $schema, $id: name, ...rest }
}
