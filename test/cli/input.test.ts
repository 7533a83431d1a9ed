import { mkdirSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { readInput, readInputText, readSecret } from '../../src/cli/input.js'
import type { InputSource } from '../../src/cli/input.js'
import type { VerbDeps } from '../../src/cli/bound.js'
import { sallyport } from '../harness.js'
import type { Place, Ran } from '../harness.js'
import { fakeCommands } from './fake-verbs.js'

type Read = (deps: VerbDeps, source: InputSource) => Promise<unknown>

/** Reads in a run, and gives what was read or the failure. */
const reading = async (
  place: Place, read: Read, from: string, bytesMax: number, stdin?: string | Uint8Array,
): Promise<{ ran: Ran; value: unknown }> => {
  let value: unknown
  const ran = await place.run(['thing', 'do', '--json'], {
    ...(stdin === undefined ? {} : { stdin }),
    commands: fakeCommands(async (_options, deps) => {
      value = await read(deps, { from, flag: '--x-file', bytesMax })
      return {}
    }),
  })
  return { ran, value }
}

t.test('files and stdin are taken exactly as they are, up to the limit', async (t) => {
  const place = sallyport(t)
  const bytes = Buffer.from([0, 255, 10, 32, 10])
  writeFileSync(place.path('f'), bytes)
  t.same((await reading(place, readInput, 'f', 5)).value, bytes)
  t.same((await reading(place, readInput, '-', 5, bytes)).value, bytes)
  t.same((await reading(place, readInput, '-', 0)).value, Buffer.alloc(0))
  const big = Buffer.alloc(300_000, 7)
  writeFileSync(place.path('big'), big)
  t.same((await reading(place, readInput, 'big', 300_000)).value, big)
})

t.test('one byte beyond the limit is refused, naming flag and limit', async (t) => {
  const place = sallyport(t)
  writeFileSync(place.path('f'), 'abcdef')
  for (const from of ['f', '-']) {
    const { ran } = await reading(place, readInput, from, 5, 'abcdef')
    t.equal(ran.status, 3)
    t.same(ran.error().details, { flag: '--x-file', bytes_max: 5 })
    t.notMatch(ran.stderr, 'abc')
  }
})

t.test('what cannot be read is refused, naming the flag and not the path', async (t) => {
  const place = sallyport(t)
  mkdirSync(place.path('folder'))
  const missing = await reading(place, readInput, 'no-such-thing', 5)
  t.equal(missing.ran.status, 3)
  t.same(missing.ran.error().details, { flag: '--x-file', errno: 'ENOENT' })
  t.notMatch(missing.ran.stderr, 'no-such-thing')
  const folder = await reading(place, readInput, 'folder', 5)
  t.equal(folder.ran.error().details.errno, 'EISDIR')
})

t.test('text is UTF-8 without exception, and keeps a byte order mark', async (t) => {
  const place = sallyport(t)
  t.equal((await reading(place, readInputText, '-', 99, ' é\r\n\n')).value, ' é\r\n\n')
  t.equal((await reading(place, readInputText, '-', 99, '\uFEFFx')).value, '\uFEFFx')
  const bad = await reading(place, readInputText, '-', 99, Buffer.from([0xc3, 0x28]))
  t.same([bad.ran.status, bad.ran.error().code], [3, 'input_not_utf8'])
})

t.test('a secret is one line; one line end after it is dropped and nothing else', async (t) => {
  const place = sallyport(t)
  for (const [given, kept] of [
    ['key', 'key'], ['key\n', 'key'], ['key\r\n', 'key'], [' key ', ' key '], ['', ''], ['\n', ''],
  ] as const) {
    t.equal((await reading(place, readSecret, '-', 99, given)).value, kept)
  }
  for (const given of ['a\nb', 'key\n\n', 'a\u0000b', '\tkey', 'key\u007f']) {
    const { ran } = await reading(place, readSecret, '-', 99, given)
    t.same([ran.status, ran.error().code], [3, 'secret_malformed'])
  }
})

t.test('a secret that was read is cut out of the stack of a later defect', async (t) => {
  const place = sallyport(t)
  const ran = await place.run(['thing', 'do'], {
    stdin: 'correct horse battery\n',
    commands: fakeCommands(async (_options, deps) => {
      const secret = await readSecret(deps, { from: '-', flag: '--key', bytesMax: 99 })
      throw new Error(`lost ${secret}`)
    }),
  })
  t.match(ran.stderr, 'lost [cut]')
  t.notMatch(ran.stderr, 'horse')
})
