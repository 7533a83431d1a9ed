/** What is known of a question that was asked more than once. */
import t from 'tap'
import {
  Connection, Unanswered, type Row,
} from '../../../../src/state/place/postgres/connection.js'
import { append } from '../../../../src/state/place/postgres/records.js'
import type { Asking } from '../../../../src/state/place/postgres/standing.js'
import { message, toldServer, welcome } from '../../../support/place/told-server.js'

const onlyReads = Buffer.concat([
  message('E', Buffer.from('SERROR\0VERROR\0C25006\0Mcannot execute INSERT\0\0')),
  message('Z', Buffer.from('I')),
])

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
  const connection = new Connection({
    address: { host: '127.0.0.1', port, user: 'ops', database: 'sallyport' }, ca: null,
    password: null,
  })
  const question = { text: 'select 1', values: [] }
  await t.rejects(connection.ask(question), { name: 'Unanswered' })
  t.equal(asked, 2)
  answersFrom = 0
  await t.rejects(connection.ask(question), { code: '25006' }, 'what refuses the first try says so')
  await connection.close()
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
