/** Which run of a server a process knows, while another one of its machine goes on elsewhere. */
import t from 'tap'
import { sharedOf } from '../../../src/fabric/machines/shared.js'
import { isLaterRun } from '../../../src/state/place/known-run.js'
import { readPlaceFile, writePlaceFile } from '../../../src/state/place/place-file.js'
import { must } from '../../support/must.js'
import { firstMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'

t.test('a run follows an earlier one of its own server, and of no other, however far that has come', (t) => {
  t.ok(isLaterRun('7/0000000B', '7/0000000A'))
  t.notOk(isLaterRun('7/0000000A', '7/0000000B'))
  t.notOk(isLaterRun('8/0000000B', '7/0000000A'))
  t.end()
})

t.test('a process that goes on living leaves a server that another one of its machine left', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  const { gov: { store } } = one
  await store.fresh()
  const { files, keyPlaces, keys, storeId } = sharedOf(store).replica
  const settings = readPlaceFile(files, keyPlaces.dir, keys, storeId)
  t.match(settings.run, /^\d+\//)
  writePlaceFile(files, keyPlaces.dir, keys, storeId, { ...settings, run: '1/0000000A' })
  await t.rejects(store.fresh(), { code: 'server_changed', reason: 'run' })
  writePlaceFile(files, keyPlaces.dir, keys, storeId, settings)
  await store.fresh()
  must(await one.run(['goal', 'add', 'on']))
})

t.test('a process that goes on living is told that the state was taken back', async (t) => {
  const server = await startPostgres(t)
  const one = await firstMachine(t, server.url)
  await one.gov.store.fresh()
  must(await one.run(['state', 'unshare', '--yes']))
  await t.rejects(one.gov.store.fresh(), { code: 'state_moved' })
})
