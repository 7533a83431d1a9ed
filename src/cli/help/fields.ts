/** Names of the fields of a JSON output, read from its schema. */
import type { GenericSchema } from 'valibot'

interface Parts {
  readonly entries?: Readonly<Record<string, unknown>>
  readonly item?: unknown
  readonly options?: readonly unknown[]
  readonly wrapped?: unknown
}

/** Field names of an object, or of the rows of a list (shown as `[].name`). */
export const topLevelFields = (schema: GenericSchema): readonly string[] => fieldsOf(schema, '')

const fieldsOf = (schema: unknown, prefix: string): readonly string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const { entries, item, options, wrapped } = schema as Parts
  if (entries !== undefined) return Object.keys(entries).map((name) => prefix + name)
  if (item !== undefined) return fieldsOf(item, `${prefix}[].`)
  if (wrapped !== undefined) return fieldsOf(wrapped, prefix)
  if (Array.isArray(options)) {
    return [...new Set(options.flatMap((option) => fieldsOf(option, prefix)))]
  }
  return []
}
