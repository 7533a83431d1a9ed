/** What is true of the program as it is shipped: bundled, without anything of the tests. */
import { spawnSync } from 'node:child_process'
import { createCipheriv } from 'node:crypto'
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync,
  symlinkSync, writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { Script } from 'node:vm'
import type { Test } from 'tap'
import { version } from '../../src/cli/version.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

const root = process.cwd()
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  man: readonly string[]
}

const otherV8 = '0.0.0-other'

/** What makes a Node say that its V8 is another one, and notes what compiled code it is given. */
const withV8 = (v8: string): string => `const vm = require('node:vm')
  Object.defineProperty(process, 'versions', { value: { ...process.versions, v8: '${v8}' } })
  const given = []
  vm.Script = class extends vm.Script {
    constructor(text, options) {
      super(text, options)
      given.push(options?.cachedData?.length ?? 0)
      if (this.cachedDataRejected) given.push('rejected')
    }
  }
  const told = process.env.GIVEN_NOTES
  if (told) process.on('exit', () => require('node:fs').writeFileSync(told, JSON.stringify(given)))`

/** A Node of its own that says it has this V8. */
const nodeWithV8 = (dir: string, v8: string): string => {
  const [preload, node] = [join(dir, 'other-v8.cjs'), join(dir, 'other-node')]
  writeFileSync(preload, withV8(v8))
  writeFileSync(node, `#!/bin/sh\nexec '${process.execPath}' --require '${preload}' "$@"\n`,
    { mode: 0o755 })
  return node
}

/** Bundles the program as `npm run build` does, into a folder of its own; gives the folder. */
const bundled = async (): Promise<string> => {
  const tool = (await import(join(root, 'scripts/tool/bundle.js'))) as {
    bundle(options: object): Promise<void>
  }
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-dist-'))
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  await tool.bundle({
    entries: {
      sallyport: 'src/cli/start.ts', 'service-worker': 'src/service/service-worker.ts',
    },
    outdir: join(dir, 'dist'),
    minify: true,
    nodes: [process.execPath, nodeWithV8(dir, otherV8)],
    packs: {
      first: ['src/cli/run.ts', 'src/cli/commands/state/path.ts'],
      second: ['src/alpha/ask/ask.ts', 'src/net/client.ts'],
    },
  })
  mkdirSync(join(dir, 'bin'))
  for (const name of ['sallyport.js', 'package.json']) {
    cpSync(join(root, 'bin', name), join(dir, 'bin', name))
  }
  return dir
}

const shipped = bundled()
t.teardown(async () => rmSync(await shipped, { recursive: true, force: true }))

const start = async (t: Test, dir: string, ...argv: string[]): Promise<string> => {
  const env = {
    PATH: process.env['PATH'], XDG_DATA_HOME: dir,
    SALLYPORT_STATE_DIR: join(dir, 's'), SALLYPORT_CONFIG_DIR: join(dir, 'c'),
  }
  const script = join(await shipped, 'bin/sallyport.js')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...argv], { env })
  t.strictSame([status, String(stderr)], [0, ''])
  return String(stdout)
}

t.test('A-071 the program runs in a folder that was removed; only relative paths lead nowhere',
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'sallyport-gone-'))
    t.teardown(() => rmSync(dir, { recursive: true, force: true }))
    const script = join(await shipped, 'bin/sallyport.js')
    const env = {
      PATH: process.env['PATH'], HOME: dir, XDG_DATA_HOME: dir,
      SALLYPORT_STATE_DIR: join(dir, 's'), SALLYPORT_CONFIG_DIR: join(dir, 'c'),
    }
    const inNowhere = (...argv: string[]) => {
      const cwd = mkdtempSync(join(dir, 'gone-'))
      const { status, stdout, stderr } = spawnSync(
        'sh', ['-c', 'rmdir "$PWD"; exec "$0" "$@"', process.execPath, script, ...argv],
        { cwd, env })
      return { status, stdout: String(stdout), stderr: String(stderr) }
    }
    t.equal(inNowhere('init').status, 0)
    t.hasStrict(inNowhere('policy', 'revoke'), { status: 0, stderr: '' })
    const relative = inNowhere('state', 'backup', './backup', '--json')
    t.equal(relative.status, 1, relative.stderr)
    t.hasStrict(JSON.parse(relative.stderr), { error: {} })
  })

const textsOf = (dir: string): string[] =>
  readdirSync(join(dir, 'dist'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(dir, 'dist', name), 'utf8'))

