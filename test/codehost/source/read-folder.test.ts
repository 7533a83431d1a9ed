/** Folders read as the files of a publication: whole, sealed as they were hashed, or refused. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync, chmodSync, closeSync, linkSync, mkdirSync, openSync, readdirSync,
  renameSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync, writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import t, { type Test } from 'tap'
import { objectId } from '../../../src/codehost/git/object-id.js'
import { emptyTree, overlaid } from '../../../src/codehost/git/tree.js'
import type { GitTree } from '../../../src/codehost/git/tree.js'
import { readSource, sourceLabel } from '../../../src/codehost/source/read-folder.js'
import type { SourceDraft, SourceInput } from '../../../src/codehost/source/read-folder.js'
import { walkSource } from '../../../src/codehost/source/walk.js'
import { createStore } from '../../../src/state/store.js'
import type { Store } from '../../../src/state/types.js'
import { onCall } from '../../support/codehost/on-call.js'
import { bareRepository, git } from '../../support/codehost/real-git.js'
import { onFailingDisk } from '../../support/soak/failing-disk.js'

interface World {
  readonly dir: string
  readonly state: string
  readonly store: Store
  read(over?: Partial<SourceInput>): Promise<SourceDraft>
  /** The code and the finer reason of the refusal, and the path that it names. */
  refusal(over?: Partial<SourceInput>): Promise<readonly unknown[]>
}

const worldOf = (t: Test): World => {
  const base = t.testdir({ source: {}, place: {} })
  const [dir, state] = [join(base, 'source'), join(base, 'place/state')]
  const store = createStore({ dir: state, configDir: join(base, 'place/config'), profile: {} })
  t.teardown(() => store.close())
  // Loads the keys: calls are counted from the folder's first.
  store.artifacts.writePack('none').abandon()
  const read = (over: Partial<SourceInput> = {}) => readSource({
    dir, base: emptyTree, artifacts: store.artifacts, ownFolders: [state], ...over,
  })
  const refusal = async (over: Partial<SourceInput> = {}): Promise<readonly unknown[]> => {
    try {
      (await read(over)).abandon()
      return ['not refused']
    } catch (error) {
      const { code, reason, details } = error as {
        code?: string, reason?: string, details?: Record<string, unknown>,
      }
      return [code, reason ?? null, details?.['path'] ?? null]
    } finally {
      t.strictSame(readdirSync(join(state, 'artifacts')), [], 'nothing is left behind')
    }
  }
  return { dir, state, store, read, refusal }
}

const put = (dir: string, path: string, bytes: string | Uint8Array = path): string => {
  const full = join(dir, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, bytes)
  return full
}

/** Files older than any that is read twice. */
const aged = (path: string): string => {
  utimesSync(path, 1_600_000_000, 1_600_000_000)
  return path
}

const treeOf = (draft: SourceDraft): GitTree => overlaid(emptyTree, draft.files)

t.test('what is read is what git would add, and every content that differs is sealed once', async (t) => {
  const { dir, read, store } = worldOf(t)
  const word = fc.constantFrom('a', 'a-b', 'a.b', 'a0', 'ab', 'é', '李', 'x y', '.hidden', "q'")
  const paths = fc.sample(fc.array(word, { minLength: 1, maxLength: 4 }), { numRuns: 120, seed: 5 })
  const bodies = fc.sample(fc.uint8Array({ maxLength: 3_000 }), { numRuns: 120, seed: 6 })
  for (const [at, names] of paths.entries()) {
    const folders = names.slice(0, -1).map((name) => `${name}d`)
    const path = join(dir, ...folders, names.at(-1) ?? '')
    mkdirSync(dirname(path), { recursive: true })
    try {
      writeFileSync(path, at % 7 === 0 ? '' : Buffer.from(bodies[at] ?? []))
      if (at % 3 === 0) chmodSync(path, 0o755)
    } catch {
      // A folder of that name is there.
    }
  }
  put(dir, 'same/one', 'same')
  put(dir, 'same/two', 'same')
  chmodSync(put(dir, 'group', 'only the group may execute'), 0o674)
  mkdirSync(join(dir, 'empty/below'), { recursive: true })
  put(dir, '.gitignore', 'a\nsame\n')
  const place = bareRepository(dirname(dir))
  const env = { ...place.env, GIT_INDEX_FILE: join(place.gitDir, 'index'), GIT_WORK_TREE: dir }
  git({ ...place, env }, ['-c', 'core.fileMode=true', '-C', dir, 'add', '-f', '-A', '.'])
  const tree = git({ ...place, env }, ['write-tree']).toString().trim()
  const draft = await read()
  t.equal(treeOf(draft).id, tree)
  const ref = draft.seal()
  const pack = store.artifacts.openPack(sourceLabel, ref)
  t.strictSame(
    pack.bodies.map(({ name }) => name).sort(),
    [...new Set(draft.files.map(({ id }) => id))].sort())
  for (const { name } of pack.bodies) t.equal(objectId('blob', pack.read(name)), name)
  pack.close()
  t.equal(draft.files.find(({ path }) => path === 'group')?.mode, '100644')
})

