/** The description of the service as OpenAPI 3.1, made of the shapes that read the requests. */
import type { GenericSchema } from 'valibot'
import type { ContractFacts } from '../base/contract.js'
import { errorBodyShape, errorSchemaName } from '../base/error-shape.js'
import { jsonSchemaOf, type JsonSchema } from '../base/json-schema.js'
import { pageSchemaName, pageShape } from '../base/page.js'
import { apiVersion } from './http/send.js'
import type { Described, QueryField } from './route.js'

type Node = Readonly<Record<string, unknown>>

/** Statuses with which any operation may refuse, and what each says. */
const refusals: Readonly<Record<string, string>> = {
  400: 'Malformed, or against a form or a limit; nothing was changed or sent.',
  401: 'No session or credential, or one that has ended.',
  402: 'It would exceed the ceiling or the budget; nothing was sent.',
  403: 'Your consent is missing, ended or for another target; or another origin or peer.',
  404: 'No such thing, or another owner\'s.',
  405: 'The endpoint has no such method.',
  408: 'The body did not come in time.',
  409: 'A stale revision, a key used for other content, or one under way already.',
  411: 'The length of the body must be declared.',
  413: 'The body is too large.',
  415: 'The body is not of the media type that is taken.',
  417: 'Only 100-continue can be expected.',
  421: 'The Host is not a name of this service.',
  422: 'Well formed, and against a rule between values.',
  423: 'It needs a person: a closed gate, an unknown charge, evidence that is missing.',
  431: 'The head of the request is too large.',
  499: 'It was cancelled before its end.',
  500: 'It failed, or the state is damaged.',
  502: 'The other side failed or answered against its contract.',
  503: 'The lock is held, the state is missing, or the service is stopping.',
}

const partlyDone = ['207', 'Part of it was done; where there is a receipt, it says which.'] as const

/** Names of OpenAPI components hold no other characters. */
const componentName = (name: string): string => name.replace(/[^A-Za-z0-9._-]/g, '-')

/** Refusals of HTTP alone: no operation has begun, and no receipt stands beside its failure. */
const ofHttpAlone: ReadonlySet<string> = new Set([
  '405', '408', '411', '413', '415', '417', '421', '431',
])

class Components {
  readonly schemas: Record<string, JsonSchema> = {}
  readonly responses: Record<string, Node> = {}

  /** Keeps a schema under its name; gives the reference to it. */
  add(shape: GenericSchema, name: string): Node {
    const key = componentName(name)
    const schema = Object.fromEntries(Object.entries(jsonSchemaOf(shape, name))
      .filter(([field]) => field !== '$schema' && field !== '$id'))
    const known = this.schemas[key]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new TypeError(`two shapes are called ${name}`)
    }
    this.schemas[key] = schema
    return { $ref: `#/components/schemas/${key}` }
  }

  /** A refusal that every operation may end with, described once; gives the reference to it. */
  refusal(status: string, description: string): Node {
    const key = `refused-${status}`
    const content = json(this.add(errorBodyShape, errorSchemaName))
    this.responses[key] ??= { description, content }
    return { $ref: `#/components/responses/${key}` }
  }

  result({ output, schemaName }: ContractFacts): Node {
    return this.add(output, schemaName)
  }

  /** What a failure of a contract may say, with the result that stands beside it. */
  failure(contract: ContractFacts): Node {
    const error = this.add(errorBodyShape, errorSchemaName)
    const key = componentName(`${contract.schemaName}.failed`)
    this.schemas[key] ??= { anyOf: [error, partly(error, this.result(contract))] } as JsonSchema
    return { $ref: `#/components/schemas/${key}` }
  }
}

const json = (schema: Node): Node => ({ 'application/json': { schema } })

const types: Readonly<Record<QueryField['kind'], Node>> = {
  text: { type: 'string' }, integer: { type: 'integer' }, boolean: { type: 'boolean' },
}

const headerOf = (name: string, required: boolean, description: string, schema: Node): Node =>
  ({ name, in: 'header', required, description, schema })

