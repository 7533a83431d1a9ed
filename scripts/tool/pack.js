// Packs chunks that are wanted together into one file, with V8's compiled code beside it. Loading
// them one by one, and compiling them each time, would take longer than Node itself.
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script, compileFunction } from 'node:vm'
import { crc32 } from 'node:zlib'

/**
 * Chunks that some entry points need as soon as they are loaded.
 * @param {import('esbuild').Metafile} metafile
 * @param {readonly string[]} sources source files of the entry points
 * @returns {Set<string>} file names of the chunks
 */
export const closureOf = ({ outputs }, sources) => {
  const paths = Object.keys(outputs).filter((path) => sources.includes(outputs[path].entryPoint))
  const found = new Set()
  while (paths.length > 0) {
    const path = paths.pop()
    if (found.has(basename(path)) || outputs[path] === undefined) continue
    found.add(basename(path))
    const imports = outputs[path].imports.filter(({ kind }) => kind === 'import-statement')
    paths.push(...imports.map((one) => one.path))
  }
  return found
}

/**
 * Packs chunks.
 * @param {ReadonlyMap<string, string>} chunks CommonJS text of every chunk by file name
 * @param {Readonly<Record<string, readonly string[]>>} packs the chunks of each pack by its name
 * @param {(load: (name: string) => object) => Promise<void>} warmUp
 *   runs what is run often; the functions that it calls are kept in compiled form
 * @returns {Promise<ReadonlyMap<string, string | Buffer>>} files to write: of each pack the modules
 *   and the compiled code, what loads them, and a stub in the place of each packed chunk
 */
export const packChunks = async (chunks, packs, warmUp) => {
  const files = new Map()
  for (const [pack, names] of Object.entries(packs)) {
    files.set(`${pack}.js`, moduleTable(new Map(names.map((name) => [name, chunks.get(name)]))))
    for (const name of names) {
      files.set(name, `module.exports=require("./packed.js")("./${name}");\n`)
    }
  }
  const caches = await compiled(files, chunks, packs, warmUp)
  const facts = {}
  const packOf = {}
  for (const [pack, cache] of caches) {
    files.set(`${pack}.cache`, cache)
    facts[pack] = [cache.length, crc32(cache)]
    for (const name of packs[pack]) packOf[`./${name}`] = pack
  }
  const { v8 } = process.versions
  const values = { V8: v8, ARCH: process.arch, FACTS: facts, PACK_OF: packOf }
  return files.set('packed.js', loader.replace(/\b(V8|ARCH|FACTS|PACK_OF)\b(?=;)/g,
    (name) => JSON.stringify(values[name])))
}

// In parentheses a function is compiled at once and not parsed twice.
const moduleTable = (chunks) =>
  `module.exports={${[...chunks]
    .map(([name, text]) => `"./${name}":(function(module,exports,require,__filename){${text}\n})`)
    .join(',\n')}}\n`

// V8 trusts compiled code as it trusts its own memory, and compares no more of the text than
// its length. So it is used only when it is byte for byte what this build made, on the same V8.
const loader = `"use strict";
const { readFileSync } = require("node:fs");
const v8 = V8;
const arch = ARCH;
const facts = FACTS;
const packOf = PACK_OF;
const sameNode = process.versions.v8 === v8 && process.arch === arch;
const compiled = (pack) => {
  if (!sameNode) return null;
  try {
    const cache = readFileSync(__dirname + "/" + pack + ".cache");
    const [bytes, sum] = facts[pack];
    const whole = cache.length === bytes && require("node:zlib").crc32(cache) === sum;
    return whole ? cache : null;
  } catch {
    return null;
  }
};
const pathOf = (pack) => __dirname + "/" + pack + ".js";
const tables = {};
const tableOf = (pack) => {
  const cachedData = compiled(pack);
  if (cachedData === null) return require(pathOf(pack));
  const { Script } = require("node:vm");
  const filename = pathOf(pack);
  const text = "(function(module){" + readFileSync(filename, "latin1") + "})";
  const module = { exports: {} };
  new Script(text, { filename, cachedData }).runInThisContext()(module);
  return module.exports;
};
const loaded = {};
const load = (name) => {
  const pack = packOf[name];
  if (pack === undefined) return require(name);
  if (loaded[name] === undefined) {
    tables[pack] ??= tableOf(pack);
    const module = (loaded[name] = { exports: {} });
    tables[pack][name](module, module.exports, load, pathOf(pack));
  }
  return loaded[name].exports;
};
load.resolve = require.resolve;
module.exports = load;
`

/** Compiled code of each pack, with every function that the warm-up called. */
const compiled = async (files, chunks, packs, warmUp) => {
  const scripts = new Map()
  const table = {}
  for (const pack of Object.keys(packs)) {
    const text = `(function(module){${files.get(`${pack}.js`)}})`
    const script = new Script(text, { filename: `${pack}.js` })
    const module = { exports: {} }
    script.runInThisContext()(module)
    Object.assign(table, module.exports)
    scripts.set(pack, script)
  }
  const require = createRequire(import.meta.url)
  const loaded = {}
  const load = (name) => {
    const make = table[name] ?? plainChunk(chunks.get(name.replace('./', '')))
    if (make === null) return require(name)
    if (loaded[name] === undefined) {
      loaded[name] = { exports: {} }
      make(loaded[name], loaded[name].exports, load, fileURLToPath(import.meta.url))
    }
    return loaded[name].exports
  }
  load.resolve = require.resolve
  await warmUp(load)
  return [...scripts].map(([pack, script]) => [pack, script.createCachedData()])
}

const plainChunk = (text) =>
  text === undefined
    ? null
    : compileFunction(text, ['module', 'exports', 'require', '__filename'])
