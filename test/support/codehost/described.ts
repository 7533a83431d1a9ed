/**
 * Exchanges with a code host held to its public description: the body that was sent, the status
 * that came and its body. `host-description.json` says which package and file it was taken from.
 */
import { readFileSync } from 'node:fs'
import Ajv from 'ajv'
import type { ValidateFunction } from 'ajv'

interface Operation {
  readonly request: object | null
  readonly responses: Readonly<Record<string, object | null>>
}

interface Description {
  readonly source: { readonly package: string, readonly version: string, readonly sha256: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: object
}

/** One request with its reply. */
export interface Exchange {
  readonly method: string
  /** Path with query. */
  readonly path: string
  readonly sent: Uint8Array | null
  readonly status: number
  readonly received: Uint8Array
}

/** What the exchanges of a test came to. */
export interface Described {
  /** Checks one exchange; what is wrong goes to `violations`. */
  check(exchange: Exchange): void
  /** Exchanges whose status the description lists. */
  readonly validated: number
  /** Exchanges of other statuses, by operation and status. */
  readonly unlisted: ReadonlyMap<string, number>
  readonly violations: readonly string[]
}

/** The description as it was taken. */
export const hostDescription = JSON.parse(readFileSync(
  'test/support/codehost/host-description.json', 'utf8')) as Description

const id = 'host'

const compiler = (): Ajv.Ajv => {
  const ajv = new Ajv({ nullable: true, unknownFormats: 'ignore', logger: false, schemaId: '$id' })
  return ajv.addSchema({ $id: id, ...widened(hostDescription) as object })
}

/** References of the description are to its own top. */
const rooted = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, one: unknown) =>
    key === '$ref' && typeof one === 'string' ? `${id}${one}` : one)

interface Choice { readonly nullable?: boolean, readonly enum?: readonly unknown[] }

/**
 * OpenAPI's `nullable` widens a list of values, too; a JSON Schema takes the list as it is. And the
 * choices of its `oneOf` overlap where no schema forbids other members: any of them will do.
 */
const widened = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll('"oneOf":', '"anyOf":'), (_key, one: unknown) => {
    const { nullable, enum: values } = (one ?? {}) as Choice
    return nullable === true && Array.isArray(values) && !values.includes(null)
      ? { ...one as object, enum: [...values as unknown[], null] } : one
  })

const forms = Object.keys(hostDescription.paths).map((path) => ({
  path,
  // `{branch}` takes what is one segment on the wire.
  form: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
}))

/** A new account of exchanges. */
export const described = (): Described => {
  const ajv = compiler()
  const compiled = new Map<string, ValidateFunction>()
  const unlisted = new Map<string, number>()
  const violations: string[] = []
  let validated = 0
  const bodyProblem = (name: string, schema: object, bytes: Uint8Array): string | null => {
    const validate = compiled.get(name) ?? (ajv.compile(rooted(widened(schema)) as object))
    compiled.set(name, validate)
    const value = JSON.parse(Buffer.from(bytes).toString('utf8')) as unknown
    return validate(value) === true ? null : ajv.errorsText(validate.errors)
  }
  return {
    get validated() {
      return validated
    },
    unlisted,
    violations,
    check: ({ method, path, sent, status, received }) => {
      const bare = path.split('?')[0] ?? ''
      const found = forms.filter(({ form }) => form.test(bare)).at(-1)?.path ?? ''
      const operation = hostDescription.paths[found]?.[method.toLowerCase()]
      const name = `${method} ${found}`
      if (operation === undefined) {
        violations.push(`${method} ${bare}: not in the description`)
        return
      }
      const schema = operation.responses[String(status)]
      if (schema === undefined) {
        unlisted.set(`${name} ${status}`, (unlisted.get(`${name} ${status}`) ?? 0) + 1)
        return
      }
      validated += 1
      const asked = operation.request === null || sent === null || status >= 400 ? null
        : bodyProblem(`${name} request`, operation.request, sent)
      if (asked !== null) violations.push(`${name} request: ${asked}`)
      const told = schema === null ? null : bodyProblem(`${name} ${status}`, schema, received)
      if (told !== null) violations.push(`${name} ${status}: ${told}`)
    },
  }
}
