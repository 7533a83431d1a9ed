/** Routes of which most are loaded at use. */
import { HttpRefusal } from '../../src/service/http/refusal.js'
import { Routes } from '../../src/service/routes.js'
import type { Endpoint } from '../../src/service/service.js'
import { t } from '../support/tests-in-slices.js'

const endpoint = (method: 'GET' | 'POST', path: string): Endpoint =>
  ({ method, path, answer: async () => ({ status: 200, body: { method, path } }) })

const [lives, sends] = [endpoint('GET', '/healthz'), endpoint('POST', '/api/edge/artifacts')]
const lists = endpoint('GET', '/api/edge/artifacts')

t.test('what is asked from the start loads nothing; anything else loads all of it, once', async (t) => {
  let loaded = 0
  const routes = new Routes([lives, sends], async () => {
    loaded += 1
    return [lives, sends, lists]
  })
  t.equal((await routes.find('GET', '/healthz')).endpoint, lives)
  t.equal((await routes.find('POST', '/api/edge/artifacts')).endpoint, sends)
  t.equal(loaded, 0)
  const both = await Promise.all(['/api/edge/artifacts', '/api/edge/artifacts'].map((path) =>
    routes.find('GET', path)))
  t.strictSame(both.map((found) => found.endpoint), [lists, lists])
  t.equal(loaded, 1)
})

t.test('a path that is not there, and a method that is not, are told of from all of them', async (t) => {
  const routes = new Routes([lives, sends], async () => [lives, sends, lists])
  const refused = async (method: string, path: string): Promise<unknown> =>
    routes.find(method, path).then(() => null, (error: unknown) =>
      (error instanceof HttpRefusal ? [error.status, error.headers] : error))
  t.strictSame(await refused('PUT', '/api/edge/artifacts'), [405, { Allow: 'POST, GET' }])
  t.hasStrict(await refused('GET', '/api/nothing'), [404])
})

t.test('where they cannot be loaded whoever asks is told, and the next one tries again', async (t) => {
  let gone = true
  const routes = new Routes([lives], async () => {
    if (gone) throw new Error('gone')
    return [lives, lists]
  })
  await t.rejects(routes.find('GET', '/api/edge/artifacts'), { message: 'gone' })
  t.equal((await routes.find('GET', '/healthz')).endpoint, lives)
  gone = false
  t.equal((await routes.find('GET', '/api/edge/artifacts')).endpoint, lists)
})