t.test('only what differs from the base is sealed, and a mode alone seals nothing', async (t) => {
  const { dir, read, store } = worldOf(t)
  for (const path of ['kept', 'mode', 'content']) put(dir, path)
  const first = await read()
  first.abandon()
  const base = treeOf(first)
  chmodSync(join(dir, 'mode'), 0o755)
  put(dir, 'content', 'another')
  put(dir, 'new/file', 'new')
  const draft = await read({ base })
  t.equal(draft.files.length, 4)
  const pack = store.artifacts.openPack(sourceLabel, draft.seal())
  t.strictSame(
    pack.bodies.map(({ name }) => name),
    ['another', 'new'].map((text) => objectId('blob', Buffer.from(text))))
  pack.close()
})

t.test('.git at the top is skipped and never opened, whatever it is', async (t) => {
  const { dir, read } = worldOf(t)
  put(dir, 'file')
  const opened: string[] = []
  const look = (_: number, [path]: readonly unknown[]): void => void opened.push(String(path))
  for (const make of [
    () => put(dir, '.git/config', '[core]\n'), () => put(dir, '.git', 'gitdir: elsewhere\n'),
    () => symlinkSync('/nowhere', join(dir, '.git')),
    () => execFileSync('mkfifo', [join(dir, '.git')]),
  ]) {
    make()
    const draft = await onCall('openSync', look, () => onCall('lstatSync', look, () => read()))
    t.strictSame(draft.files.map(({ path }) => path), ['file'])
    draft.abandon()
    rmSync(join(dir, '.git'), { recursive: true })
  }
  t.ok(opened.some((path) => path.endsWith('/file')))
  t.notOk(opened.some((path) => path.endsWith('/.git')))
})

t.test('links, pipes, sockets, devices and a repository within are refused by their names', async (t) => {
  const { dir, refusal } = worldOf(t)
  put(dir, 'a/file')
  const there = join(dir, 'a/odd')
  const server = createServer()
  t.teardown(() => server.close())
  // The name of a socket has to be short.
  const before = process.cwd()
  t.teardown(() => process.chdir(before))
  const socket = async (): Promise<void> => {
    process.chdir(dirname(there))
    await once(server.listen('odd'), 'listening')
    process.chdir(before)
  }
  const cases: readonly (readonly [string, () => unknown])[] = [
    ['link', () => symlinkSync('file', there)],
    ['link', () => symlinkSync('.', there)],
    ['link', () => symlinkSync('/nowhere', there)],
    ['fifo', () => execFileSync('mkfifo', [there])],
    ['socket', socket],
    ...(process.getuid?.() === 0
      ? [['device', () => execFileSync('mknod', [there, 'c', '1', '3'])] as const] : []),
  ]
  for (const [reason, make] of cases) {
    await make()
    t.strictSame(await refusal(), ['source_refused', reason, 'a/odd'])
    rmSync(there)
  }
  for (const make of [() => put(dir, 'a/.git/config'), () => put(dir, 'a/.git', 'gitdir: x\n')]) {
    make()
    t.strictSame(await refusal(), ['source_refused', 'nested_git', 'a/.git'])
    rmSync(join(dir, 'a/.git'), { recursive: true })
  }
})

