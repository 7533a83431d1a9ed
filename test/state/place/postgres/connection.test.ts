/** What is known of a question that was asked, also more than once or beside others. */
import t from 'tap'
import { placeTimes } from '../../../../src/state/place/place.js'
import {
  Connection, Unanswered, type Row,
} from '../../../../src/state/place/postgres/connection.js'
import { append } from '../../../../src/state/place/postgres/records.js'
import type { Asking } from '../../../../src/state/place/postgres/standing.js'
import { startPostgres } from '../../../support/place/postgres.js'
import { message, toldServer, welcome } from '../../../support/place/told-server.js'

const connectionTo = (port: number): Connection => new Connection({
  address: { host: '127.0.0.1', port, user: 'sallyport', database: 'postgres' }, ca: null,
  password: null,
})

const refusing = (severity: string, state: string): Buffer =>
  message('E', Buffer.from(`S${severity}\0V${severity}\0C${state}\0Mno\0\0`))
const onlyReads = Buffer.concat([refusing('ERROR', '25006'), message('Z', Buffer.from('I'))])

t.test('a try that nobody answered is not forgotten where a later one is refused', async (t) => {
  let asked = 0
  let answersFrom = 2
  const port = await toldServer(t, (asking) => {
    asking.write(welcome)
    asking.once('data', () => {
      asked += 1
      if (asked < answersFrom) asking.destroy()
      else asking.write(onlyReads)
    })
  })
  const connection = connectionTo(port)
  const question = { text: 'select 1', values: [] }
  await t.rejects(connection.ask(question), { name: 'Unanswered' })
  t.equal(asked, 2)
  answersFrom = 0
  await t.rejects(connection.ask(question), { code: '25006' }, 'what refuses the first try says so')
  await connection.close()
})

t.test('a server that ends while it is asked has told nothing, and is asked again', async (t) => {
  for (const state of ['57P01', '57P02', '08006']) {
    let asked = 0
    let isBack = false
    const port = await toldServer(t, (asking) => {
      asking.write(welcome)
      asking.once('data', () => {
        asked += 1
        if (isBack) asking.write(Buffer.concat([
          message('C', Buffer.from('SELECT 0\0')), message('Z', Buffer.from('I')),
        ]))
        else asking.end(refusing('FATAL', state))
      })
    })
    const connection = connectionTo(port)
    const question = { text: 'select 1', values: [] }
    await t.rejects(connection.ask(question), { name: 'Unanswered' }, state)
    t.equal(asked, 3)
    isBack = true
    t.strictSame(await connection.ask(question), [])
    await connection.close()
  }
})

t.test('a record of which nobody told whether it was placed is told as one, whatever comes behind', async (t) => {
  const refused = Object.assign(new Error('refused'), { severity: 'ERROR', code: '25006' })
  const answers = (...errors: readonly Error[]): Asking => {
    let at = 0
    const ask = async (): Promise<readonly Row[]> => {
      throw errors[Math.min(at++, errors.length - 1)] ?? refused
    }
    return {
      connection: { ask }, storeId: '00000000-0000-4000-8000-000000000000',
      machine: { machine: '00000000-0000-4000-8000-000000000001', writes: 1 },
      run: { known: () => null, note: () => undefined },
    } as unknown as Asking
  }
  const [at, body] = [{ sequence: 1, link: Buffer.alloc(32) }, Buffer.alloc(1)]
  const place = (asking: Asking) =>
    append(asking, at, { sequence: 2, link: Buffer.alloc(32, 1), body }, [])
  await t.rejects(place(answers(new Unanswered('lost'), refused)), {
    kind: 'partial', code: 'commit_unknown',
  })
  await t.rejects(place(answers(refused)), { code: '25006' }, 'one that was never asked before')
})

t.test('an answer that goes on coming is waited for longer than one that does not', async (t) => {
  const { patienceMs } = placeTimes
  placeTimes.patienceMs = 1_000
  t.teardown(() => { placeTimes.patienceMs = patienceMs })
  const text = 'a long text'
  const counted = (value: number, bytes: 2 | 4): Buffer => {
    const buffer = Buffer.alloc(bytes)
    buffer.writeIntBE(value, 0, bytes)
    return buffer
  }
  const column = Buffer.concat([
    counted(1, 2), Buffer.from('said\0'), counted(0, 4), counted(0, 2), counted(25, 4),
    counted(-1, 2), counted(-1, 4), counted(0, 2),
  ])
  const row = Buffer.concat([counted(1, 2), counted(text.length, 4), Buffer.from(text)])
  const pieces = [...message('D', row)].map((byte) => Buffer.of(byte))
  const port = await toldServer(t, (asking) => {
    asking.write(welcome)
    asking.once('data', () => {
      asking.write(message('T', column))
      const more = setInterval(() => {
        const piece = pieces.shift()
        if (piece !== undefined) return void asking.write(piece)
        clearInterval(more)
        asking.write(Buffer.concat([
          message('C', Buffer.from('SELECT 1\0')), message('Z', Buffer.from('I')),
        ]))
      }, 100)
    })
  })
  const connection = connectionTo(port)
  t.strictSame(await connection.ask({ text: 'select', values: [] }), [{ said: text }])
  await connection.close()
})

t.test('what goes in one trip is answered one by one, and what failed half way is over', async (t) => {
  const connection = connectionTo((await startPostgres(t)).port)
  const asked = ['a', 'b', 'c'].map((said) =>
    connection.askSoon({ text: 'select $1::text as said', values: [said] }))
  t.strictSame((await Promise.all(asked)).flat(), [{ said: 'a' }, { said: 'b' }, { said: 'c' }])
  await t.rejects(connection.askPlain('begin;\nselect 1 / 0;\ncommit'), { code: '22012' })
  t.strictSame(await connection.ask({ text: 'select 1 as one', values: [] }), [{ one: 1 }],
    'nothing of that transaction is left')
  await connection.close()
})