const headersOf = ({ head, waits }: Described, components: Components): readonly Node[] => [
  ...(head === undefined ? [] : [headerOf(
    head.name, true, 'What is declared of the body: base64url, unpadded, of one JSON object.', {
      type: 'string', pattern: '^[A-Za-z0-9_-]+$', contentEncoding: 'base64url',
      contentMediaType: 'application/json',
      contentSchema: components.add(head.contract.input, head.contract.inputName),
    })]),
  ...(waits === undefined ? [] : [headerOf(
    'Prefer', false, 'How long to wait for the end, in seconds: wait=N, at most 120.', {
      type: 'string',
    })]),
]

const parametersOf = (described: Described, components: Components): readonly Node[] => [
  ...[...described.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name, in: 'path', required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,80}$' },
  })),
  ...(described.query ?? []).map(({ name, what, kind }) => ({
    name, in: 'query', required: false, description: what, schema: types[kind],
  })),
  ...headersOf(described, components),
]

const asItIs = (mediaTypes: readonly string[]): Node =>
  Object.fromEntries(mediaTypes.map((one) => [one, { schema: {} }]))

const bodyOf = ({ body, takes, contract }: Described, components: Components): Node => {
  if (takes !== undefined) return { requestBody: { required: true, content: asItIs(takes) } }
  return body === null ? {} : {
    requestBody: {
      required: body.required,
      content: json(components.add(body.shape, body.name ?? contract.inputName)),
    },
  }
}

/** A result that stands although it failed in part comes beside its failure. */
const partly = (error: Node, result: Node): Node => ({
  type: 'object', required: ['error', 'receipt'], additionalProperties: false,
  properties: { error: { $ref: `${String(error['$ref'])}/properties/error` }, receipt: result },
})

/** A list also comes as a page; that it was cut is told in either case. */
const doneOf = (
  { gives, paged, contract }: Described, components: Components,
): { readonly content: Node; readonly headers?: Node } => {
  if (gives !== undefined) return { content: asItIs(gives) }
  const result = components.result(contract)
  if (paged === undefined) return { content: json(result) }
  return {
    content: json({ anyOf: [result, components.add(pageShape, pageSchemaName)] }),
    headers: {
      Link: {
        required: false, schema: { type: 'string' },
        description: 'Where the list was cut: <path and query of the next part>; rel="next".',
      },
    },
  }
}

const responsesOf = (described: Described, components: Components): Node => {
  const { contract, status, later, gives } = described
  const degrades = contract.mayDegrade && gives === undefined
  const refused = ([code, description]: readonly [string, string]) => [
    code, degrades && !ofHttpAlone.has(code)
      ? { description, content: json(components.failure(contract)) }
      : components.refusal(code, description),
  ] as const
  return {
    [status]: { description: 'Done.', ...doneOf(described, components) },
    ...(later === undefined ? {} : {
      [later.status]: {
        description: 'The other end it may have.', content: json(components.result(later.contract)),
      },
    }),
    ...Object.fromEntries([...Object.entries(refusals), partlyDone].map(refused)),
  }
}

const operationOf = (described: Described, components: Components): Node => {
  const { method, path, summary, verb, by = ['session'] } = described
  return {
    operationId: `${method} ${path}`.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/_$/, ''),
    summary,
    ...(verb === null ? {} : { description: `The same as \`sallyport ${verb}\`.` }),
    security: by.map((one) => ({ [one]: [] })),
    parameters: parametersOf(described, components),
    ...bodyOf(described, components),
    responses: responsesOf(described, components),
  }
}

/** The document. */
export const describe = (all: readonly Described[]): Node => {
  const components = new Components()
  const paths: Record<string, Record<string, Node>> = {}
  for (const described of all) {
    const at = (paths[described.path] ??= {})
    at[described.method.toLowerCase()] = operationOf(described, components)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sallyport', version: apiVersion,
      description: 'Use cases of `sallyport` over TLS on loopback. Fields and endpoints are '
        + 'only ever added under one version; each document names its schema and version.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: {
        session: {
          type: 'http', scheme: 'bearer',
          description: 'The token of `sallyport login --token-file F`.',
        },
        device: {
          type: 'http', scheme: 'bearer',
          description: 'The credential of a paired device: it uploads, and reads what it sent.',
        },
      },
      schemas: components.schemas,
      responses: components.responses,
    },
  }
}