t.test('names that cannot be published are refused before anything of them is opened', async (t) => {
  const { dir, refusal } = worldOf(t)
  const top = Buffer.from(`${dir}/`)
  const cases: readonly (readonly [string, Buffer, string])[] = [
    ['control_character', Buffer.from('new\nline'), 'new\nline'],
    ['control_character', Buffer.from('a\u001b[2J'), 'a\\u001b[2J'],
    ['control_character', Buffer.from('c1\u009b'), 'c1\\u009b'],
    ['not_utf8', Buffer.from([0x61, 0xff]), 'a\u00ff'],
    ['not_utf8', Buffer.from([0xed, 0xa0, 0x80]), '\u00ed\u00a0\\u0080'],
    ['git_name', Buffer.from('.GIT'), '.GIT'],
    ['git_name', Buffer.from('git~1'), 'git~1'],
    ['backslash', Buffer.from('a\\b'), 'a\\b'],
  ]
  for (const [reason, name, shown] of cases) {
    const path = Buffer.concat([top, name])
    writeFileSync(path, '')
    t.strictSame(await refusal(), ['path_not_publishable', reason, shown])
    rmSync(path)
    mkdirSync(path)
    t.strictSame(await refusal(), ['path_not_publishable', reason, shown])
    rmSync(path, { recursive: true })
  }
})

t.test('a folder that is missing, no folder, our own, too deep or too full is refused', async (t) => {
  const { dir, state, refusal } = worldOf(t)
  t.strictSame(await refusal({ dir: join(dir, 'none') }), ['source_refused', 'missing', null])
  t.strictSame(
    await refusal({ dir: put(dir, 'file') }), ['source_refused', 'not_folder', null])
  t.strictSame(await refusal({ dir: state }), ['source_refused', 'own_folder', null])
  t.strictSame(
    await refusal({ dir: join(state, 'artifacts') }), ['source_refused', 'own_folder', null])
  t.strictSame(
    await refusal({ dir: dirname(dirname(state)) }),
    ['source_refused', 'own_folder', 'place/state'])
  symlinkSync(state, join(dir, '..', 'by-link'))
  t.strictSame(
    await refusal({ dir: join(dir, '../by-link') }), ['source_refused', 'own_folder', null])
  const deep = Array.from({ length: 129 }, () => 'd').join('/')
  mkdirSync(join(dir, deep), { recursive: true })
  t.strictSame(await refusal(), ['source_refused', 'too_deep', deep])
})

t.test('a file above 2 MiB is refused by its name unless the base has it', async (t) => {
  const { dir, read, refusal } = worldOf(t)
  const path = put(dir, 'large', '')
  truncateSync(path, 2 * 1024 * 1024)
  const fits = await read()
  fits.abandon()
  const whole = Buffer.alloc(2 * 1024 * 1024 + 1)
  const leaf = { path: 'large', mode: '100644', id: objectId('blob', whole) } as const
  truncateSync(path, whole.length)
  t.strictSame(await refusal(), ['source_refused', 'file_too_large', 'large'])
  const draft = await read({ base: overlaid(emptyTree, [leaf]) })
  t.equal(draft.files[0]?.id, leaf.id)
  draft.abandon()
  appendFileSync(path, 'x')
  t.strictSame(
    await refusal({ base: overlaid(emptyTree, [leaf]) }),
    ['source_refused', 'file_too_large', 'large'])
})

t.test('too many files or bytes end the reading where the plan would refuse them', async (t) => {
  const { dir, refusal } = worldOf(t)
  for (let n = 0; n < 33; n += 1) truncateSync(put(dir, `large-${n}`), 2 * 1024 * 1024)
  t.strictSame(await refusal(), ['plan_not_closable', 'expected_bytes', null])
  rmSync(dir, { recursive: true })
  for (let n = 0; n < 2_001; n += 1) put(dir, `f/${n}`, '')
  t.strictSame(await refusal(), ['plan_not_closable', 'expected_files', null])
})

