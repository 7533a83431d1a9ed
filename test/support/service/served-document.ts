/** Answers held to the description that the service itself gives of them. */
import Ajv from 'ajv'
import type { ValidateFunction } from 'ajv'
import type { Loose } from '../../world/place.js'

/** The description as it was served. */
export interface ServedDocument {
  readonly document: Loose
  /** What is wrong with an answer; null where it is as described. */
  wrong(method: string, path: string, answer: {
    readonly status: number
    readonly headers: Readonly<Record<string, unknown>>
    readonly bytes: Buffer
  }): string | null
}

const id = 'service'
/** A reference into the description, each step of it escaped. */
const pointer = (...steps: readonly string[]): string => `${id}#/${steps
  .map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`

const rooted = (document: Loose): Loose => JSON.parse(JSON.stringify(document), (key, one) =>
  (key === '$ref' && typeof one === 'string' ? `${id}${one}` : one))

const formOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`)

/** Reads a description. */
export const servedDocument = (document: Loose): ServedDocument => {
  const ajv = new Ajv({ schemaId: '$id', logger: false, unknownFormats: 'ignore' })
  ajv.addSchema({ $id: id, ...rooted(document) })
  const errorSchema = pointer('components', 'schemas', 'sallyport.error.v1')
  const paths = Object.keys(document.paths).map((path) => ({ path, form: formOf(path) }))
  const compiled = new Map<string, ValidateFunction>()
  const check = (reference: string, value: unknown): string | null => {
    const validate = compiled.get(reference) ?? ajv.compile({ $ref: reference })
    compiled.set(reference, validate)
    return validate(value) === true ? null : ajv.errorsText(validate.errors ?? null)
  }
  const wrongAt = (place: string, method: string, got: {
    readonly status: number
    readonly headers: Readonly<Record<string, unknown>>
    readonly bytes: Buffer
  }): string | null => {
    const verb = method.toLowerCase()
    const described = document.paths[place][verb]
    // A method that the endpoint has not is refused as anything else is.
    if (described === undefined) return got.status === 405 ? null : 'a method that is not described'
    const status = String(got.status)
    const own = described.responses[status]
    if (own === undefined) return `status ${status} is not described`
    const shared = own.$ref?.split('/').at(-1)
    const response = shared === undefined ? own : document.components.responses[shared]
    const steps = shared === undefined
      ? ['paths', place, verb, 'responses', status] : ['components', 'responses', shared]
    const type = String(got.headers['content-type'])
    if (response.content[type] === undefined) return `${type} is not described for ${status}`
    if (type !== 'application/json') return null
    return check(
      pointer(...steps, 'content', type, 'schema'),
      JSON.parse(got.bytes.toString('utf8')))
  }
  return {
    document,
    wrong: (method, target, got) => {
      const [path = ''] = target.split('?')
      const place = paths.find(({ form }) => form.test(path))?.path
      if (place !== undefined) return wrongAt(place, method, got)
      const { error } = got.status >= 400 && method !== 'HEAD'
        ? JSON.parse(got.bytes.toString('utf8')) : { error: undefined }
      return error === undefined ? null : check(errorSchema, { error })
    },
  }
}
