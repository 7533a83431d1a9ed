/** What a use case refuses, told to whoever typed flags: they know no field of a document. */
import { SallyportError } from '../base/errors.js'

/** Fields whose flag has another name than theirs. */
const named: Readonly<Record<string, string>> = { api_key: '--api-key-file', consents: '--consent' }

/** The flag that says a field: `slots.chat.upstream_allow[0]` is `--upstream-allow`. */
const flagOf = (field: string): string => {
  const name = field.replace(/\[[0-9]+\]/g, '').split('.').at(-1) ?? ''
  return named[name] ?? `--${name.replace(/_microusd$/, '').replaceAll('_', '-')}`
}

/** A field as shapes tell it: `The setup, field api_key, must …`. */
export const fieldForm = /^[^,]*, field ([a-z0-9_.[\]]+), /

/** Runs a save; what it refuses of a field is thrown as of its flag. The details stay. */
export const inFlags = async <T>(save: () => Promise<T>): Promise<T> => {
  try {
    return await save()
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    const { kind, code, next, reason, details, cause } = error
    throw new SallyportError({
      kind, code, details, cause, ...(next === null ? {} : { next }),
      ...(reason === null ? {} : { reason }),
      message: error.message
        .replace(fieldForm, (_, field: string) => `Flag ${flagOf(field)} `)
        .replace(/(?<=must name )[a-z0-9_., ]+(?=\.$)/, (fields) =>
          fields.split(', ').map(flagOf).join(', ')),
    })
  }
}
