/** What is true of the program as it is shipped: bundled, without anything of the tests. */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { version } from '../../src/cli/version.js'
import { sallyport } from '../harness.js'

const root = process.cwd()
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

const bundled = async (t: { teardown(fn: () => void): void }): Promise<string[]> => {
  const tool = (await import(join(root, 'scripts/tool/bundle.js'))) as {
    bundle(options: object): Promise<readonly string[]>
  }
  const outdir = mkdtempSync(join(tmpdir(), 'sallyport-dist-'))
  t.teardown(() => rmSync(outdir, { recursive: true, force: true }))
  await tool.bundle({ entries: { sallyport: 'src/cli/start.ts' }, outdir, minify: true })
  return readdirSync(outdir)
    .filter((name) => name.endsWith('.js'))
    .map((name) => readFileSync(join(outdir, name), 'utf8'))
}

t.test('the shipped program has no switch of the tests', async (t) => {
  const entry = readFileSync('test/entry.ts', 'utf8')
  const switches = [...new Set(entry.match(/\bTEST_[A-Z_]+/g))]
  t.ok(switches.length >= 6, 'the switches were found')
  const texts = await bundled(t)
  for (const name of [...switches, 'SALLYPORT_TEST_APP', 'test/entry', 'fast-check']) {
    t.notOk(texts.some((text) => text.includes(name)), name)
  }
})

t.test('the shipped program needs Node and the lock add-on, nothing else', async (t) => {
  const texts = await bundled(t)
  const imports = texts.flatMap((text) =>
    [...text.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map(([, name]) => name ?? ''),
  )
  const outside = new Set(imports.filter((name) => !name.startsWith('./') && !isBuiltin(name)))
  t.same([...outside].filter((name) => name in manifest.devDependencies), [])
  t.ok('fs-native-extensions' in manifest.dependencies)
})

t.test('one version everywhere', async (t) => {
  t.equal(version, manifest.version)
  t.equal((await sallyport(t).run(['-V'])).stdout, `${manifest.version}\n`)
})

t.test('every dependency is pinned to one version', async (t) => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies }
  for (const [name, wanted] of Object.entries(all)) t.match(wanted, /^\d+\.\d+\.\d+$/, name)
})
