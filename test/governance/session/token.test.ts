import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { newId } from '../../../src/base/ids.js'
import { readLastUse } from '../../../src/governance/session/last-use.js'
import {
  dropToken, isToken, loadToken, newToken, sameDigest, saveToken, tokenPath,
} from '../../../src/governance/session/token.js'
import { needsStrace } from '../../support/soak/strace.js'
import { builtApp } from '../../world/process.js'
import { World } from '../../world/world.js'

t.test('tokens differ and have one form', async (t) => {
  const tokens = new Set(Array.from({ length: 100 }, newToken))
  t.equal(tokens.size, 100)
  t.ok([...tokens].every(isToken))
  const short = 'a'.repeat(42)
  for (const not of ['', short, 'a'.repeat(44), `${short}=`, `${short} `]) {
    t.notOk(isToken(not))
  }
})

t.test('a token that a process left half-way to its file goes with the next login or logout; one of a process that lives stays', async (t) => {
  const dir = t.testdir()
  const path = join(dir, 'session')
  const { pid: dead } = spawnSync(process.execPath, ['-e', ''])
  const left = [`session.${dead}.0123abcd`, `session.${process.pid}.0123abcd`]
  const stays = [`session.${process.ppid}.0123abcd`, 'session.old', `other.${dead}.0123abcd`]
  const leave = () => [...left, ...stays].forEach((name) =>
    writeFileSync(join(dir, name), newToken()))
  leave()
  saveToken(path, newToken())
  t.strictSame(readdirSync(dir).sort(), ['session', ...stays].sort())
  leave()
  t.equal(dropToken(path, newToken()), false)
  t.strictSame(readdirSync(dir).sort(), ['session', ...stays].sort())
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
  t.strictSame(readdirSync(join(path, '..')), ['session'])
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

t.test('a link in the place of a token is not followed: it counts as none, and a login replaces it', async (t) => {
  const dir = t.testdir()
  const [path, token] = [join(dir, 'session'), newToken()]
  saveToken(join(dir, 'other'), token)
  symlinkSync(join(dir, 'other'), path)
  t.equal(loadToken(path), null)
  saveToken(path, token)
  t.equal(lstatSync(path).isSymbolicLink(), false)
  t.equal(loadToken(path), token)
})

t.test('a pipe, a folder or a long file in the place of a token holds up nobody', async (t) => {
  const dir = t.testdir({ folder: {} })
  execFileSync('mkfifo', [join(dir, 'pipe')])
  writeFileSync(join(dir, 'long'), `${newToken()}\n${' '.repeat(2_000)}`)
  const token = newToken()
  for (const name of ['pipe', 'long', 'folder']) {
    t.equal(loadToken(join(dir, name)), null, name)
    t.equal(dropToken(join(dir, name), token), false)
  }
  saveToken(join(dir, 'pipe'), token)
  t.equal(loadToken(join(dir, 'pipe')), token, 'the next login puts a file there')
  const root = newId('root')
  mkdirSync(join(dir, 'run', 'sessions'), { recursive: true })
  execFileSync('mkfifo', [join(dir, 'run', 'sessions', root)])
  t.equal(readLastUse(dir, root), null)
})

t.test('a token that the disk does not give is no session that has ended: it is told', async (t) => {
  const path = join(t.testdir(), 'x'.repeat(300))
  const told = { kind: 'failed', code: 'io_failed', details: { errno: 'ENAMETOOLONG' } }
  t.throws(() => loadToken(path), told)
  t.equal(dropToken(path, newToken()), false, 'what has ended stays ended')
})

t.test('a logout does not say that there is no session where its token cannot be read', { skip: needsStrace }, async (t) => {
  const { place, run } = await World.in(t).state().session()
  const ran = spawnSync('strace', [
    '-f', '-qq', '-o', '/dev/null', '-P', tokenPath(place.stateDir),
    '-e', 'inject=openat:error=EACCES',
    process.execPath, join(await builtApp(), 'sallyport.js'), 'logout', '--json',
  ], { cwd: place.cwd, env: place.env, encoding: 'utf8' })
  const line = ran.stderr.split('\n').findLast((one) => one.startsWith('{')) ?? '{}'
  t.hasStrict([ran.status, JSON.parse(line).error], [1, { code: 'not_permitted' }])
  t.equal((await run(['session', 'show', '--json'])).status, 0, 'it is open')
})

t.test('a token that cannot be written is an error, not a silent loss', async (t) => {
  const dir = t.testdir({ file: '' })
  t.throws(() => saveToken(join(dir, 'file', 'session'), newToken()), { code: 'token_not_written' })
})
