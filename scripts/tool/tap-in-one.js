// Tap in one file for the runner and the test processes: nearly two hundred of them each load it,
// and its small modules take them as long as everything else that most of them load.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { build } from 'esbuild'
import { root } from './run.js'

/** What knows whose an error is that nobody catches. */
const domains = `${root}/scripts/tool/running-test.js`

/** What starts a process of tests, and nothing beside it. */
const starting = `${root}/scripts/tool/plain-spawn.js`

// Stack traces leave out what lies in packages of this scope.
const bundled = '@tapjs/in-one'
const require = 'import{createRequire as of}from"node:module";const require=of(import.meta.url);'

/**
 * Puts the copy where what lies in `dir` finds it as `tap`, unless this version is there.
 * @param {string} dir
 */
export const bundleTap = async (dir) => {
  const { version } = JSON.parse(readFileSync(`${root}/node_modules/tap/package.json`, 'utf8'))
  const ours = Buffer.concat([domains, starting].map((path) => readFileSync(path)))
  const name = `tap-${version}-${digestOf(ours)}.js`
  const file = `${dir}/node_modules/${bundled}/${name}`
  const manifest = (exports) => JSON.stringify({ type: 'module', exports })
  publish(`${dirname(file)}/shared.js`, shared(`./${name}`))
  publish(`${dir}/node_modules/tap/package.json`, manifest('./index.js'))
  publish(`${dir}/node_modules/tap/index.js`, reexport(`${bundled}/shared.js`))
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return
  const { outputFiles: [output] } = await build({
    absWorkingDir: root,
    stdin: { contents: reexport('tap'), resolveDir: root },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    alias: { 'async-hook-domain': domains, '@tapjs/processinfo': starting },
    banner: { js: require },
    write: false,
    logLevel: 'silent',
  })
  publish(`${dirname(file)}/package.json`, manifest({ './*': './*' }))
  publish(file, output.text)
}

const digestOf = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 12)

const reexport = (name) => `export * from '${name}'\nexport { default } from '${name}'\n`

// Tap's own `t`, or, where several files share a process, the test that stands for the file.
const shared = (name) => `export * from '${name}'
import { t as real } from '${name}'
let current = real
export { real }
export const use = (t) => { current = t }
const of = (key) => {
  const found = Reflect.get(current, key, current)
  return typeof found === 'function' ? found.bind(current) : found
}
export default process.env.SALLYPORT_TESTS_TOGETHER === undefined ? real : new Proxy(real, {
  get: (_, key) => of(key), set: (_, key, to) => Reflect.set(current, key, to, current),
})
`

// Two test runs may do this at once: neither may see half a file.
const publish = (path, text) => {
  const temp = `${path}.${process.pid}.tmp`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(temp, text)
  renameSync(temp, path)
}
