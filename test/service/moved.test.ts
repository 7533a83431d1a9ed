/** A state that is shared, or taken back, under a service that goes on running. */
import { headOf, pairOver, sendOver } from '../support/service/devices.js'
import { serving, takesNothingIn } from '../support/service/serving.js'
import { must } from '../support/must.js'
import { image } from '../support/png.js'
import { startPostgres } from '../support/place/postgres.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

t.test('S-037 a device is told 503 where the server lacks records, not that its capture is refused', async (t) => {
  const server = await startPostgres(t)
  const world = await World.in(t).state().session()
  must(await world.run(['state', 'share', server.url, '--machine-name', 'a', '--yes']))
  const at = await serving(t, world, { takesIn: takesNothingIn })
  const { credential } = await pairOver(world, at)
  const body = image(1)
  const head = headOf(body, 1)
  const last = 'sequence = (select max(sequence) from sallyport.records)'
  await server.query(`create table kept as select * from sallyport.records where ${last}`)
  await server.query(`delete from sallyport.records where ${last}`)
  const refused = await sendOver(at, credential, body, head)
  t.strictSame([refused.status, refused.json().error.code, refused.json().error.status],
    [503, 'server_changed', 503])
  await server.query('insert into sallyport.records select * from kept')
  t.equal((await sendOver(at, credential, body, head)).status, 201)
})

t.test('a service opens a state that was shared, or taken back, where it is kept now', async (t) => {
  const server = await startPostgres(t)
  const world = await World.in(t).state().session()
  const at = await serving(t, world, { takesIn: takesNothingIn })
  const { credential } = await pairOver(world, at)
  let sequence = 0
  const works = async (what: string): Promise<void> => {
    const body = image(sequence += 1)
    const sent = await sendOver(at, credential, body, headOf(body, sequence))
    t.equal(sent.status, 201, `${what}: ${sent.bytes.toString()}`)
    t.equal((await at.ask('GET', '/api/status', { token: at.token() })).status, 200, what)
    const stopped = await at.ask('POST', '/api/policy/revoke', { token: at.token() })
    t.equal(stopped.status, 200, `${what}: ${stopped.bytes.toString()}`)
  }
  await works('before')
  must(await world.run(['state', 'share', server.url, '--machine-name', 'a', '--yes']))
  await works('shared')
  must(await world.run(['state', 'unshare', '--yes']))
  await works('taken back')
})
