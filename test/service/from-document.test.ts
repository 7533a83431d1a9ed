/** Requests that are made from the served description alone, and a client that others typed. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import fc from 'fast-check'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { closing } from '../support/codehost/closing.js'
import { must } from '../support/must.js'
import { foreign } from '../support/service/foreign.js'
import { spoiltOf, validOf, type Resolve } from '../support/service/from-schema.js'
import { serving, type Serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import type { Loose } from '../world/place.js'
import { World } from '../world/world.js'

const served = async (at: Serving): Promise<Loose> => (await at.ask('GET', '/openapi.json')).json()

t.test('a validator of OpenAPI that is not ours accepts the served description', async (t) => {
  const at = await serving(t, await World.in(t).state().session())
  const document = await served(at)
  const { valid, errors } = await new Validator().validate(document)
  t.strictSame([valid, errors ?? null], [true, null])
  const spoilt = { ...document, paths: { '/x': { get: 7 } } }
  t.equal((await new Validator().validate(spoilt)).valid, false,
    'it does refuse what is none')
  t.equal(document.openapi, '3.1.0')
})

const client = `
import type { paths } from './service.js'
type Json<T> = T extends { content: { 'application/json': infer B } } ? B : never
type Body<P extends keyof paths> =
  paths[P] extends { post: { requestBody?: infer R } } ? Json<NonNullable<R>> : never
const [origin = '', token = ''] = process.argv.slice(2)
const ask = (method: string, path: keyof paths, body?: object): Promise<Response> =>
  fetch(origin + path, {
    method,
    headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const input: Body<'/api/work-board/inputs'> = {
  schema: 'svc.alpha.text.input.v1', question: 'Why?', max_output_tokens: 5,
}
// @ts-expect-error a question is text
const wrong: Body<'/api/work-board/inputs'> = { ...input, question: 7 }
// @ts-expect-error there is no such field
const more: Body<'/api/work-board/inputs'> = { schema: input.schema, question: '', max: 5 }
void [wrong, more]
type Kept = Json<paths['/api/work-board/inputs']['post']['responses'][201]>
type Error = Json<paths['/api/edge/pairings']['post']['responses'][403]>
const kept = await (await ask('POST', '/api/work-board/inputs', input)).json() as Kept
const pair: Body<'/api/edge/pairings'> = { code: 'A'.repeat(22), device_name: 'x' }
const refused = await (await ask('POST', '/api/edge/pairings', pair)).json() as Error
console.log(JSON.stringify([kept.input_artifact_id.slice(0, 4), refused.error.code]))
`

t.test('types that others make of the description carry a client that compiles and is answered', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const dir = t.testdir({})
  const types = astToString(await openapiTS(JSON.stringify(await served(at))))
  writeFileSync(join(dir, 'service.ts'), types)
  writeFileSync(join(dir, 'client.ts'), client)
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}')
  const program = ts.createProgram([join(dir, 'client.ts')], {
    strict: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext, noEmitOnError: true, skipLibCheck: true,
    types: ['node'], typeRoots: [join(process.cwd(), 'node_modules/@types')],
  })
  const { diagnostics } = program.emit()
  const problems = [...ts.getPreEmitDiagnostics(program), ...diagnostics]
  t.strictSame(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')),
    [])
  const { port } = at.started.identity
  const said = await foreign(process.execPath, [
    join(dir, 'client.js'), `https://127.0.0.1:${port}`, at.token(),
  ], { env: { NODE_EXTRA_CA_CERTS: at.started.certificateFile } })
  t.equal(said.stdout, '["art_","edge_code_refused"]\n', said.stderr)
})

interface Told {
  readonly answered: Map<string, number>
  readonly failed: string[]
  /** Targets that were made up; each is asked at least once. */
  tried: number
}

/** Ids that there are, for the parts of a path, and ids that there are not. */
const filled = (path: string, ids: Readonly<Record<string, string>>): fc.Arbitrary<string> =>
  fc.record(Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [
    name, fc.oneof(fc.constant(ids[name] ?? 'x'), fc.stringMatching(/^[A-Za-z0-9_-]{1,80}$/)),
  ]))).map((given) => path.replace(/\{(\w+)\}/g, (_, name: string) => String(given[name])))

