import type { JsonObject, SeenRequest } from './types.js'

/** The object a request's body holds, or null; what is wrong with it becomes a violation. */
export const requestObject = (request: SeenRequest): JsonObject | null => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(request.body)
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
    request.violations.push('the body is not a JSON object')
  } catch {
    request.violations.push('the body is not JSON in UTF-8')
  }
  return null
}

/** Whether a value is an object that is neither null nor a list. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is an integer of a range. */
export const isInteger = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most

/** Member names of an object that are not among `allowed`. */
export const strangers = (object: JsonObject, allowed: readonly string[]): readonly string[] =>
  Object.keys(object).filter((key) => !allowed.includes(key))
