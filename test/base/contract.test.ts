import * as v from 'valibot'
import t from 'tap'
import { Degraded, contract } from '../../src/base/contract.js'
import { fail } from '../../src/base/errors.js'
import { closedObject } from '../../src/base/schema.js'

interface Row {
  readonly thing_id: string
  readonly lost: boolean
}

const thing = v.strictObject({ id: v.string() })

const show = contract({
  name: 'thing.show',
  document: 'thing',
  version: 2,
  input: closedObject({ thing: v.string(), expected_revision: v.optional(v.number()) }),
  output: thing,
  toDocument: (row: Row) => ({ id: row.thing_id }),
  failure: ({ lost }) => (lost ? fail.blocked('thing_lost', 'The thing is lost.') : null),
})

t.test('the document of an object begins with its name and version, and has that shape', (t) => {
  const document = show.answer({ thing_id: 'a', lost: false })
  t.equal(JSON.stringify(document), '{"schema":"sallyport.thing.v2","id":"a"}')
  t.ok(v.is(show.output, document))
  t.notOk(v.is(show.output, { id: 'a' }), 'the field is no option')
  t.notOk(v.is(show.output, { ...document, schema: 'sallyport.thing.v1' }))
  t.equal(show.inputName, 'sallyport.thing.show.input.v2')
  t.end()
})

t.test('what a contract leaves out: version 1, a request without fields, the result as it is', (t) => {
  const plain = contract({ name: 'thing.look', output: thing })
  t.strictSame(plain.answer({ id: 'a' }), { schema: 'sallyport.thing.look.v1', id: 'a' })
  t.strictSame(plain.request({}), {})
  t.throws(() => plain.request({ thing: 'a' }), { code: 'request_invalid' })
  t.equal(plain.inputName, 'sallyport.thing.look.input.v1')
  t.end()
})

t.test('lists stay lists, and a document with a schema of its own keeps it', (t) => {
  const parts = { name: 'thing.list', version: 1, input: closedObject({}) } as const
  const list = contract({
    ...parts, output: v.array(thing), toDocument: (rows: Row[]) => rows.map(() => ({ id: 'b' })),
  })
  t.strictSame(list.answer([]), [])
  t.strictSame(list.answer([{ thing_id: 'b', lost: false }]), [{ id: 'b' }])
  const receipt = contract({
    ...parts,
    output: v.strictObject({ schema: v.literal('svc.receipt.v1') }),
    toDocument: (_row: Row) => ({ schema: 'svc.receipt.v1' as const }),
  })
  t.strictSame(receipt.answer({ thing_id: 'b', lost: false }), { schema: 'svc.receipt.v1' })
  const either = contract({
    ...parts,
    output: v.union([thing, v.array(thing)]),
    toDocument: (row: Row) => (row.lost ? [] : { id: 'c' }),
  })
  t.strictSame(
    either.answer({ thing_id: 'c', lost: false }), { schema: 'sallyport.thing.list.v1', id: 'c' },
  )
  t.strictSame(either.answer({ thing_id: 'c', lost: true }), [])
  for (const one of [{ schema: 'sallyport.thing.list.v1', id: 'c' }, []]) {
    t.ok(v.is(either.output, one))
  }
  t.end()
})

t.test('a result that tells of a failure comes with it', (t) => {
  const row = { thing_id: 'a', lost: true }
  t.equal(show.failure(row)?.code, 'thing_lost')
  t.strictSame(show.document(row), { schema: 'sallyport.thing.v2', id: 'a' })
  try {
    show.answer(row)
    t.fail('it is no answer')
  } catch (error) {
    t.ok(error instanceof Degraded)
    t.strictSame((error as Degraded<unknown>).result, show.document(row))
    t.equal((error as Degraded<unknown>).failure.code, 'thing_lost')
  }
  t.end()
})

t.test('a request is closed; its refusal names the field and not what was given', (t) => {
  t.strictSame(show.fields, ['thing', 'expected_revision'])
  t.strictSame(show.request({ thing: 'a' }), { thing: 'a' })
  for (const [value, field] of [
    [{ thing: 'a', other: 'secret' }, '*'], [{}, 'thing'], [{ thing: 7 }, 'thing'], [[], null],
  ] as const) {
    t.throws(() => show.request(value), { code: 'request_invalid', details: { field } })
  }
  t.end()
})
