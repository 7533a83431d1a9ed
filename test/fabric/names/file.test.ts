/** The file of names: what is read of it, what is refused, and that nothing else is written. */
import {
  chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { SallyportError } from '../../../src/base/errors.js'
import { withName } from '../../../src/fabric/names/change.js'
import {
  namesBytes, namesBytesMax, namesMax, readNames, type NamedState,
} from '../../../src/fabric/names/file.js'
import { temporaryFolder } from '../../world/place.js'

const named = (name: string, dir = `/states/${name}`): NamedState =>
  ({ name, state_dir: dir, config_dir: null })

const refusalOf = (read: () => unknown): SallyportError => {
  try {
    read()
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

const fileIn = (t: Test): string => {
  const folder = join(temporaryFolder(t), 'sallyport')
  mkdirSync(folder, { mode: 0o700 })
  return join(folder, 'names.json')
}

const write = (path: string, content: string | Uint8Array): void =>
  writeFileSync(path, content, { mode: 0o600 })

const reasonOf = (path: string, uid?: number): string | null => {
  const { kind, code, reason, next } = refusalOf(() => readNames(path, uid))
  if (kind !== 'rejected' || code !== 'names_unusable' || next === null) return null
  return reason
}

t.test('names are read as they were written, and none where there is no file', (t) => {
  const path = fileIn(t)
  t.strictSame(readNames(path), [])
  t.strictSame(readNames(join(path, '..', '..', 'nowhere', 'names.json')), [])
  const names = [named('a'), { ...named('b', '/it\'s a\n"folder"'), config_dir: '/k' }]
  write(path, namesBytes(names))
  t.strictSame(readNames(path), names)
  t.end()
})

t.test('a link, a folder, a pipe or a socket in the place of the file is refused, and nothing waits for it', async (t) => {
  const path = fileIn(t)
  write(`${path}.real`, namesBytes([]))
  symlinkSync(`${path}.real`, path)
  t.equal(reasonOf(path), 'link')
  rmSync(path)
  mkdirSync(path)
  t.equal(reasonOf(path), 'not_file')
  rmSync(path, { recursive: true })
  t.equal(spawnSync('mkfifo', [path]).status, 0)
  t.equal(reasonOf(path), 'not_file')
  rmSync(path)
  const socket = createServer()
  await new Promise<void>((resolve) => socket.listen(path, resolve))
  t.equal(reasonOf(path), 'not_file')
  await new Promise((resolve) => socket.close(resolve))
  writeFileSync(join(path, '..', 'file'), '')
  t.equal(reasonOf(join(path, '..', 'file', 'names.json')), 'unreadable')
})

t.test('a file of another user, or one that others may write, is refused, and so is its folder', (t) => {
  const path = fileIn(t)
  const uid = process.getuid?.() ?? 0
  write(path, namesBytes([named('a')]))
  t.equal(reasonOf(path, uid + 1), 'owner')
  for (const mode of [0o620, 0o602]) {
    chmodSync(path, mode)
    t.equal(reasonOf(path), 'mode')
  }
  chmodSync(path, 0o644)
  t.equal(readNames(path).length, 1, 'who reads it may')
  chmodSync(join(path, '..'), 0o770)
  t.equal(reasonOf(path), 'mode')
  const { next } = refusalOf(() => readNames(path))
  t.equal(spawnSync('sh', ['-c', next ?? '']).status, 0, 'what it says helps')
  t.equal(readNames(path).length, 1)
  t.end()
})

t.test('a file is refused whole where anything in it is not what this program writes', (t) => {
  const path = fileIn(t)
  const whole = namesBytes([named('a')]).toString()
  const document = (names: readonly unknown[]): string =>
    JSON.stringify({ schema: 'sallyport.names.v1', names })
  const bad: Readonly<Record<string, string | Uint8Array>> = {
    'half of it': whole.slice(0, whole.length / 2),
    nothing: '', 'no UTF-8': Buffer.from([0xff, 0xfe]), 'a list': '[]',
    'another schema': whole.replace('v1', 'v2'),
    'a name twice': document([named('a', '/one'), named('a', '/two')]),
    'a directory twice': document([named('a', '/one'), named('b', '/one')]),
    'a field twice': whole.replace('"config_dir"', '"name": "b", "config_dir"'),
    'another field': document([{ ...named('a'), more: 1 }]),
    'a relative directory': document([named('a', 'states/a')]),
    'a directory that is written in two ways': document([named('a', '/states/../a')]),
    'a slash at the end': document([named('a', '/states/')]),
    'a directory that was no UTF-8': document([named('a', '/\ufffd')]),
    'a directory that no system knows': document([named('a', '/a\0b')]),
    'relative keys': document([{ ...named('a'), config_dir: 'k' }]),
    'a name that is none': document([named('A b')]),
    'too many': document(Array.from({ length: namesMax + 1 }, (_, n) => named(`n${n}`))),
  }
  for (const [what, content] of Object.entries(bad)) {
    write(path, content)
    t.equal(reasonOf(path), 'form', what)
    t.notMatch(refusalOf(() => readNames(path)).message, /\/states/, `${what} is not quoted`)
  }
  write(path, Buffer.alloc(namesBytesMax + 1, 32))
  t.equal(reasonOf(path), 'too_large')
  t.equal(readFileSync(path).length, statSync(path).size, 'and left as it is')
  t.end()
})

t.test('a name stands for one state, and a state has one name', (t) => {
  const names = [named('a'), named('c')]
  const same = (path: string): string => path
  t.strictSame(withName(names, named('b'), same).map(({ name }) => name), ['a', 'b', 'c'])
  t.equal(withName(names, named('a'), same), names, 'the same line again changes nothing')
  const codeOf = (wanted: NamedState, real = same): string =>
    refusalOf(() => withName(names, wanted, real)).code
  t.equal(codeOf(named('a', '/other')), 'name_taken')
  t.equal(codeOf({ ...named('a'), config_dir: '/k' }), 'name_taken')
  t.equal(codeOf(named('b', '/states/a')), 'state_named')
  t.equal(codeOf(named('b', '/link'), (path) => (path === '/link' ? '/states/a' : path)),
    'state_named', 'two paths may lead to one')
  const many = Array.from({ length: namesMax }, (_, n) => named(`n${n}`))
  t.equal(refusalOf(() => withName(many, named('b'), same)).code, 'names_full')
  const long = named('b', `/${'d'.repeat(namesBytesMax)}`)
  t.equal(codeOf(long), 'names_full', 'nothing is written that would not be read')
  t.end()
})
