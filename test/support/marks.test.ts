import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { formsOf, marksInFiles, searchFor } from './marks.js'

const mark = 'MARK-THIS-77'
const around = ['', 'x', 'xy', 'xyz', '{"a":"', 'é\n'] as const

t.test('a mark is found in every form, wherever it stands', async (t) => {
  const search = searchFor([mark])
  for (const before of around) {
    for (const after of around) {
      const whole = Buffer.from(`${before}${mark}${after}`)
      for (const encoding of ['utf8', 'hex', 'base64', 'base64url'] as const) {
        const found = search(Buffer.from(`lead ${whole.toString(encoding)} trail`))
        t.equal(found.length > 0, true, `${encoding} between "${before}" and "${after}"`)
      }
    }
  }
  t.strictSame(search(Buffer.from(`\0${mark}`, 'utf16le')), [`${mark} in UTF-16`])
  t.strictSame(search(Buffer.from('MARK-THIS-7, MARK-THAT-77')), [])
  for (const [name, form] of formsOf(mark)) t.ok(form.length >= 12, `${name} is no chance hit`)
})

t.test('files and their names are searched, but for those excepted', async (t) => {
  const dir = t.testdir({ below: { plain: `so ${mark} it is` }, [mark]: '' })
  writeFileSync(join(dir, 'sixteen'), Buffer.from(mark, 'utf16le'))
  const found = marksInFiles(searchFor([mark]), [dir], [join(dir, 'below/plain')])
  t.strictSame(found.map((line) => line.split(': ').at(-1)).sort(), [
    `${mark} in UTF-16`, `${mark} in plain`,
  ])
  t.strictSame(marksInFiles(searchFor([mark]), [join(dir, 'nowhere')]), [])
})
