/** What is true of the program as it is shipped: bundled, without anything of the tests. */
import { spawnSync } from 'node:child_process'
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
        // What the runner loads into every Node does not start in such a folder itself.
        'sh', ['-c', 'unset NODE_OPTIONS; rmdir "$PWD"; exec "$0" "$@"',
          process.execPath, script, ...argv],
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

t.test('the compiled code beside each pack is the one of its text', async (t) => {
  const dir = join(await shipped, 'dist')
  for (const [pack, name] of [
    ['first', 'first'], ['second', 'second'], ['first', 'first.alpha-show'],
  ] as const) {
    const text = `(function(module){${readFileSync(join(dir, `${pack}.js`), 'latin1')}})`
    const cachedData = readFileSync(join(dir, `${name}.cache`))
    const script = new Script(text, { filename: join(dir, `${pack}.js`), cachedData })
    t.equal(script.cachedDataRejected, false, name)
  }
})

t.test('a verb that is waited for has compiled code of its own, which is less, and runs without it', async (t) => {
  const dir = t.testdir()
  const of = async (name: string): Promise<Buffer> =>
    readFileSync(join(await shipped, 'dist', name))
  const [all, own] = [await of('second.cache'), await of('second.alpha-show.cache')]
  t.ok(own.length < 0.8 * all.length, `${own.length} of ${all.length} bytes`)
  const cache = join(await shipped, 'dist/first.alpha-show.cache')
  const bytes = readFileSync(cache)
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
        get: (table, name) => (chunks.add(name), table[name]),
      })
    }
  }
  process.on('exit', () => require('node:fs').writeFileSync(process.env.CHUNK_NOTES,
    JSON.stringify({ chunks: [...chunks], files: Object.keys(require.cache) })))`

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
    { chunks: string[]; files: string[] }
  const dist = join(folder, 'dist')
  // The runner loads files of its own into every Node.
  const own = files.filter((path) => path.startsWith(realpathSync(folder)))
  const names = own.map((path) => basename(path))
  const sourcesOf = (of: readonly string[]): string[] =>
    of.map((name) => join(dist, `${basename(name)}.map`)).filter(existsSync).flatMap((path) =>
      (JSON.parse(readFileSync(path, 'utf8')) as { sources: string[] }).sources)
  // Chunks of a pack have a line in their place, for those that are in none.
  const packed = (name: string): boolean =>
    readFileSync(join(dist, name), 'utf8').startsWith('module.exports=require("./packed.js")')
  const required = sourcesOf(names.filter((name) => name.endsWith('.js'))
    .filter((name) => existsSync(join(dist, name)) && !packed(name)))
  return { names, required, sources: [...sourcesOf(chunks), ...required] }
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
  const cache = join(await shipped, 'dist/first.cache')
  const bytes = readFileSync(cache)
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

t.test('one version everywhere', async (t) => {
  t.equal(version, manifest.version)
  t.equal((await World.in(t).place.run(['-V'])).stdout, `${manifest.version}\n`)
})

t.test('every dependency is pinned to one version', async (t) => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies }
  for (const [name, wanted] of Object.entries(all)) {
    t.match(wanted, /^(?:npm:[a-z-]+@)?\d+\.\d+\.\d+$/, name)
  }
})
