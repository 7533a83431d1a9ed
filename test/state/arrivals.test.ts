/** Notes of arrivals lie in the state directory and behind no link. */
import { mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { arrivalNames, noteArrival, readArrival } from '../../src/state/arrivals.js'
import { temporaryName } from '../../src/state/files.js'
import { temporaryFolder } from '../world/place.js'

const note = { record: 'art_1', temporary: temporaryName(), stored: 'ab'.repeat(32) }

t.test('a note is found under its name and says what it was given', (t) => {
  const dir = temporaryFolder(t)
  t.strictSame(arrivalNames(dir), [])
  noteArrival(dir, 'one', note)
  t.strictSame([arrivalNames(dir), readArrival(dir, 'one')], [['one'], note])
  t.end()
})

for (const folder of ['run', 'run/publishing']) {
  t.test(`no note is written or looked for behind a link in the place of ${folder}`, (t) => {
    const dir = temporaryFolder(t)
    mkdirSync(join(dir, 'run', 'publishing'), { recursive: true })
    renameSync(join(dir, folder), join(dir, 'away'))
    symlinkSync(join(dir, 'away'), join(dir, folder))
    const refusal = { kind: 'damaged', code: 'folder_replaced', details: { folder } }
    t.throws(() => noteArrival(dir, 'one', note), refusal)
    t.throws(() => arrivalNames(dir), refusal)
    t.strictSame(readdirSync(join(dir, 'run', 'publishing')), [])
    t.end()
  })
}