t.test('the shipped program has no switch of the tests', async (t) => {
  const entry = readFileSync('test/entry.ts', 'utf8')
  const switches = [...new Set(entry.match(/\bTEST_[A-Z_]+/g))]
  t.ok(switches.length >= 6, 'the switches were found')
  const texts = textsOf(await shipped)
  for (const name of [...switches, 'SALLYPORT_TEST_APP', 'test/entry', 'fast-check']) {
    t.notOk(texts.some((text) => text.includes(name)), name)
  }
})

t.test('the shipped program needs Node and the lock add-on, nothing else', async (t) => {
  const texts = textsOf(await shipped)
  const imports = texts.flatMap((text) =>
    [...text.matchAll(/\b(?:require|resolve)\(["']([^"']+)["']\)/g)].map(([, name]) => name ?? ''),
  )
  const outside = new Set(imports.filter((name) => !name.startsWith('./') && !isBuiltin(name)))
  t.strictSame([...outside], ['fs-native-extensions'])
  t.strictSame(Object.keys(manifest.dependencies), [...outside])
})

t.test('the licence of every package in the bundle goes with it', async (t) => {
  const dir = join(await shipped, 'dist')
  const sources = readdirSync(dir).filter((name) => name.endsWith('.map')).flatMap((name) =>
    (JSON.parse(readFileSync(join(dir, name), 'utf8')) as { sources: string[] }).sources)
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//
  const names = [...new Set(sources.flatMap((path) => name.exec(path)?.[1] ?? []))]
  t.ok(names.length > 10, `${names.length} packages`)
  const text = readFileSync(join(dir, 'licenses.txt'), 'utf8')
  for (const one of names) t.ok(text.includes(`==== ${one} `), one)
  const { noticesOf } = (await import(join(root, 'scripts/tool/notices.js'))) as
    { noticesOf(folders: readonly string[]): string }
  const bare = t.testdir({ 'package.json': '{"name":"without","version":"1.0.0"}' })
  t.throws(() => noticesOf([relative(root, bare)]), /without names no licence/)
})

