// `NODE scripts/tool/compile-packs.js FOLDER`: V8's compiled code of the packs, by the Node that
// runs this, which need not be the one that builds: each V8 reads its own code alone. FOLDER holds
// work.json, as pack.js writes it, and gets a file of compiled code for each pack and for each verb
// that has its own, and made.json with their names.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script, compileFunction } from 'node:vm'
import { warmUp } from './warm-up.js'

const [folder] = process.argv.slice(2)
const { packs, chunks, numbers, firsts, run } =
  JSON.parse(readFileSync(join(folder, 'work.json'), 'utf8'))
const names = new Map(Object.entries(numbers).map(([name, number]) => [number, name]))

/** The pack of a chunk, and its place there; null where it is in none. */
const placeOf = (number) => {
  const [pack, first] = firsts.findLast(([, one]) => one <= number)
  return pack === '' ? null : { pack, at: number - first }
}

/** The program loaded once more, with compiled code of its own for each pack that it loads. */
const instance = (verb) => {
  const scripts = new Map()
  const tables = new Map()
  const tableOf = (pack) => {
    if (!tables.has(pack)) {
      // V8 knows a text again by its file name, and would give the functions of another verb too.
      const script = new Script(packs[pack], { filename: `${pack}.${verb}.js` })
      const module = { exports: [] }
      script.runInThisContext()(module)
      tables.set(pack, module.exports)
      scripts.set(pack, script)
    }
    return tables.get(pack)
  }
  if (verb === '') for (const pack of Object.keys(packs)) tableOf(pack)
  const require = createRequire(import.meta.url)
  const loaded = {}
  const makerOf = (name, number) => {
    const place = number === undefined ? null : placeOf(number)
    return place === null ? plainChunk(chunks[name]) : tableOf(place.pack)[place.at]
  }
  /** Chunks in no pack ask by name. */
  const load = (asked) => {
    const name = typeof asked === 'number' ? names.get(asked) : asked.replace('./', '')
    if (chunks[name] === undefined) return require(asked)
    if (loaded[name] === undefined) {
      loaded[name] = { exports: {} }
      const make = makerOf(name, numbers[name])
      make(loaded[name], loaded[name].exports, load, fileURLToPath(import.meta.url))
    }
    return loaded[name].exports
  }
  load.resolve = require.resolve
  return { load, scripts }
}

const plainChunk = (text) => compileFunction(text, ['module', 'exports', 'require', '__filename'])

const made = []
await warmUp((verb) => {
  const { load, scripts } = instance(verb)
  made.push({ verb, scripts })
  return load(`./${run}`).runCommand
})
const written = made.flatMap(({ verb, scripts }) => [...scripts].map(([pack, script]) => {
  const name = verb === '' ? pack : `${pack}.${verb}`
  writeFileSync(join(folder, name), script.createCachedData())
  return name
}))
const machine = `${process.versions.v8}-${process.platform}-${process.arch}`
writeFileSync(join(folder, 'made.json'), JSON.stringify({ machine, names: written }))