const queryOf = (parameters: readonly Loose[], resolve: Resolve): fc.Arbitrary<string> => {
  const inQuery = parameters.filter((one) => one.in === 'query')
  const values = fc.record(Object.fromEntries(inQuery.map(({ name, schema }) =>
    [name, validOf(schema, resolve)])), { requiredKeys: [] })
  return values.map((given) => {
    const text = new URLSearchParams(Object.fromEntries(
      Object.entries(given).map(([name, value]) => [name, String(value)])))
    return text.size === 0 ? '' : `?${text.toString()}`
  })
}

const asked = async (
  at: Serving, told: Told, method: string, path: string, how: string, body?: string,
): Promise<void> => {
  try {
    const got = await at.ask(method, path, body === undefined ? {} : { body })
    told.answered.set(String(got.status), (told.answered.get(String(got.status)) ?? 0) + 1)
    if (got.status >= 500) told.failed.push(`${method} ${path} ${how}: ${got.bytes.toString()}`)
  } catch (error) {
    told.failed.push(`${method} ${path} ${how}: ${String(error)}`)
  }
}

/** Most requests of each kind to one operation. */
const runs = 10

const tryOperation = async (
  at: Serving, document: Loose, told: Told,
  { path, method, ids }: { path: string; method: string; ids: Readonly<Record<string, string>> },
): Promise<void> => {
  const { parameters = [], requestBody } = document.paths[path][method]
  const resolve: Resolve = (reference) =>
    document.components.schemas[reference.split('/').at(-1) ?? '']
  const schema = requestBody?.content['application/json']?.schema
  const target = fc.tuple(filled(path, ids), queryOf(parameters, resolve))
    .map(([place, query]) => `${place}${query}`)
  const valid = schema === undefined ? fc.constant(undefined)
    : validOf(schema, resolve).map((value) => JSON.stringify(value))
  const spoilt = schema === undefined
    ? fc.constant({ how: 'a body that is not taken', text: '{}' }) : spoiltOf(schema, resolve)
  const METHOD = method.toUpperCase()
  await fc.assert(fc.asyncProperty(target, valid, spoilt, async (place, body, bad) => {
    told.tried += 1
    await asked(at, told, METHOD, place, 'valid', body)
    if (METHOD !== 'GET') await asked(at, told, METHOD, place, bad.how, bad.text)
  }), { numRuns: runs, endOnFailure: true })
}

/** What ends everything comes last. */
const last = '/api/policy/revoke'
/** Its body is no JSON: its requests are made in test/service/edge.test.ts. */
const bytesOnly = 'post /api/edge/artifacts'

t.test('whatever the description lets one ask, and what is one member away from it, is answered as described, never with 500', async (t) => {
  const world = await closing(t)
  const job = await world.unknown('Unknown', 'numbered')
  const at = await serving(t, world)
  const document = await served(at)
  const folder = world.place.path('folder')
  must(await world.run(['shots', 'config', 'set', '--folder', folder]))
  const ids = { job_id: job, connection_id: world.connection().connection_id }
  const told: Told = { answered: new Map(), failed: [], tried: 0 }
  const all = Object.entries<Loose>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ path, method, ids })))
    .filter(({ path, method }) => `${method} ${path}` !== bytesOnly)
    .sort((a, b) => Number(a.path === last) - Number(b.path === last))
  for (const one of all) await tryOperation(at, document, told, one)
  t.strictSame(told.failed, [])
  const total = [...told.answered.values()].reduce((sum, one) => sum + one, 0)
  t.comment(`${all.length} operations, ${total} answers:`, [...told.answered.entries()].sort())
  t.ok(all.length >= 35 && told.tried >= 2 * all.length && total > told.tried)
  // The short run makes up fewer of each.
  const enough = told.tried / 8
  t.ok((told.answered.get('200') ?? 0) > enough && (told.answered.get('400') ?? 0) > enough)
  t.equal((await world.run(['state', 'check'])).status, 0)
})
