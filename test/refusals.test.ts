/** Every refusal is named by a test, or stands in the list of those that none reaches. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { filesBelow } from './support/marks.js'

interface Refusal {
  readonly code: string
  readonly kind: string
  readonly files: readonly string[]
}

const { refusals } = (await import(join(process.cwd(), 'scripts/tool/refusals.js'))) as {
  refusals(): readonly Refusal[]
}

const listed = 'test/support/unreached-refusals.json'

t.test('every code of an error is named by a test, or is known not to be', async (t) => {
  const known = refusals()
  t.ok(known.length > 280, `${known.length} codes by kind`)
  const named = /\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b|(?<=')[a-z]+(?=')/g
  const words = new Set(filesBelow('test')
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => readFileSync(path, 'utf8').match(named) ?? []))
  const unreached = JSON.parse(readFileSync(listed, 'utf8')) as Record<string, string>
  for (const [code, why] of Object.entries(unreached)) {
    t.ok(known.some((one) => one.code === code), `${code} is a code`)
    t.notOk(words.has(code), `${code} is named by a test by now`)
    t.ok(why.length > 10, `${code}: why no test reaches it`)
  }
  for (const { code, files } of known) {
    if (Object.hasOwn(unreached, code)) continue
    t.ok(words.has(code), `${code} of ${files.join(', ')} is named by a test`)
  }
})