t.test('a file that changes while it is read is refused, never a mixture', async (t) => {
  const { dir, refusal } = worldOf(t)
  const size = 1024 * 1024
  const path = aged(put(dir, 'file', Buffer.alloc(size, 'a')))
  const other = put(dir, 'z', 'last')
  const after = (call: number, act: () => void) =>
    (number: number): void => void (number === call && act())
  const changed = ['source_changed', null, 'file']
  const acts: readonly (readonly [string, () => void])[] = [
    ['written in place', () => {
      const fd = openSync(path, 'r+')
      writeSync(fd, 'b'.repeat(10), size - 10)
      closeSync(fd)
    }],
    ['grown', () => appendFileSync(path, 'b')],
    ['cut', () => truncateSync(path, size - 1)],
    ['executable', () => chmodSync(path, 0o755)],
  ]
  for (const [what, act] of acts) {
    for (const call of [1, 2]) {
      const got = await onCall('readSync', after(call, act), () => refusal())
      t.strictSame(got, changed, `${what} before read ${call}`)
      chmodSync(aged(put(dir, 'file', Buffer.alloc(size, 'a'))), 0o644)
    }
  }
  // Behind its back, before another file is read: what was read together was never there together.
  const late = (number: number, [fd]: readonly unknown[]): void => {
    if (number === 3) t.ok(typeof fd === 'number')
    if (number === 5) acts[0]?.[1]()
  }
  t.ok(other)
  t.strictSame(await onCall('readSync', late, () => refusal()), changed)
})

t.test('two writes within one tick of the clock are seen by a second look', async (t) => {
  const { dir, refusal } = worldOf(t)
  const path = put(dir, 'file', Buffer.alloc(100, 'a'))
  // The clock stands still: whatever is asked about the file gives the stamp of before.
  const { default: fs } = await import('node:fs')
  const { syncBuiltinESMExports } = await import('node:module')
  const [fstat, lstat] = [fs.fstatSync, fs.lstatSync]
  const frozen = fs.lstatSync(path, { bigint: true })
  const standing = (own: typeof fs.fstatSync | typeof fs.lstatSync) => (...args: unknown[]) => {
    const found = (own as (...all: unknown[]) => typeof frozen)(...args)
    return found.ino === frozen.ino ? frozen : found
  }
  Object.assign(fs, { fstatSync: standing(fstat), lstatSync: standing(lstat) })
  t.teardown(() => {
    Object.assign(fs, { fstatSync: fstat, lstatSync: lstat })
    syncBuiltinESMExports()
  })
  const write = (number: number): void => {
    if (number === 2) writeFileSync(path, Buffer.alloc(100, 'b'))
  }
  t.strictSame(
    await onCall('readSync', write, () => refusal()), ['source_changed', null, 'file'])
})

t.test('a folder swapped for a link leads nowhere, and what comes or goes meanwhile is seen', async (t) => {
  const { dir, state, read, refusal } = worldOf(t)
  put(dir, 'a/inside', 'public')
  put(dir, 'b/file')
  const secret = join(dir, '../elsewhere')
  put(secret, 'inside', 'secret')
  const swap = (): void => {
    renameSync(join(dir, 'a'), join(dir, '../moved'))
    symlinkSync(secret, join(dir, 'a'))
  }
  const back = (): void => {
    rmSync(join(dir, 'a'))
    renameSync(join(dir, '../moved'), join(dir, 'a'))
  }
  const whole = ['public', 'b/file'].map((text) => objectId('blob', Buffer.from(text))).join()
  let seen = 0
  for (const name of ['openSync', 'opendirSync', 'readSync', 'lstatSync'] as const) {
    for (let call = 1; call <= 6; call += 1) {
      let swapped = false
      const before = (number: number): void => {
        if (number !== call) return
        swapped = true
        swap()
      }
      const got = await onCall(name, before, () => read()).then(
        (draft) => {
          draft.abandon()
          return draft.files.map(({ id }) => id)
        }, (error: { code: string, reason: string | null }) => error.reason ?? error.code)
      if (!swapped) continue
      // Swapped when it had been looked at twice, it was read as it was.
      const fine = typeof got === 'string' ? ['source_changed', 'link'].includes(got)
        : got.join() === whole
      t.ok(fine, `${name} ${call}: ${String(got)}`)
      if (typeof got === 'string') seen += 1
      back()
    }
  }
  t.ok(seen > 10, `${seen} were seen`)
  const comes = (number: number): void => void (number === 1 && put(dir, 'a/new'))
  t.strictSame(
    (await onCall('readSync', comes, () => refusal()))[0], 'source_changed')
  const goes = (number: number): void => void (number === 4 && rmSync(join(dir, 'a/new')))
  t.strictSame(
    (await onCall('readSync', goes, () => refusal())), ['source_changed', null, 'a/new'])
  const linked = (number: number): void =>
    void (number === 1 && linkSync(join(dir, 'a/inside'), join(state, '../hard')))
  t.strictSame(
    (await onCall('readSync', linked, () => refusal())), ['source_changed', null, 'a/inside'])
  const draft = await read()
  draft.abandon()
})