t.test('the bill of materials names all that is bundled or installed, nothing else, the same each time', async (t) => {
  const licences = readFileSync(join(await shipped, 'dist/licenses.txt'), 'utf8')
  const { sbomOf } = (await import(join(root, 'scripts/tool/sbom.js'))) as
    { sbomOf(licences: string): Promise<string> }
  const text = await sbomOf(licences)
  t.equal(await sbomOf(licences), text)
  const { bomFormat, metadata, components } = JSON.parse(text) as {
    bomFormat: string, metadata: { component: { name: string } },
    components: readonly { 'name': string, 'bom-ref': string }[]
  }
  t.strictSame([bomFormat, metadata.component.name], ['CycloneDX', 'sallyport'])
  const refs = new Set(components.map((one) => one['bom-ref']))
  const bundled = [...licences.matchAll(/^==== (\S+) (\S+) \(/gm)]
    .map((one) => `${one[1]}@${one[2]}`)
  t.ok(bundled.length > 10, `${bundled.length} packages`)
  t.strictSame(bundled.filter((ref) => !refs.has(ref)), [])
  const names = new Set(components.map(({ name }) => name))
  t.ok(names.has('fs-native-extensions'), 'what is installed beside it')
  for (const tool of ['tap', 'typescript', 'esbuild', 'publint']) t.notOk(names.has(tool), tool)
  await t.rejects(sbomOf('==== unheard-of 1.0.0 (MIT)\n'), /knows nothing of unheard-of@1.0.0/)
})

t.test('a build of what is shipped has no source maps', async (t) => {
  t.match(readFileSync('scripts/build.js', 'utf8'), /^ {2}maps: false,$/m)
  t.ok(textsOf(await shipped).some((text) => text.includes('sourceMappingURL')), 'tests have them')
})

t.test('the tarball holds every page that a page in it links to, and every man page is named', async (t) => {
  const named = manifest.man.map((path) => basename(path)).sort()
  t.strictSame(named, readdirSync('man').sort())
  const { status, stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'],
    { encoding: 'utf8' })
  t.equal(status, 0)
  const [{ files }] = JSON.parse(stdout) as [{ files: readonly { path: string }[] }]
  const held = new Set(files.map(({ path }) => path))
  const pages = [...held].filter((path) => path.endsWith('.md'))
  t.ok(pages.length > 40, `${pages.length} pages`)
  for (const page of pages) {
    for (const [, link = ''] of readFileSync(page, 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (/^[a-z]+:/.test(link)) continue
      const path = join(dirname(page), link)
      t.ok(held.has(path) || [...held].some((one) => one.startsWith(join(path, '/'))),
        `${page} links to ${path}`)
    }
  }
  for (const never of ['src/', 'test/', 'docs/requirements/', 'node_modules/']) {
    t.notOk([...held].some((path) => path.startsWith(never) || path.endsWith('.map')), never)
  }
})

/** The file of compiled code for the Node that runs this. */
const codeOf = (name: string): string =>
  `${name}.${process.versions.v8}-${process.platform}-${process.arch}.cache`

t.test('the compiled code beside each pack is the one of its text', async (t) => {
  const dir = join(await shipped, 'dist')
  for (const [pack, name] of [
    ['first', 'first'], ['second', 'second'], ['first', 'first.alpha-show'],
  ] as const) {
    // Code is of the flags of its V8, too: a process of tests may have been given some.
    const looked = spawnSync(process.execPath, ['-e', `
      const { readFileSync } = require('node:fs')
      const [filename, code] = process.argv.slice(1)
      const script = new (require('node:vm').Script)(readFileSync(filename, 'latin1'), {
        filename, cachedData: readFileSync(code),
      })
      console.log(script.cachedDataRejected)
    `, join(dir, `${pack}.js`), join(dir, codeOf(name))], { encoding: 'utf8', env: {} })
    t.equal(looked.stdout, 'false\n', name)
  }
})

t.test('a verb that is waited for has compiled code of its own, which is less, and runs without it', async (t) => {
  const dir = t.testdir()
  const of = async (name: string): Promise<Buffer> =>
    readFileSync(join(await shipped, 'dist', name))
  const [all, own] = [await of(codeOf('second')), await of(codeOf('second.alpha-show'))]
  t.ok(own.length < 0.8 * all.length, `${own.length} of ${all.length} bytes`)
  const cache = join(await shipped, 'dist', codeOf('first.alpha-show'))
  const bytes = readFileSync(cache)
  t.teardown(() => writeFileSync(cache, bytes))
  await start(t, dir, 'init')
  await start(t, dir, 'login')
  const shown = await start(t, dir, 'alpha', 'show')
  const altered = Buffer.from(bytes)
  altered[bytes.length >> 1] = (altered[bytes.length >> 1] ?? 0) ^ 0xff
  writeFileSync(cache, altered)
  t.equal(await start(t, dir, 'alpha', 'show'), shown, 'altered')
  rmSync(cache)
  t.equal(await start(t, dir, 'alpha', 'show'), shown, 'absent')
})

/** Writes down which chunks were run, packed ones too, and which files were required. */
const chunkNotes = `const { Script } = require('node:vm')
  const chunks = new Set()
  const { runInThisContext } = Script.prototype
  Script.prototype.runInThisContext = function (...given) {
    const fill = runInThisContext.apply(this, given)
    return (module) => {
      fill(module)
      module.exports = new Proxy(module.exports, {
        get: (table, at) => (...given) => {
          chunks.add(JSON.stringify([given[3], Number(at)]))
          return table[at](...given)
        },
      })
    }
  }
  process.on('exit', () => require('node:fs').writeFileSync(process.env.CHUNK_NOTES,
    JSON.stringify({ chunks: [...chunks].map(JSON.parse), files: Object.keys(require.cache) })))`

/** The stub of a chunk that is packed, by which others ask for it. */
const stubForm = /^module\.exports=require\("\.\/packed\.js"\)\((\d+)\);\n/

/** Names of chunks in packs: each has a number, and a pack begins with one. */
const namesOfPlaces = (dist: string, places: readonly (readonly [string, number])[]): string[] => {
  const names = new Map(readdirSync(dist).filter((name) => name.endsWith('.js')).map((name) =>
    [Number(stubForm.exec(readFileSync(join(dist, name), 'utf8'))?.[1] ?? -1), name]))
  const [, told = '[]'] = /^const firsts = (.*);$/m
    .exec(readFileSync(join(dist, 'packed.js'), 'utf8')) ?? []
  const firsts = new Map(JSON.parse(told) as [string, number][])
  return places.map(([path, at]) =>
    names.get((firsts.get(basename(path, '.js')) ?? NaN) + at) ?? 'no name')
}

/** Of one line of the program: source files of what it ran, and names of the files it required. */
const loadedBy = async (t: Test, dir: string, ...argv: string[]) => {
  const [preload, notes] = [join(dir, 'notes.cjs'), join(dir, 'notes.json')]
  writeFileSync(preload, chunkNotes)
  const env = {
    PATH: process.env['PATH'], XDG_DATA_HOME: dir, CHUNK_NOTES: notes,
    SALLYPORT_STATE_DIR: join(dir, 's'), SALLYPORT_CONFIG_DIR: join(dir, 'c'),
  }
  const folder = await shipped
  const script = join(folder, 'bin/sallyport.js')
  const { status } = spawnSync(process.execPath, ['--require', preload, script, ...argv], { env })
  t.equal(status, 0)
  const { chunks, files } = JSON.parse(readFileSync(notes, 'utf8')) as
    { chunks: [string, number][]; files: string[] }
  const dist = join(folder, 'dist')
  // The runner loads files of its own into every Node.
  const own = files.filter((path) => path.startsWith(realpathSync(folder)))
  const names = own.map((path) => basename(path))
  const sourcesOf = (of: readonly string[]): string[] =>
    of.map((name) => join(dist, `${basename(name)}.map`)).filter(existsSync).flatMap((path) =>
      (JSON.parse(readFileSync(path, 'utf8')) as { sources: string[] }).sources)
  // Chunks of a pack have a line in their place, for those that are in none.
  const packed = (name: string): boolean =>
    stubForm.test(readFileSync(join(dist, name), 'utf8'))
  const required = sourcesOf(names.filter((name) => name.endsWith('.js'))
    .filter((name) => existsSync(join(dist, name)) && !packed(name)))
  return { names, required, sources: [...sourcesOf(namesOfPlaces(dist, chunks)), ...required] }
}

t.test('the version is answered by the entry alone, without any shape', async (t) => {
  const { names } = await loadedBy(t, t.testdir(), '--version')
  t.strictSame(names, ['sallyport.js', 'sallyport.js', 'packed.js'])
  const text = readFileSync(join(await shipped, 'dist/packed.js'), 'utf8')
  t.notOk(text.includes('strict_object'), 'no valibot')
})

t.test('showing the setup of the text provider runs nothing of the code host, of a prompt or of a client', async (t) => {
  const dir = t.testdir()
  await start(t, dir, 'init')
  await start(t, dir, 'login')
  const { required, sources } = await loadedBy(t, dir, 'alpha', 'show')
  t.ok(sources.some((path) => path.endsWith('src/cli/commands/alpha/show.ts')))
  const alone = required.filter((path) => path.endsWith('src/base/outcome.ts'))
  t.strictSame(alone, [], 'what the service needs, too, is packed for every verb')
  const foreign = new RegExp('src/(codehost|gateway|shots|images|sandbox)/'
    + '|node_modules/(@?inquirer|node-fetch|cli-table3|jpeg-js|@peculiar|yocto-spinner)')
  t.strictSame(sources.filter((path) => foreign.test(path)).sort(), [])
})

t.test('a chunk gives plain properties, and a getter only of what gets another value', async (t) => {
  const { withPlainExports } = (await import(join(root, 'scripts/tool/plain-exports.js'))) as
    { withPlainExports(text: string): string }
  const text = withPlainExports('var a = 1;\nvar b = 2;\nvar set = () => {\n  b = 3;\n};\n'
    + 'export {\n  a,\n  b as c,\n  set\n};\n')
  const module = { exports: {} as { a: number; c: number; set(): void } }
  new Script(`(function(module){${text}})`).runInThisContext()(module)
  module.exports.set()
  t.equal(module.exports.c, 3)
  const { get } = Object.getOwnPropertyDescriptor(module.exports, 'a') ?? {}
  t.equal(get, undefined)
})

t.test('the bundled wrapper of the lock add-on finds its binary', async (t) => {
  const dir = t.testdir()
  await start(t, dir, 'init')
  t.match(await start(t, dir, 'doctor'), /lock add-on: loads/)
})

t.test('the program starts with its compiled code, without, and with altered bytes', async (t) => {
  const cache = join(await shipped, 'dist', codeOf('first'))
  const bytes = readFileSync(cache)
  t.teardown(() => writeFileSync(cache, bytes))
  const path = (): Promise<string> => start(t, '/d', 'state', 'path')
  t.equal(await path(), '/d/s\n')
  t.equal(await start(t, '/d', '--version'), `${version}\n`)
  for (const at of [0, 40, bytes.length >> 1, bytes.length - 1]) {
    const altered = Buffer.from(bytes)
    altered[at] = (altered[at] ?? 0) ^ 0xff
    writeFileSync(cache, altered)
    t.equal(await path(), '/d/s\n', `byte ${at} altered`)
  }
  writeFileSync(cache, bytes.subarray(0, 1000))
  t.equal(await path(), '/d/s\n', 'cut short')
  rmSync(cache)
  t.equal(await path(), '/d/s\n', 'absent')
})

/** Runs a line by a Node that says it has this V8; gives its text and what code it was given. */
const byV8 = async (t: Test, v8: string, ...argv: string[]) => {
  const dir = t.testdir({ 'v8.cjs': withV8(v8) })
  const script = join(await shipped, 'bin/sallyport.js')
  const env = {
    PATH: process.env['PATH'], XDG_DATA_HOME: dir, GIVEN_NOTES: join(dir, 'given.json'),
    SALLYPORT_STATE_DIR: '/d/s', SALLYPORT_CONFIG_DIR: join(dir, 'c'),
  }
  const { status, stdout, stderr } = spawnSync(
    process.execPath, ['--require', join(dir, 'v8.cjs'), script, ...argv], { env })
  t.strictSame([status, String(stderr)], [0, ''])
  const given = JSON.parse(readFileSync(join(dir, 'given.json'), 'utf8')) as unknown[]
  return { text: String(stdout), given }
}

t.test('each V8 is given the compiled code that it made, and one that made none runs the text', async (t) => {
  const dist = join(await shipped, 'dist')
  const names = readdirSync(dist).filter((name) => name.endsWith('.cache'))
  const [own, other] = [process.versions.v8, otherV8].map((v8) =>
    names.filter((name) => name.includes(v8)).map((name) => name.replace(v8, '')))
  t.ok(own?.length === names.length / 2 && own.length > 2, `${names.length} files`)
  t.strictSame(other, own, 'the same packs and verbs')
  for (const v8 of [process.versions.v8, otherV8]) {
    const { text, given } = await byV8(t, v8, 'state', 'path')
    const lengths = ['first', 'second'].map((name) =>
      readFileSync(join(dist, codeOf(name).replace(process.versions.v8, v8))).length)
    t.strictSame([text, given], ['/d/s\n', lengths], v8)
  }
  const { text, given } = await byV8(t, '0.0.0-unknown', 'state', 'path')
  t.strictSame([text, given], ['/d/s\n', [0, 0]])
})

t.test('compiled code that V8 itself refuses is left aside without a word', async (t) => {
  const dist = join(await shipped, 'dist')
  const [cache, packed] = [join(dist, codeOf('first')), join(dist, 'packed.js')]
  const [bytes, loader] = [readFileSync(cache), readFileSync(packed, 'utf8')]
  t.teardown(() => {
    writeFileSync(cache, bytes)
    writeFileSync(packed, loader)
  })
  // Its head says by which flags of V8 it was made.
  const refused = Buffer.from(bytes)
  refused.writeUInt32LE(refused.readUInt32LE(12) ^ 1, 12)
  const tagOf = (data: Buffer): string => {
    const cipher = createCipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12))
    cipher.setAAD(data).final()
    return cipher.getAuthTag().toString('hex')
  }
  t.ok(loader.includes(tagOf(bytes)), 'the tag is known')
  writeFileSync(cache, refused)
  writeFileSync(packed, loader.replace(tagOf(bytes), tagOf(refused)))
  const { text, given } = await byV8(t, process.versions.v8, 'state', 'path')
  t.strictSame([text, given.slice(0, 2)], ['/d/s\n', [bytes.length, 'rejected']])
})

