/**
 * A document with its commands as a face tells them. Which fields hold commands is said by their
 * shape (`command` and `sentence` of `told.ts`): what others wrote is never taken for one of
 * ours, whatever stands in it.
 */
import type { GenericSchema } from 'valibot'
import { shapeCheck, type Pieces } from './compiled-shape.js'
import { command, sentence, toldCommand, toldSentence, type Carried } from './told.js'

type Told = (value: unknown) => unknown

/** The items, told; the very list where none of them tells a command. */
const each = (value: unknown, told: Told): unknown => {
  if (!Array.isArray(value)) return value
  const all = value.map(told)
  return all.every((one, at) => one === value[at]) ? value : all
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The members, each told by its own shape; the very object where none tells a command. */
const members = (value: unknown, toldOf: (name: string) => Told | null): unknown => {
  if (!isObject(value)) return value
  const all = Object.entries(value).map(([name, member]) =>
    [name, toldOf(name)?.(member) ?? member] as const)
  return all.every(([name, told]) => told === value[name]) ? value : Object.fromEntries(all)
}

/** What tells documents of one line, or of one service. */
class Teller {
  readonly #carried: Carried
  readonly #made = new Map<Pieces, Told | null>()

  constructor(carried: Carried) {
    this.#carried = carried
  }

  /** What tells a value of this shape; null where no command can stand in it. */
  of(shape: Pieces): Told | null {
    const known = this.#made.get(shape)
    if (known !== undefined) return known
    const made = this.#make(shape)
    this.#made.set(shape, made)
    return made
  }

  #make(shape: Pieces): Told | null {
    const carried = this.#carried
    const own = shape as unknown
    if (own === command) return (value) => toldCommand(value as string, carried)
    if (own === sentence) return (value) => toldSentence(value as string, carried)
    const { pipe, entries, item, wrapped, value, options } = shape
    if (pipe !== undefined) return this.#first(pipe)
    if (entries !== undefined) return this.#object(entries)
    if (item !== undefined) {
      const told = this.of(item)
      return told === null ? null : (list) => each(list, told)
    }
    if (wrapped !== undefined) {
      const told = this.of(wrapped)
      return told === null ? null : (one) => (one === null || one === undefined ? one : told(one))
    }
    if (shape.type === 'union' || shape.type === 'variant') return this.#union(options ?? [])
    if (shape.type !== 'record' || value === undefined) return null
    const told = this.of(value)
    return told === null ? null : (one) => members(one, () => told)
  }

  /** The first part of a pipe in which a command can stand: the others only judge. */
  #first(pipe: readonly Pieces[]): Told | null {
    for (const part of pipe) {
      const told = part.kind === 'schema' ? this.of(part) : null
      if (told !== null) return told
    }
    return null
  }

  #object(entries: Readonly<Record<string, Pieces>>): Told | null {
    const told = new Map(Object.entries(entries).flatMap(([name, shape]) => {
      const one = this.of(shape)
      return one === null ? [] : [[name, one] as const]
    }))
    return told.size === 0 ? null : (value) => members(value, (name) => told.get(name) ?? null)
  }

  #union(options: readonly unknown[]): Told | null {
    const all = (options as readonly Pieces[]).map((one) => ({
      told: this.of(one), fits: shapeCheck(one as unknown as GenericSchema),
    }))
    if (all.every(({ told }) => told === null)) return null
    return (value) => all.find(({ fits }) => fits(value))?.told?.(value) ?? value
  }
}

/** A document of this shape with its commands as they are told. */
export const toldDocument = <D>(document: D, shape: GenericSchema, carried: Carried): D => {
  if (carried.length === 0) return document
  const told = new Teller(carried).of(shape)
  return told === null ? document : told(document) as D
}
