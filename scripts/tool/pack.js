// Packs chunks that are wanted together into one file, with V8's compiled code beside it. Loading
// them one by one, and compiling them each time, would take longer than Node itself.
import { createCipheriv } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { root, run as runProgram } from './run.js'

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
 * Packs chunks. In a pack a chunk has a number, by which others ask for it: hundreds of names would
 * have to be read at every start.
 * @param {ReadonlyMap<string, string>} chunks CommonJS text of every chunk by file name
 * @param {Readonly<Record<string, readonly string[]>>} packs the chunks of each pack by its name
 * @param {readonly string[]} start the chunks that the program itself needs: they are in the file
 *   of the loader, so that a light answer opens no other
 * @param {string} run the chunk with `runCommand`
 * @param {readonly string[]} nodes executables of the Nodes that compile the packs, once each; see
 *   compile-packs.js
 * @returns {Promise<ReadonlyMap<string, string | Buffer>>} files to write: of each pack the modules
 *   and the compiled code, what loads them, and a stub in the place of each packed chunk
 */
export const packChunks = async (chunks, packs, start, run, nodes) => {
  for (const [name, text] of chunks) requireAscii(name, text)
  const all = { '': start, ...packs }
  const numbers = new Map(Object.values(all).flat().map((name, number) => [name, number]))
  const numbered = new Map([...chunks].map(([name, text]) =>
    [name, numbers.has(name) ? withNumbers(text, numbers) : text]))
  const firsts = Object.entries(all).filter(([, names]) => names.length > 0)
    .map(([pack, [first]]) => [pack, numbers.get(first)])
  const files = new Map()
  for (const [pack, names] of Object.entries(packs)) {
    const table = moduleTable(names.map((name) => numbered.get(name)))
    files.set(`${pack}.js`, `(function(module){module.exports=${table}})\n`)
  }
  const work = {
    packs: Object.fromEntries(Object.keys(packs).map((pack) => [pack, files.get(`${pack}.js`)])),
    chunks: Object.fromEntries(numbered), numbers: Object.fromEntries(numbers), firsts, run,
  }
  const code = {}
  for (const node of nodes) {
    const { machine, caches } = await compiledBy(node, work)
    const facts = [...caches].map(([name, cache]) =>
      [name, [cache.length, tagOf(createCipheriv, cache)]])
    code[machine] = JSON.stringify(Object.fromEntries(facts))
    for (const [name, cache] of caches) files.set(`${name}.${machine}.cache`, cache)
  }
  for (const [name, number] of numbers) {
    files.set(name, `module.exports=require("./packed.js")(${number});\n`)
  }
  const values = {
    CODE: JSON.stringify(code), FIRSTS: JSON.stringify(firsts), TAG_OF: String(tagOf),
    START: moduleTable(start.map((name) => numbered.get(name))),
  }
  return files.set('packed.js',
    loader.replace(/\b(CODE|FIRSTS|TAG_OF|START)\b(?=[;}])/g, (name) => values[name]))
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

const withNumbers = (text, numbers) =>
  text.replace(/\brequire\("\.\/([^"]+)"\)/g, (asked, name) =>
    numbers.has(name) ? `require(${numbers.get(name)})` : asked)

// Not in parentheses, in which all of them would be compiled at once: what is called is in the
// compiled code anyhow, and a verb that has its own does without the others.
const moduleTable = (texts) =>
  `[${texts
    .map((text) => `function(module,exports,require,__filename){${text}\n}`)
    .join(',\n')}]`

/** What a Node compiles: compiled code by name, and on which machines it may be used. */
const compiledBy = async (node, work) => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-compiled-'))
  try {
    writeFileSync(join(folder, 'work.json'), JSON.stringify(work))
    // Flags of V8 and the notes of coverage are compiled in, and refused by everybody else.
    const env = { ...process.env, NODE_OPTIONS: '' }
    delete env.NODE_V8_COVERAGE
    const { status, output } = await runProgram(
      node, [`${root}/scripts/tool/compile-packs.js`, folder], { env })
    if (status !== 0) throw new Error(`${node} compiled nothing:\n${output}`)
    const { machine, names } = JSON.parse(readFileSync(join(folder, 'made.json'), 'utf8'))
    return { machine, caches: names.map((name) => [name, readFileSync(join(folder, name))]) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

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
// its length. So it is used only when it is byte for byte what was compiled, by the same V8 on the
// same system; V8 itself refuses that of other flags or, from 12 on, of another build. Without any
// the text is compiled as it is called.
// Reading compiled code back takes as long as there is much of it: a verb that is waited for often
// has compiled code of its own, of the same text, with no more functions than it calls.
const loader = `"use strict";
const { readFileSync } = require("node:fs");
const code = CODE;
const firsts = FIRSTS;
const tagOf = TAG_OF;
const machine = process.versions.v8 + "-" + process.platform + "-" + process.arch;
const verb = process.argv.slice(2, 4).join("-");
let facts = null;
const compiled = (pack) => {
  if (code[machine] === undefined) return undefined;
  try {
    facts ??= JSON.parse(code[machine]);
    const own = pack + "." + verb;
    const name = Object.hasOwn(facts, own) ? own : pack;
    const cache = readFileSync(__dirname + "/" + name + "." + machine + ".cache");
    const [bytes, tag] = facts[name];
    // The program has need of the module anyhow.
    const { createCipheriv } = require("node:crypto");
    return cache.length === bytes && tagOf(createCipheriv, cache) === tag ? cache : undefined;
  } catch {
    return undefined;
  }
};
const pathOf = (pack) => __dirname + "/" + pack + ".js";
const tables = {"": START};
const tableOf = (pack) => {
  const { Script } = require("node:vm");
  const filename = pathOf(pack);
  const script = new Script(readFileSync(filename, "latin1"),
    { filename, cachedData: compiled(pack) });
  const module = { exports: [] };
  script.runInThisContext()(module);
  return module.exports;
};
const loaded = [];
const load = (number) => {
  if (typeof number !== "number") return require(number);
  if (loaded[number] === undefined) {
    let at = firsts.length - 1;
    while (firsts[at][1] > number) at -= 1;
    const [pack, first] = firsts[at];
    tables[pack] ??= tableOf(pack);
    const module = (loaded[number] = { exports: {} });
    tables[pack][number - first](module, module.exports, load,
      pack === "" ? __filename : pathOf(pack));
  }
  return loaded[number].exports;
};
load.resolve = require.resolve;
module.exports = load;
`
