import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  dropToken, isToken, loadToken, newToken, sameDigest, saveToken,
} from '../../../src/governance/session/token.js'

t.test('tokens differ and have one form', async (t) => {
  const tokens = new Set(Array.from({ length: 100 }, newToken))
  t.equal(tokens.size, 100)
  t.ok([...tokens].every(isToken))
  const short = 'a'.repeat(42)
  for (const not of ['', short, 'a'.repeat(44), `${short}=`, `${short} `]) {
    t.notOk(isToken(not))
  }
})

t.test('digests are the same only when they are', async (t) => {
  t.ok(sameDigest('ab', 'ab'))
  t.notOk(sameDigest('ab', 'ac'))
  t.notOk(sameDigest('ab', 'abc'))
})

t.test('a token file is private, replaced in one step, and left alone by another token', async (t) => {
  const path = join(t.testdir(), 'deep', 'session')
  const [one, two] = [newToken(), newToken()]
  t.equal(loadToken(path), null)
  saveToken(path, one)
  chmodSync(path, 0o644)
  saveToken(path, two)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.equal(loadToken(path), two)
  t.same(readdirSync(join(path, '..')), ['session'])
  t.equal(dropToken(path, one), false)
  t.ok(existsSync(path))
  t.equal(dropToken(path, two), true)
  t.notOk(existsSync(path))
})

t.test('a file that holds no token gives none', async (t) => {
  const path = join(t.testdir(), 'session')
  writeFileSync(path, 'not a token\n')
  t.equal(loadToken(path), null)
})

t.test('a token that cannot be written is an error, not a silent loss', async (t) => {
  const dir = t.testdir({ file: '' })
  t.throws(() => saveToken(join(dir, 'file', 'session'), newToken()), { code: 'token_not_written' })
})