t.test('a folder that became a link since its name was read is not entered', async (t) => {
  const { dir } = worldOf(t)
  put(dir, 'a')
  put(dir, 'b/inside')
  const elsewhere = join(dir, '../elsewhere')
  put(elsewhere, 'secret')
  const fd = openSync(dir, 'r')
  t.teardown(() => closeSync(fd))
  const walk = walkSource(fd, dir, { forbidden: new Set(), base: emptyTree })
  t.strictSame([walk.next().value, walk.next().value].map(({ path }) => path), ['', 'a'])
  rmSync(join(dir, 'b'), { recursive: true })
  symlinkSync(elsewhere, join(dir, 'b'))
  t.throws(() => walk.next(), { code: 'source_changed', details: { path: 'b' } })
})

t.test('what took the place of a file that was found is not read', async (t) => {
  const { dir, refusal } = worldOf(t)
  const path = put(dir, 'file', 'small')
  let isSwapped = false
  const swapped = (_: number, [at]: readonly unknown[]): void => {
    if (isSwapped || !String(at).endsWith('file')) return
    isSwapped = true
    rmSync(path)
    put(dir, 'file', Buffer.alloc(3 * 1024 * 1024))
  }
  t.strictSame(
    await onCall('openSync', swapped, () => refusal()), ['source_changed', null, 'file'])
})

t.test('a disk that fails gives a refusal with a name, and nothing is left', async (t) => {
  const { dir, state, refusal } = worldOf(t)
  put(dir, 'a/file')
  const failing = (code: string) => (number: number): void => {
    if (number === 2) throw Object.assign(new Error(code), { code })
  }
  for (const [name, path] of [['readSync', 'a/file'], ['opendirSync', 'a']] as const) {
    t.strictSame(
      await onCall(name, failing('EIO'), () => refusal()), ['source_refused', 'unreadable', path])
  }
  const none = (_: number, [path]: readonly unknown[]): void => {
    if (String(path).endsWith('/file')) throw Object.assign(new Error('no'), { code: 'EACCES' })
  }
  t.strictSame(
    await onCall('openSync', none, () => refusal()), ['source_refused', 'unreadable', 'a/file'])
  truncateSync(put(dir, 'b'), 2 * 1024 * 1024)
  const full = await onFailingDisk(
    [state, '/proc/self/fd'], { at: 2, fault: 'ENOSPC', seen: [] }, () => refusal())
  t.equal(full[0], 'disk_full')
})

t.test('a signal ends the reading, and what was sealed goes with it', async (t) => {
  const { dir, refusal } = worldOf(t)
  for (let n = 0; n < 300; n += 1) put(dir, `f/${n}`, 'x')
  const stop = new AbortController()
  const stopping = (number: number): void => void (number === 10 && stop.abort(new Error('stop')))
  const got = await onCall('readSync', stopping, () => refusal({ signal: stop.signal }))
  t.strictSame(got, [undefined, null, null])
})

t.test('marks say which of the files that differ should be looked at', async (t) => {
  const { dir, read } = worldOf(t)
  put(dir, 'kept.pem')
  const first = await read()
  first.abandon()
  put(dir, '.env.local', 'A=1')
  put(dir, 'a/.env', '')
  put(dir, 'a/tls.PEM', '')
  put(dir, 'a/id_ed25519', '')
  put(dir, 'plain', 'nothing: sk, ghp, an environment; -----BEGIN CERTIFICATE-----')
  put(dir, 'token.js', `const t = "ghp_${'a1'.repeat(18)}"`)
  put(dir, 'key', `\0\xff-----BEGIN EC PRIVATE KEY-----\nAAAA`)
  put(dir, 'id_both.pem', `sk-${'x'.repeat(20)}`)
  const draft = await read({ base: treeOf(first) })
  draft.abandon()
  t.strictSame(Object.fromEntries(draft.marks), {
    '.env.local': ['env_file'],
    'a/.env': ['env_file'],
    'a/id_ed25519': ['id_file'],
    'a/tls.PEM': ['pem_file'],
    'id_both.pem': ['pem_file', 'id_file', 'key_shape'],
    'key': ['key_shape'],
    'token.js': ['key_shape'],
  })
})