t.test('a command asks Node for no compile cache, and one that reads makes no file at home', async (t) => {
  const dir = t.testdir({ home: {}, 'asked.cjs': `require('node:module').enableCompileCache =
    () => process.stderr.write('asked for a compile cache')` })
  await start(t, dir, 'init')
  await start(t, dir, 'login')
  const env = {
    PATH: process.env['PATH'], HOME: join(dir, 'home'),
    SALLYPORT_STATE_DIR: join(dir, 's'), SALLYPORT_CONFIG_DIR: join(dir, 'c'),
  }
  const script = join(await shipped, 'bin/sallyport.js')
  for (const argv of [['--version'], ['alpha', 'show'], ['shots', 'status']]) {
    const { status, stderr } = spawnSync(
      process.execPath, ['--require', join(dir, 'asked.cjs'), script, ...argv], { env })
    t.strictSame([status, String(stderr)], [0, ''], argv.join(' '))
  }
  t.strictSame(readdirSync(join(dir, 'home')), [])
})

t.test('one version everywhere', async (t) => {
  t.equal(version, manifest.version)
  t.equal((await World.in(t).place.run(['-V'])).stdout, `${manifest.version}\n`)
})

t.test('every dependency is pinned to one version', async (t) => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies }
  for (const [name, wanted] of Object.entries(all)) {
    t.match(wanted, /^(?:npm:[a-z-]+@)?\d+\.\d+\.\d+(?:-[a-z]+\.\d+)?$/, name)
  }
})
