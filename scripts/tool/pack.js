// Packs the chunks that nearly every command loads into one file, with V8's compiled code beside
// it. Loading them one by one, and compiling them each time, would take longer than Node itself.
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
 * @param {readonly string[]} names the chunks to pack
 * @param {(load: (name: string) => object) => Promise<void>} warmUp
 *   runs what is run often; the functions that it calls are kept in compiled form
 * @returns {Promise<ReadonlyMap<string, string | Buffer>>} files to write: the modules, what loads
 *   them, the compiled code, and a stub in the place of each packed chunk
 */
export const packChunks = async (chunks, names, warmUp) => {
  const modules = moduleTable(new Map(names.map((name) => [name, chunks.get(name)])))
  const cache = await compiled(modules, chunks, warmUp)
  const made = JSON.stringify([process.versions.v8, process.arch, cache.length, crc32(cache)])
  const files = new Map([
    ['modules.js', modules],
    ['modules.cache', cache],
    ['packed.js', loader.replace('MADE', made)],
  ])
  for (const name of names) {
    files.set(name, `module.exports=require("./packed.js")("./${name}");\n`)
  }
  return files
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
const path = __dirname + "/modules.js";
const [v8, arch, bytes, sum] = MADE;
const compiled = () => {
  if (process.versions.v8 !== v8 || process.arch !== arch) return null;
  try {
    const cache = readFileSync(__dirname + "/modules.cache");
    const whole = cache.length === bytes && require("node:zlib").crc32(cache) === sum;
    return whole ? cache : null;
  } catch {
    return null;
  }
};
const cachedData = compiled();
const table = (() => {
  if (cachedData === null) return require(path);
  const { Script } = require("node:vm");
  const text = "(function(module){" + readFileSync(path, "latin1") + "})";
  const module = { exports: {} };
  new Script(text, { filename: path, cachedData }).runInThisContext()(module);
  return module.exports;
})();
const loaded = {};
module.exports = function load(name) {
  const make = table[name];
  if (make === undefined) return require(name);
  if (loaded[name] === undefined) {
    const module = (loaded[name] = { exports: {} });
    make(module, module.exports, load, path);
  }
  return loaded[name].exports;
};
`

/** Compiled code of the modules, with every function that the warm-up called. */
const compiled = async (modules, chunks, warmUp) => {
  const script = new Script(`(function(module){${modules}})`, { filename: 'modules.js' })
  const module = { exports: {} }
  script.runInThisContext()(module)
  const table = module.exports
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
  await warmUp(load)
  return script.createCachedData()
}

const plainChunk = (text) =>
  text === undefined
    ? null
    : compileFunction(text, ['module', 'exports', 'require', '__filename'])
