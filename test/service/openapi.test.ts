/** The description of the service, against the shapes that read the requests. */
import { describe } from '../../src/service/openapi.js'
import { edgeEndpoints } from '../../src/service/edge-endpoints.js'
import { routes as ofOperators } from '../../src/service/routes/table.js'
import type { Loose } from '../world/place.js'
import { t } from '../support/tests-in-slices.js'

const fieldsOf = (shape: Loose): string[] | null => {
  if (shape.entries !== undefined) return Object.keys(shape.entries)
  return (shape.pipe ?? []).map((one: Loose) => (one === shape ? null : fieldsOf({
    ...one, pipe: undefined,
  }))).find((found: string[] | null) => found !== null) ?? null
}

const operations = [...ofOperators, ...edgeEndpoints.flatMap(({ described }) => described ?? [])]
const document = describe(operations) as Loose

const schemaOf = (content: Loose): Loose => {
  const { $ref: reference } = content['application/json'].schema
  return document.components.schemas[String(reference).split('/').at(-1) ?? '']
}

/** A response itself, or what it refers to. */
const resolved = (response: Loose): Loose => (response.$ref === undefined
  ? response : document.components.responses[String(response.$ref).split('/').at(-1) ?? ''])

t.test('what any operation may refuse is described once, and a receipt where one can stand beside it', (t) => {
  for (const { method, path, contract, gives } of operations) {
    const { responses } = document.paths[path][method.toLowerCase()]
    const own = Object.entries<Loose>(responses)
      .filter(([code, one]) => Number(code) >= 400 && one.$ref === undefined)
    t.equal(own.length > 0, contract.mayDegrade && gives === undefined, `${method} ${path}`)
    for (const [code, { content }] of own) {
      const [, { properties }] = schemaOf(content).anyOf
      t.matchStrict(properties.receipt, { $ref: /^#/ }, `${path} ${code}`)
    }
    for (const code of ['400', '401', '404', '503']) t.ok(resolved(responses[code]).description)
  }
  const bytes = Buffer.byteLength(JSON.stringify(document))
  t.ok(bytes < 280_000, `${bytes} bytes`)
  t.end()
})

t.test('every operation is described: its place, its parameters, its answers', (t) => {
  for (const { method, path, status, later } of operations) {
    const found = document.paths[path]?.[method.toLowerCase()]
    t.ok(found, `${method} ${path}`)
    t.ok(found.responses[status], 'its success')
    if (later !== undefined) t.ok(found.responses[later.status], 'its other end')
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    t.strictSame(found.parameters.filter((one: Loose) => one.in === 'path')
      .map((one: Loose) => one.name), inPath)
    for (const [code, response] of Object.entries<Loose>(found.responses)) {
      const { content } = resolved(response)
      const kinds = Object.keys(content)
      t.ok(content['application/json']?.schema ?? kinds.includes('image/png'), `${path} ${code}`)
    }
  }
  t.equal(operations.length, ofOperators.length + edgeEndpoints.length, 'the paired edge, too')
  const ids = operations.map(({ path, method }) =>
    document.paths[path][method.toLowerCase()].operationId)
  t.equal(new Set(ids).size, ids.length)
  t.end()
})

t.test('names, required and closedness of every request are those of the shape that reads it', (t) => {
  let compared = 0
  for (const { method, path, body } of operations) {
    if (body === null) continue
    const described = document.paths[path][method.toLowerCase()].requestBody
    t.equal(described.required, body.required)
    const schema = schemaOf(described.content)
    const fields = fieldsOf(body.shape)
    t.ok(fields, `${method} ${path} has fields`)
    t.strictSame(Object.keys(schema.properties).sort(), [...fields ?? []].sort())
    t.equal(schema.additionalProperties, false, 'closed')
    const entries = (body.shape as Loose).entries
      ?? (body.shape as Loose).pipe.find((one: Loose) => one.entries !== undefined).entries
    const required = Object.entries<Loose>(entries)
      .filter(([, one]) => !['optional', 'nullish', 'exact_optional'].includes(one.type))
      .map(([name]) => name)
    t.strictSame([...schema.required ?? []].sort(), required.sort(), `${method} ${path}`)
    compared += 1
  }
  t.ok(compared >= 10, `${compared} requests`)
  t.end()
})

t.test('what is declared of an upload is described in its one header, by the shape that reads it', (t) => {
  const { parameters, requestBody, security } = document.paths['/api/edge/artifacts'].post
  const head = parameters.find((one: Loose) => one.in === 'header')
  t.equal(head.name, 'Sallyport-Edge-Upload')
  const { $ref: reference } = head.schema.contentSchema
  const schema = document.components.schemas[String(reference).split('/').at(-1) ?? '']
  t.equal(schema.additionalProperties, false)
  t.strictSame([...schema.required].sort(), [
    'bytes', 'captured_at', 'mime', 'policy', 'purpose', 'request_id', 'schema', 'sequence',
    'sha256',
  ])
  t.strictSame(Object.keys(requestBody.content), ['image/png', 'image/jpeg'])
  t.strictSame(security, [{ device: [] }])
  t.strictSame(document.paths['/api/edge/pairings'].post.security, [])
  t.end()
})
