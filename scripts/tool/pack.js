// Packs chunks that are wanted together into one file, with V8's compiled code beside it. Loading
// them one by one, and compiling them each time, would take longer than Node itself.
import { createCipheriv } from 'node:crypto'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script, compileFunction } from 'node:vm'

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
 * @param {readonly string[]} start the chunks that the program itself needs: they are in the file
 *   of the loader, so that a light answer opens no other
 * @param {(loaderFor: (verb: string) => (name: string) => object) => Promise<void>} warmUp
 *   runs what is run often; the functions that it calls are kept in compiled form: for everybody
 *   what it runs by the loader for '', and for one verb alone what it runs by the loader for that
 * @returns {Promise<ReadonlyMap<string, string | Buffer>>} files to write: of each pack the modules
 *   and the compiled code, what loads them, and a stub in the place of each packed chunk
 */
export const packChunks = async (chunks, packs, start, warmUp) => {
  for (const [name, text] of chunks) requireAscii(name, text)
  const files = new Map()
  const textsOf = (names) => new Map(names.map((name) => [name, chunks.get(name)]))
  for (const [pack, names] of Object.entries(packs)) {
    files.set(`${pack}.js`, `module.exports=${moduleTable(textsOf(names))}\n`)
  }
  for (const name of [...Object.values(packs).flat(), ...start]) {
    files.set(name, `module.exports=require("./packed.js")("./${name}");\n`)
  }
  const caches = await compiled(files, chunks, packs, warmUp)
  const facts = {}
  const packOf = {}
  for (const [name, cache] of caches) {
    files.set(`${name}.cache`, cache)
    facts[name] = [cache.length, tagOf(createCipheriv, cache)]
  }
  for (const name of start) packOf[`./${name}`] = ''
  for (const [pack, names] of Object.entries(packs)) {
    for (const name of names) packOf[`./${name}`] = pack
  }
  const { v8 } = process.versions
  const values = {
    V8: JSON.stringify(v8), ARCH: JSON.stringify(process.arch), FACTS: JSON.stringify(facts),
    PACK_OF: JSON.stringify(packOf), TAG_OF: String(tagOf), START: moduleTable(textsOf(start)),
  }
  return files.set('packed.js',
    loader.replace(/\b(V8|ARCH|FACTS|PACK_OF|TAG_OF|START)\b(?=[;}])/g, (name) => values[name]))
}

/**
 * The loader reads packs as Latin-1, which is one read for V8 and another one for a letter outside
 * ASCII: its text is no longer the one that was compiled. The bundler writes such letters as
 * escapes everywhere but in regular expressions.
 */
const requireAscii = (name, text) => {
  const found = /.{0,40}[^\0-\x7f]/.exec(text)
  if (found !== null) throw new Error(`${name} has a letter outside ASCII behind ${found[0]}`)
}

// Not in parentheses, in which all of them would be compiled at once: what is called is in the
// compiled code anyhow, and a verb that has its own does without the others.
const moduleTable = (chunks) =>
  `{${[...chunks]
    .map(([name, text]) => `"./${name}":function(module,exports,require,__filename){${text}\n}`)
    .join(',\n')}}`

/**
 * Tells whole compiled code from damaged: 128 bits over all its bytes, by the one function whose
 * cost does not show (a SHA-256 of them took a tenth of a light command). Whoever may write the
 * code may write its tag, with either.
 */
const tagOf = (createCipheriv, bytes) => {
  const cipher = createCipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12))
  cipher.setAAD(bytes).final()
  return cipher.getAuthTag().toString('hex')
}

// V8 trusts compiled code as it trusts its own memory, and compares no more of the text than
// its length. So it is used only when it is byte for byte what this build made, on the same V8.
// Reading compiled code back takes as long as there is much of it: a verb that is waited for often
// has compiled code of its own, of the same text, with no more functions than it calls.
const loader = `"use strict";
const { readFileSync } = require("node:fs");
const v8 = V8;
const arch = ARCH;
const facts = FACTS;
const packOf = PACK_OF;
const tagOf = TAG_OF;
const sameNode = process.versions.v8 === v8 && process.arch === arch;
const verb = process.argv.slice(2, 4).join("-");
const compiled = (pack) => {
  if (!sameNode) return null;
  try {
    const own = pack + "." + verb;
    const name = Object.hasOwn(facts, own) ? own : pack;
    const cache = readFileSync(__dirname + "/" + name + ".cache");
    const [bytes, tag] = facts[name];
    // The program has need of the module anyhow.
    const { createCipheriv } = require("node:crypto");
    return cache.length === bytes && tagOf(createCipheriv, cache) === tag ? cache : null;
  } catch {
    return null;
  }
};
const pathOf = (pack) => __dirname + "/" + pack + ".js";
const tables = {"": START};
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
    tables[pack][name](module, module.exports, load, pack === "" ? __filename : pathOf(pack));
  }
  return loaded[name].exports;
};
load.resolve = require.resolve;
module.exports = load;
`

/**
 * Compiled code by the names of its files: of each pack what everybody calls, and of the packs that
 * a verb loads what that verb calls.
 */
const compiled = async (files, chunks, packs, warmUp) => {
  const made = []
  await warmUp((verb) => {
    const { load, scripts } = instance(files, chunks, packs, verb)
    made.push({ verb, scripts })
    return load
  })
  return made.flatMap(({ verb, scripts }) => [...scripts].map(([pack, script]) =>
    [verb === '' ? pack : `${pack}.${verb}`, script.createCachedData()]))
}

/** The program loaded once more, with compiled code of its own for each pack that it loads. */
const instance = (files, chunks, packs, verb) => {
  const scripts = new Map()
  const tables = new Map()
  const tableOf = (pack) => {
    if (!tables.has(pack)) {
      const text = `(function(module){${files.get(`${pack}.js`)}})`
      // V8 knows a text again by its file name, and would give the functions of another verb too.
      const script = new Script(text, { filename: `${pack}.${verb}.js` })
      const module = { exports: {} }
      script.runInThisContext()(module)
      tables.set(pack, module.exports)
      scripts.set(pack, script)
    }
    return tables.get(pack)
  }
  const packOf = new Map(Object.entries(packs).flatMap(([pack, names]) =>
    names.map((name) => [`./${name}`, pack])))
  if (verb === '') for (const pack of Object.keys(packs)) tableOf(pack)
  const require = createRequire(import.meta.url)
  const loaded = {}
  const load = (name) => {
    const pack = packOf.get(name)
    const make = pack === undefined
      ? plainChunk(chunks.get(name.replace('./', ''))) : tableOf(pack)[name]
    if (make === null) return require(name)
    if (loaded[name] === undefined) {
      loaded[name] = { exports: {} }
      make(loaded[name], loaded[name].exports, load, fileURLToPath(import.meta.url))
    }
    return loaded[name].exports
  }
  load.resolve = require.resolve
  return { load, scripts }
}

const plainChunk = (text) =>
  text === undefined
    ? null
    : compileFunction(text, ['module', 'exports', 'require', '__filename'])
