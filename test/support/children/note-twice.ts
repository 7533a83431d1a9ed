/** Puts one note in a new store of the folder that it is given; prints what its function saw. */
import { createStore } from '../../../src/state/store.js'
import { notes, numbers } from '../state/notes.js'

const [dir] = JSON.parse(process.argv[2] ?? '[]') as string[]
const store = createStore({ dir: `${dir}/state`, configDir: `${dir}/config`, profile: {} })
const seen: (number | undefined)[] = []
await store.transact('test', (tx) => {
  const before = tx.get(notes, 'a')?.n
  seen.push(before)
  tx.put(notes, 'a', { n: (before ?? 0) + 1, text: '' })
})
process.stdout.write(JSON.stringify([seen.length, seen, numbers(store)]))
store.close()
