/** A page that is told as written is on the disk. */
import fs, { existsSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { writeReportFile } from '../../../src/shots/report/file.js'
import { errorOf } from '../../support/refused.js'

t.test('a page that the disk does not keep is not written, and nothing of it stays', (t) => {
  const path = join(t.testdir(), 'day.html')
  const real = fs.fsyncSync
  const put = (sync: typeof real): void => {
    Object.assign(fs, { fsyncSync: sync })
    syncBuiltinESMExports()
  }
  t.teardown(() => put(real))
  put(() => {
    throw Object.assign(new Error('the disk'), { code: 'EIO' })
  })
  t.hasStrict(errorOf(() => writeReportFile(path, 'a page')),
    { code: 'report_not_written', reason: 'EIO' })
  t.notOk(existsSync(path))
  put(real)
  writeReportFile(path, 'a page')
  t.equal(readFileSync(path, 'utf8'), 'a page')
  t.end()
})
