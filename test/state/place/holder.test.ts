/** Whose a lease is, where a whole machine was copied: the same file lies on both. */
import { randomUUID } from 'node:crypto'
import { cpSync } from 'node:fs'
import t from 'tap'
import { nodeFiles, type FileFacts, type Files } from '../../../src/state/files.js'
import { holderOf } from '../../../src/state/place/holder.js'
import { openingAny, openStore } from '../../../src/state/store.js'
import { firstMachine } from '../../support/place/machines.js'
import { startPostgres } from '../../support/place/postgres.js'

t.test('a directory is named by its file, its device and the start of its machine', async (t) => {
  const holder = holderOf({ dev: 1, ino: 2 }, 'a')
  t.match(holder, /^[\da-f]{32}$/)
  t.equal(holderOf({ dev: 1, ino: 2 }, 'a'), holder)
  for (const other of [
    holderOf({ dev: 2, ino: 2 }, 'a'), holderOf({ dev: 1, ino: 1 }, 'a'),
    holderOf({ dev: 1, ino: 2 }, 'b'), holderOf({ dev: 1, ino: 2 }, ''),
  ]) t.not(other, holder)
  t.equal(holderOf({ dev: 1, ino: 2 }, null), holderOf({ dev: 1, ino: 2 }, ''), 'without one')
})

t.test('a copy of a machine whose file has the same number takes nothing of it for dead', async (t) => {
  const server = await startPostgres(t)
  const { place: { stateDir, configDir }, gov: { store } } = await firstMachine(t, server.url)
  const guard = await store.holds.hold('operation', `op_${randomUUID()}`)
  const leases = async () => (await server.query('select name from sallyport.leases')).length
  t.equal(await leases(), 1)
  const copy = { dir: t.testdir(), configDir: t.testdir() }
  const { ino } = nodeFiles.stat(`${stateDir}/lock`) ?? {}
  cpSync(stateDir, copy.dir, { recursive: true })
  cpSync(configDir, copy.configDir, { recursive: true })
  const stat = (path: string): FileFacts | undefined => {
    const facts = nodeFiles.stat(path)
    return facts === undefined || !path.endsWith('/lock') || ino === undefined
      ? facts : { ...facts, ino, dev: facts.dev + 1 }
  }
  const files: Files = { ...nodeFiles, stat }
  const opened = await openingAny(() => openStore({ ...copy, mode: 'write', files }))
  t.teardown(() => opened.close())
  await opened.fresh()
  t.equal(await leases(), 1)
  guard.release()
})
