/** Threads: replies are told apart, one that dies fails what it had, a stop waits for the rest. */
import { writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { Threads } from '../../src/service/threads.js'
import { temporaryFolder } from '../world/place.js'

const asked = { params: {}, query: {}, body: new Uint8Array(), waitMs: 0 }
const start = { stateDir: '/nowhere', configDir: '/nowhere', home: '/', env: {}, execArgv: [] }

const program = (t: Parameters<typeof temporaryFolder>[0], text: string): URL => {
  const path = `${temporaryFolder(t)}/thread.mjs`
  writeFileSync(path, `import { parentPort } from 'node:worker_threads'\n${text}`)
  return pathToFileURL(path)
}

t.test('a thread that ends before its work answers for all that it had, and the next one is new', async (t) => {
  const threads = new Threads(start, program(t, `
    parentPort.on('message', (told) => {
      if (told.kind === 'stop') return
      if (told.key === 'die') process.exit(3)
      if (told.key === 'throw') throw new Error('thrown')
      parentPort.postMessage({ kind: 'reply', id: told.id, reply: { status: 200, body: told.key } })
      parentPort.postMessage({ kind: 'done', id: told.id })
    })
  `))
  t.strictSame((await threads.perform('a', null, asked)).body, 'a')
  for (const key of ['die', 'throw']) {
    const lost = await threads.perform(key, null, asked)
    t.equal(lost.status, 500)
    t.hasStrict(lost.body, { error: { code: 'thread_lost' } })
  }
  t.strictSame((await threads.perform('b', null, asked)).body, 'b')
  threads.stop()
  await threads.close()
})

t.test('a stop reaches what is under way, and is over when nothing goes on behind a reply', async (t) => {
  const threads = new Threads(start, program(t, `
    let asked = null
    parentPort.on('message', (told) => {
      if (told.kind === 'stop') {
        setTimeout(() => parentPort.postMessage({ kind: 'done', id: asked }), 30)
        return
      }
      asked = told.id
      parentPort.postMessage({ kind: 'reply', id: told.id, reply: { status: 202, body: null } })
    })
  `))
  t.equal((await threads.perform('long', null, asked)).status, 202)
  let closed = false
  const closing = threads.close().then(() => (closed = true))
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(closed, false, 'something goes on')
  threads.stop()
  await closing
  t.equal(closed, true)
})
