/**
 * The contract of an operation, kept beside its use case: what goes in, what document comes out,
 * how the one becomes the other, and when a result is a failure all the same. Faces (the terminal,
 * later HTTP) parse and render; no face has a shape, a mapper or a failure rule of its own.
 */
import * as v from 'valibot'
import type { SallyportError } from './errors.js'
import { sentence } from './told.js'
import { closedObject, parseClosed } from './schema.js'

/** What a document of an operation carries besides the fields of its shape. */
export type Stamped<D> = D extends readonly unknown[] ? D : D & { readonly schema: string }

/** The parts of a contract as a use case declares them. */
interface ContractParts<
  Input extends v.GenericSchema, Output extends v.GenericSchema, Source,
> {
  /** Dotted name of the operation: `goal.add`. */
  readonly name: string
  /** Name of the document, where several operations give the same one; else the operation's. */
  readonly document?: string
  /** Version of the document, 1 where left out: fields are only ever added under one version. */
  readonly version?: number
  /** Closed shape of a request, in the names of the specification; left out for no fields. */
  readonly input?: Input
  /** Closed shape of the result: an object, or a list of them. */
  readonly output: Output
  /** True where the operation goes on telling: one document a line, each of the shape. */
  readonly lines?: true
  /**
   * Turns what the use case gave into the document: rows in, names of the specification out. Left
   * out where the use case gives the document itself.
   */
  readonly toDocument?: (source: Source) => v.InferOutput<Output>
  /** The failure that a result tells of although it stands; null for a good one. */
  readonly failure?: (source: Source) => SallyportError | null
}

/** What faces, help and the schema listing know of any contract. */
export interface ContractFacts {
  readonly name: string
  readonly version: number
  /** Name of the document with its version, as its field `schema` says it: `sallyport.goal.v1`. */
  readonly schemaName: string
  /** Name of the request's schema: `sallyport.goal.add.input.v1`. */
  readonly inputName: string
  readonly input: v.GenericSchema
  /** The fields of a request. */
  readonly fields: readonly string[]
  readonly output: v.GenericSchema
  readonly lines: boolean
  /** Whether a result may stand although it tells of a failure. */
  readonly mayDegrade: boolean
}

/** The contract of one operation. */
export interface Contract<Request, Document, Source> extends ContractFacts {
  /** A request that has its shape. Throws `rejected` `request_invalid`, naming field and rule. */
  request(value: unknown): Request
  /** The document of a result; an object begins with its `schema`. */
  document(source: Source): Stamped<Document>
  /** The failure that a result tells of; null for a good one. */
  failure(source: Source): SallyportError | null
  /** The document. Throws `Degraded`, which holds it too, where the result tells of a failure. */
  answer(source: Source): Stamped<Document>
}

/**
 * A result that stands although something went wrong: its document is printed (or sent), then the
 * failure decides the status. For batches and checks, never for a single effect.
 */
export class Degraded<Document> extends Error {
  readonly result: Document
  readonly failure: SallyportError

  constructor(result: Document, failure: SallyportError) {
    super(failure.message)
    this.name = 'Degraded'
    this.result = result
    this.failure = failure
  }
}

/** A request without fields. */
export const noInput = closedObject({})

/** Makes the contract of an operation out of its parts. */
export const contract = <
  Output extends v.GenericSchema, Input extends v.GenericSchema = typeof noInput,
  Source = v.InferOutput<Output>,
>(
  parts: ContractParts<Input, Output, Source>,
): Contract<v.InferOutput<Input>, v.InferOutput<Output>, Source> => {
  const { name, document: of = name, version = 1 } = parts
  const input = parts.input ?? noInput as v.GenericSchema as Input
  const toDocument = parts.toDocument ?? ((source: Source) => source)
  const schemaName = `sallyport.${of}.v${version}`
  const document = (source: Source) => stampDocument(toDocument(source), schemaName)
  const failure = (source: Source) => parts.failure?.(source) ?? null
  return {
    name,
    version,
    schemaName,
    inputName: `sallyport.${name}.input.v${version}`,
    input,
    fields: fieldsOf(input),
    output: stampShape(parts.output, schemaName),
    lines: parts.lines ?? false,
    mayDegrade: parts.failure !== undefined,
    request: (value) => parseClosed(input, value, { code: 'request_invalid', what: 'the request' }),
    document,
    failure,
    answer(source) {
      const failed = failure(source)
      if (failed !== null) throw new Degraded(document(source), failed)
      return document(source)
    },
  }
}

/** What says its schema itself keeps it (a stored receipt, a JSON Schema); lists have none. */
const stampDocument = <D>(document: D, schema: string): Stamped<D> => {
  const fields = document as object
  const plain = Array.isArray(document) || 'schema' in fields || '$schema' in fields
  return (plain ? document : { schema, ...document }) as Stamped<D>
}

/**
 * What any result may carry besides its own fields: the state is damaged, and the document shows
 * only what is left of it. The frame of the verbs adds it; no use case does.
 */
const damageShape = closedObject({ code: v.string(), message: sentence })

/** The parts of a valibot schema that decide whether and where the field is added. */
interface ShapeParts {
  readonly type: string
  readonly entries?: v.ObjectEntries
  readonly options?: readonly v.GenericSchema[]
  readonly pipe?: readonly unknown[]
}

const fieldsOf = (shape: v.GenericSchema): readonly string[] => {
  const { entries, pipe } = shape as unknown as ShapeParts
  if (entries !== undefined) return Object.keys(entries)
  return (pipe ?? []).flatMap((one) => Object.keys((one as ShapeParts).entries ?? {}))
}

/** The same for the shape: only whole results are stamped, never what lies within them. */
const stampShape = (shape: v.GenericSchema, name: string): v.GenericSchema => {
  const { type, entries, options, pipe } = shape as unknown as ShapeParts
  if (type === 'union' && options !== undefined) {
    return v.union(options.map((option) => stampShape(option, name)))
  }
  if (type !== 'strict_object' || entries === undefined || 'schema' in entries) return shape
  if (pipe !== undefined) throw new TypeError(`the shape of ${name} has rules of its own`)
  if ('damage' in entries) throw new TypeError(`the shape of ${name} says damage itself`)
  return v.strictObject({ schema: v.literal(name), ...entries, damage: v.optional(damageShape) })
}
