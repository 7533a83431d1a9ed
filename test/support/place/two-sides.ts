/** Who asks on one machine of a shared state, and who gives on another one. */
import type { Teardown } from '../../world/place.js'
import type { Sides } from '../fabric/consent-cells.js'
import { keptOf } from '../kept.js'
import { must } from '../must.js'
import { joined } from './machines.js'
import { movingServer, type MovingServer } from './moving-server.js'

/** Keeps what lies at the server, and answers what puts it back. */
const keptAt = async (server: MovingServer): Promise<() => Promise<unknown>> => {
  const tables = await server.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'sallyport'")
  await server.query('create schema kept')
  for (const { name } of tables) {
    await server.query(`create table kept.${name} as table sallyport.${name}`)
  }
  return () => server.query(['begin', 'update public.moved set ms = 0',
    `truncate ${tables.map(({ name }) => `sallyport.${name}`).join(', ')}`,
    ...tables.map(({ name }) => `insert into sallyport.${name} table kept.${name}`),
    'commit'].join(';'))
}

/** A server of its own, and a machine beside that of whoever asks. */
export const twoSides = async (t: Teardown): Promise<Sides> => {
  const server = await movingServer(t)
  return {
    state: { more: ['--shared', server.url, '--machine-name', 'a'] },
    other: (rig) => joined(t, rig),
    async keep(rig, other) {
      for (const { run } of [rig, other]) must(await run(['machine', 'list']))
      const parts = [keptOf(rig), keptOf({ ...other, sandbox: rig.sandbox })]
      const back = await keptAt(server)
      return async () => {
        for (const one of parts) one()
        await back()
      }
    },
    pass: (ms) => server.pass(ms),
  }
}
